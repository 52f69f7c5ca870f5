"""The commands of the terminal: what they print is what the library gives."""

import bz2
import gzip
import json
import lzma
import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import subword
from cli_calls import SPECIAL, TEXT, folder, inside, process, refused, run, tok  # noqa: F401  # fixtures
from subword.cli import main
from subword.cli.terminal import shown


def done(*arguments: object, stdin: bytes | None = None) -> str:
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def test_the_console_script_is_main() -> None:
    scripts = [
        script for script in entry_points(group="console_scripts") if script.name == "subword"
    ]
    assert {script.value for script in scripts} == {"subword.cli:main"}
    assert callable(main)


def test_count_prints_the_numbers_of_the_api() -> None:
    printed = json.loads(done("count", "corpus.txt", "--special-token", SPECIAL, "--json"))
    counts = subword.count("corpus.txt", special_tokens=[SPECIAL])
    assert printed["n_pretokens"] == len(counts)
    assert printed["n_occurrences"] == counts.total
    assert (printed["n_bytes"], printed["n_documents"]) == (counts.n_bytes, 2)
    assert printed["pattern"] == "gpt2"
    best = max(counts.values())
    assert printed["top"][0]["count"] == best
    assert all(counts[bytes.fromhex(row["bytes"])] == row["count"] for row in printed["top"])


def test_count_for_people_shows_the_commonest() -> None:
    printed = done("count", "corpus.txt", "--top", "3")
    assert "pretokens" in printed
    assert "' sat'" in done("count", "corpus.txt", "--top", "9")
    assert len(done("count", "corpus.txt", "--top", "0").splitlines()) == 4


