"""A model's checkpoint for a changed tokenizer: rows follow their tokens, new ones get a start."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final, get_args

import numpy as np
import numpy.typing as npt

from subword.errors import ArgumentError, VocabularyError
from subword.formats import load
from subword.tokenizer import Tokenizer
from subword.types import TokenId
from subword.vocabulary.checkpoint_files import read_object, write_small_files
from subword.vocabulary.donor import Donor, Weights, donor_weights
from subword.vocabulary.id_map import IdMap
from subword.vocabulary.matrices import (
    INDEX,
    INPUTS,
    OUTPUTS,
    check_matrix,
    ends_with,
    find_matrices,
    found_matrix,
    tensor_files,
)
from subword.vocabulary.new_rows import Method, added_rows, statistics
from subword.vocabulary.safetensors_rows import (
    DTYPES,
    Floats,
    TensorFile,
    from_floats,
    header_of,
    open_tensors,
)

__all__ = ["EmbeddingSummary", "init_embeddings"]

_BLOCK_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class EmbeddingSummary:
    """What ``init_embeddings`` wrote.

    Attributes:
        folder: Where.
        matrices: Names of the matrices that have other rows now.
        n_old_rows: Their rows before, padding included.
        n_new_rows: Their rows now, padding included.
        n_added: Rows made for new tokens.
        method: How.
    """

    folder: Path
    matrices: tuple[str, ...]
    n_old_rows: int
    n_new_rows: int
    n_added: int
    method: Method


def init_embeddings(
    checkpoint: str | PathLike[str],
    id_map: IdMap | str | PathLike[str],
    output: str | PathLike[str],
    *,
    method: Method = "mean",
    donor: Donor | None = None,
    tokenizer: Tokenizer | str | PathLike[str] | None = None,
    pad_to_multiple: int = 1,
    input_name: str | None = None,
    output_name: str | None = None,
    seed: int = 0,
) -> EmbeddingSummary:
    """Write a checkpoint whose embedding matrices fit a changed tokenizer.

    Rows of tokens that stay are copied bit by bit to where their ids are now. Rows of new tokens
    are made by ``method`` in float32, their norms kept within those of the old rows, and rounded
    to the matrix's dtype. Ids without a token get the mean of all rows, or keep the row that they
    have. Input and output matrix are done apart; where there is only one, they are tied. All
    other tensors are copied. In ``config.json``, ``generation_config.json`` and
    ``tokenizer_config.json``, ``vocab_size``, every ``…_token_id`` and the added tokens follow.
    Memory is bounded by the new rows and a few blocks of 16 MiB, whatever the checkpoint's size.

    Args:
        checkpoint: A ``.safetensors`` file, or a folder with ``model.safetensors`` or with
            ``model.safetensors.index.json`` and the shards that it names.
        id_map: What became of each id; or the ``id_map.json`` of ``Adapted.save``.
        output: The folder to write, which must not be there.
        method: ``"mean"`` of the rows of the token's old pieces; ``"weighted"``, by the bytes of
            the pieces; ``"first_last"``, the last piece's row for input and the first one's for
            output; ``"normal"``, drawn with the mean and covariance of the old rows; ``"omp"``,
            by orthogonal matching pursuit: as the donor's row is made of its rows of old tokens,
            the new row is made of the old ones. About a minute for a thousand new tokens at
            128,000 × 4,096; the others take seconds.
        donor: The other model, for ``"omp"`` alone.
        tokenizer: The changed tokenizer, to be written into the output as ``tokenizer.json``,
            and as ``tokenizer.model`` where the checkpoint has one; by default the output has no
            tokenizer file, since that of the checkpoint does not fit any more.
        pad_to_multiple: Rows of padding are added up to a multiple of it.
        input_name: The name of the input matrix, where it is none of the usual ones.
        output_name: The name of the output matrix, likewise.
        seed: Of ``"normal"``.

    Raises:
        MissingExtraError: safetensors is not installed.
        ArgumentError: An argument outside its range, or an output that is there already.
        FormatError: A file that is missing, truncated or damaged, or a matrix that cannot be told.
        VocabularyError: A matrix with fewer rows than the old tokenizer has ids, of another dtype
            than BF16, F16, F32 and F64, or with rows that are not finite.
        OSError: A file cannot be read or written.

    Source: mean of pieces, Gee et al. 2022, "Fast Vocabulary Transfer", section 3; normal, Hewitt
    2021, "Initializing New Word Embeddings for Pretrained Language Models"; omp, Goddard and
    Fernandes Neto 2025, "Training-Free Tokenizer Transplantation via Orthogonal Matching Pursuit".
    """
    if method not in get_args(Method):
        raise ArgumentError(f"method is {method!r:.40}; it is one of {', '.join(get_args(Method))}")
    if (method == "omp") != (donor is not None):
        raise ArgumentError("method 'omp' and donor belong together: give both, or neither")
    if pad_to_multiple < 1:
        raise ArgumentError(f"pad_to_multiple is {pad_to_multiple}; give at least 1")
    target = Path(output)
    if target.exists():
        raise ArgumentError(f"{target}: is there already; give a folder that is not")
    known_map = id_map if isinstance(id_map, IdMap) else IdMap.load(id_map)
    known = load(tokenizer) if isinstance(tokenizer, str | PathLike) else tokenizer
    if known is not None and known.vocab_size != known_map.new_size:
        raise VocabularyError(
            f"the tokenizer has {known.vocab_size} ids, but the id map {known_map.new_size}; give "
            "the tokenizer that was saved with it"
        )
    source = Path(checkpoint)
    files = tensor_files(source)
    weights = None if donor is None else _donor_weights(donor, known_map)
    matrices = find_matrices(files, known_map, input_name, output_name)
    n_old = next(iter(matrices.values())).tensors[next(iter(matrices))].shape[0]
    n_new = -(-known_map.new_size // pad_to_multiple) * pad_to_multiple
    work = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
    try:
        plans = {
            name: _plan(
                file,
                name,
                known_map,
                n_new,
                method,
                seed,
                weights,
                is_output=_is_output(name, output_name),
            )
            for name, file in matrices.items()
        }
        for file in files:
            _write_file(file, work / file.path.name, plans)
        _write_index(source, work)
        write_small_files(source, work, known_map, n_new, known)
        work.chmod(0o755)
        work.replace(target)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return EmbeddingSummary(target, tuple(matrices), n_old, n_new, len(known_map.pieces), method)


def _donor_weights(donor: Donor, id_map: IdMap) -> Weights:
    if donor.n_atoms < 1:
        raise ArgumentError(f"n_atoms is {donor.n_atoms}; give at least 1")
    files = tensor_files(Path(donor.checkpoint))
    name, file = found_matrix(files, donor.matrix, INPUTS, "input", "Donor(matrix=")
    check_matrix(file, name, donor.donor_tokenizer.vocab_size, "donor's")
    return donor_weights(donor, file, name, id_map)


def _is_output(name: str, output_name: str | None) -> bool:
    return name == output_name if output_name is not None else ends_with(name, OUTPUTS)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where each row of a new matrix comes from: an old row, a made one, or the mean."""

    old_row: npt.NDArray[np.int64]
    made: Mapping[TokenId, Floats]
    mean: Floats


