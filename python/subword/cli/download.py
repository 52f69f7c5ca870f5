"""``subword download``: the data of a course, fetched with resume and checked."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from subword.cli.options import JsonOption
from subword.cli.terminal import print_json, print_rows, progress
from subword.downloads import DataSet, download

__all__ = ["run"]


def run(
    name: Annotated[DataSet, typer.Argument(help="The data set.", show_default=False)],
    folder: Annotated[Path, typer.Option("--dir", help="Where its files go.")] = Path("data"),
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            help="A mirror: the URL before the names of the files.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Fetch TinyStories or the OpenWebText sample; what an earlier call fetched is kept."""
    with ExitStack() as stack:
        reports: dict[str, object] = {}

        def report(stored: str, done: int, total: int | None) -> None:
            if stored not in reports:
                stack.close()
                bar = progress(f"fetching {stored}", "bytes", total, as_json=as_json)
                reports[stored] = stack.enter_context(bar)
            shown = reports[stored]
            if callable(shown):
                shown(done)

        paths = download(name, folder, base_url=base_url, progress=report)
    sizes = {str(path): path.stat().st_size for path in paths}
    if as_json:
        print_json({"files": [{"path": path, "n_bytes": n} for path, n in sizes.items()]})
    else:
        print_rows(sizes.items())
