"""Segment with a unigram language model, and learn one: the twin of the Rust kernels.

Source: Kudo 2018, "Subword Regularization: Improving Neural Network Translation Models with
Multiple Subword Candidates"; what the text leaves open is as in sentencepiece 0.2.3, or stated.

This is longer than 400 lines: segmenting and learning share the lattice, and are read together.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from subword.errors import ArgumentError, VocabSizeError

__all__ = [
    "Edge",
    "Model",
    "Piece",
    "digamma",
    "edges_by_end",
    "encode",
    "learn_pieces",
    "n_best",
    "sample",
]

UNKNOWN_PENALTY = 10.0
USER_DEFINED_SCORE = 0.1
REBASE_BELOW = -100_000.0
LEAST_EXPECTED = 0.5
SLACK = 1.1


class Piece(NamedTuple):
    """One entry of a vocabulary; its id is its place.

    Attributes:
        text: UTF-8; not empty.
        score: Natural logarithm of its probability.
        kind: ``normal``, ``unknown``, ``control``, ``user_defined``, ``byte`` or ``unused``. Only
            normal and user-defined pieces are matched in text.
    """

    text: bytes
    score: float
    kind: str = "normal"


class Model(NamedTuple):
    """A vocabulary and what it does with text that no piece covers.

    Attributes:
        pieces: By id.
        unk_id: Id of an uncovered character.
        byte_fallback: Give an uncovered character as the ``<0xXX>`` pieces of its bytes.
        fuse_unknown: Give neighbouring uncovered characters as one id.
        single_precision: Round path scores to 32 bits, as sentencepiece does.
    """

    pieces: Sequence[Piece]
    unk_id: int = 0
    byte_fallback: bool = False
    fuse_unknown: bool = True
    single_precision: bool = True


class Edge(NamedTuple):
    """A piece in one place of a text: its bytes from start to end, its id and its score."""

    start: int
    end: int
    id: int
    score: float


class _Place(NamedTuple):
    id: int
    start: int
    end: int


def encode(model: Model, text: bytes) -> list[tuple[int, int, int]]:
    """Give the best segmentation of one normalized segment.

    Of equal paths the one whose last piece starts first wins, at every position. Bytes that are
    not UTF-8 count as uncovered characters. In 32 bits, scores start from 0 again below -100,000.

    Args:
        model: The vocabulary.
        text: The segment; may be empty.

    Returns:
        ``(id, start byte, end byte)`` of each piece; the spans cover the text.

    Examples:
        >>> model = Model([Piece(b"<unk>", 0.0, "unknown"), Piece(b"a", -2.0), Piece(b"ab", -3.0)])
        >>> encode(model, b"aabc")
        [(1, 0, 1), (2, 1, 3), (0, 3, 4)]
    """
    best: dict[int, tuple[float, Edge | None]] = {0: (0.0, None)}
    for edge in edges(model, text):
        base = best[edge.start][0]
        if model.single_precision and base < REBASE_BELOW:
            ahead = [end for end in best if end >= edge.start]
            best |= {end: (_rounded(model, best[end][0] - base), best[end][1]) for end in ahead}
        score = _rounded(model, best[edge.start][0] + edge.score)
        if edge.end not in best or score > best[edge.end][0]:
            best[edge.end] = (score, edge)
    path = []
    last = best[len(text)][1]
    while last is not None:
        path.append(_Place(last.id, last.start, last.end))
        last = best[last.start][1]
    return [(place.id, place.start, place.end) for place in _emitted(model, text, path[::-1])]


def n_best(model: Model, text: bytes, n: int) -> list[tuple[list[int], float]]:
    """Give the ``n`` best segmentations and their scores, by listing all of them.

    Of equal scores the one with the longer last piece comes first, then the one whose rest does.

    Args:
        model: The vocabulary.
        text: The segment.
        n: How many, at most; at least 1.

    Returns:
        Ids and score of each, best first; scores are summed in 64 bits.

    Raises:
        ArgumentError: ``n`` is below 1.
    """
    if n < 1:
        raise ArgumentError(f"n is {n}; ask for at least one segmentation")
    into = edges_by_end(model, text)
    paths: dict[int, list[tuple[float, list[_Place]]]] = {0: [(0.0, [])]}
    for end in sorted(into):
        ways = [
            (score + edge.score, [*path, _Place(edge.id, edge.start, edge.end)])
            for edge in into[end]
            for score, path in paths[edge.start]
        ]
        paths[end] = sorted(ways, key=lambda way: -way[0])
    return [
        ([place.id for place in _emitted(model, text, path)], score)
        for score, path in paths[len(text)][:n]
    ]


def sample(model: Model, text: bytes, alpha: float, seed: int) -> list[int]:
    """Give a random segmentation, each as likely as its probability to the ``alpha``.

    Args:
        model: The vocabulary.
        text: The segment.
        alpha: 0 makes all equally likely, 1 follows the model; not negative.
        seed: Start of the random numbers, 64 bits unsigned.

    Returns:
        Ids.

    Raises:
        ArgumentError: ``alpha`` is negative or not a finite number.
    """
    if not (math.isfinite(alpha) and alpha >= 0):
        raise ArgumentError(f"alpha is {alpha}; expected a number that is not negative")
    into = edges_by_end(model, text)
    forward = {0: 0.0}
    for end in sorted(into):
        terms = [forward[edge.start] + alpha * edge.score for edge in into[end]]
        largest = max(terms)
        forward[end] = largest + math.log(sum(math.exp(term - largest) for term in terms))
    numbers = _uniform(seed)
    path, at = [], len(text)
    while at > 0:
        weights = [
            math.exp(forward[edge.start] + alpha * edge.score - forward[at]) for edge in into[at]
        ]
        rest = next(numbers) * sum(weights)
        chosen = into[at][-1]
        for edge, weight in zip(into[at], weights, strict=True):
            rest -= weight
            if rest < 0:
                chosen = edge
                break
        path.append(_Place(chosen.id, chosen.start, chosen.end))
        at = chosen.start
    return [place.id for place in _emitted(model, text, path[::-1])]


def learn_pieces(
    pretoken_counts: Mapping[bytes, int],
    vocab_size: int,
    *,
    character_coverage: float = 0.9995,
    extra_alphabet: str = "",
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
) -> list[tuple[str, float]]:
    """Learn pieces and their log probabilities.

    Meant for pre-tokens of up to some hundred characters.

    Args:
        pretoken_counts: Occurrences of each distinct pre-token, UTF-8.
        vocab_size: Wanted number of pieces, required characters included.
        character_coverage: Share of character occurrences that required characters cover.
        extra_alphabet: Characters that are required whatever the text holds.
        max_piece_length: Longest piece in characters.
        seed_size: Most substrings to start from.
        shrinking_factor: Share of the pieces that one pruning keeps.
        n_sub_iterations: Estimations between two prunings.

    Returns:
        Pieces and scores, best first, of equal ones the smaller text first; fewer than asked for
        when the text does not hold more.

    Raises:
        VocabSizeError: The required characters alone pass ``vocab_size``.

    Examples:
        >>> [piece for piece, _ in learn_pieces({b"hug": 10, b"pug": 5, b"hugs": 5}, 6)]
        ['hug', 'g', 'u', 'p', 's', 'h']
    """
    texts = {bytes_.decode(): count for bytes_, count in pretoken_counts.items() if count}
    alphabet = _required_characters(texts, character_coverage, extra_alphabet)
    if len(alphabet) > vocab_size:
        raise VocabSizeError(
            f"vocab_size leaves {vocab_size} pieces, but the text has {len(alphabet)} required "
            "characters"
        )
    if not alphabet:
        return []
    words = _words(texts, set(alphabet))
    scores = _seed_scores(words, alphabet, max_piece_length, seed_size)
    wanted = int(vocab_size * SLACK)
    while True:
        for _ in range(n_sub_iterations):
            scores = _maximized(_expected_counts(words, scores), alphabet)
        if len(scores) <= wanted:
            break
        n_kept = max(wanted, int(shrinking_factor * len(scores)))
        kept = _pruned(words, scores, alphabet, n_kept)
        if len(kept) == len(scores):
            break
        scores = {piece: scores[piece] for piece in scores if piece in kept}
    best = sorted(scores, key=lambda piece: (-scores[piece], piece))
    others = [piece for piece in best if piece not in alphabet]
    chosen = {*alphabet, *others[: vocab_size - len(alphabet)]}
    return [(piece, scores[piece]) for piece in best if piece in chosen]


def digamma(x: float) -> float:
    """Give the derivative of the logarithm of the gamma function, for positive ``x``.

    Source: Abramowitz and Stegun 1964, 6.3.5 and 6.3.18.

    Examples:
        >>> round(digamma(1.0), 12)
        -0.577215664902
    """
    result = 0.0
    while x < 10.0:
        result -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1.0 / 12.0
        - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0)))
    )
    return result + math.log(x) - 0.5 / x - series


def _rounded(model: Model, score: float) -> float:
    return float(np.float32(score)) if model.single_precision else score


def edges(model: Model, text: bytes) -> Iterator[Edge]:
    """Every piece in every place, by start, then by end; an unknown one where no character is."""
    pieces: dict[bytes, tuple[int, float]] = {}
    lowest = math.inf
    for number, piece in enumerate(model.pieces):
        if piece.kind == "normal":
            lowest = min(lowest, piece.score)
            pieces[piece.text] = (number, _rounded(model, piece.score))
        elif piece.kind == "user_defined":
            score = USER_DEFINED_SCORE * (len(piece.text) - 1)
            pieces[piece.text] = (number, _rounded(model, score))
    lowest = lowest if math.isfinite(lowest) else 0.0
    unknown = _rounded(model, _rounded(model, lowest) - UNKNOWN_PENALTY)
    bounds = _character_bounds(text)
    longest = max(map(len, pieces), default=0)
    for index, (start, next_start) in enumerate(pairwise(bounds)):
        covered = False
        for end in bounds[index + 1 : index + 1 + longest]:
            if text[start:end] in pieces:
                yield Edge(start, end, *pieces[text[start:end]])
                covered |= end == next_start
        if not covered:
            yield Edge(start, next_start, model.unk_id, unknown)


def edges_by_end(model: Model, text: bytes) -> dict[int, list[Edge]]:
    """Give every piece in every place of a text, by where it ends; longest first."""
    into: dict[int, list[Edge]] = defaultdict(list)
    for edge in edges(model, text):
        into[edge.end].append(edge)
    return into


def _character_bounds(text: bytes) -> list[int]:
    """Where characters start, and the length; a lead byte takes what continues it."""
    bounds, at = [], 0
    while at < len(text):
        bounds.append(at)
        lead = text[at]
        announced = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        end = at + 1
        while end < min(len(text), at + announced) and text[end] & 0xC0 == 0x80:
            end += 1
        at = end
    return [*bounds, len(text)]


def _emitted(model: Model, text: bytes, path: Iterable[_Place]) -> Iterator[_Place]:
    """The path with uncovered characters as bytes, or as one."""
    byte_ids = {piece.text: n for n, piece in enumerate(model.pieces) if piece.kind == "byte"}
    pending: _Place | None = None
    for place in path:
        unknown = place.id == model.unk_id
        if pending is not None and unknown and model.fuse_unknown:
            pending = pending._replace(end=place.end)
            continue
        if pending is not None:
            yield pending
            pending = None
        if unknown and model.byte_fallback:
            for at in range(place.start, place.end):
                yield _Place(byte_ids[b"<0x%02X>" % text[at]], at, at + 1)
        elif unknown:
            pending = place
        else:
            yield place
    if pending is not None:
        yield pending


def _uniform(seed: int) -> Iterator[float]:
    """SplitMix64 (Steele, Lea and Flood 2014), its upper 53 bits as numbers in [0, 1)."""
    mask, state = (1 << 64) - 1, seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        yield ((z ^ (z >> 31)) >> 11) / (1 << 53)


def _required_characters(
    texts: Mapping[str, int], coverage: float, extra_alphabet: str
) -> dict[str, int]:
    """Characters every vocabulary keeps and their counts, most frequent first."""
    counts: Counter[str] = Counter()
    for text, count in texts.items():
        for character in text:
            counts[character] += count
    total, covered = sum(counts.values()), 0
    chosen = {}
    for character in sorted(counts, key=lambda c: (-counts[c], c)):
        enough = covered / total >= coverage
        if not enough or character in extra_alphabet:
            chosen[character] = counts[character]
        if not enough:
            covered += counts[character]
    chosen |= {character: counts[character] for character in extra_alphabet}
    return dict(sorted(chosen.items(), key=lambda item: (-item[1], item[0])))


def _words(texts: Mapping[str, int], characters: set[str]) -> dict[str, int]:
    """Runs of required characters and their counts, sorted."""
    words: Counter[str] = Counter()
    for text, count in texts.items():
        run = ""
        for character in text:
            if character in characters:
                run += character
            else:
                words[run] += count
                run = ""
        words[run] += count
    del words[""]
    return dict(sorted(words.items()))


def _seed_scores(
    words: Mapping[str, int], alphabet: Mapping[str, int], max_length: int, seed_size: int
) -> dict[str, float]:
    """Characters and the substrings of most occurrences times length, as log shares.

    A substring counts when what follows it differs, the end of a word always being different.
    """
    counts: Counter[str] = Counter()
    followers: dict[str, set[str]] = defaultdict(set)
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 2, min(len(word), start + max_length) + 1):
                counts[word[start:end]] += count
                followers[word[start:end]].add(word[end : end + 1])
    merits = {
        text: count * len(text)
        for text, count in counts.items()
        if count >= 2 and (len(followers[text]) > 1 or "" in followers[text])
    }
    best = sorted(merits, key=lambda text: (-merits[text], text))[:seed_size]
    shares = {character: max(float(count), LEAST_EXPECTED) for character, count in alphabet.items()}
    seeds = {text: float(merits[text]) for text in best}
    log_total = math.log(_sum(shares.values()) + _sum(seeds.values()))
    return {text: _on_grid(math.log(share) - log_total) for text, share in (shares | seeds).items()}


def _expected_counts(words: Mapping[str, int], scores: Mapping[str, float]) -> dict[str, float]:
    """Occurrences of each piece that the model expects, by the forward-backward algorithm."""
    probabilities = {piece: math.exp(score) for piece, score in scores.items()}
    longest = max(map(len, scores), default=0)
    expected = dict.fromkeys(scores, 0.0)
    for word, count in words.items():
        n = len(word)
        # A power of two for each character, the same on every path, keeps the sums near 1.
        lift = round(-_best_path(word, scores)[0] / (n * math.log(2)))
        edges = [
            (start, end, word[start:end])
            for start in range(n)
            for end in range(start + 1, min(n, start + longest) + 1)
            if word[start:end] in probabilities
        ]
        forward, backward = [1.0, *[0.0] * n], [0.0] * (n + 1)
        for start, end, piece in edges:
            lifted = math.ldexp(probabilities[piece], lift * len(piece))
            forward[end] += forward[start] * lifted
        backward[n] = count / forward[n]
        for start, end, piece in reversed(edges):
            weight = math.ldexp(probabilities[piece], lift * len(piece)) * backward[end]
            backward[start] += weight
            expected[piece] += forward[start] * weight
    return expected


def _maximized(expected: Mapping[str, float], alphabet: Mapping[str, int]) -> dict[str, float]:
    """Scores from expected counts; pieces expected too rarely are gone, characters stay."""
    kept = {}
    for piece, exact_count in expected.items():
        # Rounded, counts that are equal but for the order of their sums become equal.
        count = _significant(exact_count)
        if piece in alphabet:
            kept[piece] = max(count, LEAST_EXPECTED)
        elif count >= LEAST_EXPECTED:
            kept[piece] = count
    log_total = digamma(_sum(kept.values()))
    return {piece: _on_grid(digamma(count) - log_total) for piece, count in kept.items()}


def _pruned(
    words: Mapping[str, int],
    scores: Mapping[str, float],
    alphabet: Mapping[str, int],
    n_kept: int,
) -> set[str]:
    """The required characters, and the pieces whose loss would cost most likelihood."""
    counts: Counter[str] = Counter()
    for word, count in words.items():
        for piece in _best_path(word, scores)[1]:
            counts[piece] += count
    total, n_words = float(sum(counts.values())), sum(words.values())
    losses = {}
    for piece in scores:
        count = counts[piece]
        if piece in alphabet or count == 0:
            continue
        score, alternative = _best_path(piece, scores, without=piece)
        if score > scores[piece]:
            continue
        log_total_then = math.log(total + count * (len(alternative) - 1.0))
        log_then = 0.0
        for part in alternative:
            log_then += math.log(counts[part] + count) - log_total_then
        log_now = math.log(count) - math.log(total)
        losses[piece] = _significant(count / n_words * (log_now - log_then))
    order = sorted(losses, key=lambda piece: -losses[piece])
    return {*alphabet, *order[: n_kept - len(alphabet)]}


def _best_path(
    text: str, scores: Mapping[str, float], without: str = ""
) -> tuple[float, list[str]]:
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(text) + 1):
        best.append((-math.inf, 0))
        for start in range(end):
            piece = text[start:end]
            if piece in scores and piece != without:
                score = best[start][0] + scores[piece]
                if score > best[end][0]:
                    best[end] = (score, start)
    path, end = [], len(text)
    while end > 0:
        start = best[end][1]
        path.append(text[start:end])
        end = start
    return best[-1][0], path[::-1]


def _sum(values: Iterable[float]) -> float:
    """A sum from left to right; the builtin compensates for rounding since Python 3.12."""
    total = 0.0
    for value in values:
        total += value
    return total


def _on_grid(score: float) -> float:
    """The nearest multiple of 2^-40: sums of such scores are exact."""
    return round(score * 2.0**40) / 2.0**40


def _significant(x: float) -> float:
    """``x`` with 32 significant bits: what mathematics says is equal compares equal."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(mantissa * 2.0**32), exponent - 32)
