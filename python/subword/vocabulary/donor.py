"""Rows of new tokens from another model: as its rows are made of rows that both models have.

Orthogonal matching pursuit (Pati, Rezaiifar and Krishnaprasad 1993) writes the donor's row of a
new token as a sum of a few of its rows of tokens that the old vocabulary has too; the same sum of
the old rows is the new row. Source: Goddard and Fernandes Neto 2025, "Training-Free Tokenizer
Transplantation via Orthogonal Matching Pursuit"; mergekit 0.1, ``tokensurgeon``.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Final

import numpy as np
import numpy.typing as npt

from subword.errors import VocabularyError
from subword.tokenizer import Tokenizer
from subword.types import TokenId
from subword.vocabulary.id_map import IdMap
from subword.vocabulary.safetensors_rows import Floats, TensorFile, to_floats
from subword.vocabulary.words import body_of

__all__ = ["Donor", "Weights", "donor_weights", "pursue"]

Doubles = npt.NDArray[np.float64]

Weights = Mapping[TokenId, Mapping[TokenId, float]]
"""Old ids and their factors, for each new id."""

# Old rows that each pursuit chooses from: those nearest to its donor row by cosine, so that the
# work is bounded. With fewer old tokens in common than this, it is the pursuit over all.
_CANDIDATES: Final = 512
_TOKENS_AT_ONCE: Final = 1024
# Where what is left of a row is this small beside it, in 32 bits nothing is left.
_REST: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Donor:
    """Another model, whose vocabulary has the new tokens.

    Attributes:
        checkpoint: Its ``.safetensors`` file, or its folder.
        donor_tokenizer: Its tokenizer.
        tokenizer: The changed tokenizer that the id map belongs to.
        n_atoms: Most old tokens that a new row is made of; 64 as in the source.
        matrix: The name of its input matrix, where it is none of the usual ones.
    """

    checkpoint: str | PathLike[str]
    donor_tokenizer: Tokenizer
    tokenizer: Tokenizer
    n_atoms: int = 64
    matrix: str | None = None


def donor_weights(
    donor: Donor, file: TensorFile, name: str, id_map: IdMap
) -> dict[TokenId, dict[TokenId, float]]:
    """Give the old rows, and their factors, that each new row is the sum of.

    A new token that the donor lacks stands for the mean of its pieces there; one of which it
    knows nothing is left out.

    Args:
        donor: The model and the two tokenizers.
        file: Where its matrix is.
        name: Its name.
        id_map: The ids of the changed tokenizer.

    Raises:
        VocabularyError: A tokenizer that is not that of its ids, no token in common, or rows that
            are not finite.
    """
    new, other = donor.tokenizer, donor.donor_tokenizer
    if new.vocab_size != id_map.new_size:
        raise VocabularyError(
            f"the changed tokenizer has {new.vocab_size} ids, but the id map {id_map.new_size}; "
            "give the tokenizer that was saved with it"
        )
    if file.tensors[name].shape[0] < other.vocab_size:
        raise VocabularyError(
            f"{file.path}: {name} has {file.tensors[name].shape[0]} rows, but the donor's "
            f"tokenizer {other.vocab_size} ids, each of which needs one"
        )
    ours = new.vocab
    theirs = {body_of(other, token): at for at, token in other.model.vocab.items()}
    shared = sorted(
        (theirs[body], old_id)
        for old_id, new_id in id_map.old_to_new.items()
        if new_id is not None and (body := body_of(new, ours.get(new_id, b""))) in theirs and body
    )
    if not shared:
        raise VocabularyError("the donor has no token that the old vocabulary has")
    anchors = np.array([at for at, _ in shared], np.int64)
    old_ids = [old_id for _, old_id in shared]
    weights: dict[TokenId, dict[TokenId, float]] = {}
    ids = sorted(id_map.pieces)
    for start in range(0, len(ids), _TOKENS_AT_ONCE):
        wanted = _wanted_rows(donor, file, name, ids[start : start + _TOKENS_AT_ONCE], theirs)
        nearest = _nearest(file, name, anchors, np.array(list(wanted.values()), np.float32))
        for (new_id, row), places in zip(wanted.items(), nearest, strict=True):
            atoms = _rows(file, name, anchors[places].tolist())
            chosen, factors = pursue(row, atoms, donor.n_atoms)
            weights[new_id] = {
                old_ids[int(places[at])]: float(factor)
                for at, factor in zip(chosen, factors, strict=True)
            }
    return weights


def _wanted_rows(
    donor: Donor, file: TensorFile, name: str, ids: Iterable[TokenId], theirs: Mapping[bytes, int]
) -> dict[TokenId, Floats]:
    """Give what the donor has for each new token."""
    alone = Tokenizer(donor.donor_tokenizer.model)
    vocab = donor.tokenizer.vocab
    found: dict[TokenId, Floats] = {}
    for new_id in ids:
        body = body_of(donor.tokenizer, vocab[new_id])
        pieces = [theirs[body]] if body in theirs else alone.encode(vocab[new_id])
        if pieces:
            found[new_id] = _rows(file, name, pieces).mean(axis=0)
    return found


def _nearest(
    file: TensorFile, name: str, anchors: npt.NDArray[np.int64], wanted: Floats
) -> npt.NDArray[np.int64]:
    """Give the places of the anchors nearest to each row by cosine: shape (n_rows, n)."""
    n = min(_CANDIDATES, len(anchors))
    best = np.full((len(wanted), 0), -np.inf, np.float32)
    places = np.zeros((len(wanted), 0), np.int64)
    for first, rows in file.blocks(name):
        low, high = np.searchsorted(anchors, [first, first + len(rows)]).tolist()
        part = rows[anchors[low:high] - first]
        if not np.isfinite(part).all():
            raise VocabularyError(f"{file.path}: {name} has a row that is not finite")
        found = np.abs(wanted @ _unit(part).T)
        numbers = np.broadcast_to(np.arange(low, high), found.shape)
        best, places = np.hstack([best, found]), np.hstack([places, numbers])
        if best.shape[1] > n:
            kept = np.argpartition(-best, n - 1, axis=1)[:, :n]
            best = np.take_along_axis(best, kept, axis=1)
            places = np.take_along_axis(places, kept, axis=1)
    return np.sort(places, axis=1)


def pursue(row: Floats, atoms: Floats, n_atoms: int) -> tuple[list[int], Doubles]:
    """Choose the atom that fits what is left of the row best, and fit all chosen, in turn.

    What each atom fits of the rest follows from the products of all atoms, which are taken once: in
    single precision, since they only choose. Source: Rubinstein, Zibulevsky and Elad 2008,
    "Efficient Implementation of the K-SVD Algorithm using Batch Orthogonal Matching Pursuit".

    Args:
        row: What to make, of shape (d,).
        atoms: What to make it of, of shape (n, d); of equal fits the first is chosen.
        n_atoms: Most to choose; fewer where nothing of the row is left that one fits.

    Returns:
        The places of the chosen, in turn, and their factors in float64.
    """
    n_most = min(n_atoms, len(atoms))
    units = _unit(atoms)
    target = row.astype(np.float64)
    products = units @ units.T
    fits_alone = units.astype(np.float64) @ target
    basis, inner = np.zeros((n_most, len(target))), np.zeros((n_most, n_most))
    chosen: list[int] = []
    factors: Doubles = np.zeros(0)
    left = target
    while (n := len(chosen)) < n_most:
        fits = np.abs(fits_alone - products[:, chosen] @ factors)
        fits[chosen] = -1.0
        best = int(fits.argmax())
        unit = units[best].astype(np.float64)
        if abs(unit @ left) <= _REST * np.linalg.norm(target):
            break
        chosen.append(best)
        basis[n] = unit
        inner[n, : n + 1] = inner[: n + 1, n] = basis[: n + 1] @ unit
        factors = np.asarray(
            np.linalg.lstsq(inner[: n + 1, : n + 1], fits_alone[chosen], rcond=None)[0]
        )
        left = target - factors @ basis[: n + 1]
    return chosen, factors / np.linalg.norm(atoms[chosen].astype(np.float64), axis=1)


def _rows(file: TensorFile, name: str, ids: Iterable[TokenId]) -> Floats:
    dtype = file.tensors[name].dtype
    return to_floats(np.concatenate([file.rows(name, at, 1) for at in ids]), dtype)


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    units: Floats = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return units
