"""Every trainer: the same vocabulary in every process, for every thread count; bad arguments."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import subword
from subword.errors import ArgumentError, EmptyCorpusError, VocabSizeError

DOCUMENTS = [
    "Wel come to the 🤗 Tok en izers libr ary.",
    "low lower lowest new newer newest wide wider widest",
    "the cat in the hat sat on the mat, and that was that",
    "我 喜欢 吃 苹果 他 不 喜欢 吃 苹果派",
] * 3

TRAINERS: dict[str, Callable[..., subword.Tokenizer]] = {
    "bpe": lambda n: subword.train_bpe(DOCUMENTS, 300, ["<|end|>"], n_threads=n),
    "wordpiece": lambda n: subword.train_wordpiece(DOCUMENTS, 90, n_threads=n),
    "wordpiece-frequency": lambda n: subword.train_wordpiece(
        DOCUMENTS, 90, score="frequency", n_threads=n
    ),
    "unigram": lambda n: subword.train_unigram(DOCUMENTS, 320, n_threads=n),
    "bpe-characters": lambda n: subword.train_bpe(
        DOCUMENTS, 90, alphabet="characters", unk_token="<unk>", n_threads=n
    ),
    "bpe-first": lambda n: subword.train_bpe(DOCUMENTS, 300, ties="first", n_threads=n),
    "bpe-words": lambda n: subword.train_bpe(
        DOCUMENTS,
        90,
        alphabet="characters",
        end_of_word_suffix="</w>",
        continuing_subword_prefix="##",
        n_threads=n,
    ),
    "characters": lambda n: subword.train_characters(DOCUMENTS, n_threads=n),
    "words": lambda n: subword.train_words(DOCUMENTS, 20, n_threads=n),
}

SCRIPT = """
import json, sys
sys.path.insert(0, {tests!r})
from test_trainers import TRAINERS
vocab = TRAINERS[sys.argv[1]](int(sys.argv[2])).vocab
print(json.dumps([token.hex() for token in vocab.values()]))
"""


@pytest.mark.parametrize("trainer", TRAINERS)
def test_fresh_processes_learn_one_vocabulary(trainer: str, slow: bool) -> None:
    script = SCRIPT.format(tests=str(Path(__file__).parent))
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", script, trainer, str(1 + run % 2)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": str(run)},
        )
        for run in range(20 if slow else 4)
    ]
    outputs = {run.communicate()[0] for run in runs}
    assert all(run.returncode == 0 for run in runs)
    assert len(outputs) == 1
    expected = [token.hex() for token in TRAINERS[trainer](None).vocab.values()]
    assert json.loads(outputs.pop()) == expected


@pytest.mark.parametrize("trainer", TRAINERS)
def test_what_was_trained_encodes_its_corpus_and_decodes_it(trainer: str) -> None:
    tok = TRAINERS[trainer](1)
    for document in DOCUMENTS:
        ids = tok.encode(document)
        assert max(ids) < tok.vocab_size
        if trainer in ("bpe", "bpe-first", "unigram", "bpe-characters", "characters"):
            assert tok.decode(ids) == document


def test_what_unigram_leaves_out_is_counted_and_reported() -> None:
    source = {"ab": 5000, "c": 1}
    with pytest.warns(subword.TextLeftOutWarning, match=r"1 characters .* 1 occurrences \('c'\)"):
        tok = subword.train_unigram(source, 260)
    assert tok.decode(tok.encode("c")) == "c"
    with pytest.warns(subword.TextLeftOutWarning, match="they become <unk>"):
        tok = subword.train_unigram(source, 4, byte_fallback=False)
    assert tok.encode("c") == [0]
    with pytest.raises(subword.TextError, match="UTF-8"):
        subword.train_unigram([b"a\xff"], 300)


def test_unigram_that_runs_out_of_pieces_says_so() -> None:
    with pytest.warns(subword.StoppedEarlyWarning, match="tokens of 500"):
        subword.train_unigram({"ab": 5}, 500)


def test_the_unknown_token_is_where_the_model_says() -> None:
    for unk_id in (-1, 2, 2**32):
        with pytest.raises(subword.VocabularyError):
            subword.UnigramTokenizer([("<unk>", 0.0), ("a", -1.0)], unk_id=unk_id)
    for trained in (subword.train_words(["a b"], 3), subword.train_characters(["a b"])):
        with pytest.raises(subword.VocabularyError, match=r"\[UNK\]"):
            trained.replace(model=type(trained.model)({1: b"a"}, "[UNK]"))


@pytest.mark.parametrize(
    "train",
    [
        subword.train_wordpiece,
        subword.train_unigram,
        partial(subword.train_bpe, alphabet="characters"),
        partial(subword.train_bpe, alphabet="characters", byte_fallback=True),
    ],
)
def test_too_small_vocabularies_and_empty_corpora_are_refused(
    train: Callable[..., subword.Tokenizer],
) -> None:
    with pytest.raises(VocabSizeError, match="vocab_size"):
        train(DOCUMENTS, 8)
    with pytest.raises(EmptyCorpusError):
        train([], 400)
    with pytest.raises((EmptyCorpusError, ArgumentError)):
        train({}, 400)


def test_a_wordpiece_without_its_unknown_token_is_refused() -> None:
    with pytest.raises(ArgumentError, match="unk_token"):
        subword.train_wordpiece(DOCUMENTS, 90, ["[PAD]"])
    with pytest.raises(subword.VocabularyError, match=r"\[UNK\]"):
        subword.WordPieceTokenizer(["a", "##b"])


def test_characters_left_out_are_reported() -> None:
    with pytest.warns(UserWarning, match="left out"):
        subword.train_wordpiece({"ab": 5, "c": 1}, 8, limit_alphabet=2)


def test_what_ran_out_of_pairs_says_so() -> None:
    with pytest.warns(subword.StoppedEarlyWarning, match="no pair is left"):
        subword.train_wordpiece({"ab": 5}, 50)


def test_extra_characters_are_kept_whatever_the_corpus_holds() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", subword.StoppedEarlyWarning)
        tok = subword.train_wordpiece({"ab": 5}, 50, extra_alphabet="z")
    assert {b"z", b"##z"} <= set(tok.vocab.values())


def test_duplicate_pieces_and_broken_scores_are_refused() -> None:
    for pieces in (
        [("<unk>", 0.0), ("a", -1.0), ("a", -2.0)],
        [("<unk>", 0.0), ("a", float("nan"))],
    ):
        with pytest.raises(subword.VocabularyError):
            subword.UnigramTokenizer(pieces)
