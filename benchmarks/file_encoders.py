"""How each library encodes a file of documents: imported only in the library's own process."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.trainers import SEPARATOR
from benchmarks.vocabularies import VocabularyFiles


@dataclass(frozen=True, slots=True)
class FilesJob:
    """What is to be encoded.

    Attributes:
        documents: File of documents with a separator between them.
        folder: An empty one for what is written.
        n_threads: For libraries that take it; the worker sets the environment for the others.
    """

    documents: str
    folder: str
    n_threads: int


@dataclass(frozen=True, slots=True)
class FilesEncoding:
    """A prepared encoding, the vocabulary loaded.

    Attributes:
        call: The measured call.
        to_ids: Its result as all ids in a row, separators left out; not measured.
    """

    call: Callable[[], Any]
    to_ids: Callable[[Any], Any]


def subword_loaded(files: VocabularyFiles) -> Any:
    import subword

    return subword.load(
        files.ranks,
        format="tiktoken",
        pattern=files.pattern_name,
        special_tokens=files.special_tokens,
    )


def subword_shards(files: VocabularyFiles, job: FilesJob) -> FilesEncoding:
    import numpy

    import subword

    tokenizer = subword_loaded(files)

    def call() -> Any:
        return subword.tokenize(
            job.documents,
            tokenizer,
            Path(job.folder) / "shards",
            format="npy",
            documents=SEPARATOR,
            separator="",
            n_threads=job.n_threads,
        )

    return FilesEncoding(call, lambda shards: numpy.concatenate(shards.arrays()))


def subword_in_memory(files: VocabularyFiles, job: FilesJob) -> FilesEncoding:
    tokenizer = subword_loaded(files)
    texts = Path(job.documents).read_bytes().decode().split(SEPARATOR)
    return FilesEncoding(
        lambda: tokenizer.encode_batch(texts, n_threads=job.n_threads), lambda batch: batch.ids
    )


def gigatoken_files(files: VocabularyFiles, job: FilesJob) -> FilesEncoding:
    import awkward
    import gigatoken

    tokenizer = gigatoken.Tokenizer.from_tiktoken(
        files.ranks, pretokenizer=files.pattern_name, special_tokens=files.special_tokens
    )
    source = gigatoken.TextFileSource([job.documents], separator=SEPARATOR)
    return FilesEncoding(
        lambda: tokenizer.encode_files(source),
        lambda rows: awkward.to_numpy(awkward.flatten(rows)),
    )


def datasets_map(files: VocabularyFiles, job: FilesJob) -> FilesEncoding:
    import datasets
    import tokenizers

    datasets.disable_progress_bars()
    tokenizer = tokenizers.Tokenizer.from_file(files.tokenizer_json)

    def documents() -> Iterator[dict[str, str]]:
        for text in Path(job.documents).read_bytes().decode().split(SEPARATOR):
            yield {"text": text}

    def encoded(batch: dict[str, list[str]]) -> dict[str, list[list[int]]]:
        rows = tokenizer.encode_batch(batch["text"], add_special_tokens=False)
        return {"ids": [row.ids for row in rows]}

    def call() -> Any:
        rows = datasets.Dataset.from_generator(documents, cache_dir=job.folder)
        return rows.map(encoded, batched=True, remove_columns=["text"])

    return FilesEncoding(call, lambda rows: [token_id for ids in rows["ids"] for token_id in ids])


def datatrove_files(files: VocabularyFiles, job: FilesJob) -> FilesEncoding:
    import numpy
    from datatrove.data import Document
    from datatrove.pipeline.tokens import DocumentTokenizer
    from loguru import logger

    logger.disable("datatrove")

    def call() -> Any:
        step = DocumentTokenizer(job.folder, files.tokenizer_json, shuffle_documents=False)
        texts = Path(job.documents).read_bytes().decode().split(SEPARATOR)
        step.run(Document(text=text, id=str(number)) for number, text in enumerate(texts))
        return step.token_size

    def ids(token_size: int) -> Any:
        (path,) = Path(job.folder).glob("*.ds")
        return numpy.fromfile(path, "<u2" if token_size == 2 else "<u4")

    return FilesEncoding(call, ids)
