"""Round trips, special tokens, and what a tokenizer is as an object."""

import os
import pickle
import random
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import BYTES, CORPUS, NAMES, SPECIALS, huge_text, texts, trained
from subword.errors import (
    ArgumentError,
    SpecialTokenError,
    SpecialTokenInTextError,
    TextError,
    VocabSizeError,
    VocabularyError,
)
from subword.models import Bpe
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

# Law 1: decode(encode(x)) == x.


@given(texts, st.sampled_from(NAMES), st.sampled_from(["recognize", "as_text", frozenset(["<s>"])]))
def test_text_round_trips(text: str, name: str, special: Any) -> None:
    tok = trained(name)
    ids = tok.encode(text, special=special)
    assert tok.decode(ids) == text
    assert tok.decode(ids, errors="strict") == text
    assert tok.encode(text.encode(), special=special) == ids
    assert tok.encode_array(text, special=special).tolist() == ids
    assert tok.encode_array(text).dtype == np.uint32
    assert tok.count_tokens(text, special=special) == len(ids)


@given(st.binary(max_size=60) | texts.map(lambda t: t.encode()[1:-1]), st.sampled_from(NAMES))
def test_bytes_round_trip(raw: bytes, name: str) -> None:
    tok = trained(name)
    assert tok.decode_bytes(tok.encode(raw)) == raw
    assert tok.decode(tok.encode(raw)) == raw.decode("utf-8", "replace")


@given(
    texts,
    st.lists(st.sampled_from([r"[a-z]+", r"a*", r"\s+(?!\S)", r"(?<=a)b|", "x|\\d"]), max_size=3),
)
def test_b20_text_round_trips_for_any_pattern(text: str, pattern: list[str]) -> None:
    tok = trained().replace(pattern=pattern)
    assert tok.decode(tok.encode(text)) == text


def test_b20_gaps_are_kept() -> None:
    tok = trained().replace(pattern="[a-z]+")
    assert tok.decode(tok.encode("Hi there, 42!")) == "Hi there, 42!"


def test_an_empty_text_has_no_ids() -> None:
    tok = trained()
    assert tok.encode("") == tok.encode(b"") == []
    assert tok.decode([]) == ""
    assert tok.decode_bytes([]) == b""
    assert tok.count_tokens("") == 0
    assert tok.encode_array("").shape == (0,)
    assert list(tok.encode_iterable([])) == list(tok.encode_iterable(["", b""])) == []
    assert tok.encode_batch([]).tolist() == []
    assert tok.encode_batch(["", "a", ""]).tolist() == [[], [97], []]
    assert len(tok.encode_spans("")) == 0


# Law 6: no merge touches a special token; the longest wins.


@given(texts)
def test_special_tokens_are_cut_out_before_anything_else(text: str) -> None:
    from subword.reference.special_tokens import cut

    tok = trained()
    plain = trained(specials=False)
    expected: list[int] = []
    for part, is_special in cut(text.encode(), [token.encode() for token in SPECIALS]):
        expected += [tok.special_tokens[part.decode()]] if is_special else plain.encode(part)
    assert tok.encode(text) == expected


def test_the_longest_special_token_wins() -> None:
    tok = trained()
    ids = tok.special_tokens
    assert tok.encode("<s><s>") == [ids["<s>"], ids["<s>"]]
    assert tok.encode("<s<s>") == [ids["<s"], ids["<s>"]]
    assert tok.encode("<|a long special token|> b") == [ids["<|a long special token|> b"]]
    assert tok.encode("<|a long special token|> ")[0] == ids["<|a long special token|>"]


# The policy for special tokens.


def test_b21_a_special_token_in_ordinary_text_does_not_stop_the_work() -> None:
    tok = train_bpe(["some text"] * 3, 260, ["<|endoftext|>"])
    text = "ordinary <|endoftext|> text"
    assert tok.encode(text).count(256) == 1
    assert tok.decode(tok.encode(text)) == text
    as_text = tok.encode(text, special="as_text")
    assert 256 not in as_text
    assert tok.decode(as_text) == text
    with pytest.raises(SpecialTokenInTextError, match=r"endoftext.* byte 9"):
        tok.encode(text, special="forbid")
    with pytest.raises(ValueError, match="as_text"):
        tok.encode(text, special="forbid")
    assert tok.encode("some text", special="forbid") == tok.encode("some text")


