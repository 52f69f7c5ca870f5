"""A document of 2 GiB, which 32 bits of any sign do not count: read, or refused in one sentence."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import subword
from subword.errors import CorpusError
from subword.formats import save

EOT = "<|endoftext|>"
LINE = b"the cat sat on the mat, and 12 dogs sat there too.\n"
N_LINES = (1 << 31) // len(LINE) + 1000

PEAK = """
import re, sys
from pathlib import Path
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) >> 10
"""
COUNT = f"""{PEAK}
import subword
counts = subword.count(sys.argv[1], special_tokens=["{EOT}"], n_threads=2)
print(counts.n_bytes, counts.n_documents, counts[b" cat"], peak())
"""
TOKENIZE = f"""{PEAK}
import subword
tok = subword.load(sys.argv[2])
shards = subword.tokenize(sys.argv[1], tok, sys.argv[3], n_threads=2)
print(len(shards), shards.n_tokens, shards.n_shards, peak())
"""


@pytest.fixture(scope="module")
def tok(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("huge") / "tokenizer.json"
    save(subword.train_bpe([LINE * 9], 280, [EOT]), path)
    return path


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory, slow: bool) -> Callable[[str], Path]:
    if not slow:
        pytest.skip("SUBWORD_SLOW=1 asks for it")
    if not sys.platform.startswith("linux"):
        pytest.skip("memory is measured by /proc")
    folder = tmp_path_factory.mktemp("documents")

    def write(name: str) -> Path:
        path, block = folder / name, LINE * 1000
        front, back = (b'{"text": "', b'"}\n') if name.endswith(".jsonl") else (b"", b"")
        if name.endswith(".jsonl"):
            block = json.dumps(block.decode())[1:-1].encode()
        with path.open("wb") as file:
            file.write(front)
            for _ in range(N_LINES // 1000):
                file.write(block)
            file.write(back + (b"" if back else EOT.encode() + b"last"))
        return path

    return write


def said(code: str, *arguments: object) -> list[int]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(number) for number in run.stdout.split()]


def test_a_text_of_2_gib_is_one_document_in_bounded_memory(
    huge: Callable[[str], Path], tok: Path, tmp_path: Path
) -> None:
    path, n_lines = huge("a.txt"), N_LINES // 1000 * 1000
    assert n_lines * len(LINE) > (1 << 31) - (1 << 20)
    n_bytes, n_documents, n_cats, peak = said(COUNT, path)
    assert (n_bytes, n_documents, n_cats) == (n_lines * len(LINE) + 4, 2, n_lines)
    assert peak < 300
    n_documents, n_tokens, n_shards, peak = said(TOKENIZE, path, tok, tmp_path / "out")
    loaded = subword.load(tok)
    # Lines end with what no pre-token reaches over.
    n_last = len(loaded.encode("last"))
    assert (n_documents, n_shards) == (2, 2)
    assert n_tokens == n_lines * len(loaded.encode(LINE * 2)) // 2 + n_last + 2
    assert peak < 512
    path.unlink()


def test_a_record_of_2_gib_is_refused_with_its_place(
    huge: Callable[[str], Path], tok: Path, tmp_path: Path
) -> None:
    path, loaded = huge("a.jsonl"), subword.load(tok)
    expected = re.escape(f"{path}:1: a record of over {1 << 30} bytes")
    with pytest.raises(CorpusError, match=expected):
        subword.count(path)
    with pytest.raises(CorpusError, match=expected):
        subword.tokenize(path, loaded, tmp_path / "out")
    assert not (tmp_path / "out" / "manifest.json").exists()
    path.unlink()
