"""The golden pre-tokens, through the peers that their ``source`` names."""

import json
from pathlib import Path

import pytest

from subword.patterns import Pattern, resolve_pattern

tiktoken = pytest.importorskip("tiktoken")
tokenizers = pytest.importorskip("tokenizers")

GOLDEN = Path(__file__).parents[1] / "golden" / "pretokens.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def tiktoken_split(text: str, pattern: Pattern) -> list[str]:
    """Split as tiktoken does: with every substring a token, each match becomes one token."""
    data = text.encode()
    tokens = {data[i:j]: None for i in range(len(data)) for j in range(i + 1, len(data) + 1)}
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {token: 256 + rank for rank, token in enumerate(t for t in tokens if len(t) > 1)}
    (expression,) = pattern
    encoding = tiktoken.Encoding(
        "every substring", pat_str=expression, mergeable_ranks=ranks, special_tokens={}
    )
    ids = encoding.encode_ordinary(text)
    return [encoding.decode_single_token_bytes(token_id).decode() for token_id in ids]


def hf_split(text: str, pattern: Pattern) -> list[str]:
    """Split as a ``tokenizer.json`` of Split steps does."""
    steps = [
        tokenizers.pre_tokenizers.Split(tokenizers.Regex(expression), "isolated")
        for expression in pattern
    ]
    pieces = tokenizers.pre_tokenizers.Sequence(steps).pre_tokenize_str(text)
    return [piece for piece, _ in pieces]


PEERS = {"tiktoken 0.14.0": tiktoken_split, "tokenizers 0.23.3": hf_split}


DROPS_GAPS = "tiktoken 0.14.0, which drops the gaps"


@pytest.mark.parametrize("peer", PEERS)
def test_peer_splits_the_golden_texts_as_their_source_says(peer: str) -> None:
    confirmed = [case for case in CASES if peer in case["source"]]
    assert len(confirmed) > 250
    for case in confirmed:
        found = PEERS[peer](case["text"], resolve_pattern(case["pattern"]))
        if peer in DROPS_GAPS and DROPS_GAPS in case["source"]:
            pretokens = iter(case["pretokens"])
            assert all(piece in pretokens for piece in found), case["name"]
        else:
            assert found == case["pretokens"], case["name"]