def test_a_set_of_special_tokens_recognizes_those_alone() -> None:
    tok = trained()
    ids = tok.special_tokens
    assert tok.encode("<s><s", special={"<s"}) == [ids["<s"], 62, ids["<s"]]
    assert tok.encode("<s>", special=frozenset()) == tok.encode("<s>", special="as_text")
    assert tok.encode("<s>", special=set(ids)) == [ids["<s>"]]
    with pytest.raises(SpecialTokenError, match="nothing"):
        tok.encode("<s>", special={"nothing"})
    with pytest.raises(ArgumentError, match="recognise"):
        tok.encode("<s>", special="recognise")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.encode("<s>", special=None)  # type: ignore[arg-type]


def test_special_tokens_that_cannot_be_told_apart_are_refused() -> None:
    tok = trained()
    model = tok.model
    for bad in ([""], ["<x>", "<x>"], "<x>", [b"<x>"], ["\ud800"]):
        with pytest.raises((SpecialTokenError, TextError)):
            tok.with_special_tokens(bad)  # type: ignore[arg-type]
    for ids in (
        {"<x>": 97},
        {"<x>": 256, "<y>": 256},
        {"<x>": -1},
        {"<x>": 2**32 - 1},
        {"<x>": 2**40},
    ):
        with pytest.raises(VocabularyError):
            Tokenizer(model, ids).encode("a")


def test_a_special_token_that_is_a_token_keeps_its_id() -> None:
    tok = Tokenizer(Bpe(BYTES | {300: b"ab"}, ((97, 98),)))
    assert tok.with_special_tokens(["ab", "<s>"]).special_tokens == {"ab": 300, "<s>": 301}
    assert tok.with_special_tokens(["a"]).encode("aab") == [97, 97, 98]


def test_an_alias_is_a_second_spelling_of_an_id() -> None:
    ids = {"<a>": 256, "<b>": 256}
    tok = Tokenizer(Bpe(BYTES, ()), ids, token_flags={"<b>": TokenFlags(alias=True)})
    assert tok.encode("<b>x<a>") == [256, 120, 256]
    assert tok.encode("<b>", special={"<b>"}) == [256]
    assert tok.decode([256]) == tok.vocab[256].decode() == "<a>"
    assert tok.token_id("<b>") == tok.token_id("<a>") == 256
    assert tok.decode([256, 120], skip_special=True) == "x"
    more = tok.with_special_tokens(["<b>", "<c>"])
    assert more.special_tokens == {"<a>": 256, "<b>": 256, "<c>": 257}
    assert pickle.loads(pickle.dumps(tok)) == tok  # noqa: S301
    assert tok != Tokenizer(Bpe(BYTES, ()), {"<a>": 256})
    with pytest.raises(VocabularyError, match="which '<a>' has too"):
        Tokenizer(Bpe(BYTES, ()), ids)
    both = dict.fromkeys(ids, TokenFlags(alias=True))
    with pytest.raises(VocabularyError, match="no special token before it"):
        Tokenizer(Bpe(BYTES, ()), ids, token_flags=both)


# What is no text.


@pytest.mark.parametrize("bad", [5, None, ["a"], bytearray(b"a"), memoryview(b"a"), 1.5])
def test_what_is_no_text_is_refused(bad: Any) -> None:
    tok = trained()
    for call in (tok.encode, tok.encode_array, tok.count_tokens, tok.encode_spans):
        with pytest.raises(TypeError, match="str or bytes"):
            call(bad)


# Law 10: frozen, picklable, thread-safe, fork-safe, interruptible.


def test_a_tokenizer_is_frozen_and_hashable() -> None:
    tok = trained()
    with pytest.raises(AttributeError):
        tok.pattern = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        tok.anything = 1  # type: ignore[attr-defined]
    assert hash(tok) == hash(tok.replace())
    assert tok == tok.replace()
    assert len({tok, tok.replace(), tok.replace(pattern="cl100k")}) == 2


def test_a_tokenizer_pickles() -> None:
    for tok in (trained(), trained("deepseek"), trained(specials=False)):
        again = pickle.loads(pickle.dumps(tok))  # noqa: S301
        assert again == tok
        assert again.memo_bytes == tok.memo_bytes
        assert again.merge_counts == tok.merge_counts
        assert repr(again) == repr(tok)
        assert again.encode(huge_text()[:5000]) == tok.encode(huge_text()[:5000])


