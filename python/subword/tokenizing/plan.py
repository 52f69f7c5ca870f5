"""What a run is: its sources, its tasks, and everything that its output depends on."""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from subword.corpus.reading import Reading
from subword.corpus.remote import url_stamp
from subword.corpus.sources import Url
from subword.errors import ArgumentError, SourceError
from subword.manifest import json_sha256
from subword.models import AllCharacters
from subword.tokenizer import Special, Tokenizer

__all__ = [
    "DOCUMENTS",
    "KIND",
    "Options",
    "Plan",
    "Source",
    "bounded",
    "source_of",
    "tokenizer_sha256",
]

KIND: Final = "subword tokenize"
"""What a manifest is of."""

DOCUMENTS: Final = "documents"
"""The name of a source that is an iterable of documents."""

_MEMO_BYTES: Final = 192 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was when the run began.

    Attributes:
        path: Its path or URL, as given.
        n_bytes: Its size, as it is stored; None where it is not known.
        changed: What changes when it does: of a path the time of its last change in nanoseconds
            since 1970. None for what cannot be read twice, such as a pipe.
    """

    path: str
    n_bytes: int | None
    changed: int | str | None

    @property
    def place(self) -> Path | Url:
        """Give what opens it. A ``Path`` never holds two slashes together."""
        return Url(self.path) if "://" in self.path else Path(self.path)


@dataclass(frozen=True, slots=True)
class Options:
    """What the output depends on besides the sources and the tokenizer.

    Attributes:
        format: A name of ``subword.shards.FORMATS``.
        dtype: Of the ids.
        reading: How files become documents.
        separator: The special token behind each document, or None.
        special: What text that spells a special token becomes.
        shard_tokens: Tokens at which a shard is full.
        task_bytes: Stored bytes at which a task has enough files.
        shuffle_seed: Seed of the order of documents; None for that of the sources.
        validation: Share of documents that are kept for validation.
        validation_seed: Seed of the choice of those.
    """

    format: str
    dtype: str
    reading: Reading
    separator: str | None
    special: Special
    shard_tokens: int
    task_bytes: int
    shuffle_seed: int | None
    validation: float
    validation_seed: int

    def to_json(self) -> dict[str, Any]:
        """Give the options as JSON."""
        reading, cut = self.reading, self.reading.cut
        values: dict[str, Any] = {
            "input_format": reading.format,
            "field": reading.field,
            "on_bad": reading.on_bad,
            "cut": cut,
        }
        if isinstance(cut, bytes):
            values["cut"] = {"separator": cut.decode("utf-8", "surrogateescape")}
        values |= {f.name: getattr(self, f.name) for f in fields(self) if f.name != "reading"}
        if not isinstance(self.special, str):
            values["special"] = sorted(self.special)
        return values


@dataclass(frozen=True, slots=True)
class Plan:
    """A run.

    Attributes:
        folder: Where it writes.
        tokenizer: What encodes.
        options: What else the output depends on.
        sources: The files; one named ``"documents"`` where the documents are given themselves.
        tasks: Runs of sources, each of which makes shards of its own: (first, behind the last).
        n_threads: Threads of a task.
        identity: What the output depends on, as JSON; sources without their times.
    """

    folder: Path
    tokenizer: Tokenizer
    options: Options
    sources: tuple[Source, ...]
    tasks: tuple[tuple[int, int], ...]
    n_threads: int | None
    identity: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        """Take the hash of the tokenizer once."""
        identity = {
            "kind": KIND,
            "software": f"subword {version('subword')}",
            "tokenizer": {
                "sha256": tokenizer_sha256(self.tokenizer),
                "vocab_size": self.tokenizer.vocab_size,
            },
            "options": {**self.options.to_json(), "separator_id": self.separator_id},
            "sources": [{"path": s.path, "bytes": s.n_bytes} for s in self.sources],
        }
        object.__setattr__(self, "identity", identity)

    @property
    def progress_folder(self) -> Path:
        """Where unfinished work lies."""
        return self.folder / "progress"

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the parts that documents are divided into."""
        return ("train", "validation") if self.options.validation else ("train",)

    @property
    def separator_id(self) -> int | None:
        """Id of the separator."""
        separator = self.options.separator
        return None if separator is None else self.tokenizer.special_tokens[separator]

    def task_bytes(self, task: int) -> int:
        """Give the stored bytes of a task."""
        return sum(source.n_bytes or 0 for source in self.sources[slice(*self.tasks[task])])

    def journal(self, task: int) -> Path:
        """Give the journal of a task."""
        return self.progress_folder / f"task-{task:05d}.jsonl"


def bounded(tokenizer: Tokenizer, n_threads: int | None) -> Tokenizer:
    """Give the tokenizer with memos that stay within 192 MiB for all threads together."""
    n_threads = max(1, min(n_threads or os.cpu_count() or 1, 256))
    memo_bytes = min(tokenizer.memo_bytes, _MEMO_BYTES // n_threads)
    return tokenizer.replace(memo_bytes=memo_bytes)


def source_of(path: Path | Url) -> Source:
    """Give a file as it is now.

    Raises:
        SourceError: It is not there any more.
    """
    if isinstance(path, Url):
        return Source(path.text, *url_stamp(path.text))
    try:
        status = path.stat()
    except OSError as error:
        raise SourceError(error.errno, error.strerror, os.fspath(path)) from error
    name = os.fsdecode(path)
    if not stat.S_ISREG(status.st_mode) or name.startswith("/dev/"):
        return Source(name, None, None)
    return Source(name, status.st_size, status.st_mtime_ns)


def tokenizer_sha256(tokenizer: Tokenizer) -> str:
    """Give the SHA-256 of everything that ids depend on, in hexadecimal.

    It is that of the canonical JSON of the model, the special tokens with their flags, the
    pattern, the normalizer, the pre-tokenizer, the template and the decoder; a vocabulary and a
    list of merges are in it by the SHA-256 of their numbers and bytes.
    """
    parts = {
        f.name: _plain(getattr(tokenizer, f.name))
        for f in fields(tokenizer)
        if f.init and f.name != "memo_bytes"
    }
    return json_sha256(parts)


def _plain(value: object) -> Any:
    """Give a value as JSON from which nothing is lost."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, AllCharacters):
        return "all characters"
    if is_dataclass(value) and not isinstance(value, type):
        # How a model was learnt does not show in the ids.
        names = [f.name for f in fields(value) if f.name != "training"]
        return [type(value).__name__, {name: _plain(getattr(value, name)) for name in names}]
    if isinstance(value, Mapping):
        return _plain_mapping(value)
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))
    if isinstance(value, Iterable):
        return _plain_items(list(value))
    raise ArgumentError(f"a tokenizer with a part of type {type(value).__name__} has no hash")


def _plain_mapping(value: Mapping[Any, Any]) -> Any:
    if value and all(type(inner) is bytes for inner in value.values()):
        tokens = list(value.values())
        return _digest(list(value), [len(token) for token in tokens], b"".join(tokens))
    return [[_plain(key), _plain(inner)] for key, inner in value.items()]


def _plain_items(value: list[Any]) -> Any:
    if value and all(
        type(inner) is tuple and list(map(type, inner)) == [int, int] for inner in value
    ):
        return _digest([left for left, _ in value], [right for _, right in value], b"")
    return [_plain(inner) for inner in value]


def _digest(first: Sequence[int], second: Sequence[int], data: bytes) -> dict[str, str]:
    """Give the SHA-256 of two columns of numbers and some bytes."""
    columns = np.array((first, second), "<u8").tobytes()
    return {"sha256": hashlib.sha256(columns + data).hexdigest()}
