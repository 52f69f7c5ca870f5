"""The benchmark's own machinery, without the peers: what ends badly is shown, not hidden."""

import json
import math
import re
import stat
from pathlib import Path

import pytest
from benchmarks import chart, corpora, runner, vocabularies, worker
from benchmarks.corpora import first_bytes
from benchmarks.environment import clean_message
from benchmarks.llama_json import merges_of_pieces
from benchmarks.peers import PEERS
from benchmarks.piece_trainers import log_likelihood
from benchmarks.published import files_of
from benchmarks.report import read_groups, rich_tables, write_group, write_markdown
from benchmarks.suites import ROWS, expand, stand_in_rows
from benchmarks.worst_cases import WORST_CASES, worst_case
from rich.table import Table


def cell(peer, cpu_s=1.0, sha256="aa", **more):
    phase = {"wall_s": cpu_s, "cpu_s": cpu_s, "rss_growth": 5_000_000}
    return {
        "peer": peer,
        "compare": "",
        "status": "ok",
        "version": "1.0",
        "n_ids": 7,
        "sha256": sha256,
        "same_every_time": True,
        "median": {"cold": phase, "warm": phase},
        "runs": [{"cold": phase, "warm": phase}],
        **more,
    }


def group(*cells, corpus="english", n_bytes=10_000_000):
    return {
        "suite": "encode",
        "corpus": corpus,
        "vocabulary": "gpt2",
        "options": {"n_threads": 1},
        "date": "2026-01-01T00:00:00+00:00",
        "machine": {"cpu": "c", "n_cpus": 2, "memory": "m", "system": "s", "python": "3"},
        "load_average": [0.0, 0.1],
        "input": {"n_bytes": n_bytes, "n_documents": 1, "source": "x", "sha256": "0" * 64},
        "timeout_s": 1.0,
        "cells": list(cells),
    }


def failed(peer, status, message):
    return {"peer": peer, "compare": "", "status": status, "message": message, "runs": []}


def lines_with(path: Path, start: str) -> list[str]:
    return [
        line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(start)
    ]


def test_page_shows_ratios_wrong_ids_failures_and_timeouts(tmp_path):
    page = tmp_path / "performance.md"
    cells = (
        cell("tiktoken", 2.0),
        cell("subword", 0.5),
        cell("gigatoken", 0.25),
        cell("tokie", 0.1, sha256="bb"),
        failed("fastokens", "failed", "killed by SIGSEGV"),
        failed("tokenizers", "timeout", "more than 900 s"),
    )
    write_markdown([group(*cells)], page)
    assert "| 5.0 | 5.0 | 4.00× | 4.00× |" in lines_with(page, "| tiktoken")[0]
    assert "| reference |" in lines_with(page, "| tiktoken")[0]
    assert "| 1.00× | 1.00× |" in lines_with(page, "| subword")[0]
    assert "**no** (7 ids)" in lines_with(page, "| tokie")[0]
    assert lines_with(page, "| fastokens")[0].startswith("| fastokens | failed |")
    assert lines_with(page, "- fastokens") == ["- fastokens: failed, killed by SIGSEGV"]
    assert lines_with(page, "- tokenizers:")[0] == "- tokenizers: timeout, more than 900 s"
    ahead = [line for line in lines_with(page, "- ") if "gpt2, english" in line]
    assert ahead == [
        "- encode, gpt2, english, n_threads 1, cold: gigatoken takes 0.50×",
        "- encode, gpt2, english, n_threads 1, warm: gigatoken takes 0.50×",
    ]


def test_ids_that_vary_between_runs_are_not_called_equal(tmp_path):
    write_markdown([group(cell("tiktoken"), cell("tokie", same_every_time=False))], tmp_path / "p")
    assert "not the same every time" in lines_with(tmp_path / "p", "| tokie")[0]


def test_a_corpus_and_its_slice_share_a_table():
    groups = [group(cell("tiktoken")), group(cell("tokenizers"), corpus="english-10")]
    assert sum(isinstance(part, Table) for part in rich_tables(groups)) == 1


