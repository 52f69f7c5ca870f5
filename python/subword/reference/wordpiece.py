"""WordPiece in plain Python: greedy longest match, and training by a recount after every merge.

The same trainer learns the merges of character-level BPE: ``score="frequency"``, with an
end-of-word suffix, a continuing prefix, or neither.

Source: Schuster and Nakajima 2012, "Japanese and Korean Voice Search", section 3, with the
likelihood gain written as in the Hugging Face course, chapter 6.6; Sennrich, Haddow and Birch
2016, "Neural Machine Translation of Rare Words with Subword Units", algorithm 1, for frequency.

This is longer than 400 lines: both trainers and the encoder are one specification.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from subword.errors import (
    ArgumentError,
    CountOverflowError,
    CountsError,
    SpecialTokenError,
    UnencodableTextError,
    VocabSizeError,
)

__all__ = ["Learned", "Merge", "encode_spans", "encode_word", "learn_wordpiece"]

MAX_COUNT = 2**64 - 1
"""The greatest sum of counts; past it the kernel, and so this twin, refuses."""

INVALID = "\ufffd"
"""What each byte that is no part of UTF-8 is read as."""


class Merge(NamedTuple):
    """A merge as it was chosen; its score is ``pair_count / (left_count * right_count)``.

    Attributes:
        left: Id of the left token.
        right: Id of the right token.
        merged: Id of the token it makes, which may be an older one with the same spelling.
        pair_count: Occurrences of the pair at that time.
        left_count: Occurrences of the left token at that time; 1 by frequency.
        right_count: Occurrences of the right token at that time; 1 by frequency.
    """

    left: int
    right: int
    merged: int
    pair_count: int
    left_count: int
    right_count: int


class Learned(NamedTuple):
    """A vocabulary, and how it came about.

    Attributes:
        tokens: In the order of their ids: special tokens; the alphabet (characters that begin a
            word, then those with the suffix, then those with the prefix, then those with both,
            each by code point); merges as made.
        n_initial: Tokens before the first merge.
        merges: As made; those that make a token which exists already add no token.
        alphabet: Characters kept, by code point.
        dropped: Characters left out with their occurrences, by code point. A word breaks at
            such a character: its neighbours do not meet.
        n_invalid_bytes: Occurrences of bytes that are no part of UTF-8, each read as U+FFFD.
    """

    tokens: list[bytes]
    n_initial: int
    merges: list[Merge]
    alphabet: str
    dropped: list[tuple[str, int]]
    n_invalid_bytes: int


def encode_word(
    word: bytes,
    tokens: Mapping[bytes, int],
    *,
    continuing_prefix: bytes = b"##",
    unk_id: int | None = None,
    max_input_chars_per_word: int = 100,
) -> list[int]:
    """Encode one word by greedy longest match.

    A word that gets stuck anywhere, or is too long, is one unknown token. An empty word has no
    tokens.

    Args:
        word: One pre-token.
        tokens: Ids by token.
        continuing_prefix: What tokens inside a word start with; may be empty.
        unk_id: The id of the unknown token, if there is one.
        max_input_chars_per_word: Words of more characters are unknown as they stand.

    Returns:
        Token ids.

    Raises:
        UnencodableTextError: The word cannot be spelled and there is no unknown token.

    Source: Devlin et al. 2019 (BERT), ``WordpieceTokenizer`` of its published code.

    Examples:
        >>> tokens = {b"[UNK]": 0, b"un": 1, b"##aff": 2, b"##able": 3}
        >>> encode_word(b"unaffable", tokens, unk_id=0)
        [1, 2, 3]
        >>> encode_word(b"unaffected", tokens, unk_id=0)
        [0]
    """
    spans = encode_spans(
        word,
        tokens,
        continuing_prefix=continuing_prefix,
        unk_id=unk_id,
        max_input_chars_per_word=max_input_chars_per_word,
    )
    return [token_id for token_id, _, _ in spans]


def encode_spans(
    word: bytes,
    tokens: Mapping[bytes, int],
    *,
    continuing_prefix: bytes = b"##",
    unk_id: int | None = None,
    max_input_chars_per_word: int = 100,
) -> list[tuple[int, int, int]]:
    """Encode one word as `encode_word` does, with the bytes that each token covers.

    Args:
        word: One pre-token.
        tokens: Ids by token.
        continuing_prefix: What tokens inside a word start with; may be empty.
        unk_id: The id of the unknown token, if there is one.
        max_input_chars_per_word: Words of more characters are unknown as they stand.

    Returns:
        ``(id, start, end)`` for each token; half-open byte offsets into the word.

    Raises:
        UnencodableTextError: The word cannot be spelled and there is no unknown token.

    Examples:
        >>> encode_spans("né".encode(), {b"n": 0, "##é".encode(): 1})
        [(0, 0, 1), (1, 1, 3)]
    """
    spans: list[tuple[int, int, int]] = []
    start = 0
    is_spelled = len(characters(word)) <= max_input_chars_per_word
    while start < len(word) and is_spelled:
        prefix = continuing_prefix if start else b""
        for end in range(len(word), start, -1):
            token_id = tokens.get(prefix + word[start:end])
            if token_id is not None:
                spans.append((token_id, start, end))
                start = end
                break
        else:
            is_spelled = False
    if is_spelled:
        return spans
    if unk_id is None:
        raise UnencodableTextError(
            f"the vocabulary cannot spell the word {word[:40]!r} and has no unknown token; give "
            "unk_token, or a vocabulary with these characters"
        )
    return [(unk_id, 0, len(word))]


def characters(text: bytes) -> str:
    r"""Give the code points of a text; each byte that is no part of UTF-8 is one U+FFFD.

    Examples:
        >>> characters(b"a\xff\xe2\x82b")
        'a���b'
    """
    decoded = text.decode("utf-8", "surrogateescape")
    return "".join(INVALID if "\ud800" <= char <= "\udfff" else char for char in decoded)


def learn_wordpiece(
    pretoken_counts: Sequence[tuple[bytes, int]],
    *,
    vocab_size: int,
    max_merges: int | None = None,
    score: str = "likelihood",
    ties: str = "greatest",
    min_frequency: int = 1,
    continuing_prefix: str = "##",
    end_of_word_suffix: str = "",
    special_tokens: Sequence[str] = (),
    limit_alphabet: int | None = None,
    character_coverage: float = 1.0,
    extra_alphabet: Sequence[str] = (),
    all_forms: bool = False,
    first_seen: Sequence[int] | None = None,
) -> Learned:
    """Learn a WordPiece vocabulary, or the merges of character-level BPE.

    Each step merges the best pair everywhere, left to right and not overlapping, until the
    vocabulary is full, ``max_merges`` are made, or no pair is frequent enough. A merged token is
    the left one followed by the right one without its prefix. Pairs whose merge would spell a
    special token are passed over.

    Args:
        pretoken_counts: Pre-tokens with their occurrences. Those that count zero are ignored;
            one that is listed twice counts twice.
        vocab_size: Tokens wanted, special tokens and alphabet included.
        max_merges: Merges wanted at most.
        score: ``"likelihood"``, ``n(ab) / (n(a) n(b))`` compared exactly, or ``"frequency"``,
            ``n(ab)``: BPE, and what Hugging Face's ``WordPieceTrainer`` does.
        ties: Which of equal pairs is merged. ``"greatest"``: the greatest ``(left, right)`` by
            the bytes of the tokens, prefix and suffix included. ``"first"``: the one that stands
            first as the words are now, in the word seen first, then leftmost. ``"smallest_id"``
            and ``"hf"``: the smallest pair of ids (Hugging Face numbers "##x" characters in hash
            order, so its results vary; these do not).
        min_frequency: Pairs with fewer occurrences are never merged; 0 means 1.
        continuing_prefix: Put before every character that does not begin a word; may be empty.
        end_of_word_suffix: Put after every character that ends a word; may be empty.
        special_tokens: Tokens with the first ids, in this order.
        limit_alphabet: Keep at most so many characters: the most frequent, ties to the smaller
            code point; extra characters count towards the limit.
        character_coverage: Keep the most frequent characters until they make up this share.
        extra_alphabet: Characters kept in every form they can have, whatever the corpus holds.
        all_forms: Give every character of the alphabet every form; otherwise only forms seen.
        first_seen: Place of each pre-token in the corpus, for ``ties="first"``; equal places go
            by the bytes. Without it the order of ``pretoken_counts`` is that in which they were
            seen.

    Returns:
        The vocabulary, its merges, and what was left out. An empty corpus gives special tokens
        and extra characters alone.

    Raises:
        ArgumentError: An unknown ``score`` or ``ties``, or a coverage outside 0 to 1.
        CountOverflowError: Occurrences of a pair (by likelihood also: of a character) pass 64
            bits.
        CountsError: ``first_seen`` has another length than ``pretoken_counts``.
        SpecialTokenError: An empty or repeated special token, or one that is a character.
        VocabSizeError: Special tokens and alphabet exceed ``vocab_size``.

    Examples:
        >>> counts = [(b"hug", 10), (b"pug", 5), (b"pun", 12), (b"bun", 4), (b"hugs", 5)]
        >>> learned = learn_wordpiece(counts, vocab_size=9)
        >>> learned.tokens
        [b'b', b'h', b'p', b'##g', b'##n', b'##s', b'##u', b'##gs', b'pu']
        >>> learned.merges[0]
        Merge(left=3, right=5, merged=7, pair_count=5, left_count=20, right_count=5)
    """
    check_names(score, ties)
    counted = ordered(pretoken_counts, first_seen)
    alphabet, dropped, n_invalid_bytes = choose_alphabet(
        counted, limit_alphabet, character_coverage, extra_alphabet
    )
    marks = (continuing_prefix, end_of_word_suffix)
    always = alphabet if all_forms else sorted(set(extra_alphabet))
    ids = start_vocabulary(counted, marks, special_tokens, alphabet, always, vocab_size)
    n_initial = len(ids)
    runs = [
        (run, count) for pretoken, count in counted for run in spell(pretoken, marks, set(alphabet))
    ]
    merges: list[Merge] = []
    refused: set[tuple[str, str]] = set()
    while len(ids) < vocab_size and (max_merges is None or len(merges) < max_merges):
        singles, pairs = recount(runs, score)
        for pair in refused:
            pairs.pop(pair, None)
        pairs = {pair: n for pair, n in pairs.items() if n >= max(min_frequency, 1)}
        if not pairs:
            break
        left, right = best_pair(pairs, singles, score, ties, ids)
        merged = left + right.removeprefix(continuing_prefix)
        if merged in special_tokens:
            refused.add((left, right))
            continue
        merged_id = ids.setdefault(merged, len(ids))
        of_parts = (singles[left], singles[right]) if score == "likelihood" else (1, 1)
        merges.append(Merge(ids[left], ids[right], merged_id, pairs[left, right], *of_parts))
        runs = [(replace_pair(run, (left, right), merged), count) for run, count in runs]
    tokens = [token.encode() for token in ids]
    return Learned(tokens, n_initial, merges, "".join(alphabet), dropped, n_invalid_bytes)


def check_names(score: str, ties: str) -> None:
    """Refuse an unknown score or rule for ties."""
    if score not in ("likelihood", "frequency"):
        raise ArgumentError(f'score is {score[:40]!r}; give "likelihood" or "frequency"')
    if ties not in ("greatest", "first", "hf", "smallest_id"):
        raise ArgumentError(
            f'ties is {ties[:40]!r}; give "greatest", "first", "hf" or "smallest_id"'
        )


def ordered(
    pretoken_counts: Sequence[tuple[bytes, int]], first_seen: Sequence[int] | None
) -> list[tuple[bytes, int]]:
    """Pre-tokens that occur, in the order in which they were seen."""
    places = range(len(pretoken_counts)) if first_seen is None else first_seen
    if len(places) != len(pretoken_counts):
        raise CountsError(
            f"first_seen has {len(places)} places for {len(pretoken_counts)} pre-tokens; give "
            "one for each"
        )
    rows = sorted((place, *row) for place, row in zip(places, pretoken_counts, strict=True))
    return [(pretoken, count) for _, pretoken, count in rows if count > 0]


def choose_alphabet(
    counted: Sequence[tuple[bytes, int]],
    limit_alphabet: int | None,
    character_coverage: float,
    extra_alphabet: Sequence[str],
) -> tuple[list[str], list[tuple[str, int]], int]:
    """Characters kept, characters dropped with occurrences, occurrences of invalid bytes."""
    if not 0 <= character_coverage <= 1:
        raise ArgumentError(f"character_coverage is {character_coverage}; give 0 to 1")
    counts: Counter[str] = Counter()
    n_invalid = 0
    for pretoken, count in counted:
        decoded = pretoken.decode("utf-8", "surrogateescape")
        n_invalid += count * sum("\ud800" <= char <= "\udfff" for char in decoded)
        for char in characters(pretoken):
            counts[char] += count
    extra = set(extra_alphabet)
    limit = len(counts) if limit_alphabet is None else max(limit_alphabet - len(extra), 0)
    kept, dropped, n_covered, n_kept = set(extra), [], 0, 0
    for char in sorted(counts, key=lambda char: (-counts[char], char)):
        is_covered = (
            character_coverage < 1
            and float(n_covered) / float(counts.total()) >= character_coverage
        )
        if char not in extra and (is_covered or n_kept >= limit):
            dropped.append((char, checked(counts[char], f"the dropped character {char!r}")))
            continue
        n_covered += counts[char]
        if char not in extra:
            n_kept += 1
            kept.add(char)
    return sorted(kept), sorted(dropped), checked(n_invalid, "invalid bytes")


def form(char: str, continues: bool, ends: bool, marks: tuple[str, str]) -> str:
    """Mark a character by its place in a word.

    Examples:
        >>> form("e", True, True, ("##", "</w>"))
        '##e</w>'
    """
    prefix, suffix = marks
    return (prefix if continues else "") + char + (suffix if ends else "")


def forms_of(pretoken: bytes) -> Iterator[tuple[bool, bool, str]]:
    """Give (is inside the word, is its last, character) for each character."""
    text = characters(pretoken)
    for index, char in enumerate(text):
        yield index > 0, index + 1 == len(text), char


def start_vocabulary(
    counted: Sequence[tuple[bytes, int]],
    marks: tuple[str, str],
    special_tokens: Sequence[str],
    alphabet: Sequence[str],
    always: Sequence[str],
    vocab_size: int,
) -> dict[str, int]:
    """Ids of special tokens and characters."""
    ids: dict[str, int] = {}
    for token in special_tokens:
        if not token or token in ids:
            what = "stands twice" if token else "is empty"
            raise SpecialTokenError(f"the special token {token!r} {what}; give each once")
        ids[token] = len(ids)
    kept = set(alphabet)
    forms = {form for pretoken, _ in counted for form in forms_of(pretoken) if form[2] in kept}
    booleans = (False, True)
    forms |= {(a, b, char) for a in booleans for b in booleans for char in always}
    prefix, suffix = map(bool, marks)
    # Without a mark there is no such form, and nothing to order by.
    forms = {(a and prefix, b and suffix, char) for a, b, char in forms}
    for continues, ends, char in sorted(forms):
        token = form(char, continues, ends, marks)
        if token in special_tokens:
            raise SpecialTokenError(
                f"the special token {token!r} is also a character of the alphabet; give it "
                "another spelling, or leave the character out"
            )
        ids.setdefault(token, len(ids))
    if len(ids) > vocab_size:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}, but {len(special_tokens)} special tokens and "
            f"{len(ids) - len(special_tokens)} characters need {len(ids)}; raise it, or lower "
            "limit_alphabet or character_coverage"
        )
    return ids


def spell(pretoken: bytes, marks: tuple[str, str], kept: set[str]) -> list[list[str]]:
    """Split a pre-token into runs of marked characters, broken at characters left out.

    Examples:
        >>> spell(b"hugs", ("##", ""), set("hgs"))
        [['h'], ['##g', '##s']]
    """
    runs: list[list[str]] = [[]]
    for continues, ends, char in forms_of(pretoken):
        if char in kept:
            runs[-1].append(form(char, continues, ends, marks))
        else:
            runs.append([])
    return [run for run in runs if run]


def recount(
    runs: Sequence[tuple[list[str], int]], score: str
) -> tuple[Counter[str], dict[tuple[str, str], int]]:
    """Occurrences of every symbol and of every pair; pairs stand in the order they are seen."""
    singles: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for run, count in runs:
        for symbol in run:
            singles[symbol] += count
        for pair in pairwise(run):
            pairs[pair] += count
    for pair, count in pairs.items():
        checked(count, f"the pair {pair!r}")
    if score == "likelihood":
        for symbol, count in singles.items():
            checked(count, f"{symbol!r}")
    return singles, dict(pairs)


def checked(count: int, what: str) -> int:
    """Refuse a sum of counts that passes 64 bits."""
    if count > MAX_COUNT:
        raise CountOverflowError(f"{what}: {count} occurrences pass 64 bits; scale the counts down")
    return count


def best_pair(
    pairs: Mapping[tuple[str, str], int],
    singles: Mapping[str, int],
    score: str,
    ties: str,
    ids: Mapping[str, int],
) -> tuple[str, str]:
    """The pair of the greatest score; the rule decides among equals."""

    def score_of(pair: tuple[str, str]) -> Fraction:
        parts = singles[pair[0]] * singles[pair[1]] if score == "likelihood" else 1
        return Fraction(pairs[pair], parts)

    greatest = max(map(score_of, pairs))
    tied = [pair for pair in pairs if score_of(pair) == greatest]
    if ties == "first":
        return tied[0]
    if ties == "greatest":
        # Code points order as UTF-8 bytes do.
        return max(tied)
    return min(tied, key=lambda pair: (ids[pair[0]], ids[pair[1]]))


def replace_pair(run: list[str], pair: tuple[str, str], merged: str) -> list[str]:
    """Replace a pair left to right, not overlapping.

    Examples:
        >>> replace_pair(["a", "a", "a"], ("a", "a"), "aa")
        ['aa', 'a']
    """
    replaced: list[str] = []
    index = 0
    while index < len(run):
        if tuple(run[index : index + 2]) == pair:
            replaced.append(merged)
            index += 2
        else:
            replaced.append(run[index])
            index += 1
    return replaced
