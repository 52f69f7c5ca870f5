"""One pre-token to ids, step by step, with each kind of model."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from subword.models import Bpe, CharacterBpe, Characters, Model, Unigram, WordPiece, Words
from subword.reference import character_bpe, unigram, wordpiece
from subword.trace.encode_records import MatchTried, MergeApplied, PathCandidate, PathStep
from subword.types import TokenId

__all__ = ["Traced", "most_parts", "tracer"]

MAX_PIECE_WORK: Final = 64
"""Candidates that a place of a Unigram pre-token is counted as, for the limit of a trace."""


class Traced(NamedTuple):
    """How a pre-token came to its ids: the parts before, the steps, the tokens and ids after."""

    start: tuple[bytes, ...]
    merges: tuple[MergeApplied, ...]
    tokens: tuple[bytes, ...]
    ids: tuple[TokenId, ...]
    matches: tuple[MatchTried, ...] = ()
    ways: tuple[PathStep, ...] = ()


def tracer(model: Model) -> Callable[[bytes], Traced] | None:
    """Give what traces a pre-token with a model; None for a model that no trace knows."""
    match model:
        case Bpe():
            return _byte_bpe(model)
        case CharacterBpe():
            return _character_bpe(model)
        case WordPiece():
            return _wordpiece(model)
        case Unigram():
            return _unigram(model)
        case Words() | Characters():
            return _looked_up(model)
        case _:
            return None


def most_parts(model: Model, n_bytes: int) -> int:
    """Give the most parts that the steps of a pre-token can have together."""
    if isinstance(model, Words | Characters):
        return n_bytes
    return n_bytes * MAX_PIECE_WORK if isinstance(model, Unigram) else n_bytes**2 // 2


def _byte_bpe(model: Bpe) -> Callable[[bytes], Traced]:
    vocab = model.vocab
    ids = {token: token_id for token_id, token in vocab.items()}
    ranks = _ranks(vocab, model.merges)

    def trace(pretoken: bytes) -> Traced:
        if model.whole_first and pretoken in ids:
            return Traced((pretoken,), (), (pretoken,), (ids[pretoken],))
        start = tuple(bytes([byte]) for byte in pretoken)
        steps, parts = _merged(start, ranks, lambda left, right: left + right)
        return Traced(start, steps, parts, tuple(ids[part] for part in parts))

    return trace


def _character_bpe(model: CharacterBpe) -> Callable[[bytes], Traced]:
    vocab = model.vocab
    ids = {token: token_id for token_id, token in vocab.items()}
    ranks = _ranks(vocab, model.merges)
    prefix = model.continuing_subword_prefix.encode()
    suffix = model.end_of_word_suffix.encode()
    unk_id = None if model.unk_token is None else ids[model.unk_token.encode()]

    def trace(pretoken: bytes) -> Traced:
        if model.whole_first and pretoken in ids:
            return Traced((pretoken,), (), (pretoken,), (ids[pretoken],))
        spans = character_bpe.encode_spans(
            pretoken,
            ids,
            [],
            unk_id=unk_id,
            byte_fallback=model.byte_fallback,
            continuing_subword_prefix=prefix,
            end_of_word_suffix=suffix,
        )
        start = []
        for token_id, first, last in spans:
            spelled = pretoken[first:last]
            marked = (prefix if first else b"") + spelled
            marked += suffix if last == len(pretoken) else b""
            is_unknown = token_id == unk_id and vocab[token_id] != marked
            # An unknown character is shown as it is; no merge is of it.
            start.append((marked if is_unknown else vocab[token_id], is_unknown))
        shown = tuple(text for text, _ in start)
        known = {pair: rank for pair, rank in ranks.items() if pair[0] in ids and pair[1] in ids}
        steps, parts = _merged(shown, known, lambda left, right: left + right.removeprefix(prefix))
        tokens: list[bytes] = []
        for part in parts:
            token = part if part in ids else (model.unk_token or "").encode()
            is_fused = part not in ids and model.fuse_unk and tokens[-1:] == [token]
            tokens += [] if is_fused else [token]
        return Traced(shown, steps, tuple(tokens), tuple(ids[token] for token in tokens))

    return trace


def _ranks(
    vocab: Mapping[TokenId, bytes], merges: Sequence[tuple[TokenId, TokenId]]
) -> dict[tuple[bytes, bytes], int]:
    ranks: dict[tuple[bytes, bytes], int] = {}
    for rank, (left, right) in enumerate(merges):
        ranks.setdefault((vocab[left], vocab[right]), rank)
    return ranks


def _merged(
    start: tuple[bytes, ...],
    ranks: Mapping[tuple[bytes, bytes], int],
    join: Callable[[bytes, bytes], bytes],
) -> tuple[tuple[MergeApplied, ...], tuple[bytes, ...]]:
    """Merge the lowest rank first, the leftmost of equal ones, until no pair has a rank."""
    parts = start
    merges: list[MergeApplied] = []
    while turns := [(ranks[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in ranks]:
        rank, at = min(turns)
        pair = (parts[at], parts[at + 1])
        parts = (*parts[:at], join(*pair), *parts[at + 2 :])
        merges.append(MergeApplied(rank, pair, at, parts))
    return tuple(merges), parts


def _wordpiece(model: WordPiece) -> Callable[[bytes], Traced]:
    tokens = {token: token_id for token_id, token in model.vocab.items()}
    prefix = model.prefix.encode()

    def trace(word: bytes) -> Traced:
        steps: list[MatchTried] = []
        at = 0
        is_too_long = len(wordpiece.characters(word)) > model.max_input_chars_per_word
        while at < len(word) and not is_too_long:
            tried: list[bytes] = []
            mark = prefix if at else b""
            for end in range(len(word), at, -1):
                tried.append(mark + word[at:end])
                if tried[-1] in tokens:
                    steps.append(MatchTried(at, tuple(tried), tried[-1]))
                    at = end
                    break
            else:
                steps.append(MatchTried(at, tuple(tried), None))
                break
        found = [step.token for step in steps if step.token is not None]
        if (is_too_long or len(found) < len(steps)) and model.unk_token is not None:
            found = [model.unk_token.encode()]
        ids = tuple(tokens[token] for token in found)
        return Traced((word,), (), tuple(found), ids, matches=tuple(steps))

    return trace


def _unigram(model: Unigram) -> Callable[[bytes], Traced]:
    twin = unigram.Model(
        [unigram.Piece(piece.text, piece.score, piece.kind) for piece in model.pieces],
        model.unk_id,
        model.byte_fallback,
        model.fuse_unknown,
        model.single_precision,
    )

    def trace(pretoken: bytes) -> Traced:
        spans = unigram.encode(twin, pretoken)
        borders = {end for _, _, end in spans}
        best = {0: 0.0}
        steps = []
        for end, edges in sorted(unigram.edges_by_end(twin, pretoken).items()):
            candidates = [
                PathCandidate(
                    pretoken[edge.start : end],
                    edge.start,
                    edge.score,
                    best[edge.start] + edge.score,
                )
                for edge in edges
            ]
            candidates.sort(key=lambda candidate: (-candidate.total, candidate.start))
            best[end] = candidates[0].total
            steps.append(PathStep(end, tuple(candidates), end in borders))
        ids = tuple(token_id for token_id, _, _ in spans)
        pieces = tuple(model.pieces[token_id].text for token_id in ids)
        return Traced((pretoken,), (), pieces, ids, ways=tuple(steps))

    return trace


def _looked_up(model: Words | Characters) -> Callable[[bytes], Traced]:
    def trace(pretoken: bytes) -> Traced:
        parts: tuple[bytes, ...] = (pretoken,)
        if isinstance(model, Characters):
            # A byte that is no part of UTF-8 is a character of its own.
            text = pretoken.decode("utf-8", "surrogateescape")
            parts = tuple(character.encode("utf-8", "surrogateescape") for character in text)
        ids = {token: token_id for token_id, token in _near(model, parts).items()}
        tokens = tuple(part if part in ids else (model.unk_token or "").encode() for part in parts)
        return Traced(parts, (), tokens, tuple(ids[token] for token in tokens))

    return trace


def _near(model: Words | Characters, parts: Sequence[bytes]) -> Mapping[TokenId, bytes]:
    """Give the vocabulary, or of all of Unicode what ``parts`` need of it."""
    if len(model.vocab) < 0x10F800:
        return model.vocab
    return {ord(part.decode()): part for part in parts}
