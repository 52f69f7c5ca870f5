"""Hold a changed tokenizer to its laws."""

from collections.abc import Mapping, Set

from subword.counts import PretokenCounts
from subword.models import Bpe, Pieces, Unigram
from subword.tokenizer import Tokenizer
from subword.types import TokenId
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import Certificate, Law, LawName, Unreachable
from subword.vocabulary.checks import (
    HOSTILE_TEXTS,
    Comparison,
    Texts,
    broken_round_trips,
    collisions,
    compare,
    model_alone,
    named_texts,
    unreachable,
)
from subword.vocabulary.id_map import id_map_of
from subword.vocabulary.words import words_of

__all__ = ["certified"]


def certified(
    change: str,
    old: Tokenizer,
    new: Tokenizer,
    old_to_new: Mapping[TokenId, TokenId | None],
    counts: PretokenCounts | None,
    texts: Texts,
    allowed: Set[str],
) -> Adapted:
    """Give a changed tokenizer with its certificate.

    Args:
        change: ``"extend"``, ``"merge"`` or ``"prune"``.
        old: The tokenizer before.
        new: The tokenizer after.
        old_to_new: New id of each old id; None for a token that is gone.
        counts: Pre-tokens to look at; their sizes are weighted.
        texts: Documents to look at, or sources of them by name.
        allowed: Laws that may be broken.

    Raises:
        BrokenLawError: A law is broken and not allowed.
        ArgumentError: A single text in place of a list.
    """
    comparisons = []
    if counts is not None and len(counts):
        is_bytes = isinstance(old.model, Bpe)
        words, numbers = (list(counts), counts.counts()) if is_bytes else words_of(old, counts)
        alone = model_alone(old), model_alone(new)
        comparisons.append(compare("counts", words, *alone, old_to_new, numbers))
    for name, documents in named_texts(texts).items():
        comparisons.append(compare(name, documents, old, new, old_to_new))
    id_map = id_map_of(old, new, old_to_new)
    statuses = id_map.counts()
    used = frozenset[int]().union(*(comparison.used for comparison in comparisons))
    added = frozenset(id_map.pieces)
    lost = unreachable(new, added, used)
    is_prune = change == "prune"
    laws = (
        _ids_law(old, new, old_to_new, moves=is_prune),
        _untouched_law(old, comparisons) if is_prune else _coarsening_law(old, new, comparisons),
        _reachability_law(old, old_to_new, lost),
        _collisions_law(old, new),
        _round_trip_law(old, new),
    )
    certificate = Certificate(
        change=change,
        old_size=old.vocab_size,
        new_size=new.vocab_size,
        n_added=statuses["added"],
        n_removed=statuses["removed"],
        n_moved=statuses["moved"],
        laws=laws,
        sources=tuple(comparison.change for comparison in comparisons),
        unreachable=lost,
        moved=tuple(place for c in comparisons for place in c.moved if not is_prune),
    )
    certificate.require(allowed)
    return Adapted(new, id_map, certificate)


def _ids_law(
    old: Tokenizer,
    new: Tokenizer,
    old_to_new: Mapping[TokenId, TokenId | None],
    *,
    moves: bool,
) -> Law:
    before, after = old.vocab, new.vocab
    wrong = [
        at
        for at, token in before.items()
        if (new_id := old_to_new[at]) is not None
        and (after.get(new_id) != token or (new_id != at and not moves))
    ]
    special = [
        text
        for text, at in old.special_tokens.items()
        if new.special_tokens[text] != old_to_new[at]
    ]
    if wrong or special:
        what = f"id {wrong[0]}" if wrong else f"special token {special[0]!r:.40}"
        return _broken("ids", f"{what} stands for another token now")
    n_kept = sum(new_id is not None for new_id in old_to_new.values())
    where = "are where the id map says" if moves else "are where they were"
    return Law("ids", "proved", f"all {n_kept:,} old tokens that stay {where}")


