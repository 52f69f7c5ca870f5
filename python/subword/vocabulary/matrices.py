"""Find the matrices of a checkpoint whose rows are ids, in one file or in shards."""

from pathlib import Path
from typing import Final

from subword.errors import FormatError, VocabularyError
from subword.vocabulary.checkpoint_files import read_object
from subword.vocabulary.id_map import IdMap
from subword.vocabulary.safetensors_rows import DTYPES, TensorFile, open_tensors

__all__ = [
    "INDEX",
    "INPUTS",
    "OUTPUTS",
    "check_matrix",
    "ends_with",
    "find_matrices",
    "found_matrix",
    "tensor_files",
]

INPUTS: Final = (
    "embed_tokens.weight",
    "wte.weight",
    "embed_in.weight",
    "word_embeddings.weight",
    "tok_embeddings.weight",
    "token_embedding.weight",
)
"""Ends of the names of input matrices: Llama's and GPT-2's, NeoX's, BERT's and BLOOM's."""

OUTPUTS: Final = ("lm_head.weight", "embed_out.weight", "output.weight")
"""Those of output matrices."""

INDEX: Final = "model.safetensors.index.json"
"""What says which shard has which tensor."""


def tensor_files(checkpoint: Path) -> list[TensorFile]:
    """Open all files of a checkpoint.

    Raises:
        FormatError: None there, one of them missing or damaged, or an index with other names.
    """
    if not checkpoint.is_dir():
        return [open_tensors(checkpoint)]
    index = checkpoint / INDEX
    if not index.is_file():
        return [open_tensors(checkpoint / "model.safetensors")]
    weight_map = read_object(index).get("weight_map")
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


def find_matrices(
    files: list[TensorFile], id_map: IdMap, input_name: str | None, output_name: str | None
) -> dict[str, TensorFile]:
    """Find the matrices whose rows are ids.

    Raises:
        FormatError: None or several that could be the input matrix, or a name that is not there.
        VocabularyError: One that does not fit the id map.
    """
    found = dict([found_matrix(files, input_name, INPUTS, "input", "input_name=")])
    names = [name for file in files for name in file.tensors]
    if output_name is not None or any(ends_with(name, OUTPUTS) for name in names):
        found.update([found_matrix(files, output_name, OUTPUTS, "output", "output_name=")])
    for name, file in found.items():
        check_matrix(file, name, id_map.old_size, "old")
    rows = {name: file.tensors[name].shape[:1] for name, file in found.items()}
    if len(set(rows.values())) > 1:
        raise VocabularyError(
            f"{files[0].path}: the matrices have different numbers of rows: {rows}"
        )
    return found


def found_matrix(
    files: list[TensorFile], given: str | None, usual: tuple[str, ...], role: str, option: str
) -> tuple[str, TensorFile]:
    """Find one matrix by its name, or by the usual ones.

    Raises:
        FormatError: None, or several.
    """
    where = {name: file for file in files for name in file.tensors}
    if given is not None and given not in where:
        raise FormatError(f"{files[0].path}: there is no tensor {given!r:.80}")
    names = [given] if given is not None else [name for name in where if ends_with(name, usual)]
    if len(names) != 1:
        what = ", ".join(names[:5]) or "none of the usual names"
        raise FormatError(
            f"{files[0].path}: which tensor is the {role} matrix cannot be told ({what}); pass "
            f"{option}"
        )
    return names[0], where[names[0]]


def check_matrix(file: TensorFile, name: str, n_ids: int, whose: str) -> None:
    """Refuse a matrix whose rows do not fit the ids.

    Raises:
        VocabularyError: It has too few, is of an unknown dtype, or is no matrix.
    """
    tensor = file.tensors[name]
    if tensor.dtype not in DTYPES:
        raise VocabularyError(
            f"{file.path}: {name} is of dtype {tensor.dtype}; expected {', '.join(DTYPES)}"
        )
    if len(tensor.shape) != 2 or tensor.shape[0] < n_ids or not tensor.shape[1]:
        raise VocabularyError(
            f"{file.path}: {name} has the shape {tensor.shape}, but the {whose} tokenizer has "
            f"{n_ids} ids, each of which needs a row"
        )


def ends_with(name: str, usual: tuple[str, ...]) -> bool:
    """Tell whether a tensor has one of the usual names, perhaps inside of something."""
    return any(name == end or name.endswith(f".{end}") for end in usual)
