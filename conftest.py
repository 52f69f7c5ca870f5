"""Where the examples of the Markdown pages run: an empty folder with a small corpus."""

from pathlib import Path

import pytest

_ROOT = Path(__file__).parent


@pytest.fixture(autouse=True)
def _folder_of_examples(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Give each Markdown page a folder of its own; what it writes stays there."""
    if request.path.suffix != ".md":
        return
    folder = tmp_path_factory.mktemp("examples")
    pages = [page.read_text(encoding="utf-8") for page in sorted(_ROOT.glob("docs/*.md"))]
    (folder / "corpus.txt").write_text("\n".join(pages), encoding="utf-8")
    request.getfixturevalue("monkeypatch").chdir(folder)
