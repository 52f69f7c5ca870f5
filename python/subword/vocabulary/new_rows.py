"""Rows of a matrix for tokens that it has none for."""

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from subword.errors import VocabularyError
from subword.types import TokenId
from subword.vocabulary.donor import Weights
from subword.vocabulary.id_map import IdMap
from subword.vocabulary.safetensors_rows import Floats, TensorFile, to_floats

__all__ = ["Method", "Statistics", "added_rows", "statistics"]

Method = Literal["mean", "weighted", "first_last", "normal", "omp"]
"""``mean``: of the old pieces of the token. ``weighted``: by their bytes. ``first_last``: the
last piece's row where ids go in, the first one's where they come out. ``normal``: drawn with the
mean and covariance of all old rows. ``omp``: as a donor's row is made of its rows of old tokens."""

_TOKENS_AT_ONCE: Final = 512
# What more old rows than this are put together into, to draw from; and how many at once.
_MIXED_ROWS: Final = 8192
_ROWS_AT_ONCE: Final = 1024


class Statistics:
    """What the old rows that have a token are like.

    Attributes:
        mean: Their mean, shape (n_columns,), float64.
        least_norm: The smallest Euclidean norm of a row that is not 0.
        greatest_norm: The greatest.
        n_rows: How many.
    """

    def __init__(self, n_columns: int) -> None:
        self.mean = np.zeros(n_columns)
        self.least_norm = float("inf")
        self.greatest_norm = 0.0
        self.n_rows = 0

    def add(self, rows: Floats) -> None:
        """Take rows in."""
        self.n_rows += len(rows)
        if len(rows):
            self.mean += (rows.sum(axis=0, dtype=np.float64) - len(rows) * self.mean) / self.n_rows
            norms = np.linalg.norm(rows, axis=1)
            self.greatest_norm = max(self.greatest_norm, float(norms.max()))
            self.least_norm = min(
                self.least_norm, float(norms.min(initial=np.inf, where=norms > 0))
            )


def statistics(file: TensorFile, name: str, known: npt.NDArray[np.bool_]) -> Statistics:
    """Read a matrix once.

    Args:
        file: Where it is.
        name: Its name.
        known: Which rows have a token, shape (n_rows,), bool.

    Raises:
        VocabularyError: A row that is not finite.
    """
    found = Statistics(file.tensors[name].n_columns)
    for first, rows in file.blocks(name):
        rows = rows[known[first : first + len(rows)]]
        if not np.isfinite(rows).all():
            raise VocabularyError(
                f"{file.path}: {name} has a row from {first} on that is not finite; repair it first"
            )
        found.add(rows)
    return found


def added_rows(
    file: TensorFile,
    name: str,
    id_map: IdMap,
    method: Method,
    *,
    is_output: bool,
    known: npt.NDArray[np.bool_],
    about: Statistics,
    seed: int,
    weights: Weights | None = None,
) -> dict[TokenId, Floats]:
    """Give the row of each added token, its norm within the range of the old ones.

    Args:
        file: Where the matrix is.
        name: Its name.
        id_map: The old pieces of each added token.
        method: How rows are made; tokens without pieces get the mean of all rows.
        is_output: Whether ids come out of it, which ``first_last`` asks for.
        known: Which old rows have a token.
        about: What these are like.
        seed: Of ``normal``.
        weights: Of ``omp``: the old rows that each new row is the sum of, and their factors.
    """
    ids = sorted(id_map.pieces)
    if not ids:
        return {}
    if method == "normal":
        rows = _drawn(file, name, len(ids), known, about, seed)
    elif weights is not None:
        rows = _combined(file, name, {at: weights.get(at, {}) for at in ids}, about)
    else:
        shares = {at: _shares(id_map, at, method, is_output=is_output) for at in ids}
        rows = _combined(file, name, shares, about)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    wanted = np.clip(norms, min(about.least_norm, about.greatest_norm), about.greatest_norm)
    rows *= np.divide(wanted, norms, out=np.ones_like(norms), where=norms > 0)
    return dict(zip(ids, rows, strict=True))


def _shares(
    id_map: IdMap, new_id: TokenId, method: Method, *, is_output: bool
) -> dict[TokenId, float]:
    pieces, lengths = id_map.pieces[new_id], id_map.n_bytes[new_id]
    if not pieces:
        return {}
    if method == "first_last":
        return {pieces[0 if is_output else -1]: 1.0}
    shares = lengths if method == "weighted" else (1,) * len(pieces)
    weights: dict[TokenId, float] = {}
    for piece, share in zip(pieces, shares, strict=True):
        weights[piece] = weights.get(piece, 0.0) + share / sum(shares)
    return weights


def _combined(
    file: TensorFile,
    name: str,
    weights: Weights,
    about: Statistics,
) -> Floats:
    tensor = file.tensors[name]
    made = np.zeros((len(weights), tensor.n_columns), np.float32)
    items = list(weights.values())
    for start in range(0, len(items), _TOKENS_AT_ONCE):
        part = items[start : start + _TOKENS_AT_ONCE]
        needed = {piece for row in part for piece in row}
        rows = {
            piece: to_floats(file.rows(name, piece, 1), tensor.dtype)[0] for piece in sorted(needed)
        }
        for at, row in enumerate(part, start=start):
            made[at] = (
                sum(share * rows[piece] for piece, share in row.items()) if row else about.mean
            )
    return made


def _drawn(
    file: TensorFile,
    name: str,
    n_rows: int,
    known: npt.NDArray[np.bool_],
    about: Statistics,
    seed: int,
) -> Floats:
    """Draw rows: sums of centred old rows with normal weights have exactly their covariance.

    Many old rows are first put together into fewer, each into one of these with a random sign:
    what is drawn still has their covariance on the mean over all signs, at a fraction of the work.
    Source: Charikar, Chen and Farach-Colton 2002, "Finding Frequent Items in Data Streams".
    """
    generator = np.random.default_rng(seed)
    mean = about.mean.astype(np.float32)
    made = np.zeros((n_rows, len(mean)), np.float32)
    n_mixed = _MIXED_ROWS if about.n_rows > _MIXED_ROWS else 0
    mixed = np.zeros((n_mixed, len(mean)), np.float32)
    for first, rows in file.blocks(name):
        centred = rows[known[first : first + len(rows)]] - mean
        if n_mixed:
            signs = generator.integers(0, 2, (len(centred), 1)) * np.float32(2) - np.float32(1)
            places = generator.integers(0, n_mixed, len(centred))
            np.add.at(mixed, places, centred * signs.astype(np.float32))
        else:
            made += generator.standard_normal((n_rows, len(centred)), np.float32) @ centred
    for start in range(0, n_mixed, _ROWS_AT_ONCE):
        part = mixed[start : start + _ROWS_AT_ONCE]
        made += generator.standard_normal((n_rows, len(part)), np.float32) @ part
    return made / np.float32(np.sqrt(max(about.n_rows, 1))) + mean
