"""``subword extend``, ``merge``, ``prune`` and ``init-embeddings``: change a tokenizer."""

from collections.abc import Sequence
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated

import typer

import subword
from subword.cli.options import (
    AddedTokensOption,
    JsonOption,
    LoadFormatOption,
    LoadPatternOption,
    ThreadsOption,
    TokenizerArgument,
    files,
    load_tokenizer,
)
from subword.cli.terminal import print_json, print_rows, write_bytes
from subword.counts import PretokenCounts
from subword.counts_parquet import is_count_table
from subword.tokenizer import Tokenizer
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import LAWS
from subword.vocabulary.new_rows import Method
from subword.vocabulary.words import SPACED_WORDS

__all__ = ["run_extend", "run_init_embeddings", "run_merge", "run_prune"]

CountsArgument = Annotated[
    list[str] | None,
    typer.Argument(help="Texts, or tables of subword count, to learn from.", show_default=False),
]
FolderOption = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="Folder for the tokenizer, id_map.json and report.json.",
        show_default=False,
    ),
]
NameOption = Annotated[
    str, typer.Option("--name", help="The tokenizer's file there; its ending tells the format.")
]
TextsOption = Annotated[
    list[Path] | None,
    typer.Option("--text", help="A text that the report looks at; repeat.", show_default=False),
]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", help=f"A law that may be broken: {', '.join(LAWS)}.", show_default=False
    ),
]


