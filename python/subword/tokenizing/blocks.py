"""Sources to ids in blocks, in order."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.errors import ResumeError, SourceError
from subword.tokenizing.plan import Plan, source_of
from subword.types import TextLike

__all__ = ["Block", "Checked", "document_blocks", "documents_sha256", "file_blocks"]

Checked = tuple[int, str]
"""How many documents at the front an iterable gave, and the SHA-256 of them."""

_CHECKED_BYTES: Final = 1 << 16
_BATCH_CHARACTERS: Final = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Ids of some documents of a source; the first and the last may reach over the block.

    Attributes:
        source: Number of the source.
        n_before: Documents of the source that ended before.
        ids: The ids, one document after another, each with its separator.
        ends: Where in ``ids`` documents end; shape (n_ends,), int64.
        checksums: CRC-32 of the first 64 KiB of each document that begins here; uint32.
        n_bytes: Bytes of the source read so far.
        checked: Of an iterable, what went before the block.
    """

    source: int
    n_before: int
    ids: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    checksums: npt.NDArray[np.uint32]
    n_bytes: int
    checked: Checked | None = None


def file_blocks(plan: Plan, number: int, skip: int) -> Iterator[Block]:
    """Give the blocks of a file, from document ``skip`` on.

    Raises:
        SourceError: The file cannot be read, or changed since the run began.
        SubwordError: A document cannot be encoded.
    """
    source = plan.sources[number]
    _check_unchanged(plan, number)
    encoder = _core.FileEncoder(
        plan.tokenizer._kernel,
        source.path,
        plan.options.cut,
        plan.options.special,
        separator=plan.separator_id,
        narrow=plan.options.dtype == "uint16",
        n_threads=plan.n_threads,
        skip=skip,
    )
    n_before = skip
    for ids, ends, checksums in encoder:
        yield Block(number, n_before, ids, ends.view(np.int64), checksums, encoder.stored_bytes)
        n_before += len(ends)
    if source.n_bytes is None:
        return
    _check_unchanged(plan, number)
    if encoder.stored_bytes != source.n_bytes:
        raise SourceError(
            5,
            f"{encoder.stored_bytes} bytes were read of {source.n_bytes}: the file changed while "
            "it was read; let it be complete, then start the run in another directory",
            source.path,
        )


def document_blocks(
    plan: Plan, documents: Iterable[TextLike], skip: int, checked: Checked | None
) -> Iterator[Block]:
    """Give the blocks of documents that are given themselves, from document ``skip`` on.

    Args:
        plan: The run, with the one source ``"documents"``.
        documents: All documents; those to be skipped are gone through.
        skip: Documents that are done.
        checked: What an earlier process saw of them.

    Raises:
        ResumeError: They are not those of the earlier process.
        SubwordError: A document cannot be encoded.
    """
    digest, n_seen, n_bytes = hashlib.sha256(), 0, 0
    remaining = iter(documents)
    n_checked, expected = checked or (0, "")
    found = ""
    for document in islice(remaining, skip):
        n_bytes += _update(digest, document)
        n_seen += 1
        if n_seen == n_checked:
            found = digest.hexdigest()
    if n_seen != skip or (n_checked and found != expected):
        raise ResumeError(
            f"{plan.folder} holds a run of other documents: those given now differ within the "
            f"first {skip}; give the same, or another directory to start anew"
        )
    separator = () if plan.separator_id is None else (plan.separator_id,)
    for batch in _batches(remaining):
        before = (n_seen, digest.hexdigest())
        n_bytes += sum(_update(digest, document) for document in batch)
        ragged = plan.tokenizer.encode_batch(
            batch, special=plan.options.special, n_threads=plan.n_threads
        )
        ids, ends = ragged.ids, ragged.bounds[1:]
        if separator:
            ids = np.insert(ids, ends, separator[0])
            ends = ends + np.arange(1, len(ends) + 1)
        fronts = [_encoded(document)[:_CHECKED_BYTES] for document in batch]
        checksums = np.array([zlib.crc32(front) for front in fronts], np.uint32)
        ids = ids.astype(plan.options.dtype, copy=False)
        yield Block(0, n_seen, ids, ends, checksums, n_bytes, before)
        n_seen += len(batch)
    # A last block without documents says what all of them were.
    nothing = np.empty(0, np.int64)
    ids, checksums = np.empty(0, plan.options.dtype), np.empty(0, np.uint32)
    yield Block(0, n_seen, ids, nothing, checksums, n_bytes, (n_seen, digest.hexdigest()))


def _check_unchanged(plan: Plan, number: int) -> None:
    source = plan.sources[number]
    if source.n_bytes is not None and source_of(Path(source.path)) != source:
        raise SourceError(
            5,
            "the file changed since the run began; let it be complete, then start the run in "
            "another directory",
            source.path,
        )


def _batches(documents: Iterator[TextLike]) -> Iterator[list[TextLike]]:
    """Group documents, so that a call into the compiled module is worth its while."""
    for first in documents:
        batch, size = [first], len(first)
        while size < _BATCH_CHARACTERS:
            document = next(documents, None)
            if document is None:
                break
            batch.append(document)
            size += len(document) + 1
        yield batch


def _encoded(document: TextLike) -> bytes:
    return document if isinstance(document, bytes) else document.encode("utf-8", "surrogatepass")


def _update(digest: Any, document: TextLike) -> int:
    """Add a document to a hash, its length first, so that no two lists of documents are alike."""
    data = _encoded(document)
    digest.update(len(data).to_bytes(8, "little"))
    digest.update(data)
    return len(data)


def documents_sha256(documents: Iterable[TextLike]) -> str:
    """Give the SHA-256 of documents, each with its length before it, in hexadecimal."""
    digest = hashlib.sha256()
    for document in documents:
        _update(digest, document)
    return digest.hexdigest()
