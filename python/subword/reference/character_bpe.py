"""Byte-pair encoding of characters in plain Python, by merges or by the pieces of sentencepiece.

Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword
Units", section 3.2; HF tokenizers 0.23.3 for its options; sentencepiece 0.2.3, whose ``bpe``
model ``encode_pieces`` follows; Provilkov, Emelianenko and Voita 2020, "BPE-Dropout".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from subword.errors import ArgumentError, UnencodableTextError

__all__ = ["Piece", "encode", "encode_pieces", "encode_spans", "uniforms"]

Spanned = tuple[int, int, int]
"""A token's id, and the first byte and the byte after the last that it stands for."""


class Piece(NamedTuple):
    """A piece of sentencepiece; its id is its place.

    Attributes:
        text: Its spelling.
        score: Higher ones merge first.
        kind: normal, unknown, control, user_defined, byte or unused.
    """

    text: str
    score: float
    kind: str


class _Symbol(NamedTuple):
    """Characters that have merged: a spelling, the bytes it stands for, and its id, if any."""

    text: bytes
    start: int
    end: int
    token_id: int | None
    is_frozen: bool = False


def encode(
    pretoken: bytes,
    tokens: Mapping[bytes, int],
    merges: Sequence[tuple[bytes, bytes]],
    *,
    unk_id: int | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    continuing_subword_prefix: bytes = b"",
    end_of_word_suffix: bytes = b"",
    whole_first: bool = False,
    byte_level: bool = False,
    dropout: float = 0.0,
    uniform: Callable[[], float] | None = None,
) -> list[int]:
    """Encode one pre-token as `encode_spans` does; give the ids alone.

    Args:
        pretoken: Any bytes; an empty one has no tokens.
        tokens: Ids by token.
        merges: Pairs in rank order.
        unk_id: The id of the unknown token, if there is one.
        fuse_unk: Whether unknown characters that follow each other are one token.
        byte_fallback: Whether unknown characters become the tokens of their bytes.
        continuing_subword_prefix: What symbols inside a pre-token begin with.
        end_of_word_suffix: What the last symbol ends with.
        whole_first: Whether a pre-token that is a token is that token.
        byte_level: Whether symbols are bytes, not characters.
        dropout: The probability with which a pair is passed over when its turn comes.
        uniform: Gives numbers in ``[0, 1)``; needed for ``dropout``.

    Returns:
        Token ids.

    Raises:
        UnencodableTextError: An unknown character, and no unknown token.
        ArgumentError: ``dropout`` without ``uniform``.

    Examples:
        >>> tokens = {b"l": 0, b"o": 1, b"w": 2, b"w</w>": 3, b"lo": 4, b"low</w>": 5}
        >>> merges = [(b"l", b"o"), (b"lo", b"w</w>")]
        >>> encode(b"low", tokens, merges, end_of_word_suffix=b"</w>")
        [5]
        >>> encode(b"lowlow", tokens, merges, end_of_word_suffix=b"</w>")
        [4, 2, 5]
    """
    spans = encode_spans(
        pretoken,
        tokens,
        merges,
        unk_id=unk_id,
        fuse_unk=fuse_unk,
        byte_fallback=byte_fallback,
        continuing_subword_prefix=continuing_subword_prefix,
        end_of_word_suffix=end_of_word_suffix,
        whole_first=whole_first,
        byte_level=byte_level,
        dropout=dropout,
        uniform=uniform,
    )
    return [token_id for token_id, _, _ in spans]


