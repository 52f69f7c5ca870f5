"""The codes of subword-nmt and of fastBPE: merges of characters, a line each.

A line of subword-nmt has two symbols, the first line ``#version: 0.2``; fastBPE has no such
line, and a count after the symbols. In both the last symbol of a word ends with ``</w>``, words
are what lies between spaces and line ends, and ids stand in another file, if anywhere.

Source: rsennrich/subword-nmt 0.3.8, subword_nmt/apply_bpe.py and learn_bpe.py (versions, ``@@``);
glample/fastBPE, fastBPE.hpp (columns); facebookresearch/fairseq 0.12, fairseq/data/dictionary.py
(four tokens before those of the file).
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Final

from subword.atomic_write import write_atomically
from subword.decoders import BpeSuffix
from subword.errors import FormatError
from subword.formats.json_file import decode_text, read_bytes
from subword.formats.reach import refuse_beside
from subword.models import CharacterBpe
from subword.pretokens import Split
from subword.special_tokens import TokenFlags, check_special_tokens
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import Pair

__all__ = ["read", "write"]

SUFFIX: Final = "</w>"
JOINER: Final = "@@"
_HEADER: Final = "#version: 0.2"
_BETWEEN_WORDS: Final = r"[ \r\n]+"


def read(
    path: str | PathLike[str],
    *,
    vocabulary: str | PathLike[str] | None = None,
    first_tokens: Sequence[str] = (),
    unk_token: str | None = "<unk>",
) -> Tokenizer:
    """Read a tokenizer.

    The codes hold no ids. With ``vocabulary``, they are the places of its lines, after
    ``first_tokens``; fairseq's are ``["<s>", "<pad>", "</s>", "<unk>"]``. Without it they are
    this reader's own: ``unk_token``, ``first_tokens``, each character of the codes inside a word
    and at its end, by code point, then what the merges make, in order.

    Of a pair that stands twice the first place counts, as in subword-nmt.

    Args:
        path: The codes.
        vocabulary: Lines of a token and its count, tokens inside words ending with ``@@``: what
            ``subword-nmt get-vocab`` and fairseq's ``dict.txt`` hold. What the codes make but
            the vocabulary lacks gets the ids after it.
        first_tokens: Special tokens that get the first ids.
        unk_token: What unknown characters become; None refuses them.

    Raises:
        FormatError: A damaged file, with its line; codes of version 0.1, whose word ends are
            symbols of their own; merges of what no line before made.
        SpecialTokenError: ``first_tokens`` that are empty or repeated.
        SourceError: A file that cannot be read.
    """
    pairs = _pairs(path)
    reserved = list(check_special_tokens(first_tokens))
    if unk_token is not None and unk_token not in reserved:
        reserved.insert(0, unk_token)
    symbols = _symbols(pairs)
    order = symbols if vocabulary is None else _listed(vocabulary)
    ids = {token.encode(): at for at, token in enumerate(reserved)}
    for symbol in order:
        ids.setdefault(symbol.encode(), len(ids))
    for symbol in symbols:
        ids.setdefault(symbol.encode(), len(ids))
    merges: list[Pair] = [(ids[left.encode()], ids[right.encode()]) for left, right in pairs]
    vocab = {token_id: token for token, token_id in ids.items()}
    return Tokenizer(
        CharacterBpe(vocab, tuple(merges), unk_token, end_of_word_suffix=SUFFIX),
        {token: ids[token.encode()] for token in reserved},
        pretokenizer=(Split(_BETWEEN_WORDS, behavior="removed"),),
        decoder=(BpeSuffix(SUFFIX),),
    )


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write the codes of subword-nmt. Ids are not in the file.

    Raises:
        FormatError: Another model than character-level BPE with ``</w>``, or tokens that have a
            space or a line end in them.
        OSError: The file cannot be written.
    """
    model = tokenizer.model
    if (
        not isinstance(model, CharacterBpe)
        or model.end_of_word_suffix != SUFFIX
        or model.continuing_subword_prefix
        or model.byte_level
    ):
        raise FormatError(
            "codes are written for character-level BPE with the suffix </w>; this is a "
            f"{type(model).__name__} model"
        )
    if tokenizer.normalizer or tokenizer.pretokenizer != (
        Split(_BETWEEN_WORDS, behavior="removed"),
    ):
        raise FormatError(
            "codes hold no normalizer and words lie between spaces; this tokenizer has another "
            "normalizer or pre-tokenizer"
        )
    plain = CharacterBpe(
        model.vocab,
        model.merges,
        model.unk_token,
        end_of_word_suffix=SUFFIX,
        training=model.training,
    )
    parts = {
        "template": tokenizer.template != Template(),
        "decoder": tokenizer.decoder != (BpeSuffix(SUFFIX),),
        "model's settings": model != plain,
        "flags of special tokens": any(
            flags != TokenFlags() for flags in tokenizer.token_flags.values()
        ),
    }
    for part, is_other in parts.items():
        if is_other:
            raise FormatError(
                f"codes hold merges alone, and the {part} of this tokenizer would not be read back"
            )
    refuse_beside(tokenizer, "a file of codes")
    lines = [_HEADER]
    for pair in model.merges:
        left, right = (model.vocab[part].decode() for part in pair)
        if any(character in left + right for character in " \r\n"):
            raise FormatError(f"the merge of {left!r:.40} and {right!r:.40} has a space in it")
        lines.append(f"{left} {right}")
    write_atomically(path, (f"{line}\n".encode() for line in lines))


