"""A Ray cluster that is not there is one clear error, and nothing is begun."""

from pathlib import Path

import pytest

import subword
from ray_cluster import QUIET, alone  # noqa: F401  # fixtures
from subword.errors import EngineError

pytestmark = QUIET


def test_a_cluster_that_is_not_there(
    alone: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="ray is not installed: pip install 'subword[ray]'")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    (folder / "a.txt").write_text("the cat sat")
    tok = subword.ByteTokenizer()
    with pytest.raises(EngineError, match="no Ray cluster to be reached"):
        subword.tokenize(f"{folder}/*.txt", tok, out / "shards", engine="ray")
    with pytest.raises(EngineError, match="no Ray cluster to be reached"):
        subword.count(f"{folder}/*.txt", engine="ray")
    with pytest.raises(EngineError, match="no Ray cluster to be reached"):
        subword.count_to_parquet(f"{folder}/*.txt", out / "a.parquet", engine="ray")
    assert not list(out.iterdir())
