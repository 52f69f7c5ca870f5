"""``subword encode``: text to ids, as it is read."""

import sys
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal, cast

import numpy as np
import typer

from subword.atomic_write import whole_file
from subword.cli.count import bad_records_said, total_bytes
from subword.cli.options import (
    AddedTokensOption,
    FieldOption,
    InputFormatOption,
    LoadFormatOption,
    LoadPatternOption,
    OnBadOption,
    SpecialOption,
    TokenizerArgument,
    exact,
    files,
    load_tokenizer,
)
from subword.cli.terminal import progress
from subword.cli.texts import read_parts
from subword.corpus import Reading, Url, read_documents
from subword.errors import ArgumentError

__all__ = ["run"]

_IDS_AT_ONCE = 1 << 12

Form = Literal["ids", "json", "npy", "uint32"]


def run(
    tokenizer: TokenizerArgument,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, globs or URLs, each one text, or with records each of them; - is standard "
            "input.",
            show_default="standard input",
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="A text instead of files.", show_default=False)
    ] = None,
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="ids: a line a text; json: an array a line; npy or uint32: all ids, one after "
            "another, as a NumPy file or bare little-endian words.",
        ),
    ] = "ids",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    special: SpecialOption = "recognize",
    field: FieldOption = "text",
    input_format: InputFormatOption = None,
    on_bad: OnBadOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write here, whole or not at all.",
            show_default="standard output",
        ),
    ] = None,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Encode texts."""
    if text is not None and sources:
        raise ArgumentError("both --text and files are given; give one of them")
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    reading = Reading.of(field=field, format=input_format, on_bad=on_bad)
    with _texts(text, sources or ["-"], reading, as_json=as_json) as texts, _opened(output) as file:
        write = _write_words if form in ("npy", "uint32") else _write_lines
        ids = (tok.encode_iterable(parts, special=special) for parts in texts)
        write(file, ids, "json" if as_json else form)


@contextmanager
def _texts(
    text: str | None, sources: list[str], reading: Reading, *, as_json: bool
) -> Iterator[Iterator[Iterable[bytes]]]:
    """Give each text as its parts, under a progress bar."""
    if text is not None:
        yield iter([[exact(text)]])
        return
    paths = files(sources)
    with (
        bad_records_said(),
        progress("encoding", "bytes", total_bytes(paths), as_json=as_json) as report,
    ):
        done = 0

        def counted(parts: Iterable[bytes]) -> Iterator[bytes]:
            nonlocal done
            for part in parts:
                yield part
                done += len(part)
                if report is not None:
                    report(done)

        yield (counted(parts) for path in paths for parts in _parts(path, reading))


def _parts(path: Path | Url, reading: Reading) -> Iterator[Iterable[bytes]]:
    """Give the texts of a file: itself, or its records."""
    is_text = reading.format_of(path) == "text"
    if is_text and isinstance(path, Path) and reading.on_bad is None:
        yield read_parts(path)
        return
    documents = read_documents(
        [path],
        documents="file" if is_text else None,
        field=reading.field,
        format=reading.format,
        on_bad=reading.on_bad,
    )
    for document in documents:
        yield [cast(bytes, document)]


@contextmanager
def _opened(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield cast(BinaryIO, sys.stdout.buffer)
        return
    with whole_file(output) as file:
        yield file


def _write_lines(file: BinaryIO, texts: Iterable[Iterator[int]], form: Form) -> None:
    start, comma, end = ("[", ", ", "]\n") if form == "json" else ("", " ", "\n")
    for ids in texts:
        file.write(start.encode())
        before = ""
        while some := list(islice(ids, _IDS_AT_ONCE)):
            file.write((before + comma.join(map(str, some))).encode())
            before = comma
        file.write(end.encode())


def _write_words(file: BinaryIO, texts: Iterable[Iterator[int]], form: Form) -> None:
    every = (token_id for ids in texts for token_id in ids)
    if form == "uint32":
        while some := list(islice(every, _IDS_AT_ONCE)):
            file.write(np.array(some, "<u4").tobytes())
        return
    # The header of a NumPy file says how many there are, so they are gathered first.
    words = np.frombuffer(array("I", every), np.uint32).astype("<u4", copy=False)
    header = {"descr": "<u4", "fortran_order": False, "shape": words.shape}
    # Typed by some releases of NumPy alone.
    write_header: Any = np.lib.format.write_array_header_1_0
    write_header(file, header)
    file.write(words.data)
