"""New tokens: old ids and merges stay, encodings only get coarser, each new token is reached."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword import errors
from subword.models import Bpe, Piece, Pieces, bpe_from_tokens
from subword.tokenizer import Tokenizer
from subword.types import Ragged
from subword.vocabulary.continued_bpe import continue_merges

words = st.text(alphabet="abc é中", min_size=1, max_size=8)
tables = st.dictionaries(words, st.integers(1, 2**40), min_size=1, max_size=12)
OLD = {"low": 5, "lower": 2, "widest": 3, "newest": 6}
NEW = {"slow": 3, "slower": 2, "slowest": 4, "west": 1}


def small(counts: dict[str, int], n_merges: int, **options: object) -> Tokenizer:
    """A trained tokenizer; it may have fewer merges than asked for."""
    table = subword.PretokenCounts.from_mapping(counts, pattern="none")
    with pytest.warns() as caught:
        tok = subword.train_bpe(table, 256 + n_merges, **options)
        import warnings

        warnings.warn("always one", UserWarning, stacklevel=1)
    assert caught
    return tok


def extended(tok: Tokenizer, counts: dict[str, int], n: int, **options: object) -> subword.Adapted:
    """An extension that may stop early."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StoppedEarlyWarning)
        return subword.extend(tok, counts, n, **options)


def ends(tok: Tokenizer, ids: list[int]) -> set[int]:
    """Where tokens end in the text."""
    at, found = 0, set()
    for token_id in ids:
        at += len(tok.token_bytes(token_id))
        found.add(at)
    return found