def run_extend(
    tokenizer: TokenizerArgument,
    output: FolderOption,
    sources: CountsArgument = None,
    n_tokens: Annotated[
        int | None, typer.Option("--tokens", help="How many to learn.", show_default=False)
    ] = None,
    token: Annotated[
        list[str] | None,
        typer.Option("--token", help="A token to add, in place of learning.", show_default=False),
    ] = None,
    unchanged_on: Annotated[
        list[str] | None,
        typer.Option("--unchanged-on", help="A text whose ids shall stay.", show_default=False),
    ] = None,
    min_frequency: Annotated[int, typer.Option(help="Rarer pairs are not merged.")] = 1,
    max_token_length: Annotated[
        int | None, typer.Option(help="Most bytes of a new token.", show_default="no limit")
    ] = None,
    first_id: Annotated[
        int | None,
        typer.Option(help="The id of the first new token.", show_default="the next free one"),
    ] = None,
    text: TextsOption = None,
    name: NameOption = "tokenizer.json",
    allow: AllowOption = None,
    n_threads: ThreadsOption = None,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Give a tokenizer new tokens; those it has keep their ids and come first."""
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    change = subword.extend(
        tok,
        _counts(sources, tok, n_threads),
        n_tokens,
        tokens=token,
        unchanged_on=_counts(unchanged_on, tok, n_threads),
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        first_id=first_id,
        texts=_texts(text),
        allow=allow or (),
    )
    _finish(change, output, name, as_json=as_json)


def run_merge(
    tokenizer: TokenizerArgument,
    other: Annotated[Path, typer.Argument(help="Where new tokens come from.", show_default=False)],
    output: FolderOption,
    text: TextsOption = None,
    name: NameOption = "tokenizer.json",
    allow: AllowOption = None,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Give a tokenizer the tokens of another one; those it has keep their ids."""
    tok, giver = (
        load_tokenizer(path, tokenizer_format, pattern, special_token)
        for path in (tokenizer, other)
    )
    change = subword.merge(tok, giver, texts=_texts(text), allow=allow or ())
    _finish(change, output, name, as_json=as_json)


def run_prune(
    tokenizer: TokenizerArgument,
    output: FolderOption,
    sources: CountsArgument = None,
    vocab_size: Annotated[
        int | None, typer.Option(help="All ids that stay.", show_default=False)
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(help="In place of a size: remove what is used less.", show_default=False),
    ] = None,
    token: Annotated[
        list[str] | None,
        typer.Option("--token", help="In place of both: what goes.", show_default=False),
    ] = None,
    text: TextsOption = None,
    name: NameOption = "tokenizer.json",
    allow: AllowOption = None,
    n_threads: ThreadsOption = None,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Remove tokens that no other is made of, the least used first."""
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    change = subword.prune(
        tok,
        vocab_size,
        _counts(sources, tok, n_threads),
        min_count=min_count,
        tokens=token,
        texts=_texts(text),
        allow=allow or (),
    )
    _finish(change, output, name, as_json=as_json)


def run_init_embeddings(
    checkpoint: Annotated[
        Path, typer.Argument(help="A .safetensors file, or a model's folder.", show_default=False)
    ],
    id_map: Annotated[Path, typer.Argument(help="The id_map.json.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The new folder.", show_default=False)
    ],
    method: Annotated[Method, typer.Option(help="How rows of new tokens are made.")] = "mean",
    tokenizer: Annotated[
        Path | None,
        typer.Option(help="The changed tokenizer, to be written too.", show_default=False),
    ] = None,
    donor: Annotated[
        Path | None,
        typer.Option(
            help="The other model of --method omp, with its tokenizer.", show_default=False
        ),
    ] = None,
    n_atoms: Annotated[int, typer.Option(help="Old rows that a row of omp is made of.")] = 64,
    pad_to_multiple: Annotated[int, typer.Option(help="Rows are a multiple of it.")] = 1,
    input_name: Annotated[
        str | None, typer.Option(help="The input matrix.", show_default="by the usual names")
    ] = None,
    output_name: Annotated[
        str | None, typer.Option(help="The output matrix.", show_default="by the usual names")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of --method normal.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Write a model's checkpoint with rows for a changed tokenizer."""
    summary = subword.init_embeddings(
        checkpoint,
        id_map,
        output,
        method=method,
        donor=_donor(donor, tokenizer, n_atoms),
        tokenizer=tokenizer,
        pad_to_multiple=pad_to_multiple,
        input_name=input_name,
        output_name=output_name,
        seed=seed,
    )
    numbers = {
        "matrices": list(summary.matrices),
        "n_old_rows": summary.n_old_rows,
        "n_new_rows": summary.n_new_rows,
        "n_added": summary.n_added,
        "method": summary.method,
        "output": str(summary.folder),
    }
    if as_json:
        print_json(numbers)
    else:
        rows = {**numbers, "matrices": ", ".join(summary.matrices)}
        print_rows((key.removeprefix("n_").replace("_", " "), n) for key, n in rows.items())


def _donor(donor: Path | None, tokenizer: Path | None, n_atoms: int) -> subword.Donor | None:
    if donor is None:
        return None
    if tokenizer is None:
        raise subword.ArgumentError("--donor needs --tokenizer, to know what the new ids spell")
    return subword.Donor(donor, subword.load(donor), subword.load(tokenizer), n_atoms)


def _counts(
    sources: Sequence[str] | None, tok: Tokenizer, n_threads: int | None
) -> PretokenCounts | None:
    """Read the tables among the sources, and count the texts as the tokenizer cuts them."""
    if not sources:
        return None
    paths = files(list(sources))
    tables = [path for path in paths if isinstance(path, Path) and is_count_table(path)]
    texts = [path for path in paths if path not in tables]
    found = [PretokenCounts.load(path) for path in tables]
    if texts:
        pattern = tok.pattern or SPACED_WORDS
        special = list(tok.special_tokens)
        found.append(
            subword.count(texts, pattern=pattern, special_tokens=special, n_threads=n_threads)
        )
    return reduce(add, found)


def _texts(paths: Sequence[Path] | None) -> dict[str, list[bytes]]:
    """Read the texts to look at, a document a line."""
    return {str(path): path.read_bytes().splitlines() for path in paths or ()}


def _finish(change: Adapted, output: Path, name: str, *, as_json: bool) -> None:
    change.save(output, name)
    line = change.certificate.to_json() if as_json else str(change.certificate)
    write_bytes(line.encode("utf-8", "backslashreplace") + b"\n")