def test_count_reads_globs_gzip_zstd_and_standard_input(folder: Path) -> None:
    (folder / "packed").mkdir()
    (folder / "packed" / "a.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "packed" / "b.zst").write_bytes(zstandard.compress(TEXT.encode()))
    packed = json.loads(done("count", "packed/*", "--json"))
    plain = subword.count([TEXT, TEXT])
    assert (packed["n_bytes"], packed["n_documents"]) == (plain.n_bytes, 2)
    with process("count", "-", "--json") as started:
        out, error = started.communicate(TEXT.encode())
    assert (started.returncode, error) == (0, b"")
    assert json.loads(out)["n_bytes"] == len(TEXT.encode())


def test_count_takes_patterns_in_turn_and_a_cut() -> None:
    arguments = ("count", "corpus.txt", "--pattern", r"\d+", "--pattern", "[a-z]+", "--documents")
    printed = json.loads(done(*arguments, "line", "--threads", "1", "--json"))
    assert printed["pattern"] == [r"\d+", "[a-z]+"]
    expected = subword.count("corpus.txt", pattern=[r"\d+", "[a-z]+"], documents="line")
    assert printed["n_pretokens"] == len(expected)
    assert printed["n_documents"] == expected.n_documents


def test_count_writes_a_table_that_train_reads(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    done("count", "corpus.txt", "--special-token", SPECIAL, "-o", "counts.parquet")
    counts = subword.count("corpus.txt", special_tokens=[SPECIAL])
    assert subword.PretokenCounts.load("counts.parquet") == counts
    done("train", "bpe", "counts.parquet", "--vocab-size", 280, "-o", "from_counts.json")
    assert subword.load("from_counts.json") == subword.load("tokenizer.json")
    twice = ("counts.parquet", "counts.parquet", "--vocab-size", 270, "-o", "twice.json", "--json")
    assert json.loads(done("train", "bpe", *twice))["n_bytes"] == 2 * counts.n_bytes
    assert "count table" in refused(
        "train", "bpe", "counts.parquet", "corpus.txt", "--vocab-size", 270, "-o", "x.json"
    )


def test_train_is_the_apis_training() -> None:
    printed = json.loads(
        done("train", "bpe", "corpus.txt", "--vocab-size", 270, "--special-token", SPECIAL,
             "--special-token", "<|pad|>", "--pattern", "whitespace", "--ties", "first",
             "--min-frequency", 2, "--max-token-length", 3, "--threads", 1, "-o", "t.json",
             "--format", "tokenizer_json", "--json")
    )  # fmt: skip
    expected = subword.train_bpe(
        "corpus.txt", 270, [SPECIAL, "<|pad|>"], pattern="whitespace", ties="first",
        min_frequency=2, max_token_length=3,
    )  # fmt: skip
    assert subword.load("t.json") == expected
    assert printed["vocab_size"] == 270
    assert printed["n_merges"] == len(expected.merges) == 12
    assert printed["stopped_early"] is False


def test_train_that_stops_early_says_so_in_one_line() -> None:
    arguments = ("train", "bpe", "bytes.bin", "--vocab-size", 500, "-o", "early.json", "--json")
    result = run(*arguments)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["stopped_early"] is True
    assert result.stderr.startswith("subword: no pair is left")
    assert result.stderr.count("\n") == 1


def test_the_output_names_the_format(folder: Path) -> None:
    (folder / "both").mkdir()
    for output in ("t.yaml", "t.json", "both"):
        done("train", "bpe", "corpus.txt", "--vocab-size", 270, "-o", output)
    assert subword.load("t.yaml") == subword.load("t.json")
    assert sorted(os.listdir(folder / "both")) == ["merges.txt", "vocab.json"]  # noqa: PTH208
    printed = done("encode", "t.json", "--text", "the cat")
    assert done("encode", "both", "--text", "the cat") == printed


def test_encode_gives_the_apis_ids(tok: subword.Tokenizer) -> None:
    ids = tok.encode(TEXT + SPECIAL + TEXT)
    assert done("encode", "tokenizer.json", "corpus.txt") == " ".join(map(str, ids)) + "\n"
    assert json.loads(done("encode", "tokenizer.json", "corpus.txt", "--json")) == ids
    assert json.loads(
        done("encode", "tokenizer.json", "--text", "the cat", "--json")
    ) == tok.encode("the cat")


def test_each_file_is_a_text_of_its_own_line(tok: subword.Tokenizer) -> None:
    lines = done("encode", "tokenizer.json", "corpus.txt", "empty.txt", "bytes.bin").split("\n")
    assert len(lines) == 4
    assert lines[1] == lines[3] == ""
    assert [int(part) for part in lines[2].split()] == tok.encode(b"caf\xe9 \xff\x00 " * 3)


def test_encode_writes_words_and_numpy_files(tok: subword.Tokenizer) -> None:
    ids = tok.encode_array(TEXT + SPECIAL + TEXT)
    done("encode", "tokenizer.json", "corpus.txt", "--format", "npy", "-o", "ids.npy")
    loaded = np.load("ids.npy")
    assert loaded.dtype == np.uint32
    assert np.array_equal(loaded, ids)
    done("encode", "tokenizer.json", "corpus.txt", "--format", "uint32", "-o", "ids.bin")
    assert np.array_equal(np.fromfile("ids.bin", "<u4"), ids)
    done("encode", "tokenizer.json", "empty.txt", "--format", "npy", "-o", "none.npy")
    assert np.load("none.npy").shape == (0,)


@pytest.mark.parametrize("special", ["recognize", "as_text"])
def test_encode_treats_special_tokens_as_told(special: Any, tok: subword.Tokenizer) -> None:
    printed = done("encode", "tokenizer.json", "--text", f"a{SPECIAL}", "--special", special)
    assert [int(part) for part in printed.split()] == tok.encode(f"a{SPECIAL}", special=special)


def test_encode_can_forbid_special_tokens() -> None:
    arguments = ("encode", "tokenizer.json", "--text", f"a{SPECIAL}", "--special", "forbid")
    assert SPECIAL in refused(*arguments)


@pytest.mark.parametrize("options", [[], ["--json"], ["--format", "uint32"]])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_comes_back_through_a_pipe(
    options: list[str], pack: Any, folder: Path
) -> None:
    data = (TEXT * 300 + SPECIAL).encode() + b"\xff\xf0\x9f end"
    with process("encode", "tokenizer.json", "-", *options) as encoder:
        ids, error = encoder.communicate(pack(data))
    assert (encoder.returncode, error) == (0, b"")
    dtype = ["--dtype", "uint32"] if "uint32" in options else []
    with process("decode", "tokenizer.json", *dtype) as decoder:
        text, error = decoder.communicate(ids)
    assert (decoder.returncode, error) == (0, b"")
    assert text == data


def test_compressed_files_are_encoded_as_their_text(folder: Path, tok: subword.Tokenizer) -> None:
    (folder / "text.gz").write_bytes(gzip.compress(TEXT.encode()))
    (folder / "text.zst").write_bytes(zstandard.compress(TEXT.encode()))
    (folder / "text.bz2").write_bytes(bz2.compress(TEXT.encode()))
    (folder / "text.xz").write_bytes(lzma.compress(TEXT.encode()))
    for name in ("text.gz", "text.zst", "text.bz2", "text.xz"):
        assert json.loads(done("encode", "tokenizer.json", name, "--json")) == tok.encode(TEXT)
    with process("encode", "tokenizer.json", "-") as encoder:
        ids, error = encoder.communicate(zstandard.compress(TEXT.encode()))
    assert (encoder.returncode, error) == (0, b"")
    assert list(map(int, ids.split())) == tok.encode(TEXT)


def test_decode_takes_ids_as_arguments(tok: subword.Tokenizer) -> None:
    ids = tok.encode(f"the cat{SPECIAL}")
    assert done("decode", "tokenizer.json", *ids) == f"the cat{SPECIAL}"
    assert done("decode", "tokenizer.json", *ids, "--skip-special") == "the cat"
    assert done("decode", "tokenizer.json", stdin=b" \n") == ""


def test_numbers_cut_by_a_block_are_read_whole(tok: subword.Tokenizer) -> None:
    data = b"116" + b" 104\n101" * 30_000
    assert done("decode", "tokenizer.json", "-", stdin=data) == "t" + "he" * 30_000


def test_a_text_that_is_no_utf8_can_be_an_argument(tok: subword.Tokenizer) -> None:
    with process("encode", "tokenizer.json", "--text", os.fsdecode(b"a\xff")) as encoder:
        ids, _ = encoder.communicate()
    assert [int(part) for part in ids.split()] == tok.encode(b"a\xff")


def test_a_rank_file_needs_its_pattern_and_special_tokens(tok: subword.Tokenizer) -> None:
    plain = subword.train_bpe([TEXT], 270)
    subword.save(plain, "ranks.tiktoken")
    arguments = ("encode", "ranks.tiktoken", "--text", f"the cat{SPECIAL}")
    assert "pattern" in refused(*arguments)
    printed = done(*arguments, "--pattern", "gpt2", "--special-token", SPECIAL)
    expected = plain.with_special_tokens([SPECIAL]).encode(f"the cat{SPECIAL}")
    assert [int(part) for part in printed.split()] == expected


def test_inspect_gives_facts_and_what_a_text_becomes(tok: subword.Tokenizer) -> None:
    printed = json.loads(done("inspect", "tokenizer.json", "corpus.txt", "--longest", 2, "--json"))
    assert printed["vocab_size"] == 280
    assert printed["n_merges"] == 23
    assert printed["special_tokens"] == {SPECIAL: 256}
    assert printed["pattern"] == "gpt2"
    longest = sorted(printed["longest_tokens"], key=lambda row: row["id"])
    lengths = sorted(map(len, (token for token in tok.vocab.values() if token != SPECIAL.encode())))
    assert sorted(len(row["bytes"]) // 2 for row in longest) == lengths[-2:]
    n_bytes = len((TEXT + SPECIAL + TEXT).encode())
    n_tokens = tok.count_tokens(TEXT + SPECIAL + TEXT)
    assert (printed["text"]["n_bytes"], printed["text"]["n_tokens"]) == (n_bytes, n_tokens)
    assert printed["text"]["bytes_per_token"] == pytest.approx(n_bytes / n_tokens, abs=1e-3)


def test_inspect_for_people_shows_tokens_with_bars_between() -> None:
    printed = done("inspect", "tokenizer.json", "--text", "[red]zq")
    assert "[|r|e|d|]|z|q|" in printed
    assert SPECIAL in printed
    assert "bytes per token" in printed
    assert "longest tokens" in printed


def test_inspect_of_an_empty_text_divides_by_nothing() -> None:
    printed = json.loads(done("inspect", "tokenizer.json", "empty.txt", "--json"))
    assert (printed["text"]["n_tokens"], printed["text"]["bytes_per_token"]) == (0, None)


def test_tokens_are_quoted_and_cut() -> None:
    assert shown(b" a\n") == r"' a\n'"
    assert shown(b"\xff") == r"b'\xff'"
    assert len(shown(b"-" * 500)) == 60


def test_tokenize_writes_shards(tok: subword.Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["tokenize", "tokenizer.json", "corpus.txt", "-o", out, "--json"]
    said = json.loads(done(*arguments))
    shards = subword.shards.open(out)
    assert [tok.decode(ids) for ids in shards] == [TEXT + SPECIAL] * 2
    assert said == {
        "output": str(out), "finished": True, "tokens": shards.n_tokens, "documents": 2, "shards": 1
    }  # fmt: skip
    assert json.loads(done(*arguments)) == said


def test_tokenize_in_parts(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for index, finished in ((0, "no"), (1, "yes")):
        said = done(
            "tokenize", "tokenizer.json", "corpus.txt", "bytes.bin", "-o", out, "--format", "mds",
            "--task-bytes", 1, "--num-shards", 2, "--shard-index", index,
        )  # fmt: skip
        assert said.split()[:4][-1] == finished
    assert (out / "train" / "index.json").is_file()


def test_tokenize_refuses_another_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    done("tokenize", "tokenizer.json", "corpus.txt", "-o", out)
    assert "holds another run" in refused(
        "tokenize", "tokenizer.json", "corpus.txt", "-o", out, "--shard-tokens", 9
    )
    assert "no file matches" in refused(
        "tokenize", "tokenizer.json", "*.none", "-o", tmp_path / "2"
    )