def encode_spans(
    pretoken: bytes,
    tokens: Mapping[bytes, int],
    merges: Sequence[tuple[bytes, bytes]],
    *,
    unk_id: int | None = None,
    fuse_unk: bool = False,
    byte_fallback: bool = False,
    continuing_subword_prefix: bytes = b"",
    end_of_word_suffix: bytes = b"",
    whole_first: bool = False,
    byte_level: bool = False,
    dropout: float = 0.0,
    uniform: Callable[[], float] | None = None,
) -> list[Spanned]:
    """Encode one pre-token: its characters, merged pair by pair, lowest rank first.

    A character is a code point; each byte that is no part of UTF-8 counts as an unknown one. An
    unknown character becomes one token ``<0xXX>`` for each of its bytes, if ``byte_fallback``
    is on and all of them are tokens; otherwise the unknown token. Of two places with the
    lowest rank, the left one merges. With ``dropout``, pairs take their turns in that order,
    and each is passed over with this probability; after a merge, all take their turns again.

    Args:
        pretoken: Any bytes; an empty one has no tokens.
        tokens: Ids by token.
        merges: Pairs in rank order; each makes the concatenation, without the right one's
            prefix.
        unk_id: The id of the unknown token, if there is one.
        fuse_unk: Whether unknown characters that follow each other are one token.
        byte_fallback: Whether unknown characters become the tokens of their bytes.
        continuing_subword_prefix: What symbols inside a pre-token begin with.
        end_of_word_suffix: What the last symbol ends with.
        whole_first: Whether a pre-token that is a token is that token; with ``dropout`` it is
            not.
        byte_level: Whether symbols are bytes, not characters.
        dropout: The probability with which a pair is passed over when its turn comes.
        uniform: Gives numbers in ``[0, 1)``; needed for ``dropout``.

    Returns:
        ``(id, start, end)`` for each token; half-open byte offsets into the pre-token.

    Raises:
        UnencodableTextError: An unknown character, and no unknown token. (HF drops it silently.)
        ArgumentError: ``dropout`` without ``uniform``.

    Examples:
        >>> encode_spans("né!".encode(), {b"n": 0, b"?": 1}, [], unk_id=1, fuse_unk=True)
        [(0, 0, 1), (1, 1, 4)]
    """
    if dropout and uniform is None:
        raise ArgumentError("dropout needs uniform, a source of random numbers")
    if whole_first and not dropout and pretoken in tokens:
        return [(tokens[pretoken], 0, len(pretoken))]
    affixes = (continuing_subword_prefix, end_of_word_suffix)
    units = _units(pretoken, byte_level=byte_level)
    symbols = list(_read(units, tokens, affixes, unk_id, byte_fallback=byte_fallback))
    ranks = {pair: rank for rank, pair in enumerate(merges)}

    def join(left: _Symbol, right: _Symbol) -> tuple[float, _Symbol] | None:
        rank = ranks.get((left.text, right.text))
        if rank is None or left.token_id is None or right.token_id is None:
            return None
        text = left.text + right.text.removeprefix(continuing_subword_prefix)
        return rank, _Symbol(text, left.start, right.end, tokens[text])

    _merge(symbols, join, dropout, uniform)
    return list(_named(symbols, unk_id, fuse_unk=fuse_unk))


def encode_pieces(
    text: str, pieces: Sequence[Piece], *, unk_id: int, byte_fallback: bool = False
) -> list[Spanned]:
    """Encode a normalized text as the BPE model of sentencepiece does.

    User-defined pieces are found first, the leftmost and there the longest, and do not merge.
    Then any neighbours whose concatenation is a normal or unused piece merge, the best score
    first, the leftmost of equal ones. Unused pieces are given as what they were made of;
    those of one character are unknown.

    Args:
        text: The text, with ``▁`` for spaces.
        pieces: The vocabulary.
        unk_id: The id of unknown characters; those that follow each other are one token.
        byte_fallback: Whether unknown characters become the pieces of their bytes instead.

    Returns:
        ``(id, start, end)`` for each token; half-open byte offsets into the text as UTF-8.

    Examples:
        >>> pieces = [Piece("<unk>", 0, "unknown"), Piece("a", -3, "normal")]
        >>> pieces += [Piece("ab", -1, "normal"), Piece("aab", -2, "normal")]
        >>> encode_pieces("aab", pieces, unk_id=0)
        [(3, 0, 3)]
        >>> encode_pieces("aabbb", pieces, unk_id=0)
        [(3, 0, 3), (0, 3, 5)]
    """
    in_text = ("normal", "unused", "user_defined")
    ids = {piece.text: at for at, piece in enumerate(pieces) if piece.kind in in_text}
    user_defined = sorted((p.text for p in pieces if p.kind == "user_defined"), key=len)
    symbols: list[_Symbol] = []
    place = start = 0
    while place < len(text):
        matches = [piece for piece in user_defined if text.startswith(piece, place)]
        spelled = matches[-1] if matches else text[place]
        end = start + len(spelled.encode())
        token_id = ids.get(spelled)
        if token_id is not None and pieces[token_id].kind == "unused":
            token_id = None
        symbols.append(_Symbol(spelled.encode(), start, end, token_id, bool(matches)))
        place, start = place + len(spelled), end
    parts: dict[bytes, tuple[_Symbol, _Symbol]] = {}

    def join(left: _Symbol, right: _Symbol) -> tuple[float, _Symbol] | None:
        spelled = left.text + right.text
        token_id = ids.get(spelled.decode())
        if token_id is None or left.is_frozen or right.is_frozen:
            return None
        parts[spelled] = (left, right)
        return -pieces[token_id].score, _Symbol(spelled, left.start, right.end, token_id)

    def settled(symbol: _Symbol, start: int) -> Iterator[_Symbol]:
        is_unused = symbol.token_id is not None and pieces[symbol.token_id].kind == "unused"
        if is_unused and symbol.text in parts:
            for part in parts[symbol.text]:
                yield from settled(part, start)
                start += len(part.text)
        else:
            yield symbol._replace(start=start, end=start + len(symbol.text))

    _merge(symbols, join, 0.0, None)
    given = [part for symbol in symbols for part in settled(symbol, symbol.start)]
    if byte_fallback:
        bytes_ = {p.text.encode(): at for at, p in enumerate(pieces) if p.kind == "byte"}
        given = [part for symbol in given for part in _as_bytes(symbol, bytes_)]
    return list(_named(given, unk_id, fuse_unk=True))