def _pairs(path: str | PathLike[str]) -> list[tuple[str, str]]:
    lines = decode_text(read_bytes(path), path).split("\n")
    if lines[-1] == "":
        lines.pop()
    has_header = bool(lines) and lines[0].startswith("#version:")
    if has_header and lines[0].strip() != _HEADER:
        raise FormatError(f"{path}:1: expected {_HEADER!r}, got {lines[0]!r:.40}")
    pairs: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines[has_header:], start=1 + has_header):
        parts = line.removesuffix("\r").split(" ")
        if len(parts) == 2 and not has_header and all(parts):
            raise FormatError(
                f"{path}:{number}: two symbols and no {_HEADER!r} above: codes of version 0.1, "
                "whose word ends merge by themselves; learn the codes again with subword-nmt 0.3"
            )
        if len(parts) != 3 - has_header or not all(parts) or (parts[2:] and not parts[2].isdigit()):
            raise FormatError(
                f"{path}:{number}: expected two symbols under {_HEADER!r}, or two and a count, got "
                f"{line!r:.60}"
            )
        pairs.setdefault((parts[0], parts[1]), number)
    if not pairs:
        raise FormatError(f"{path}: no merge; expected lines of two symbols")
    _check_made(pairs, path)
    return list(pairs)


def _check_made(pairs: Mapping[tuple[str, str], int], path: str | PathLike[str]) -> None:
    made: set[str] = set()
    for pair, number in pairs.items():
        for part in pair:
            if len(part.removesuffix(SUFFIX)) != 1 and part not in made:
                raise FormatError(
                    f"{path}:{number}: {part!r:.60} is no character, and no line before makes it"
                )
        made.add("".join(pair))


def _symbols(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Give the characters of the codes, inside a word and at its end, and what merges make."""
    made = {left + right: None for left, right in pairs}
    characters = {
        character for pair in pairs for part in pair for character in part.removesuffix(SUFFIX)
    }
    alphabet = sorted(characters)
    return [*alphabet, *(character + SUFFIX for character in alphabet), *made]


def _listed(path: str | PathLike[str]) -> list[str]:
    listed: dict[str, None] = {}
    lines = decode_text(read_bytes(path), path).split("\n")
    for number, line in enumerate(lines, start=1):
        if not line and number == len(lines):
            break
        token, _, count = line.removesuffix("\r").rpartition(" ")
        if not token or not count.isdigit():
            raise FormatError(f"{path}:{number}: expected 'token count', got {line!r:.60}")
        symbol = token.removesuffix(JOINER) if token.endswith(JOINER) else token + SUFFIX
        if symbol in listed:
            raise FormatError(f"{path}:{number}: the token {token!r:.60} stands twice")
        listed[symbol] = None
    return list(listed)
