"""Sources to ids in blocks, in order."""

import errno
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.corpus.columns import Column, packed
from subword.corpus.documents import held_back, local, read_columns, texts_of
from subword.corpus.reading import BadRecords
from subword.corpus.sources import Documents, Url
from subword.errors import ResumeError, SourceError, TextError
from subword.tokenizing.plan import Plan, source_of
from subword.types import TextLike

__all__ = ["Block", "Checked", "document_blocks", "documents_sha256", "file_blocks"]

Checked = tuple[int, str]
"""How many documents at the front an iterable gave, and the SHA-256 of them."""

Observe = Callable[[bytes], object]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Ids of some documents of a source; the first and the last may reach over the block.

    Attributes:
        ids: The ids, one document after another, each with its separator.
        ends: Where in ``ids`` documents end; shape (n_ends,), int64.
        checksums: CRC-32 of the first 64 KiB of each document that begins here; uint32.
        n_bytes: Bytes of the source read so far.
        checked: Of an iterable, what went before the block.
    """

    ids: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    checksums: npt.NDArray[np.uint32]
    n_bytes: int
    checked: Checked | None = None


def file_blocks(
    plan: Plan, number: int, skip: int, bad: BadRecords, observe: Observe
) -> Iterator[Block]:
    """Give the blocks of a file, from document ``skip`` on.

    Args:
        plan: The run.
        number: Number of the source.
        skip: Documents that are done; they are read past, so bad records among them are noted.
        bad: What is noted of bad records.
        observe: Called with each block of a URL that is read from front to end.

    Raises:
        SourceError: The file cannot be read, or changed since the run began.
        CorpusError: A bad record, and the policy is to fail; or a damaged file.
        SubwordError: A document cannot be encoded.
    """
    place = plan.sources[number].place
    _check_unchanged(plan, number)
    if plan.options.reading.format_of(place) in ("text", "jsonl"):
        yield from _kernel_blocks(plan, number, skip, bad, observe)
    else:
        yield from _column_blocks(plan, place, skip, bad)
    _check_unchanged(plan, number)


def _kernel_blocks(
    plan: Plan, number: int, skip: int, bad: BadRecords, observe: Observe
) -> Iterator[Block]:
    """Give the blocks of a file of text or JSON lines, which the kernels read themselves."""
    source, reading = plan.sources[number], plan.options.reading
    with local(source.place, observe) as (path, check):
        encoder = _core.FileEncoder(
            plan.tokenizer._kernel,
            path,
            reading.cut,
            plan.options.special,
            field=reading.field if reading.format_of(source.place) == "jsonl" else None,
            on_bad=reading.on_bad,
            separator=plan.separator_id,
            narrow=plan.options.dtype == "uint16",
            n_threads=plan.n_threads,
            skip=skip,
        )
        blocks = (
            Block(ids, ends.view(np.int64), checksums, encoder.stored_bytes)
            for ids, ends, checksums in encoder
        )
        # What a copy gave last is good when the copy is known to be whole.
        yield from held_back(blocks, check) if isinstance(source.place, Url) else blocks
        n_records, places = encoder.bad
        bad.add(n_records, (name.replace(str(path), source.path) for name in places))
    # A damaged file may end early where bad records are no error.
    if source.n_bytes not in (None, encoder.stored_bytes) and not n_records:
        raise SourceError(
            errno.EIO,
            f"{encoder.stored_bytes} bytes were read of {source.n_bytes}: the file changed while "
            "it was read; let it be complete, then start the run in another directory",
            source.path,
        )


def _column_blocks(plan: Plan, place: Any, skip: int, bad: BadRecords) -> Iterator[Block]:
    """Give the blocks of a file of records, whose texts go to the kernels as they lie in memory."""
    n_stored = 0

    def report(n_bytes: int) -> None:
        nonlocal n_stored
        n_stored = n_bytes

    n_before = 0
    for column in read_columns(place, plan.options.reading, bad, report):
        n_texts = len(column.bounds) - 1
        if n_before + n_texts > skip:
            n_past = max(skip - n_before, 0)
            rest = Column(column.data, column.bounds[n_past:])
            yield _encoded(plan, rest, f"{place}: document ", n_before + n_past, n_stored)
        n_before += n_texts


def document_blocks(
    plan: Plan, documents: Documents, skip: int, checked: Checked | None, bad: BadRecords
) -> Iterator[Block]:
    """Give the blocks of documents that are given themselves, from document ``skip`` on.

    Args:
        plan: The run, with the one source ``"documents"``.
        documents: All documents; those to be skipped are gone through.
        skip: Documents that are done.
        checked: What an earlier process saw of them.
        bad: What is noted of bad records.

    Raises:
        ResumeError: They are not those of the earlier process.
        CorpusError: A bad record, and the policy is to fail.
        SubwordError: A document cannot be encoded.
    """
    digest, n_seen, n_bytes = hashlib.sha256(), 0, 0
    texts = _as_bytes(texts_of(documents, plan.options.reading, bad))
    n_checked, expected = checked or (0, "")
    found = ""
    for text in islice(texts, skip):
        _update(digest, text)
        n_bytes += len(text)
        n_seen += 1
        if n_seen == n_checked:
            found = digest.hexdigest()
    if n_seen != skip or (n_checked and found != expected):
        raise ResumeError(
            f"{plan.folder} holds a run of other documents: those given now differ within the "
            f"first {skip}; give the same, or another directory to start anew"
        )
    for column, _ in packed(texts):
        before = (n_seen, digest.hexdigest())
        for text in column:
            _update(digest, text)
        n_bytes += len(column.data)
        yield _encoded(plan, column, "document ", n_seen, n_bytes, before)
        n_seen += len(column.bounds) - 1
    # A last block without documents says what all of them were.
    nothing = Column(np.empty(0, np.uint8), np.zeros(1, np.int64))
    yield _encoded(plan, nothing, "", n_seen, n_bytes, (n_seen, digest.hexdigest()))


def documents_sha256(plan: Plan, documents: Documents) -> str:
    """Give the SHA-256 of documents, each with its length before it, in hexadecimal."""
    digest = hashlib.sha256()
    reading = plan.options.reading
    for text in _as_bytes(texts_of(documents, reading, BadRecords(reading.on_bad))):
        _update(digest, text)
    return digest.hexdigest()


def _encoded(
    plan: Plan,
    column: Column,
    place: str,
    first: int,
    n_bytes: int,
    checked: Checked | None = None,
) -> Block:
    ids, ends, checksums = _core.encode_column(
        plan.tokenizer._kernel,
        column.data,
        column.bounds,
        plan.options.special,
        separator=plan.separator_id,
        narrow=plan.options.dtype == "uint16",
        n_threads=plan.n_threads,
        place=place,
        first=first,
    )
    return Block(ids, ends.view(np.int64), checksums, n_bytes, checked)


def _check_unchanged(plan: Plan, number: int) -> None:
    source = plan.sources[number]
    if source.changed is not None and source_of(source.place) != source:
        raise SourceError(
            errno.EIO,
            "the file changed since the run began; let it be complete, then start the run in "
            "another directory",
            source.path,
        )


def _as_bytes(texts: Iterable[TextLike]) -> Iterator[bytes]:
    for number, text in enumerate(texts):
        try:
            yield text if isinstance(text, bytes) else text.encode()
        except UnicodeEncodeError as error:
            raise TextError(
                f"document {number} has a lone surrogate at character {error.start}, which no "
                "UTF-8 can hold"
            ) from error


def _update(digest: Any, text: bytes) -> None:
    """Add a document to a hash, its length first, so that no two lists of documents are alike."""
    digest.update(len(text).to_bytes(8, "little"))
    digest.update(text)
