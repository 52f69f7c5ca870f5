"""The golden merges and encodings, through the peers that their ``source`` names."""

import json
from pathlib import Path
from typing import Any

import pytest

from subword.byte_characters import from_characters, to_characters

tiktoken = pytest.importorskip("tiktoken")
tokenizers = pytest.importorskip("tokenizers")

GOLDEN = Path(__file__).parents[1] / "golden"


def cases(name: str, peer: str) -> list[dict[str, Any]]:
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if peer in case["source"]]


def read(case: dict[str, Any], text: str) -> bytes:
    return bytes.fromhex(text) if case.get("hex") else text.encode()


def byte_level(model: Any) -> Any:
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    return tokenizer


def test_hf_trainer_learns_the_golden_merges() -> None:
    confirmed = cases("bpe_training.jsonl", "tokenizers 0.23.3")
    assert len([case for case in confirmed if case["ties"] == "hf"]) >= 5
    for case in confirmed:
        tokenizer = byte_level(tokenizers.models.BPE())
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=256 + case["n_merges"],
            min_frequency=case.get("min_frequency", 1),
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        documents = [
            read(case, text).decode()
            for text, count in case["counts"].items()
            for _ in range(count)
        ]
        tokenizer.train_from_iterator(documents, trainer)
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        found = [tuple(map(from_characters, merge)) for merge in merges]
        expected = [(read(case, a), read(case, b)) for a, b, _ in case["merges"]]
        assert found == expected, case["name"]


def test_hf_model_encodes_the_golden_pretokens() -> None:
    confirmed = cases("bpe_encoding.jsonl", "tokenizers 0.23.3")
    assert len(confirmed) > 30
    for case in confirmed:
        merges = [tuple(to_characters(read(case, part)) for part in m) for m in case["merges"]]
        alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
        tokens = dict.fromkeys([*alphabet, *("".join(merge) for merge in merges)])
        vocab = {token: token_id for token_id, token in enumerate(tokens)}
        tokenizer = byte_level(tokenizers.models.BPE(vocab=vocab, merges=merges))
        found = tokenizer.encode(read(case, case["pretoken"]).decode()).tokens
        expected = [to_characters(read(case, token)) for token in case["tokens"]]
        assert found == expected, case["name"]


def test_tiktoken_encodes_the_golden_pretokens() -> None:
    confirmed = cases("bpe_encoding.jsonl", "tiktoken 0.14.0")
    assert len(confirmed) > 20
    for case in confirmed:
        ranks = {read(case, token): rank for rank, token in enumerate(case["ranks"])}
        for byte in range(256):
            ranks.setdefault(bytes([byte]), 1000 + byte)
        encoding = tiktoken.Encoding(
            "golden", pat_str="(?s).+", mergeable_ranks=ranks, special_tokens={}
        )
        ids = encoding._encode_single_piece(read(case, case["pretoken"]))
        expected = [read(case, token) for token in case["tokens"]]
        assert encoding.decode_tokens_bytes(ids) == expected, case["name"]
