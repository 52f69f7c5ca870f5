"""New tokens for a WordPiece vocabulary, where the longest match decides.

A new token is taken wherever it is the longest one that fits, so that it may cut a word where it
was whole: "unab" takes the "un" of "unable", and "##able" no longer fits. Tokens that do so to a
counted word are left out, and so are those that longer ones leave no use for: unlike merges, a
token needs no steps that lead to it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from subword.counts import PretokenCounts
from subword.errors import ArgumentError
from subword.models import WordPiece, unknown_id
from subword.tokenizer import Tokenizer
from subword.types import Ragged, TokenId
from subword.vocabulary.checks import model_alone
from subword.vocabulary.continued_bpe import continue_merges
from subword.vocabulary.words import words_of

__all__ = ["extended_wordpieces", "with_wordpieces"]

# Put before what begins a word, so that joined bytes tell "ab" from "##ab": no UTF-8 has it.
_BEGIN: Final = b"\xff"
# Merges learnt for each token wanted, as longer tokens leave shorter ones no use; and how often
# the number of them is tried for which so many stay.
_SPARE: Final = 4
_ROUNDS: Final = 12


def extended_wordpieces(
    tokenizer: Tokenizer,
    counts: PretokenCounts,
    n_tokens: int,
    *,
    first_id: TokenId,
    min_frequency: int,
    max_bytes: int | None,
) -> Tokenizer:
    """Give a tokenizer up to ``n_tokens`` more tokens, learnt from counts.

    They are the characters that words were unknown for, the most frequent first, and what merging
    makes of the tokens that words have. Each is used by the counted words, and cuts none of them
    where it was whole.

    Raises:
        ArgumentError: Another model than WordPiece.
        EmptyCorpusError: There is no word to learn from.
    """
    model = _model(tokenizer)
    words, numbers = words_of(tokenizer, counts)
    is_known = _known(model_alone(tokenizer).encode_batch(words), unknown_id(model))
    unknown = [(words[at], int(numbers[at])) for at in np.flatnonzero(~is_known).tolist()]
    characters = _missing_characters(model, unknown, min_frequency)[:n_tokens]
    base = with_wordpieces(tokenizer, characters, first_id)
    before = model_alone(base).encode_batch(words)
    is_known = _known(before, unknown_id(base.model))
    words = [word for word, known in zip(words, is_known.tolist(), strict=True) if known]
    before, numbers = model_alone(base).encode_batch(words), numbers[is_known]
    n_wanted = n_tokens - len(characters)
    merges = continue_merges(
        before,
        numbers,
        {at: _spelt(model, token) for at, token in base.model.vocab.items()},
        _SPARE * n_wanted,
        first_id=base.vocab_size,
        min_frequency=min_frequency,
        max_token_length=None if max_bytes is None else max_bytes + len(_BEGIN),
    )
    tried = [_token(model, merge.token) for merge in merges]
    chosen: list[bytes] = []
    n_taken = n_wanted
    for _ in range(_ROUNDS if n_wanted else 0):
        settled = _settled(base, tried[:n_taken], words, before)
        if len(chosen) < len(settled) <= n_wanted:
            chosen = settled
        n_lacking = n_wanted - len(settled)
        if not n_lacking or (n_lacking > 0 and n_taken >= len(tried)):
            break
        n_taken += n_lacking
    return with_wordpieces(tokenizer, [*characters, *chosen], first_id)


def with_wordpieces(tokenizer: Tokenizer, tokens: Sequence[bytes], first_id: TokenId) -> Tokenizer:
    """Give a tokenizer with these tokens too, whose ids start at ``first_id``.

    Raises:
        ArgumentError: Another model than WordPiece.
    """
    model = _model(tokenizer)
    added = dict(enumerate(tokens, start=first_id))
    return tokenizer.replace(model=replace(model, vocab={**model.vocab, **added}, training=None))


def _settled(
    base: Tokenizer,
    tokens: Sequence[bytes],
    words: Sequence[bytes],
    before: Ragged,
) -> list[bytes]:
    """Leave out tokens that cut a word anew or that no word has, until all that stay are good."""
    model = _model(base)
    prefix = model.prefix.encode()
    first = base.vocab_size
    kept = list(tokens)
    while kept:
        new = with_wordpieces(base, kept, first)
        lengths = np.zeros(new.vocab_size, np.int64)
        for at, token in new.model.vocab.items():
            lengths[at] = len(token.removeprefix(prefix))
        after = model_alone(new).encode_batch(words)
        is_used = np.zeros(len(kept), bool)
        is_used[np.unique(after.ids[after.ids >= first]) - first] = True
        # The first end that was none is that of the token which tears the word.
        is_used[np.unique(_first_torn(before, after, lengths)) - first] = False
        if is_used.all():
            break
        kept = [token for token, used in zip(kept, is_used.tolist(), strict=True) if used]
    return kept


def _first_torn(
    before: Ragged, after: Ragged, lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint32]:
    """Give the id that ends inside an old token first, for each word that has one."""
    inside = ~np.isin(np.cumsum(lengths[after.ids]), np.cumsum(lengths[before.ids]))
    places = np.flatnonzero(inside)
    words = np.searchsorted(after.bounds, places, side="right")
    _, firsts = np.unique(words, return_index=True)
    torn: npt.NDArray[np.uint32] = after.ids[places[firsts]]
    return torn


def _missing_characters(
    model: WordPiece, words: Sequence[tuple[bytes, int]], min_frequency: int
) -> list[bytes]:
    """Give what the characters of words lack, at the begin or inside, the most frequent first."""
    known = set(model.vocab.values())
    found: Counter[bytes] = Counter()
    for word, count in words:
        text = word.decode()
        if len(text) <= model.max_input_chars_per_word:
            for at, character in enumerate(text):
                found[((model.prefix if at else "") + character).encode()] += count
    missing = [(-n, token) for token, n in found.items() if token not in known]
    return [token for negative, token in sorted(missing) if -negative >= min_frequency]


def _known(encoded: Ragged, unk_id: TokenId | None) -> npt.NDArray[np.bool_]:
    """Tell which words are not unknown."""
    known = np.ones(len(encoded), bool)
    rows = np.repeat(np.arange(len(encoded)), np.diff(encoded.bounds))
    known[rows[encoded.ids == unk_id]] = False
    return known


def _spelt(model: WordPiece, token: bytes) -> bytes:
    prefix = model.prefix.encode()
    if (token.startswith(prefix) and token != prefix) or not prefix:
        return token.removeprefix(prefix)
    return _BEGIN + token


def _token(model: WordPiece, spelt: bytes) -> bytes:
    begins = spelt.startswith(_BEGIN) or not model.prefix
    return spelt.removeprefix(_BEGIN) if begins else model.prefix.encode() + spelt


def _model(tokenizer: Tokenizer) -> WordPiece:
    model = tokenizer.model
    if not isinstance(model, WordPiece):
        raise ArgumentError(f"these tokens need a WordPiece model; got {type(model).__name__}")
    return model
