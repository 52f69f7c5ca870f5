"""Sources to training shards: ``subword.tokenize``."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Final

from subword.corpus import Documents, InputFormat, OnBad, Reading, resolve_sources
from subword.corpus.documents import check_no_cut
from subword.engines import Engine, check_engine, check_shared, grouped, local, ray
from subword.errors import ArgumentError, SpecialTokenError
from subword.shards.layouts import module_of
from subword.shards.opened import Shards, open_shards
from subword.shards.raw import choose_dtype
from subword.tokenizer import Special, Tokenizer
from subword.tokenizing.finish import finish_run, forget_run, is_finished, start_run
from subword.tokenizing.plan import (
    DOCUMENTS,
    Options,
    Plan,
    Source,
    bounded,
    source_of,
)
from subword.tokenizing.task import run_task
from subword.types import Sources

__all__ = ["tokenize"]

_END_OF_TEXT: Final = "<|endoftext|>"


def tokenize(
    sources: Sources,
    tok: Tokenizer,
    out_dir: str | PathLike[str],
    *,
    format: str = "npy",  # noqa: A002
    engine: Engine = "local",
    documents: str | bytes | None = None,
    field: str = "text",
    input_format: InputFormat | None = None,
    on_bad: OnBad | None = None,
    separator: str | None = None,
    special: Special = "recognize",
    dtype: str | None = None,
    shard_tokens: int = 100_000_000,
    shuffle_seed: int | None = None,
    validation: float = 0.0,
    validation_seed: int = 0,
    task_bytes: int = 1 << 28,
    n_threads: int | None = None,
    num_shards: int = 1,
    shard_index: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Shards | None:
    """Encode a corpus to shards that training frameworks read.

    The same call, after it was interrupted at any moment, goes on where it was and gives the
    files that it would have given; after it finished, it makes sure that nothing changed and
    does nothing. The output is the same bytes for any number of threads, any engine and any
    ``num_shards``.

    Files are taken together to *tasks*, in their order, and each task makes shards of its own:
    ``out_dir/train/00003-00001.npy`` is shard 1 of task 3. A shard is full with the document by
    which it has ``shard_tokens`` tokens, or with its 1,048,576th; no document is cut.
    ``out_dir/manifest.json`` appears last, and only then is the output whole.

    Memory does not grow with the corpus: it holds a few MiB of text for each thread, memos of
    192 MiB at most, and what one shard says of its documents. A document is held whole only
    where the tokenizer cannot cut it (a normalizer, or a pattern that is not known to look only a
    few bytes ahead), and as a row of Parquet or a sample of MDS.

    Args:
        sources: A path, glob or URL, an iterable of ``Path``, or an iterable of documents: ``str``,
            ``bytes``, or mappings such as the rows of a Hugging Face dataset.
        tok: What encodes them.
        out_dir: An empty or new directory, or that of the same run.
        format: A name of ``subword.shards.FORMATS``.
        engine: ``"local"``, or ``"ray"`` for tasks on a Ray cluster that has the same files.
        documents: How text files are cut: ``"file"``, ``"line"`` or a string; by default at the
            separator where there is one, else not. In files of other formats a record is a
            document.
        field: The field or column that holds the text of a record.
        input_format: What all files hold; by default each tells by its name, see
            ``subword.corpus.read_documents``.
        on_bad: What a record does that cannot be read: ``"fail"``, ``"skip"`` or ``"replace"``;
            see ``subword.corpus.read_documents``. How many there were of each source is in the
            manifest, and said by a ``BadRecordsWarning`` at the end.
        separator: The special token whose id follows each document; ``""`` for none. By default
            ``<|endoftext|>`` where the tokenizer has it, else its only special token, else none.
        special: What text that spells a special token becomes, as in ``Tokenizer.encode``.
        dtype: Of the ids; by default the narrowest of the format that has room.
        shard_tokens: Tokens of a shard; its last document may lead over it.
        shuffle_seed: Shuffle the documents within each shard, and the shards in the manifest;
            None keeps the order of the sources.
        validation: Share of documents, from 0 to 1, that go to ``out_dir/validation``. The choice
            depends on the seed and on a document's first 64 KiB alone, so equal documents stay
            together, and more files or other shards change nothing for those there were.
        validation_seed: Seed of that choice.
        task_bytes: Stored bytes at which a task has enough files.
        n_threads: Threads of a task; None for one a core here, and one on a cluster.
        num_shards: Into how many parts the tasks are divided, for machines that share a file
            system; each runs the same call with another ``shard_index``.
        shard_index: Which part this call does: every ``num_shards``-th task from this one on.
        progress: Called with the stored bytes that are done; what it raises ends the call.

    Returns:
        The training split, opened; None where other parts are not done yet.

    Raises:
        ArgumentError: An argument outside its range; a vocabulary too large for the dtype; a
            tokenizer with several special tokens and no ``separator``.
        SpecialTokenError: A separator that is no special token of the tokenizer.
        ResumeError: ``out_dir`` holds another run, or input, tokenizer or options changed.
        SourceError: A file that cannot be read, or that changes while it is read.
        CorpusError: A compressed file that is damaged, or a bad record.
        SubwordError: A document that cannot be encoded, as ``Tokenizer.encode``.
        EngineError: There is no Ray cluster, or it lost a task again and again.
        MissingExtraError: The format or the engine needs an extra that is not installed.
        OSError: ``out_dir`` cannot be written, or is full.

    Examples:
        >>> import tempfile
        >>> from subword import train_bpe
        >>> tok = train_bpe(["a cat", "a hat"], 260, ["<|endoftext|>"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     shards = tokenize(["a cat", "a hat"], tok, folder)
        ...     [tok.decode(ids) for ids in shards]
        ['a cat<|endoftext|>', 'a hat<|endoftext|>']
    """
    module = module_of(format)
    separator = _separator(tok, separator)
    reading = Reading.of(
        documents,
        () if separator is None else (separator,),
        field=field,
        format=input_format,
        on_bad=on_bad,
    )
    if hasattr(module, "check"):
        module.check()
    options = Options(
        format=format,
        dtype=choose_dtype(module.LAYOUT, tok.vocab_size, dtype, format),
        reading=reading,
        separator=separator,
        special=special if isinstance(special, str) else frozenset(special),
        shard_tokens=shard_tokens,
        task_bytes=task_bytes,
        shuffle_seed=shuffle_seed,
        validation=validation,
        validation_seed=validation_seed,
    )
    _check(options, module.LAYOUT.max_tokens, n_threads, num_shards, shard_index)
    check_engine(engine)
    given, items = _sources(sources, reading, is_shared=engine != "local" or num_shards != 1)
    if engine == "ray":
        n_threads = n_threads or 1
    tasks = grouped([source.n_bytes for source in given], task_bytes)
    folder = Path(os.path.abspath(out_dir))  # noqa: PTH100  # resolve() would follow links
    plan = Plan(folder, bounded(tok, n_threads), options, given, tasks, n_threads)
    if is_finished(plan, items):
        return open_shards(folder)
    mine = range(shard_index, len(tasks), num_shards)
    if engine == "ray":
        # Before anything is made: there may be no cluster.
        ray.connected()
        start_run(plan)
        done = ray.run(run_task, plan, mine, n_threads=n_threads or 1)
        _watch(plan, done, progress)
    else:
        start_run(plan)
        try:
            _watch(plan, local.run(partial(_run_here, items, progress, mine), plan, mine), None)
        except BaseException:
            if num_shards == 1:
                forget_run(plan)
            raise
    return open_shards(folder) if finish_run(plan) else None


def _sources(
    sources: Sources, reading: Reading, *, is_shared: bool
) -> tuple[tuple[Source, ...], Documents | None]:
    """Give the files; or one source that stands for documents, and these."""
    resolved = resolve_sources(sources)
    if not isinstance(resolved, Documents):
        for path in resolved.paths:
            reading.format_of(path)
        return tuple(map(source_of, resolved.paths)), None
    check_no_cut(reading.cut if reading.has_cut else None)
    check_shared(is_shared=is_shared)
    return (Source(DOCUMENTS, None, None),), resolved


def _watch(
    plan: Plan,
    tasks: Iterable[tuple[int, None]],
    progress: Callable[[int], object] | None,
) -> None:
    """Wait for all tasks, in whatever order they end."""
    n_done = 0
    for task, _ in tasks:
        n_done += plan.task_bytes(task)
        if progress is not None:
            progress(n_done)


def _run_here(
    documents: Documents | None,
    progress: Callable[[int], object] | None,
    tasks: Sequence[int],
    plan: Plan,
    task: int,
) -> None:
    done = (plan.task_bytes(other) for other in tasks[: tasks.index(task)])
    report = None if progress is None else partial(_report, progress, sum(done))
    run_task(plan, task, documents, report)


def _report(progress: Callable[[int], object], before: int, done: int) -> None:
    progress(before + done)


def _separator(tok: Tokenizer, wanted: str | None) -> str | None:
    if wanted == "":
        return None
    if wanted is not None:
        if wanted not in tok.special_tokens:
            raise SpecialTokenError(
                f"separator is {wanted!r:.40}, which is no special token of the tokenizer; it has "
                f"{', '.join(map(repr, tok.special_tokens)) or 'none'}"
            )
        return wanted
    if _END_OF_TEXT in tok.special_tokens:
        return _END_OF_TEXT
    if len(tok.special_tokens) > 1:
        names = ", ".join(map(repr, list(tok.special_tokens)[:8]))
        raise ArgumentError(
            f"the tokenizer has several special tokens ({names}); pass separator= the one that "
            "ends a document, or separator='' for none"
        )
    return next(iter(tok.special_tokens), None)


def _check(
    options: Options,
    max_tokens: int | None,
    n_threads: int | None,
    num_shards: int,
    shard_index: int,
) -> None:
    at_least_one = {
        "shard_tokens": options.shard_tokens,
        "task_bytes": options.task_bytes,
        "num_shards": num_shards,
        "n_threads": 1 if n_threads is None else n_threads,
    }
    for name, value in at_least_one.items():
        if value < 1:
            raise ArgumentError(f"{name} is {value}; give at least 1")
    if max_tokens is not None and options.shard_tokens > max_tokens:
        raise ArgumentError(
            f"shard_tokens is {options.shard_tokens}; a shard of format {options.format} holds "
            f"{max_tokens}"
        )
    if not 0 <= shard_index < num_shards:
        raise ArgumentError(f"shard_index is {shard_index}; it is from 0 to num_shards - 1")
    if math.isnan(options.validation) or not 0 <= options.validation < 1:
        raise ArgumentError(
            f"validation is {options.validation}; it is a share of the documents: 0 or more, less "
            "than 1"
        )
    for name, seed in (
        ("shuffle_seed", options.shuffle_seed),
        ("validation_seed", options.validation_seed),
    ):
        if seed is not None and not 0 <= seed < 2**64:
            raise ArgumentError(f"{name} is {seed}; it is from 0 to 2^64-1")
