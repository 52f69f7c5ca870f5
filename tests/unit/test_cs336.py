"""What the tests of Stanford's CS336, assignment 1, check, through the adapter of the example.

Source: stanford-cs336/assignment1-basics, ``tests/test_tokenizer.py`` and
``tests/test_train_bpe.py``; the texts are our own save those of the shared fixtures.
"""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard
from examples.cs336.__main__ import main
from examples.cs336.adapter import get_tokenizer, run_train_bpe

import subword
from subword.byte_characters import from_characters

EOT = "<|endoftext|>"


def unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read()


@pytest.fixture(scope="module")
def fixtures(shared: Path) -> dict[str, bytes]:
    data = unpacked(shared / "data" / "reference_fixtures" / "bpe_training.tar.zst")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        members = [member for member in archive if "cs336" in member.name]
        files = {Path(member.name).name: archive.extractfile(member) for member in members}
        return {name: file.read() for name, file in files.items() if file is not None}


@pytest.fixture(scope="module")
def gpt2(shared: Path) -> subword.Tokenizer:
    folder = shared / "vocab" / "gpt2_hf"
    tokens = json.loads(unpacked(folder / "vocab.json.zst"))
    lines = unpacked(folder / "merges.txt.zst").decode().splitlines()
    vocab = {
        at: token.encode() if token == EOT else from_characters(token)
        for token, at in tokens.items()
    }
    merges = [
        tuple(map(from_characters, line.split(" "))) for line in lines if not line.startswith("#")
    ]
    return get_tokenizer(vocab, merges, [EOT])  # type: ignore[arg-type]


def test_training_gives_the_reference_merges(fixtures: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "corpus.en").write_bytes(fixtures["corpus.en"])
    vocab, merges = run_train_bpe(tmp_path / "corpus.en", 500, [EOT])
    lines = fixtures["train-bpe-reference-merges.txt"].decode().splitlines()
    assert merges == [tuple(map(from_characters, line.split(" "))) for line in lines]
    reference = json.loads(fixtures["train-bpe-reference-vocab.json"])
    assert set(vocab) == set(reference.values())
    assert set(vocab.values()) == {
        token.encode() if token == EOT else from_characters(token) for token in reference
    }


def test_no_token_of_a_story_corpus_holds_a_part_of_the_special_token(
    shared: Path, tmp_path: Path
) -> None:
    stories = unpacked(shared / "data" / "en_tinystories" / "tinystories_real.txt.zst")
    (tmp_path / "stories.txt").write_bytes(stories[:5_000_000])
    vocab, merges = run_train_bpe(tmp_path / "stories.txt", 1000, [EOT])
    assert len(vocab) == 1000
    assert [token for token in vocab.values() if b"<|" in token] == [EOT.encode()]
    assert not [merge for merge in merges if b"<|" in b"".join(merge)]