def uniforms(seed: int) -> Callable[[], float]:
    """Give the source of random numbers that the kernels use.

    Args:
        seed: 64 bits.

    Returns:
        A function that gives the next number in ``[0, 1)``.

    Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"
    (SplitMix64).

    Examples:
        >>> uniforms(0)() == (0xE220A8397B1DCDAF >> 11) / 2**53
        True
    """
    mask = 2**64 - 1
    state = seed

    def uniform() -> float:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return ((mixed ^ (mixed >> 31)) >> 11) / 2**53

    return uniform


def _read(
    units: Sequence[bytes],
    tokens: Mapping[bytes, int],
    affixes: tuple[bytes, bytes],
    unk_id: int | None,
    *,
    byte_fallback: bool,
) -> Iterator[_Symbol]:
    """Give the symbol of each character or byte, or those of its bytes."""
    end = 0
    for at, unit in enumerate(units):
        start, end = end, end + len(unit)
        text = (affixes[0] if start else b"") + unit + (affixes[1] if at + 1 == len(units) else b"")
        fallback = _bytes_of(unit, tokens) if byte_fallback else None
        if text in tokens:
            yield _Symbol(text, start, end, tokens[text])
        elif fallback is not None:
            for place, (token, byte_id) in enumerate(fallback, start=start):
                yield _Symbol(token, place, place + 1, byte_id)
        elif unk_id is not None:
            yield _Symbol(text, start, end, None)
        else:
            raise UnencodableTextError(f"{unit!r} at byte {start} has no token")


def _merge(
    symbols: list[_Symbol],
    join: Callable[[_Symbol, _Symbol], tuple[float, _Symbol] | None],
    dropout: float,
    uniform: Callable[[], float] | None,
) -> None:
    """Merge in place, one pair at a time, until none is left or all were passed over."""
    while True:
        joined = [join(left, right) for left, right in pairwise(symbols)]
        turns = sorted((pair[0], place) for place, pair in enumerate(joined) if pair is not None)
        for _, place in turns:
            pair = joined[place]
            if pair is not None and not (uniform and dropout and uniform() < dropout):
                symbols[place : place + 2] = [pair[1]]
                break
        else:
            return


def _named(symbols: Sequence[_Symbol], unk_id: int | None, *, fuse_unk: bool) -> Iterator[Spanned]:
    """Give ids; those without one are unknown, and fused if wanted."""
    pending: Spanned | None = None
    for symbol in symbols:
        if symbol.token_id is None and unk_id is not None:
            if pending is not None and fuse_unk:
                pending = (unk_id, pending[1], symbol.end)
                continue
            if pending is not None:
                yield pending
            pending = (unk_id, symbol.start, symbol.end)
            continue
        if pending is not None:
            yield pending
            pending = None
        if symbol.token_id is not None:
            yield symbol.token_id, symbol.start, symbol.end
    if pending is not None:
        yield pending


def _units(text: bytes, *, byte_level: bool) -> list[bytes]:
    """Give the bytes of each code point, each byte that is no part of one by itself."""
    if byte_level:
        return [bytes([byte]) for byte in text]
    characters = text.decode("utf-8", "surrogateescape")
    return [character.encode("utf-8", "surrogateescape") for character in characters]


def _bytes_of(character: bytes, tokens: Mapping[bytes, int]) -> list[tuple[bytes, int]] | None:
    """Give the byte tokens of a character, if all of them are in the vocabulary."""
    spelled = [f"<0x{byte:02X}>".encode() for byte in character]
    if all(token in tokens for token in spelled):
        return [(token, tokens[token]) for token in spelled]
    return None


def _as_bytes(symbol: _Symbol, bytes_: Mapping[bytes, int]) -> Iterator[_Symbol]:
    """Give a symbol without an id as its bytes."""
    if symbol.token_id is not None:
        yield symbol
        return
    for at, byte in enumerate(symbol.text, start=symbol.start):
        token = f"<0x{byte:02X}>".encode()
        yield _Symbol(token, at, at + 1, bytes_[token])
