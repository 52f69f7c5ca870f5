"""Tokenizer files: one module a format, each with ``read(path)`` and ``write(tokenizer, path)``."""

import json
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from subword.errors import (
    FormatError,
    PatternError,
    SpecialTokenError,
    TextError,
    VocabularyError,
)
from subword.formats import (
    bert_vocab,
    clip,
    gguf,
    sentencepiece_model,
    sentencepiece_vocab,
    subword_nmt,
    tekken,
    tiktoken,
    tokenizer_json,
    vocab_merges,
    yaml_file,
)
from subword.formats.hf_config import with_folder
from subword.formats.json_file import read_bytes
from subword.hub import hugging_face_folder
from subword.tokenizer import Tokenizer

__all__ = ["FORMATS", "format_of_file", "format_of_name", "load", "save"]

FORMATS: Final[dict[str, ModuleType]] = {
    "tokenizer_json": tokenizer_json,
    "vocab_merges": vocab_merges,
    "yaml": yaml_file,
    "tiktoken": tiktoken,
    "bert_vocab": bert_vocab,
    "sentencepiece": sentencepiece_model,
    "sentencepiece_vocab": sentencepiece_vocab,
    "tekken": tekken,
    "clip": clip,
    "subword_nmt": subword_nmt,
    "gguf": gguf,
}
"""The formats by name: HF ``tokenizer.json``; GPT-2's ``vocab.json`` and ``merges.txt``;
subword's YAML; tiktoken's rank files; BERT's ``vocab.txt``; SentencePiece's models and
lists of pieces; Mistral's ``tekken.json``; CLIP's vocabulary; the codes of subword-nmt and
fastBPE; the vocabulary of a GGUF file."""

_SUFFIXES: Final = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".tiktoken": "tiktoken",
    ".gguf": "gguf",
    ".vocab": "sentencepiece_vocab",
}
# Files of these names are told by content first: Llama 3's tokenizer.model is a rank file.
_SENTENCEPIECE_SUFFIXES: Final = (".model", ".spm")
_NAMES: Final = {
    "tokenizer.json": "tokenizer_json",
    "vocab.json": "vocab_merges",
    "vocab.txt": "bert_vocab",
    "tekken.json": "tekken",
    "bpe_simple_vocab_16e6.txt.gz": "clip",
}
# What is wrong with a tokenizer; of one that a file holds, the file is named.
_OF_CONTENT: Final = (PatternError, SpecialTokenError, TextError, VocabularyError)
_WRITTEN_NAMES: Final = ("vocab.txt", "tekken.json", "bpe_simple_vocab_16e6.txt.gz")
_FILES: Final = {"tokenizer_json": "tokenizer.json", "bert_vocab": "vocab.txt"}


def load(path: str | PathLike[str], format: str | None = None, **options: Any) -> Tokenizer:  # noqa: A002
    """Read a tokenizer of any format.

    Of a folder with ``tokenizer.json``, which holds what the others do, that is read, and
    ``tokenizer_config.json``, ``special_tokens_map.json`` and ``chat_template.jinja`` beside it,
    for roles and the chat template.

    Args:
        path: A file; or a folder with ``tokenizer.json``, with ``vocab.json`` and ``merges.txt``,
            or with ``vocab.txt``. ``"hf:org/name"``, with ``@revision`` or not, is a repository of
            the Hugging Face hub, and ``"tiktoken:name"`` a public encoding: both come from their
            caches, or are fetched (see ``subword.hub``).
        format: A name of ``FORMATS``. By default it is told by the path's extension, then by
            the content.
        options: What the format's ``read`` takes besides, such as ``pattern`` for rank files.

    Raises:
        FormatError: A format that is unknown or cannot be told, a damaged file, one whose content
            can be no tokenizer, or an option that the format does not take.
        SubwordError: An option of the format is no pattern, or no special tokens.
        SourceError: The file cannot be read.
    """
    source = Path(path)
    if isinstance(path, str) and not source.exists():
        kind, _, name = path.partition(":")
        if kind == "tiktoken" and name:
            return tiktoken.read_named(name)
        if kind == "hf" and name:
            source = hugging_face_folder(name)
    if format is None:
        format = format_of_file(source)  # noqa: A001
    folder = source if source.is_dir() else None
    if folder is not None and format in _FILES:
        source /= _FILES[format]
    read: Callable[..., Tokenizer] = _module(format).read
    accepted = read.__kwdefaults__ or {}
    unknown = [name for name in options if name not in accepted]
    if unknown:
        raise FormatError(
            f"{path}: format {format} has no option {unknown[0]!r:.40}; it takes "
            f"{', '.join(accepted) or 'none'}"
        )
    try:
        tokenizer = read(source, **options)
    except _OF_CONTENT as error:
        given = isinstance(error, PatternError) and "pattern" in options
        if given or (isinstance(error, SpecialTokenError) and options):
            raise
        raise FormatError(f"{path}: {error}") from error
    if folder is not None and format == "tokenizer_json":
        return with_folder(tokenizer, folder)
    return tokenizer