def _plan(
    file: TensorFile,
    name: str,
    id_map: IdMap,
    n_new: int,
    method: Method,
    seed: int,
    weights: Weights | None,
    *,
    is_output: bool,
) -> _Plan:
    n_old = file.tensors[name].shape[0]
    known = np.zeros(n_old, bool)
    known[list(id_map.old_to_new)] = True
    about = statistics(file, name, known)
    # Ids that never had a token, such as padding, keep their row unless it is needed.
    old_row = np.full(n_new, -1, np.int64)
    free = np.flatnonzero(~known[:n_new])
    old_row[free] = free
    for old_id, new_id in id_map.old_to_new.items():
        if new_id is not None:
            old_row[new_id] = old_id
    made = added_rows(
        file,
        name,
        id_map,
        method,
        is_output=is_output,
        known=known,
        about=about,
        seed=seed,
        weights=weights,
    )
    old_row[list(made)] = -1
    return _Plan(old_row, made, about.mean.astype(np.float32))


def _new_rows(file: TensorFile, name: str, plan: _Plan) -> Iterator[bytes]:
    """Give the new matrix, some rows at a time."""
    tensor = file.tensors[name]
    at_once = max(1, _BLOCK_BYTES // tensor.row_bytes)
    n_new = len(plan.old_row)
    for first in range(0, n_new, at_once):
        wanted = plan.old_row[first : first + at_once]
        block = np.empty((len(wanted), tensor.n_columns), DTYPES[tensor.dtype])
        # Rows that lie side by side are read at once.
        cuts = np.flatnonzero(np.diff(wanted) != 1) + 1
        for start, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(wanted)], strict=True):
            if wanted[start] >= 0:
                block[start:end] = file.rows(name, int(wanted[start]), end - start)
        for at in np.flatnonzero(wanted < 0).tolist():
            row = plan.made.get(first + at, plan.mean)
            block[at] = from_floats(row[None], tensor.dtype)[0]
        yield block.tobytes()


def _write_file(file: TensorFile, path: Path, plans: Mapping[str, _Plan]) -> None:
    layout = {}
    for name, tensor in file.tensors.items():
        shape, n_bytes = tensor.shape, tensor.end - tensor.start
        if name in plans:
            shape = (len(plans[name].old_row), *shape[1:])
            n_bytes = shape[0] * tensor.row_bytes
        layout[name] = (tensor.dtype, shape, n_bytes)
    with path.open("wb") as target:
        target.write(header_of(layout, file.metadata))
        for name in file.tensors:
            _write_tensor(file, name, plans.get(name), target)
        target.flush()
        os.fsync(target.fileno())


def _write_tensor(file: TensorFile, name: str, plan: _Plan | None, target: BinaryIO) -> None:
    if plan is None:
        file.copy(name, target)
        return
    for block in _new_rows(file, name, plan):
        target.write(block)


def _write_index(source: Path, work: Path) -> None:
    index = source / INDEX
    if not index.is_file():
        return
    content = read_object(index)
    files = [open_tensors(path) for path in sorted(work.glob("*.safetensors"))]
    total = sum(t.end - t.start for file in files for t in file.tensors.values())
    metadata = content.get("metadata")
    content["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "total_size": total}
    (work / INDEX).write_text(json.dumps(content, indent=2), encoding="utf-8")