def test_a_new_run_replaces_the_same_group_and_keeps_the_others(tmp_path):
    write_group(group(cell("tiktoken")), tmp_path)
    write_group(group(cell("tiktoken"), corpus="code"), tmp_path)
    write_group(group(cell("subword")), tmp_path)
    kept = [(g["corpus"], g["cells"][0]["peer"]) for g in read_groups(tmp_path)]
    assert kept == [("english", "subword"), ("code", "tiktoken")]


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("kill -SEGV $$", "failed", "killed by SIGSEGV"),
        ("echo 'ImportError: no' >&2; exit 1", "failed", "ImportError: no"),
        ("echo not json", "failed", "ended without an error and without figures"),
        ("sleep 60", "timeout", "more than 0 s"),
    ],
)
def test_a_worker_that_ends_badly_is_a_cell_that_says_so(
    monkeypatch, tmp_path, script, status, message
):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(runner, "PYTHON", python)
    broken = {"peer": "x", "status": "ok", "runs": []}
    runner.run_cell(broken, {"options": {}}, timeout=0.4 if status == "timeout" else 30.0)
    assert (broken["status"], broken["message"]) == (status, message)
    assert not runner.wants_run(broken, runner.Limits())


def test_medians_and_fewer_rounds_for_long_calls():
    figures = [{"wall_s": s, "cpu_s": s, "rss_growth": 1} for s in (70.0, 61.0, 90.0)]
    long = {"peer": "x", "status": "ok", "runs": [{"cold": f, "sha256": "a"} for f in figures]}
    assert not runner.wants_run(long, runner.Limits())
    assert runner.wants_run({**long, "runs": long["runs"][:2]}, runner.Limits())
    done = runner.finished(long)
    assert done["median"]["cold"]["cpu_s"] == 70.0
    assert done["same_every_time"]


def test_merges_are_derived_from_ranks():
    tokens = [b"a", b"b", b"c", b"ab", b"abc", b"aa", b"aabc"]
    ranks = {token: rank for rank, token in enumerate(tokens)}
    assert vocabularies.merges_of(ranks) == [
        (b"a", b"b"),
        (b"ab", b"c"),
        (b"a", b"a"),
        (b"a", b"abc"),
    ]
    with pytest.raises(ValueError, match="no merge of two lower tokens"):
        vocabularies.merges_of({b"a": 0, b"aaaa": 1})


def test_tokenizer_json_has_no_gap_in_its_ids():
    content = vocabularies.tokenizer_json({b"a": 0, b"b": 1}, None, {"<|endoftext|>": 3})
    model = json.loads(json.dumps(content))["model"]
    assert sorted(model["vocab"].values()) == [0, 1, 2, 3]


def test_slow_peers_get_a_slice_with_the_reference_beside_them():
    groups = {g.corpus: g for g in expand(suites=("encode",), vocabularies=("gpt2",))}
    assert groups["english-10"].peers == ("tiktoken", "subword", "tokenizers")
    assert "tokenizers" not in groups["english"].peers
    quick = list(expand(suites=("encode",), vocabularies=("gpt2",), quick=True))
    assert quick[0].corpus == "english-10"
    assert "tokenizers" in quick[0].peers


def test_a_corpus_of_another_row_does_not_stand_in():
    def peers(corpus):
        return [g.peers for g in expand(suites=("train-unigram",), corpora=(corpus,))]

    assert peers("mixed-2") == [("sentencepiece", "tokenizers", "subword")]
    assert peers("mixed-10") == [("sentencepiece", "subword")]
    encoded = [g.corpus for g in expand(suites=("encode",), corpora=("english-10",))]
    assert encoded == ["english-10"] * 6


def test_without_shared_data_one_corpus_stands_in():
    groups = list(expand(stand_in_rows(ROWS, "stdlib")))
    made_up = {f"{name}-{size}" for name in WORST_CASES for size in (1, 10)}
    assert {g.corpus for g in groups} - made_up == {
        "",
        "stdlib",
        "stdlib-1",
        "stdlib-2",
        "stdlib-10",
    }
    assert {g.vocabulary for g in groups} == {"", "stdlib"}