def save(tokenizer: Tokenizer, path: str | PathLike[str], format: str | None = None) -> None:  # noqa: A002
    """Write a tokenizer; the file appears whole or not at all.

    Args:
        tokenizer: What to write.
        path: A file; or, for ``vocab.json`` and ``merges.txt``, a folder.
        format: A name of ``FORMATS``. By default ``.yaml``, ``.yml``, ``.tiktoken``,
            ``.model`` and ``.vocab`` say it, ``.json`` is ``tokenizer_json``, and a folder
            that exists is ``vocab_merges``.

    Raises:
        FormatError: A format that is unknown or cannot be told, or that cannot hold the
            tokenizer.
        OSError: The file cannot be written.
    """
    target = Path(path)
    if format is None:
        format = format_of_name(target)  # noqa: A001
    _module(format).write(tokenizer, target)


def format_of_file(path: Path) -> str:
    """Give the format that ``load`` takes a file or folder for.

    Raises:
        FormatError: It cannot be told.
        SourceError: The file cannot be read.
    """
    return _told_by_folder(path) if path.is_dir() else _told_by_file(path)


def format_of_name(path: Path) -> str:
    """Give the format that ``save`` writes by default at a path.

    Raises:
        FormatError: The name tells none.
    """
    if path.is_dir():
        return "vocab_merges"
    suffix = path.suffix.lower()
    if path.name in _WRITTEN_NAMES:
        return _NAMES[path.name]
    if suffix == ".json":
        if path.name.endswith("vocab.json"):
            raise FormatError(
                f"{path}: a name that vocab_merges (a folder) and tokenizer_json could have; pass "
                "format="
            )
        return "tokenizer_json"
    if suffix in _SENTENCEPIECE_SUFFIXES:
        return "sentencepiece"
    if suffix not in _SUFFIXES:
        raise FormatError(
            f"{path}: the extension {suffix!r:.20} tells no format; use .json, .yaml, .tiktoken, "
            f".model or .vocab, an existing folder, or pass format= one of {', '.join(FORMATS)}"
        )
    return _SUFFIXES[suffix]


def _module(format: str) -> ModuleType:  # noqa: A002
    if format not in FORMATS:
        raise FormatError(f"format is {format!r:.40}; expected one of {', '.join(FORMATS)}")
    return FORMATS[format]


def _told_by_folder(folder: Path) -> str:
    if (folder / "tokenizer.json").is_file():
        return "tokenizer_json"
    files = {
        "vocab_merges": ("vocab.json", "merges.txt"),
        "bert_vocab": ("vocab.txt",),
    }
    found = [
        name for name, needed in files.items() if all((folder / file).is_file() for file in needed)
    ]
    return _only(
        found, f"{folder}: the folder", "tokenizer.json, vocab.json and merges.txt, or vocab.txt"
    )


def _told_by_file(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if path.name in _NAMES:
        return _NAMES[path.name]
    data = read_bytes(path)
    start = data[:4096]
    if start.lstrip().startswith(b"{"):
        return _told_by_json(data, path)
    found = []
    if b"\nformat: subword\n" in b"\n" + start:
        found.append("yaml")
    if _is_rank_line(start.split(b"\n")[0]):
        found.append("tiktoken")
    elif suffix in _SENTENCEPIECE_SUFFIXES or sentencepiece_model.is_model(data):
        found.append("sentencepiece")
    return _only(found, f"{path}: the file", f"one of {', '.join(FORMATS)}")


def _told_by_json(data: bytes, path: Path) -> str:
    """Tell by the fields; a damaged file is left to the reader that its name is for.

    Only a ``tokenizer.json`` has an object ``model``; inside a string of JSON the quotes around
    the word would be escaped. To parse the whole file for that takes a third of loading it.
    """
    if _MODEL_FIELD.search(data) and not _TEKKEN_FIELD.search(data):
        return "tokenizer_json"
    try:
        root = json.loads(data)
    except (ValueError, RecursionError):
        return "tokenizer_json"
    if isinstance(root.get("config"), dict) and isinstance(root.get("vocab"), list):
        return "tekken"
    if isinstance(root.get("model"), dict):
        return "tokenizer_json"
    if root and all(type(value) in (int, str) for value in root.values()):
        return "vocab_merges"
    raise FormatError(
        f"{path}: JSON, but neither a tokenizer.json (no object 'model') nor a vocab.json (values "
        "that are no ids)"
    )


_MODEL_FIELD = re.compile(rb'[{,]\s*"model"\s*:\s*\{')
_TEKKEN_FIELD = re.compile(rb'[{,]\s*"config"\s*:\s*\{')


def _is_rank_line(line: bytes) -> bool:
    parts = line.split()
    return len(parts) == 2 and parts[1].isdigit() and len(parts[0]) % 4 == 0


def _only(found: list[str], what: str, expected: str) -> str:
    if not found:
        raise FormatError(f"{what} is of no format that subword knows; expected {expected}")
    if len(found) > 1:
        raise FormatError(f"{what} is of several formats; pass format= {' or '.join(found)}")
    return found[0]
