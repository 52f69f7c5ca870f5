"""Merges equal to those of HF ``BpeTrainer``, and encoding equal for merges in any order."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.bpe_models import bpe_from_tokens
from subword.byte_characters import to_characters
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

tokenizers = pytest.importorskip("tokenizers")
zstandard = pytest.importorskip("zstandard")

SEPARATOR = "<|endoftext|>\n"
CORPORA = [
    "en_tinystories/tinystories_real",
    "code/python",
    "zh/react_docs_zh",
    "ru/tinystories_ru",
]


def read_documents(path: Path) -> list[str]:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        return str(reader.read(), "utf-8").split(SEPARATOR)


def hf_merges(documents: list[str], vocab_size: int) -> list[tuple[str, str]]:
    levels = tokenizers.pre_tokenizers.ByteLevel
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = levels(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=levels.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(documents, trainer)
    return [tuple(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


@pytest.mark.parametrize("corpus", CORPORA)
def test_merges_of_a_whole_corpus(shared: Path, corpus: str) -> None:
    documents = read_documents(shared / "data" / f"{corpus}.txt.zst")
    tok = train_bpe(documents, 5_000, ties="hf")
    merges = [(to_characters(left), to_characters(right)) for left, right in tok.merges]
    assert len(merges) == 5_000 - 256
    assert merges == hf_merges(documents, 5_000)


@st.composite
def shuffled_merges(draw: st.DrawFn) -> list[tuple[bytes, bytes]]:
    tokens = [b"a", b"b", b"c"]
    merges: list[tuple[bytes, bytes]] = []
    for _ in range(draw(st.integers(0, 12))):
        merge = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        if merge not in merges and len(merge[0] + merge[1]) <= 24:
            merges.append(merge)
            tokens.append(merge[0] + merge[1])
    return list(draw(st.permutations(merges)))


def hf_tokens(merges: list[tuple[bytes, bytes]], text: str) -> list[str]:
    made = dict.fromkeys(["a", "b", "c"] + [(left + right).decode() for left, right in merges])
    vocab = {token: token_id for token_id, token in enumerate(made)}
    pairs = [(left.decode(), right.decode()) for left, right in merges]
    model: Any = tokenizers.models.BPE(vocab, pairs)
    return [token.value for token in model.tokenize(text)]


@given(shuffled_merges(), st.text("abc", max_size=80), st.randoms(use_true_random=False))
def test_merges_in_any_order_apply_as_hf_applies_them(
    merges: list[tuple[bytes, bytes]], text: str, chooser: random.Random
) -> None:
    made = dict.fromkeys([b"a", b"b", b"c"] + [left + right for left, right in merges])
    tok = Tokenizer(bpe_from_tokens(dict(enumerate(made)), merges))
    for example in (text, "".join(chooser.choices("aab", k=60))):
        tokens = [tok.token_bytes(token_id).decode() for token_id in tok.encode(example)]
        assert tokens == hf_tokens(merges, example)