def test_equality_is_that_of_what_ids_depend_on() -> None:
    tok = trained()
    model = tok.model
    assert isinstance(model, Bpe)
    assert tok != tok.replace(pattern="o200k")
    assert tok != tok.replace(special_tokens={})
    assert tok != tok.replace(model=Bpe(model.vocab, model.merges, whole_first=True))
    assert tok != tok.replace(model=Bpe(model.vocab, model.merges[:-1]))
    assert tok == tok.replace(memo_bytes=0)
    assert tok == tok.replace(model=Bpe(model.vocab, list(model.merges)))
    assert tok != "tok"


def test_what_goes_in_may_change_afterwards() -> None:
    vocab = dict(BYTES)
    special = {"<s>": 256}
    tok = Tokenizer(Bpe(vocab, ()), special)
    special["<t>"] = 257
    assert tok.special_tokens == {"<s>": 256}
    assert tok.encode("<t>") == list(b"<t>")
    tok.vocab[0] = b"changed"
    assert tok.token_bytes(0) == b"\0"
    tok.merges.append((b"a", b"b"))
    assert tok.merges == []


def test_replace_and_with_special_tokens_give_new_tokenizers() -> None:
    tok = trained()
    assert tok.replace(pattern=None).pattern == ()
    assert tok.replace(pattern=r"\d").pattern == (r"\d",)
    more = tok.with_special_tokens(["<new>", "<s>"])
    assert more.special_tokens == {**tok.special_tokens, "<new>": tok.vocab_size}
    assert more.encode("<new>") == [tok.vocab_size]
    assert "<new>" not in tok.special_tokens
    assert more.vocab_size == tok.vocab_size + 1
    with pytest.raises(ArgumentError, match="colour"):
        tok.replace(colour="red")


def test_truncate_gives_the_smaller_training() -> None:
    tok = train_bpe(CORPUS * 2, 340, ["<s>", "<e>"])
    small = tok.truncate(300)
    assert small == train_bpe(CORPUS * 2, 300, ["<s>", "<e>"])
    assert small.vocab_size == len(small) == 300
    assert small.merge_counts == (tok.merge_counts or [])[:42]
    assert tok.truncate(340) == tok
    assert tok.truncate(258).merges == []
    assert small.truncate(270) == tok.truncate(270)
    for vocab_size in (341, 257, 0, -5):
        with pytest.raises(VocabSizeError):
            tok.truncate(vocab_size)
    with pytest.raises(ArgumentError):
        Tokenizer(Bpe(BYTES, ())).truncate(256)


def test_truncate_refuses_to_cut_below_special_tokens_that_were_added() -> None:
    tok = train_bpe(CORPUS * 2, 340, ["<s>"]).with_special_tokens(["<new>"])
    with pytest.raises(ArgumentError, match="<new>"):
        tok.truncate(300)
    assert tok.truncate(341) == tok


def test_threads_share_one_tokenizer() -> None:
    tok = trained("o200k")
    chunks = [huge_text()[at : at + 3000] for at in range(0, 300_000, 3000)]
    expected = [tok.encode(chunk) for chunk in chunks]
    results: list[list[list[int]]] = [[] for _ in range(8)]

    def work(number: int) -> None:
        order = list(range(len(chunks)))
        random.Random(number).shuffle(order)
        found = {at: tok.encode(chunks[at]) for at in order}
        results[number] = [found[at] for at in range(len(chunks))]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected for result in results)


def test_a_fork_after_parallel_work_goes_on_working() -> None:
    code = (
        "import os, sys, threading, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from subword.training.bpe import train_bpe\n"
        "tok = train_bpe(['the cat in the hat'] * 9, 270)\n"
        "texts = ['the cat in the hat ' * 50_000] * 4\n"
        "expected = tok.encode_batch(texts, n_threads=4).tolist()\n"
        "busy = threading.Thread(target=lambda: [tok.encode_batch(texts, n_threads=4) for _ in range(5)])\n"
        "busy.start()\n"
        "for _ in range(3):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        ok = tok.encode_batch(texts, n_threads=4).tolist() == expected\n"
        "        ok = ok and tok.encode(texts[0]) == expected[0]\n"
        "        ok = ok and train_bpe(['ab'] * 3, 257, n_threads=4).merges == [(b'a', b'b')]\n"
        "        os._exit(0 if ok else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "busy.join()\n"
        "print('done')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


def test_repr_says_what_it_is() -> None:
    assert repr(trained()) == (
        f"Tokenizer(Bpe, vocab_size={trained().vocab_size}, {len(trained().merges)} merges, "
        "8 special tokens, pattern='gpt2')"
    )
    assert os.linesep not in repr(trained().replace(pattern="x" * 500))