def _coarsening_law(old: Tokenizer, new: Tokenizer, comparisons: list[Comparison]) -> Law:
    n_torn = sum(comparison.n_torn for comparison in comparisons)
    n = sum(comparison.change.n_documents for comparison in comparisons)
    n_changed = sum(comparison.change.n_changed for comparison in comparisons)
    if n_torn:
        return _broken("coarsening", f"{n_torn:,} of {n:,} texts are cut where they were not")
    seen = f"{n:,} texts looked at, {n_changed:,} with tokens joined, none cut anew"
    rule = _coarsening_rule(old, new)
    return (
        Law("coarsening", "proved", f"{rule}; {seen}")
        if rule
        else Law("coarsening", "checked", seen)
    )


def _coarsening_rule(old: Tokenizer, new: Tokenizer) -> str | None:
    """Give why no text can be cut anew, where a rule says so."""
    before, after = old.model, new.model
    if isinstance(before, Bpe) and isinstance(after, Bpe):
        n_old = len(before.merges)
        made = {after.vocab[a] + after.vocab[b] for a, b in after.merges[n_old:]}
        keeps = tuple(after.merges[:n_old]) == tuple(before.merges)
        if keeps and not made & set(before.vocab.values()):
            return "old merges come first, and no new one makes an old token"
    if isinstance(before, Pieces) and isinstance(after, Pieces) and before.kind == "bpe":
        n_pieces = len(before.pieces)
        old_scores = [piece.score for piece in before.pieces if piece.kind == "normal"]
        new_scores = [piece.score for piece in after.pieces[n_pieces:]]
        keeps = tuple(after.pieces[:n_pieces]) == tuple(before.pieces)
        # Without bytes, unknown characters in a row are one id, which a new character cuts.
        keeps = keeps and after.byte_fallback
        if keeps and max(new_scores, default=-1e38) < min(old_scores, default=1e38):
            return "every new score is below all old ones"
    return None


def _untouched_law(old: Tokenizer, comparisons: list[Comparison]) -> Law:
    n_touched = sum(comparison.n_touched for comparison in comparisons)
    n = sum(comparison.change.n_documents for comparison in comparisons)
    n_changed = sum(comparison.change.n_changed for comparison in comparisons)
    if n_touched:
        return _broken(
            "untouched", f"{n_touched:,} of {n:,} texts without a removed token have other tokens"
        )
    seen = f"{n:,} texts looked at, {n_changed:,} with a removed token, the others as before"
    if not isinstance(old.model, Unigram):
        rule = "only tokens that no other one is made of were removed"
        return Law("untouched", "proved", f"{rule}; {seen}")
    return Law("untouched", "checked", seen)


def _reachability_law(
    old: Tokenizer,
    old_to_new: Mapping[TokenId, TokenId | None],
    lost: tuple[Unreachable, ...],
) -> Law:
    fatal = {row.token_id: row for row in lost if row.reason != "inside"}
    was_lost = {
        old_to_new[row.token_id] for row in unreachable(old, frozenset()) if row.reason != "inside"
    }
    worse = [row for at, row in fatal.items() if row.is_added or at not in was_lost]
    n_old = len(fatal) - len(worse)
    if worse:
        first = worse[0]
        return _broken(
            "reachability",
            f"{len(worse):,} tokens cannot be reached, the first {first.token!r:.40} "
            f"(id {first.token_id}, {first.reason})",
        )
    before = f"; {n_old:,} old ones were not before either" if n_old else ""
    return Law("reachability", "checked", f"each token looked at, each new one is reached{before}")


def _collisions_law(old: Tokenizer, new: Tokenizer) -> Law:
    before, after = collisions(old), collisions(new)
    if len(after) > len(before):
        return _broken("collisions", after[-1])
    rest = f"no more than the {len(before):,} before" if before else "no two tokens are equal"
    return Law("collisions", "proved", rest)


def _round_trip_law(old: Tokenizer, new: Tokenizer) -> Law:
    broken = broken_round_trips(old, new)
    if broken:
        return _broken(
            "round_trip", f"{len(broken)} hostile texts decode otherwise: {broken[0]!r:.40}"
        )
    return Law("round_trip", "checked", f"{len(HOSTILE_TEXTS)} hostile texts decode as before")


def _broken(name: LawName, detail: str) -> Law:
    return Law(name, "broken", detail)
