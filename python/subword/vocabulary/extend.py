"""New tokens for a tokenizer, learnt from counts or given, with every old id in its place."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from subword.counts import PretokenCounts
from subword.errors import (
    ArgumentError,
    EmptyCorpusError,
    StoppedEarlyWarning,
    VocabSizeError,
    VocabularyError,
)
from subword.models import Bpe, Pieces, Unigram, WordPiece
from subword.tokenizer import Tokenizer
from subword.types import Pair, Ragged, TextLike, TokenId
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import check_allowed
from subword.vocabulary.certify import certified
from subword.vocabulary.checks import Texts, model_alone
from subword.vocabulary.continued_bpe import NewMerge, continue_merges, pairs_of
from subword.vocabulary.fitting import fitting_counts
from subword.vocabulary.given_tokens import checked_tokens, merges_of_tokens
from subword.vocabulary.pieces import extended_pieces, given_pieces
from subword.vocabulary.wordpieces import extended_wordpieces, with_wordpieces

__all__ = ["extend", "with_merges"]


def extend(
    tokenizer: Tokenizer,
    counts: PretokenCounts | Mapping[str, int] | Mapping[bytes, int] | None = None,
    n_tokens: int | None = None,
    *,
    tokens: Sequence[TextLike] | None = None,
    unchanged_on: PretokenCounts | None = None,
    first_id: TokenId | None = None,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    texts: Texts = (),
    allow: Iterable[str] = (),
) -> Adapted:
    """Give a tokenizer more tokens; those it has keep their ids and what they are made of.

    Training goes on where the old one stands: each pre-token of the counts is encoded as before,
    and the pairs of tokens that occur most often are merged. New merges come after all old ones
    and never make a token that is there already, so that every encoding is the old one with some
    neighbours joined: a model that is trained on sees its own tokens and new ones, no others.

    Byte-level BPE and SentencePiece's BPE can promise this for every text. In the latter, pieces
    are merges by themselves: new ones get scores below all old ones, and characters that the
    vocabulary lacked come first, the most frequent ones. In Unigram, a new piece gets a little
    more than the best path that its text has; it takes that place, and moves a border elsewhere
    only where another path was just as good. In WordPiece, a new token is taken wherever it is
    the longest that fits; what would cut a counted pre-token where it was whole is left out, as
    is what no pre-token has. For both, old text is looked at and not proved: give it as ``texts``,
    and the certificate lists what moved. A text that was unknown may be cut in any way.

    Args:
        tokenizer: What to extend.
        counts: Pre-tokens with their counts, made with the tokenizer's pattern; weighted ones
            (``subword.mix``) decide by their weights what is worth a token.
        n_tokens: How many tokens to add.
        tokens: The tokens to add, in place of learning, spelt as in the vocabulary: ``"▁word"``
            for SentencePiece, ``"##ing"`` for WordPiece. In BPE each comes with the tokens that
            it is made of step by step, where these are not there yet.
        unchanged_on: Counts of text whose ids shall not change at all: no pair of tokens that
            occurs there is merged, which costs some of the gain. For byte-level BPE alone.
        first_id: The id of the first new token, where the model's matrix has padding rows that
            shall stay free; the next free id by default, and always for pieces, whose ids are
            their places.
        min_frequency: Pairs that occur less often are not merged; at least 1.
        max_token_length: Most bytes of a new token; None for no limit.
        texts: Documents, or sources of documents by name, that the certificate looks at.
        allow: Names of laws (``subword.vocabulary.certificate.LAWS``) that may be broken.

    Returns:
        The new tokenizer, the id map, and the certificate.

    Raises:
        ArgumentError: Neither counts nor tokens to add, both ways at once, a number outside its
            range, or a model that cannot keep the promise.
        CountsError: Counts that were made with another pattern.
        EmptyCorpusError: Counts without a pre-token that could be learnt from.
        VocabularyError: A given token that is there already, is given twice, spells a special
            token, or that no pre-token can hold or the normalizer changes.
        VocabSizeError: ``first_id`` is one of the old ids.
        BrokenLawError: A law of the certificate does not hold.

    Source: Purason et al. 2025, "Teaching Old Tokenizers New Words: Efficient Tokenizer
    Adaptation for Pre-trained Models" (continued BPE training).

    Examples:
        >>> from subword import train_bpe
        >>> tok = train_bpe({"low": 5, "lower": 2}, 258, pattern="gpt2")
        >>> new = extend(tok, {"slow": 3, "slower": 2}, 2)
        >>> new.tokenizer.merges[2:], new.tokenizer.token_id("slow")
        ([(b's', b'low'), (b'slow', b'e')], 258)
        >>> new.id_map.pieces[258] == tuple(tok.encode("slow"))
        True
    """
    allowed = check_allowed(allow)
    has_unchanged = unchanged_on is not None
    _check_arguments(tokenizer, n_tokens, tokens, counts, first_id, has_unchanged=has_unchanged)
    table = None if counts is None else fitting_counts(counts, tokenizer)
    kept = None if unchanged_on is None else fitting_counts(unchanged_on, tokenizer)
    given = None if tokens is None else checked_tokens(tokenizer, tokens)
    start = tokenizer.vocab_size if first_id is None else first_id
    options = _Options(start, min_frequency, max_token_length)
    if isinstance(tokenizer.model, Bpe):
        merges = _merges(tokenizer, table, n_tokens, given, kept, options)
        new = with_merges(tokenizer, merges, start)
    elif given is not None:
        new = _with_given(tokenizer, given, options)
    elif table is not None and n_tokens is not None:
        new = _learnt(tokenizer, table, n_tokens, options)
    wanted = n_tokens or 0
    n_added = len(new.model.vocab) - len(tokenizer.model.vocab)
    if n_added < wanted:
        warnings.warn(
            f"added {n_added} tokens of {wanted}: no other pair that occurs {min_frequency} times "
            "or more makes a token that texts reach and that leaves old ones whole",
            StoppedEarlyWarning,
            stacklevel=2,
        )
    old_to_new: dict[int, int | None] = {token_id: token_id for token_id in tokenizer.vocab}
    return certified("extend", tokenizer, new, old_to_new, table, texts, allowed)


@dataclass(frozen=True, slots=True)
class _Options:
    first_id: TokenId
    min_frequency: int
    max_token_length: int | None


def _with_given(tokenizer: Tokenizer, tokens: Sequence[bytes], options: _Options) -> Tokenizer:
    if isinstance(tokenizer.model, WordPiece):
        return with_wordpieces(tokenizer, tokens, options.first_id)
    return given_pieces(tokenizer, tokens)


def _learnt(
    tokenizer: Tokenizer, counts: PretokenCounts, n_tokens: int, options: _Options
) -> Tokenizer:
    if isinstance(tokenizer.model, WordPiece):
        return extended_wordpieces(
            tokenizer,
            counts,
            n_tokens,
            first_id=options.first_id,
            min_frequency=options.min_frequency,
            max_bytes=options.max_token_length,
        )
    return extended_pieces(
        tokenizer,
        counts,
        n_tokens,
        min_frequency=options.min_frequency,
        max_bytes=options.max_token_length,
    )


def _check_arguments(
    tokenizer: Tokenizer,
    n_tokens: int | None,
    tokens: Sequence[TextLike] | None,
    counts: object,
    first_id: TokenId | None,
    *,
    has_unchanged: bool,
) -> None:
    model = tokenizer.model
    is_sentencepiece = isinstance(model, Unigram) or (
        isinstance(model, Pieces) and model.kind == "bpe"
    )
    if not is_sentencepiece and not isinstance(model, Bpe | WordPiece):
        raise ArgumentError(
            f"a {type(model).__name__} model cannot keep its old tokens apart from new ones; "
            "extend takes byte-level BPE, WordPiece, and SentencePiece's BPE and Unigram (of a "
            "model that has both, load tokenizer.model)"
        )
    if (n_tokens is None) == (tokens is None):
        raise ArgumentError("give either n_tokens, to learn them from counts, or tokens")
    if n_tokens is not None and counts is None:
        raise ArgumentError("n_tokens needs counts to learn the tokens from")
    if n_tokens is not None and n_tokens < 1:
        raise ArgumentError(f"n_tokens is {n_tokens}; ask for at least 1")
    if isinstance(tokens, str | bytes):
        raise ArgumentError("tokens is a single token; pass a list of tokens")
    if has_unchanged and not isinstance(model, Bpe):
        raise ArgumentError(
            "unchanged_on needs byte-level BPE, where a pair can be left unmerged; give old text "
            "as texts, to have it looked at"
        )
    if first_id is None:
        return
    if is_sentencepiece:
        raise ArgumentError(
            "first_id needs byte-level BPE or WordPiece: ids of pieces are their places"
        )
    if first_id < tokenizer.vocab_size:
        raise VocabSizeError(
            f"first_id is {first_id}, but ids up to {tokenizer.vocab_size - 1} are old ones"
        )


def _merges(
    tokenizer: Tokenizer,
    counts: PretokenCounts | None,
    n_tokens: int | None,
    tokens: Sequence[bytes] | None,
    unchanged_on: PretokenCounts | None,
    options: _Options,
) -> list[NewMerge]:
    forbidden: frozenset[Pair] = frozenset()
    if unchanged_on is not None:
        forbidden = pairs_of(model_alone(tokenizer).encode_batch(list(unchanged_on)))
    if tokens is not None:
        merges, stuck = merges_of_tokens(tokenizer, tokens, forbidden, first_id=options.first_id)
        if stuck:
            raise VocabularyError(
                f"new token {stuck[0]!r:.60} cannot be made of its old pieces: on every way lies a "
                "token that is there already, or a pair that shall not change; leave it out"
            )
        return merges
    if counts is None:
        return []
    encoded, numbers = _encoded(tokenizer, counts)
    return continue_merges(
        encoded,
        numbers,
        tokenizer.model.vocab,
        n_tokens or 0,
        first_id=options.first_id,
        taken={text.encode() for text in tokenizer.special_tokens},
        forbidden=forbidden,
        min_frequency=options.min_frequency,
        max_token_length=options.max_token_length,
    )


def _encoded(tokenizer: Tokenizer, counts: PretokenCounts) -> tuple[Ragged, npt.NDArray[np.uint64]]:
    """Encode the pre-tokens that can stand in a text as they are.

    One that holds a special token is cut there; one that the normalizer changes never reaches
    the model.
    """
    pretokens, numbers = list(counts), counts.counts()
    # Most tables have none of the special tokens, which one search shows.
    flat = b"\0".join(pretokens)
    reserved = [text.encode() for text in tokenizer.special_tokens if text.encode() in flat]
    if reserved:
        usable = counts.keep(lambda p: not any(text in p for text in reserved))
        pretokens, numbers = list(usable), usable.counts()
    if not pretokens:
        raise EmptyCorpusError("the counts hold no pre-token that could be learnt from")
    encoded = model_alone(tokenizer).encode_batch(pretokens)
    if tokenizer.normalizer:
        normal = Tokenizer(tokenizer.model, normalizer=tokenizer.normalizer)
        after = normal.encode_batch(pretokens)
        same = [np.array_equal(a, b) for a, b in zip(encoded, after, strict=True)]
        numbers = np.where(same, numbers, np.uint64(0))
    return encoded, numbers


def with_merges(tokenizer: Tokenizer, merges: Sequence[NewMerge], first_id: TokenId) -> Tokenizer:
    """Give a tokenizer with merges behind its own; merge ``i`` makes ``first_id + i``.

    Raises:
        ArgumentError: Another model than byte-level BPE.
    """
    model = tokenizer.model
    if not isinstance(model, Bpe):
        raise ArgumentError(f"merges need byte-level BPE; this is a {type(model).__name__} model")
    added = {first_id + at: merge.token for at, merge in enumerate(merges)}
    changed = replace(
        model,
        vocab={**model.vocab, **added},
        merges=(*model.merges, *(merge.pair for merge in merges)),
        training=None,
    )
    return tokenizer.replace(model=changed)