def test_a_slice_ends_at_a_character():
    assert first_bytes(["aé", "漢字", "z"], 5) == ["aé", ""]
    assert first_bytes(["aé", "漢字", "z"], 6) == ["aé", "漢"]


def test_every_row_can_be_run():
    for part in expand():
        assert part.suite in worker.MEASUREMENTS
        assert set(part.peers) <= PEERS.keys()
        assert not part.vocabulary or files_of(part.vocabulary)
        file = str(part.options.get("file", ""))
        able = [p for p in part.peers if PEERS[p].supports(part.suite, part.vocabulary, file)]
        assert "subword" in able, part.title
        assert len(able) > 1, part.title


def test_a_row_has_no_peer_that_can_do_none_of_it():
    for row in ROWS:
        file = str(row.options.get("file", ""))
        for peer in row.peers:
            kinds = [PEERS[peer].supports(row.suite, name, file) for name in row.vocabularies]
            assert any(kinds) or row.suite == "load", (row.suite, peer)


@pytest.mark.parametrize(
    ("peer", "vocabulary", "file"),
    [
        ("subword", "gpt2", "tiktoken"),
        ("subword", "bert_uncased", "tokenizer.json"),
        ("subword", "albert_sp", "model"),
        ("tokenizers", "albert_sp", ""),
        ("tokenizers", "mistral_v3", "tokenizer.json"),
        ("sentencepiece", "mistral_v3", "model"),
        ("sentencepiece", "xlm_roberta", ""),
    ],
)
def test_a_peer_loads_the_file_it_is_best_at_of_those_there_are(peer, vocabulary, file):
    assert PEERS[peer].file_for(vocabulary) == file


def test_merges_of_pieces_are_all_cuts_by_score_then_ids():
    scores = {"a": -7.0, "b": -8.0, "ab": -2.0, "aab": -1.0, "aa": -5.0, "ac": -4.0}
    merges = [("a", "ab"), ("aa", "b"), ("a", "b"), ("a", "a")]
    assert merges_of_pieces(scores) == merges


def test_a_complaint_is_the_exception_not_what_was_printed_after_it():
    printed = "Traceback:\n  File x\nlib.OwnError: model is WordPiece\n\nLocation:\n    hf.rs:1\n"
    assert clean_message(printed) == "lib.OwnError: model is WordPiece"
    assert clean_message("ERROR: no version\n") == "ERROR: no version"
    assert clean_message("") == "no message"


def test_published_vocabularies_have_no_stand_in():
    suites = {g.suite for g in expand(stand_in_rows(ROWS, "stdlib"))}
    assert {"train-wordpiece", "train-unigram", "drop-in", "files"} <= suites
    assert [name for name in suites if name.startswith("encode-")] == ["encode-worst-case"]


def test_trained_vocabularies_are_described_not_called_wrong(tmp_path):
    cells = []
    for peer, tokens in (("tokenizers", "abcd"), ("subword-hf", "abcd"), ("subword", "abef")):
        phase = {"wall_s": 1.0, "cpu_s": 1.0, "rss_growth": 1}
        run = {"cold": phase, "n_tokens": 4, "tokens": list(tokens), "sha256": tokens}
        run |= {"version": "1.0", "log_likelihood": -2.5}
        cells.append({"peer": peer, "compare": "", "status": "ok", "runs": [run, dict(run)]})
    runner.compare_tokens([failed("gigabpe", "failed", "no"), *cells])
    done = [runner.finished(c) for c in cells]
    assert not any("tokens" in run for c in done for run in c["runs"])
    assert [c["shared_tokens"] for c in done] == [1.0, 1.0, 0.5]
    trained = group(*done) | {"suite": "train-unigram", "vocabulary": ""}
    write_markdown([trained], tmp_path / "p")
    assert "| 4 | reference | -2.5000 |" in lines_with(tmp_path / "p", "| tokenizers")[0]
    assert "| 4 | 100.0% |" in lines_with(tmp_path / "p", "| subword-hf")[0]
    assert "| 4 | 50.0% |" in lines_with(tmp_path / "p", "| subword |")[0]


