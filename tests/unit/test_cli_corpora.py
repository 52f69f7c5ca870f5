"""The commands over corpora of any format and size."""

import gzip
import json
import shlex
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import subword
from subword import PretokenCounts, downloads
from subword.cli import app
from subword.cli.terminal import memory_bytes, progress
from subword.downloads import RemoteFile

pytest.importorskip("pyarrow")

TEXTS = ["the cat sat", "on the mat", "the end"]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = "".join(json.dumps({"body": text}) + "\n" for text in TEXTS)
    Path("a.jsonl").write_text(lines)
    Path("bad.jsonl").write_text(lines + "{\n")
    Path("a.csv").write_text("text\n" + "\n".join(TEXTS) + "\n")
    Path("a.txt").write_text(" ".join(TEXTS))
    return tmp_path


def run(command: str) -> Any:
    return CliRunner().invoke(app, shlex.split(command))


def done(command: str) -> Any:
    result = run(command)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(command: str) -> str:
    result = run(command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    return str(result.stderr)


@pytest.mark.parametrize("output", ["", "-o c.parquet", "-o c.parquet --max-memory 32MiB"])
def test_count_reads_records(output: str) -> None:
    printed = done(f"count a.jsonl --field body --json {output}")
    counts = subword.count(TEXTS)
    assert printed["n_pretokens"] == len(counts)
    assert (printed["n_bytes"], printed["n_documents"]) == (counts.n_bytes, 3)
    best = min(counts, key=lambda pretoken: (-counts[pretoken], pretoken))
    shown = {"text": best.decode(), "bytes": best.hex(), "count": counts[best]}
    assert printed["top"][0] == shown
    if output:
        assert PretokenCounts.load("c.parquet") == counts
        assert not Path("c.parquet.parts").exists()
    assert done("count a.csv --json")["n_documents"] == 3
    as_text = done("count a.csv --input-format text --documents line --json")
    assert as_text["n_documents"] == 4


def test_parts_that_are_counted_apart_add_up_to_the_whole() -> None:
    for number in range(5):
        Path(f"{number}.txt").write_text(f"the cat {number} and {'hat ' * number}")
    done("count ?.txt -o whole.parquet --json")
    for index in (2, 0, 1):
        command = f"count ?.txt -o part-{index}.parquet --num-shards 3 --shard-index {index}"
        done(f"{command} --json")
    done("count --merge part-?.parquet -o merged.parquet --json")
    assert Path("merged.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert "part 0 of 9 is empty" in refused("count ?.txt --num-shards 9 --shard-index 0")
    assert "it is from 0 to 2" in refused("count ?.txt --num-shards 3 --shard-index 3")


def test_bad_records_are_said_with_their_places() -> None:
    assert "bad.jsonl:4" in refused("count bad.jsonl --field body")
    for output in ("", "-o c.parquet"):
        result = run(f"count bad.jsonl --field body --on-bad skip --json {output}")
        assert result.exit_code == 0
        assert "1 bad records were skipped: bad.jsonl:4" in result.stderr.replace("\n", " ")
        assert json.loads(result.stdout)["n_documents"] == 3


def test_min_count_says_what_it_dropped() -> None:
    counts = subword.count(["the cat sat on the mat the end"])
    kept = counts.prune(2)
    for output in ("", "-o c.parquet"):
        printed = done(f"count a.txt --min-count 2 --json {output}")
        assert printed["n_pretokens"] == len(kept)
        assert printed["n_dropped"] == len(counts) - len(kept)
        assert printed["n_dropped_occurrences"] == counts.total - kept.total
    assert PretokenCounts.load("c.parquet") == kept


def test_tables_are_merged_and_mixed() -> None:
    done("count a.txt --json -o a.parquet")
    done("count a.jsonl --field body --json -o b.parquet")
    a, b = PretokenCounts.load("a.parquet"), PretokenCounts.load("b.parquet")
    printed = done("count --merge a.parquet b.parquet -o sum.parquet --json")
    assert printed["n_bytes"] == a.n_bytes + b.n_bytes
    assert PretokenCounts.load("sum.parquet") == a + b
    printed = done("count --mix a.parquet=0.7 b.parquet=0.3 -o mix.parquet --json")
    assert PretokenCounts.load("mix.parquet") == subword.mix({"a": (a, 0.7), "b": (b, 0.3)})
    assert (
        printed["n_bytes"] == a.n_bytes * printed["factors"][0] + b.n_bytes * printed["factors"][1]
    )
    trained = done("train bpe mix.parquet --vocab-size 262 -o t.json --min-count 2 --json")
    assert trained["n_pretokens"] == len(PretokenCounts.load("mix.parquet", min_count=2))


BAD = {
    "count --merge a.txt -o x.parquet": "a.txt",
    "count --merge a.parquet": "give --output",
    "count --merge --mix a.parquet=1 -o x.parquet": "give one of them",
    "count --mix a.parquet -o x.parquet": "expected TABLE=SHARE",
    "count --mix a.parquet=much -o x.parquet": "expected TABLE=SHARE",
    "count --mix a.parquet=0.5 -o x.parquet": "add up to 0.5",
    "count --merge a.parquet --pattern cl100k -o x.parquet": "leave it out",
    "count a.txt --max-memory 1KiB": "max_memory",
    "count a.txt --max-memory lots -o x.parquet": "max_memory",
    "count a.jsonl": "no field",
    "count a.csv --field none": "no column 'none'",
    "count a.jsonl --field body --documents line": "a record is a document",
    "count 'none*.jsonl'": "no file matches",
    "count 'nosuch://bucket/a'": "fsspec",
}


@pytest.mark.parametrize("command", BAD)
def test_bad_input_is_one_line_and_exit_1(command: str, inside: Path) -> None:
    subword.count("a.txt").save("a.parquet")
    before = sorted(inside.iterdir())
    assert BAD[command] in refused(command)
    assert sorted(inside.iterdir()) == before


def test_encode_takes_records_and_truncate_cuts() -> None:
    tok = subword.train_bpe(TEXTS, 268)
    subword.save(tok, "t.json")
    result = run("encode t.json a.jsonl --field body --json")
    ids = [json.loads(line) for line in result.stdout.splitlines()]
    assert ids == [tok.encode(text) for text in TEXTS]
    assert "bad.jsonl:4" in run("encode t.json bad.jsonl --field body").stderr
    assert done("truncate t.json --vocab-size 262 -o s.json --json")["vocab_size"] == 262
    assert subword.load("s.json").merges == tok.merges[:6]
    assert "vocab_size is 99" in refused("truncate t.json --vocab-size 99 -o s.json")
    unigram = subword.train_unigram(TEXTS, 268)
    subword.save(unigram, "u.json")
    assert "trained by subword" in refused("truncate u.json --vocab-size 30 -o s.json")


def test_train_takes_a_corpus_in_parquet() -> None:
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    parquet.write_table(arrow.table({"body": TEXTS}), "corpus.parquet")
    done("train bpe corpus.parquet --field body --vocab-size 270 -o t.json --json")
    assert subword.load("t.json") == subword.train_bpe(TEXTS, 270)


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    thread.join()
    served.server_close()


def test_download_fetches_a_set(mirror: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = RemoteFile("a.out", "a.out.gz", 5)
    monkeypatch.setitem(downloads._SETS, "owt-sample", ("http://nowhere.invalid", (file,)))
    Path("a.out.gz").write_bytes(gzip.compress(b"texts"))
    printed = done(f"download owt-sample --dir data --base-url {mirror} --json")
    assert printed == {"files": [{"path": str(Path("data/a.out")), "n_bytes": 5}]}
    assert Path("data/a.out").read_bytes() == b"texts"
    missing = refused(f"download tinystories --dir data --base-url {mirror}")
    assert "no such file" in missing
    assert run("download pile").exit_code == 2


def test_progress_for_programs(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr("subword.cli.terminal._QUIET_SECONDS", 0.0)
    with progress("counting", "bytes", 200, as_json=True) as report:
        assert report is not None
        report(50)
    line = json.loads(capsys.readouterr().err)
    assert {"stage": "counting", "unit": "bytes", "done": 50, "total": 200}.items() <= line.items()
    assert line["memory_bytes"] > 1 << 20
    assert memory_bytes() > 1 << 20
    assert line.keys() >= {"per_second", "seconds_left"}
