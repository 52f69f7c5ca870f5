"""What is saved and loaded again is equal, where the format holds all of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from subword.formats import load, save
from subword.models import Bpe
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

CORPUS = ["the cat sat on the mat"] * 3


def made(name: str) -> Tokenizer:
    options: dict[str, Any] = {"ties": "hf"} if name == "hf" else {}
    specials = [] if name == "plain" else ["<s>", "<e>"]
    tok = train_bpe(CORPUS, 266, specials, **options)
    return tok.with_special_tokens(["<x>", "cat"]) if name == "added" else tok


@pytest.mark.parametrize("name", ["plain", "special", "hf", "added"])
@pytest.mark.parametrize("format_name", ["yaml", "tokenizer_json", "vocab_merges", "tiktoken"])
def test_what_is_loaded_is_what_was_saved(name: str, format_name: str, tmp_path: Path) -> None:
    tok = made(name)
    path = tmp_path if format_name == "vocab_merges" else tmp_path / "file"
    save(tok, path, format_name)
    given: dict[str, Any] = {}
    if format_name == "vocab_merges":
        given = {"special_tokens": list(tok.special_tokens)}
    if format_name == "tiktoken":
        given = {"special_tokens": dict(tok.special_tokens), "pattern": "gpt2"}
        assert isinstance(tok.model, Bpe)
        # tiktoken looks whole pre-tokens up first.
        tok = tok.replace(model=replace(tok.model, whole_first=True))
    again = load(path, format_name, **given)
    assert again == tok
    assert hash(again) == hash(tok)
    assert again.vocab == tok.vocab
    assert again.merges == tok.merges


def test_an_entry_that_more_than_its_special_token_reaches_counts() -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)}
    special = {"ab": 256}
    bare = Tokenizer(Bpe(vocab, ()), special)
    with_entry = {**vocab, 256: b"ab"}
    assert bare == Tokenizer(Bpe(with_entry, ()), special)
    assert bare != Tokenizer(Bpe(with_entry, ((97, 98),)), special)
    # Looked up whole, the entry gives its id under special="as_text".
    assert Tokenizer(Bpe(vocab, (), True), special) != Tokenizer(Bpe(with_entry, (), True), special)
