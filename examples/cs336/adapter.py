"""What the course's tests call, in terms of ``subword``: put these in its ``tests/adapters.py``."""

from collections.abc import Mapping, Sequence
from os import PathLike

import subword

__all__ = ["get_tokenizer", "run_train_bpe"]


def run_train_bpe(
    input_path: str | PathLike[str], vocab_size: int, special_tokens: Sequence[str]
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Train byte-level BPE on a file; give the vocabulary and the merges in their order."""
    tok = subword.train_bpe(str(input_path), vocab_size, special_tokens)
    return tok.vocab, tok.merges


def get_tokenizer(
    vocab: Mapping[int, bytes],
    merges: Sequence[tuple[bytes, bytes]],
    special_tokens: Sequence[str] | None = None,
) -> subword.BPETokenizer:
    """Give a tokenizer with ``encode``, ``encode_iterable`` and ``decode``."""
    return subword.BPETokenizer(dict(vocab), list(merges), special_tokens)
