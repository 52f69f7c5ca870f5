"""``subword tokenize``: files to training shards."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from subword.cli.count import bad_records_said, total_bytes
from subword.cli.options import (
    AddedTokensOption,
    DocumentsOption,
    EngineOption,
    FieldOption,
    InputFormatOption,
    JsonOption,
    LoadFormatOption,
    LoadPatternOption,
    NumShardsOption,
    OnBadOption,
    ShardIndexOption,
    SourcesArgument,
    SpecialOption,
    ThreadsOption,
    TokenizerArgument,
    files,
    load_tokenizer,
)
from subword.cli.terminal import print_json, print_rows, progress
from subword.shards.opened import Shards
from subword.tokenizing import tokenize

__all__ = ["run"]

Format = Literal["npy", "megatron", "datatrove", "dolma", "llmc", "nanogpt", "parquet", "mds"]


def run(
    tokenizer: TokenizerArgument,
    sources: SourcesArgument,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The directory of the shards: new, empty, or of the same run, which then goes on.",
            show_default=False,
        ),
    ],
    form: Annotated[Format, typer.Option("--format", help="What trains on the shards.")] = "npy",
    engine: EngineOption = "local",
    documents: DocumentsOption = None,
    field: FieldOption = "text",
    input_format: InputFormatOption = None,
    on_bad: OnBadOption = None,
    separator: Annotated[
        str | None,
        typer.Option(
            help="The special token behind each document; an empty string for none.",
            show_default="<|endoftext|>, or the only special token",
        ),
    ] = None,
    special: SpecialOption = "recognize",
    dtype: Annotated[
        str | None,
        typer.Option(help="uint16, uint32 or int32.", show_default="the narrowest that fits"),
    ] = None,
    shard_tokens: Annotated[
        int, typer.Option(help="Tokens of a shard, which ends with a document.")
    ] = 100_000_000,
    shuffle_seed: Annotated[
        int | None,
        typer.Option(
            help="Shuffle documents in shards, and the shards.", show_default="the order given"
        ),
    ] = None,
    validation: Annotated[
        float, typer.Option(help="Share of the documents that is kept for validation.")
    ] = 0.0,
    validation_seed: Annotated[int, typer.Option(help="Seed of that choice.")] = 0,
    task_bytes: Annotated[
        int, typer.Option(help="Files are taken together until they have as many bytes.")
    ] = 1 << 28,
    num_shards: NumShardsOption = 1,
    shard_index: ShardIndexOption = 0,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Encode a corpus to training shards; the same command goes on where it was stopped."""
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    paths = files(sources)
    with (
        bad_records_said(),
        progress("tokenizing", "bytes", total_bytes(paths), as_json=as_json) as report,
    ):
        shards = tokenize(
            paths,
            tok,
            output,
            format=form,
            engine=engine,
            documents=documents,
            field=field,
            input_format=input_format,
            on_bad=on_bad,
            separator=separator,
            special=special,
            dtype=dtype,
            shard_tokens=shard_tokens,
            shuffle_seed=shuffle_seed,
            validation=validation,
            validation_seed=validation_seed,
            task_bytes=task_bytes,
            n_threads=threads,
            num_shards=num_shards,
            shard_index=shard_index,
            progress=report,
        )
    _print(output, shards, as_json)


def _print(output: Path, shards: Shards | None, as_json: bool) -> None:
    numbers: dict[str, Any] = {"output": str(output), "finished": shards is not None}
    if shards is not None:
        splits = shards.manifest["splits"]
        numbers |= {name: shards.manifest[name] for name in ("tokens", "documents")}
        numbers["shards"] = sum(len(split["shards"]) for split in splits.values())
        if len(splits) > 1:
            numbers |= {f"tokens_{name}": split["tokens"] for name, split in splits.items()}
    if as_json:
        print_json(numbers)
        return
    print_rows((name.replace("_", " "), value) for name, value in numbers.items())