TEXTS = {
    "nothing": "",
    "a letter": "s",
    "an emoji": "🙃",
    "ASCII": "Hello, how are you?",
    "accents": "Héllò hôw are ü? 🙃",
    "a special token": f"Héllò hôw {EOT} are ü? 🙃{EOT}",
    "special tokens one after another": f"Hello, how {EOT}{EOT} are you?{EOT}",
    "a poem": "Tyger Tyger, burning bright,\n  In the forests of the night;\n\n",
    "German": "Die Würde des Menschen ist unantastbar.\n\tSie zu achten …",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_ids_come_back_as_their_text(text: str, gpt2: subword.Tokenizer) -> None:
    ids = gpt2.encode(text)
    assert gpt2.decode(ids) == text
    assert [gpt2.decode([token_id]) for token_id in ids].count(EOT) == text.count(EOT)
    assert list(gpt2.encode_iterable(text.splitlines(keepends=True))) == ids


FILES = ["address.txt", "german.txt", "tinystories_sample.txt"]


@pytest.mark.parametrize("name", [*TEXTS, *FILES])
def test_ids_are_those_of_tiktoken(
    name: str, gpt2: subword.Tokenizer, fixtures: dict[str, bytes]
) -> None:
    tiktoken: Any = pytest.importorskip("tiktoken")
    ranks = {token: at for at, token in gpt2.vocab.items() if at != 50_256}
    peer = tiktoken.Encoding(
        "gpt2", pat_str=gpt2.pattern[0], mergeable_ranks=ranks, special_tokens={EOT: 50_256}
    )
    text = fixtures[name].decode() if name in FILES else TEXTS[name]
    assert gpt2.encode(text) == peer.encode(text, allowed_special={EOT})


@pytest.mark.parametrize("name", FILES)
def test_files_come_back_as_they_were(
    name: str, gpt2: subword.Tokenizer, fixtures: dict[str, bytes], tmp_path: Path
) -> None:
    text = fixtures[name].decode()
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    ids = gpt2.encode(text)
    assert gpt2.decode(ids) == text
    with (tmp_path / name).open(encoding="utf-8", newline="") as file:
        assert list(gpt2.encode_iterable(file)) == ids


def test_of_overlapping_special_tokens_the_longest_wins(gpt2: subword.Tokenizer) -> None:
    tok = get_tokenizer(gpt2.model.vocab, gpt2.merges, [EOT, EOT + EOT])
    text = f"Hello, how {EOT}{EOT} are you?{EOT}"
    pieces = [tok.decode([token_id]) for token_id in tok.encode(text)]
    assert (pieces.count(EOT), pieces.count(EOT + EOT)) == (1, 1)
    assert tok.decode(tok.encode(text)) == text


LIMITED = """
import resource, sys
from examples.cs336.adapter import get_tokenizer
tok = get_tokenizer({at: bytes([at]) for at in range(256)} | {256: b'th', 257: b' th'}, [(b't', b'h'), (b' ', b'th')], [])
path, measure = sys.argv[1:]
with open(path, encoding='utf-8') as file:
    text = file.read()
    whole = tok.encode(text)
    wanted = len(whole), sum(whole)
    del whole, text
with open('/proc/self/statm') as file:
    sizes = [int(n) * resource.getpagesize() for n in file.read().split()]
file = open(path, encoding='utf-8')
limit = sizes[0 if measure == 'address space' else 1] + 1_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    WORK
finally:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
print('alive')
"""

STREAM = """
    n = total = 0
    for token_id in tok.encode_iterable(file):
        n, total = n + 1, total + token_id
    assert (n, total) == wanted
    print('right')
"""

AT_ONCE = """
    ids = tok.encode(file.read())
    print('right' if (len(ids), sum(ids)) == wanted else 'wrong')
except MemoryError:
    print('no memory')
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address space limits of Linux")
@pytest.mark.parametrize("measure", ["address space", "resident"])
@pytest.mark.parametrize("work", ["stream", "at once"])
def test_a_megabyte_of_memory_is_enough_for_a_stream(
    work: str, measure: str, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"the {n}th line of them\n" for n in range(60_000)))
    body = STREAM if work == "stream" else AT_ONCE
    code = LIMITED.replace("    WORK\n", body.lstrip("\n"))
    run = subprocess.run(
        [sys.executable, "-c", code, str(path), measure],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert run.returncode == 0, (run.stdout, run.stderr[-2000:])
    said = ("right\nalive\n",) if work == "stream" else ("right\nalive\n", "no memory\nalive\n")
    assert run.stdout in said


def test_the_chapter_runs(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    corpora = {}
    for name in ("tinystories", "owt"):
        corpora[name] = tmp_path / f"{name}.txt"
        corpora[name].write_text(EOT.join(f"once upon a time {n} there was" for n in range(500)))
    arguments = ["--tinystories", corpora["tinystories"], "--owt", corpora["owt"]]
    arguments += ["--output", tmp_path / "out", "--vocab-scale", "0.03"]
    monkeypatch.setattr(sys, "argv", ["cs336", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.warns(subword.StoppedEarlyWarning):
        assert main() == 0
    said = capsys.readouterr().out
    for word in ("learn merges", "longest tokens of TinyStories", "bytes per token", "825 GB"):
        assert word in said
    shards = subword.shards.open(tmp_path / "out" / "tinystories" / "shards")
    assert (len(shards), shards.dtype.name) == (500, "uint16")
