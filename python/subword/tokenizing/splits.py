"""Which documents are kept for validation, and the order of those of a shard."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["is_validation", "shuffled"]


def is_validation(
    checksums: npt.NDArray[np.uint32], share: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Say which documents are kept for validation, by their checksums and nothing else.

    The checksum is the CRC-32 of a document's first 64 KiB, so that equal documents stay
    together. It is mixed with the seed by SplitMix64; the lowest share of the results is kept.

    Source: Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom Number Generators",
    figure 17 (the mixing function of SplitMix64).

    Examples:
        >>> is_validation(np.arange(6, dtype=np.uint32), 0.5, seed=0).tolist()
        [True, False, False, True, True, True]
    """
    mixed = checksums.astype(np.uint64)
    mixed = _mixed(mixed + _mixed(np.array([seed], np.uint64) + np.uint64(0x9E3779B97F4A7C15)))
    limit = min(round(share * 2**64), 2**64 - 1)
    return mixed < np.uint64(limit)


def shuffled(n_documents: int, seed: int, shard: tuple[int, int, int]) -> npt.NDArray[Any]:
    """Give the order of a shard's documents: a permutation that depends on the seed and its name.

    Source: NumPy, PCG64 and ``Generator.permutation``, seeded by ``SeedSequence``.
    """
    bits = np.random.PCG64(np.random.SeedSequence([seed, *shard]))
    # Sorting raw draws depends on PCG64 alone, which NumPy promises to keep as it is.
    return np.argsort(bits.random_raw(n_documents), kind="stable")


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
