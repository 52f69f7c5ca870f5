"""Texts that are cut where they were not, and what moved there."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from subword.models import Bpe, Pieces, Unigram, unknown_id
from subword.tokenizer import Tokenizer
from subword.types import Ragged, TextLike
from subword.vocabulary.certificate import Moved

__all__ = ["changed_texts", "moved", "torn_texts"]

_MOST_SHOWN: Final = 10


def torn_texts(
    batch: Sequence[TextLike],
    before: Ragged,
    after: Ragged,
    old: Tokenizer,
    new: Tokenizer,
    changed: npt.NDArray[np.bool_],
) -> list[int]:
    """Give the documents in which a new token ends inside an old one that was known."""
    old_lengths = _token_lengths(old)[before.ids]
    new_lengths = _token_lengths(new)[after.ids]
    if old_lengths.all() and new_lengths.all():
        # All documents laid end to end: both encodings cover the same bytes.
        inside = np.isin(np.cumsum(new_lengths), np.cumsum(old_lengths))
        torn: list[int] = np.unique(_rows(after)[~inside]).tolist()
        return torn
    return [at for at in np.flatnonzero(changed).tolist() if _torn_at(batch[at], old, new) >= 0]


def changed_texts(
    before: Ragged, after: Ragged, places: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Tell which documents have other tokens now, and which had one that is gone.

    ``places`` has the new id of each old one, -1 for none.
    """
    expected, found = places[before.ids], after.ids.astype(np.int64)
    old_rows, new_rows = _rows(before), _rows(after)
    same_length = np.diff(before.bounds) == np.diff(after.bounds)
    changed = ~same_length
    removed = np.zeros(len(changed), bool)
    removed[old_rows[expected < 0]] = True
    in_old, in_new = same_length[old_rows], same_length[new_rows]
    changed[old_rows[in_old][expected[in_old] != found[in_new]]] = True
    return changed, removed


def moved(source: str, texts: Sequence[TextLike], old: Tokenizer, new: Tokenizer) -> list[Moved]:
    """Show what moved in texts that are torn: the first place of each, of the first ten."""
    shown = []
    for text in texts[:_MOST_SHOWN]:
        data = text.encode() if isinstance(text, str) else text
        torn_at = _torn_at(text, old, new)
        sides = [tok.encode_spans(text).byte_spans for tok in (old, new)]
        ends = [{0, *(end for _, end in spans)} for spans in sides]
        common = sorted(ends[0] & ends[1])
        start = max((end for end in common if end < torn_at), default=0)
        stop = min((end for end in common if end > torn_at), default=len(data))
        pieces = [
            tuple(data[s:e].decode(errors="replace") for s, e in spans if start <= s and e <= stop)
            for spans in sides
        ]
        shown.append(Moved(source, pieces[0], pieces[1]))
    return shown


def _rows(encoded: Ragged) -> npt.NDArray[np.int64]:
    """Give the text that each id is of."""
    return np.repeat(np.arange(len(encoded), dtype=np.int64), np.diff(encoded.bounds))


def _torn_at(text: TextLike, old: Tokenizer, new: Tokenizer) -> int:
    """Give the first byte at which a new token ends inside a known old one; -1 for none."""
    before, after = old.encode_spans(text), new.encode_spans(text)
    unk_id = unknown_id(old.model)
    # What was unknown may be cut in any way.
    ends = {0}
    for token_id, (start, end) in zip(before.ids, before.byte_spans, strict=True):
        ends.update(range(start, end + 1) if token_id == unk_id else (end,))
    return min((end for _, end in after.byte_spans if end not in ends), default=-1)


def _token_lengths(tokenizer: Tokenizer) -> npt.NDArray[np.int64]:
    """Give the bytes that each id stands for; 0 where that depends on the text."""
    lengths = np.zeros(tokenizer.vocab_size, np.int64)
    for token_id, token in tokenizer.vocab.items():
        lengths[token_id] = len(token)
    model = tokenizer.model
    if isinstance(model, Unigram | Pieces):
        for token_id, piece in enumerate(model.pieces):
            lengths[token_id] = {"byte": 1, "unknown": 0}.get(piece.kind, len(piece.text))
    elif not isinstance(model, Bpe):
        lengths[:] = 0
    return lengths
