"""The command line: each subcommand parses, calls the public API, and prints.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 input
refused (one line says why), 2 usage, 130 interrupted.
"""

from typing import Annotated

import typer

import subword
from subword.cli import (
    adapt,
    compare,
    convert,
    count,
    decode,
    download,
    encode,
    inspect,
    playground,
    tokenize,
    trace,
    train,
    truncate,
)
from subword.cli.refusals import guarded

__all__ = ["app", "main"]

app = typer.Typer(
    name="subword",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"subword {subword.__version__}")
        raise typer.Exit


@app.callback()
def _subword(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Train, run, inspect and adapt subword tokenizers."""


app.command("count")(guarded(count.run))
app.add_typer(train.app, name="train")
app.command("encode")(guarded(encode.run))
app.command("decode")(guarded(decode.run))
app.command("tokenize")(guarded(tokenize.run))
app.command("inspect")(guarded(inspect.run))
app.command("compare")(guarded(compare.run))
app.command("convert")(guarded(convert.run))
app.command("truncate")(guarded(truncate.run))
app.command("extend")(guarded(adapt.run_extend))
app.command("merge")(guarded(adapt.run_merge))
app.command("prune")(guarded(adapt.run_prune))
app.command("init-embeddings")(guarded(adapt.run_init_embeddings))
app.command("download")(guarded(download.run))
app.add_typer(trace.app, name="trace")
app.command("playground")(guarded(playground.run))


def main() -> None:
    """Run the command line; the console script ``subword``."""
    app(prog_name="subword")