def test_likelihood_adds_all_segmentations_and_makes_unknown_characters_dear():
    pieces = {" ": math.log(0.25), "a": math.log(0.25), " a": math.log(0.5)}
    assert log_likelihood(pieces, "a") == pytest.approx(math.log(0.25 * 0.25 + 0.5) / 2)
    unknown = math.log(0.25) + math.log(0.25) - 10
    assert log_likelihood(pieces, "\n\nz ") == pytest.approx(unknown / 2)
    assert log_likelihood(pieces, "z" * 10_000) < log_likelihood(pieces, "a" * 10_000) < 0


def test_a_slice_is_held_against_the_end_of_its_corpus(monkeypatch, tmp_path):
    monkeypatch.setattr(corpora, "CACHE", tmp_path)
    monkeypatch.setattr(corpora, "HELD_OUT", 7)
    monkeypatch.setattr(corpora, "MEGABYTE", 10)
    monkeypatch.setattr(corpora, "read_documents", lambda _: ["a" * 8, "漢字漢字"])
    path = corpora.held_out("stdlib-1")
    assert path is not None
    assert path.read_text(encoding="utf-8") == "漢字"
    assert corpora.held_out("stdlib-2") is None
    assert corpora.held_out("stdlib") is None


@pytest.mark.parametrize("name", WORST_CASES)
def test_a_worst_case_is_the_same_text_each_time_and_of_its_size(name):
    text = worst_case(name, 10_001)
    assert text == worst_case(name, 10_001)
    assert 9_998 <= len(text.encode()) <= 10_001


def test_worst_cases_are_measured_without_shared_data_beside_ordinary_text():
    rows = [row for row in stand_in_rows(ROWS, "stdlib") if row.suite == "encode-worst-case"]
    named = [name for row in rows for name in row.corpora]
    assert named[0] == "stdlib-1"
    assert {name.partition("-")[0] for name in named} == {"stdlib", *WORST_CASES}
    with pytest.raises(ValueError, match="letters"):
        corpora.build_corpus("letters")


def test_unigram_trainers_get_the_same_words(monkeypatch, tmp_path):
    monkeypatch.setattr(corpora, "CACHE", tmp_path)
    monkeypatch.setattr(corpora, "read_documents", lambda _: ["a\n\n b\tc\n", "d"])
    spaced = corpora.single_spaced(corpora.build_corpus("stdlib"))
    assert spaced.text.read_text(encoding="utf-8") == " a b c\n d\n"
    assert spaced.documents.read_text(encoding="utf-8").split("<|endoftext|>") == [
        " a b c\n",
        " d\n",
    ]
    assert corpora.single_spaced(corpora.build_corpus("stdlib")) == spaced


def test_the_chart_shows_who_is_ahead_and_leaves_wrong_ids_out():
    rows = group(
        cell("tiktoken", 2.0), cell("subword", 0.5), cell("gigatoken", 0.25), cell("bad", 0.1, "bb")
    )
    drawn = chart.draw([rows, group(cell("subword"), corpus="other")])
    names = re.findall(r'text-anchor="end">(\w+)<', drawn)
    assert names == ["gigatoken", "subword", "tiktoken"]
    widths = [float(width) for width in re.findall(r'class="\w+" [^>]*width="([\d.]+)"', drawn)]
    assert widths[0] == pytest.approx(2 * widths[1], rel=0.01)
    assert widths[0] == pytest.approx(8 * widths[2], rel=0.01)
    assert [">40<" in drawn, ">20<" in drawn, ">5.0<" in drawn] == [True] * 3


def test_a_chart_of_nothing_is_still_one():
    assert chart.draw([]).startswith("<svg ")
    assert "<rect" not in chart.draw([])
