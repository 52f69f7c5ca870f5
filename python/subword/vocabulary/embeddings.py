"""A model's checkpoint for a changed tokenizer: rows follow their tokens, new ones get a start."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, get_args

import numpy as np
import numpy.typing as npt

from subword.errors import ArgumentError, FormatError, VocabularyError
from subword.types import TokenId
from subword.vocabulary.id_map import IdMap
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

_INPUTS: Final = (
    "embed_tokens.weight",
    "wte.weight",
    "embed_in.weight",
    "word_embeddings.weight",
    "tok_embeddings.weight",
    "token_embedding.weight",
)
_OUTPUTS: Final = ("lm_head.weight", "embed_out.weight", "output.weight")
_INDEX: Final = "model.safetensors.index.json"
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
    other tensors are copied. In ``config.json`` and ``generation_config.json``, ``vocab_size``
    and every ``…_token_id`` follow. Memory is bounded by the new rows and a few blocks of 16 MiB,
    whatever the size of the checkpoint.

    Args:
        checkpoint: A ``.safetensors`` file, or a folder with ``model.safetensors`` or with
            ``model.safetensors.index.json`` and the shards that it names.
        id_map: What became of each id; or the ``id_map.json`` of ``Adapted.save``.
        output: The folder to write, which must not be there.
        method: ``"mean"`` of the rows of the token's old pieces; ``"weighted"``, by the bytes of
            the pieces; ``"first_last"``, the last piece's row for input and the first one's for
            output; ``"normal"``, drawn with the mean and covariance of the old rows.
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
    2021, "Initializing New Word Embeddings for Pretrained Language Models".
    """
    if method not in get_args(Method):
        raise ArgumentError(f"method is {method!r:.40}; it is one of {', '.join(get_args(Method))}")
    if pad_to_multiple < 1:
        raise ArgumentError(f"pad_to_multiple is {pad_to_multiple}; give at least 1")
    target = Path(output)
    if target.exists():
        raise ArgumentError(f"{target}: is there already; give a folder that is not")
    known_map = id_map if isinstance(id_map, IdMap) else IdMap.load(id_map)
    source = Path(checkpoint)
    files = _files(source)
    matrices = _matrices(files, known_map, input_name, output_name)
    n_old = next(iter(matrices.values())).tensors[next(iter(matrices))].shape[0]
    n_new = -(-known_map.new_size // pad_to_multiple) * pad_to_multiple
    work = Path(tempfile.mkdtemp(prefix=f".{target.name[:100]}.", dir=target.parent))
    try:
        plans = {
            name: _plan(
                file, name, known_map, n_new, method, seed, is_output=_is_output(name, output_name)
            )
            for name, file in matrices.items()
        }
        for file in files:
            _write_file(file, work / file.path.name, plans)
        _write_index(source, work)
        _write_configs(source, work, known_map, n_new)
        work.chmod(0o755)
        work.replace(target)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return EmbeddingSummary(target, tuple(matrices), n_old, n_new, len(known_map.pieces), method)


def _files(checkpoint: Path) -> list[TensorFile]:
    """Open all files of a checkpoint.

    Raises:
        FormatError: None there, one of them missing or damaged, or an index with other names.
    """
    if not checkpoint.is_dir():
        return [open_tensors(checkpoint)]
    index = checkpoint / _INDEX
    if not index.is_file():
        return [open_tensors(checkpoint / "model.safetensors")]
    weight_map = _json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise FormatError(f"{index}: expected a weight_map of tensors to files")
    names = sorted(set(map(str, weight_map.values())))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise FormatError(f"{index}: {name!r:.80} is no name of a shard beside it")
    files = [open_tensors(checkpoint / name) for name in names]
    for file in files:
        wrong = [name for name in file.tensors if weight_map.get(name) != file.path.name]
        if wrong:
            raise FormatError(f"{file.path}: holds {wrong[0]!r:.80}, which the index has elsewhere")
    n_tensors = sum(len(file.tensors) for file in files)
    if n_tensors != len(weight_map):
        raise FormatError(f"{index}: names {len(weight_map)} tensors, but {n_tensors} are there")
    return files


def _matrices(
    files: list[TensorFile], id_map: IdMap, input_name: str | None, output_name: str | None
) -> dict[str, TensorFile]:
    """Find the matrices whose rows are ids.

    Raises:
        FormatError: None or several that could be the input matrix, or a name that is not there.
        VocabularyError: One that does not fit the id map.
    """
    where = {name: file for file in files for name in file.tensors}
    found: dict[str, TensorFile] = {}
    for given, usual, role in ((input_name, _INPUTS, "input"), (output_name, _OUTPUTS, "output")):
        names = [given] if given is not None else [n for n in where if _ends_with(n, usual)]
        if given is not None and given not in where:
            raise FormatError(f"{files[0].path}: there is no tensor {given!r:.80}")
        if len(names) > 1 or (not names and role == "input"):
            what = ", ".join(names[:5]) or "none of the usual names"
            raise FormatError(
                f"{files[0].path}: which tensor is the {role} matrix cannot be told ({what}); pass "
                f"{role}_name="
            )
        found.update((name, where[name]) for name in names)
    rows = {name: file.tensors[name].shape[:1] for name, file in found.items()}
    for name, file in found.items():
        tensor = file.tensors[name]
        if tensor.dtype not in DTYPES:
            raise VocabularyError(
                f"{file.path}: {name} is of dtype {tensor.dtype}; expected {', '.join(DTYPES)}"
            )
        if len(tensor.shape) != 2 or tensor.shape[0] < id_map.old_size or not tensor.shape[1]:
            raise VocabularyError(
                f"{file.path}: {name} has the shape {tensor.shape}, but the old tokenizer has "
                f"{id_map.old_size} ids, each of which needs a row"
            )
    if len(set(rows.values())) > 1:
        raise VocabularyError(
            f"{files[0].path}: the matrices have different numbers of rows: {rows}"
        )
    return found


def _ends_with(name: str, usual: tuple[str, ...]) -> bool:
    return any(name == end or name.endswith(f".{end}") for end in usual)


def _is_output(name: str, output_name: str | None) -> bool:
    return name == output_name if output_name is not None else _ends_with(name, _OUTPUTS)


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
        file, name, id_map, method, is_output=is_output, known=known, about=about, seed=seed
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
    index = source / _INDEX
    if not index.is_file():
        return
    content = _json(index)
    files = [open_tensors(path) for path in sorted(work.glob("*.safetensors"))]
    total = sum(t.end - t.start for file in files for t in file.tensors.values())
    metadata = content.get("metadata")
    content["metadata"] = {**(metadata if isinstance(metadata, dict) else {}), "total_size": total}
    (work / _INDEX).write_text(json.dumps(content, indent=2), encoding="utf-8")


def _write_configs(source: Path, work: Path, id_map: IdMap, n_new: int) -> None:
    if not source.is_dir():
        return
    for name in ("config.json", "generation_config.json"):
        path = source / name
        if path.is_file():
            content = _patched(_json(path), id_map, n_new)
            (work / name).write_text(
                json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )


def _patched(config: dict[str, Any], id_map: IdMap, n_new: int) -> dict[str, Any]:
    """Give a configuration with the new size and the new ids of special tokens."""
    patched: dict[str, Any] = {}
    for key, value in config.items():
        if key == "vocab_size":
            patched[key] = n_new
        elif key.endswith("_token_id"):
            ids = value if isinstance(value, list) else [value]
            moved = [id_map.old_to_new.get(at, at) if isinstance(at, int) else at for at in ids]
            patched[key] = moved if isinstance(value, list) else moved[0]
        elif key == "text_config" and isinstance(value, dict):
            patched[key] = _patched(value, id_map, n_new)
        else:
            patched[key] = value
    return patched


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: no JSON ({error!s:.80})") from error
    if not isinstance(content, dict):
        raise FormatError(f"{path}: expected a JSON object")
    return content
