"""Learn WordPiece vocabularies, and character-level BPE, from pre-token counts."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from subword import _core
from subword.counts import PretokenCounts, count
from subword.decoders import WordPiece as WordPieceDecoder
from subword.errors import ArgumentError, EmptyCorpusError, StoppedEarlyWarning
from subword.models import Ties, WordPiece
from subword.patterns import resolve_pattern
from subword.pretokens import Whitespace
from subword.special_tokens import check_special_tokens
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import Sources

__all__ = ["train_wordpiece"]

_BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Score = Literal["likelihood", "frequency"]


def train_wordpiece(
    source: PretokenCounts | Mapping[str, int] | Mapping[bytes, int] | Sources,
    vocab_size: int,
    special_tokens: Sequence[str] = _BERT_TOKENS,
    *,
    score: Score = "likelihood",
    ties: Ties = "greatest",
    pattern: str | Sequence[str] | None = None,
    unk_token: str = "[UNK]",
    prefix: str = "##",
    min_frequency: int = 1,
    limit_alphabet: int | None = None,
    character_coverage: float = 1.0,
    extra_alphabet: str = "",
    max_input_chars_per_word: int = 100,
    documents: str | bytes | None = None,
    n_threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tokenizer:
    r"""Train a WordPiece tokenizer.

    Ids are the special tokens in the order given, then the characters that start words, then
    those inside words (with the prefix), each by code point, then what merges made, in their
    order. The result depends on the counts alone, save that ``ties="first"`` also reads the
    first positions.

    Args:
        source: Pre-token counts, a mapping of words to counts, or a corpus to count first.
        vocab_size: All ids: special tokens, characters and merges.
        special_tokens: Reserved strings; BERT's by default.
        score: ``"likelihood"`` merges the pair with the greatest count(ab) / (count(a) count(b)),
            compared exactly; ``"frequency"`` the most frequent one, as HF's trainer does.
        ties: Which of the pairs with the best score is merged, as in ``subword.train_bpe``.
        pattern: The split pattern, ``\w+|[^\w\s]+`` with the rest dropped by default; counts
            bring their own.
        unk_token: What words become that cannot be spelled; one of the special tokens.
        prefix: What tokens inside a word start with; may be empty.
        min_frequency: Pairs that occur less often are not merged; at least 1.
        limit_alphabet: Keep only so many characters, the most frequent.
        character_coverage: Keep the most frequent characters up to this share of all.
        extra_alphabet: Characters that are kept whatever the corpus holds.
        max_input_chars_per_word: Words of more characters are unknown when encoded.
        documents: How files are cut into documents, as in ``subword.count``.
        n_threads: Threads to count with; None for one a core.
        progress: Called about twenty times a second with the merges made so far.

    Raises:
        VocabSizeError: ``vocab_size`` is below the special tokens and characters.
        EmptyCorpusError: There is no text to learn from.
        ArgumentError: An argument outside its range.
        SubwordError: As ``subword.count``, when the source is a corpus.

    Source: Schuster and Nakajima 2012, "Japanese and Korean Voice Search"; the likelihood score
    as in the Hugging Face course, chapter 6; the frequency one as tokenizers 0.23.3.

    Examples:
        >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
        >>> tok = train_wordpiece(words, 13)
        >>> tok.vocab[12], tok.encode("hugs")
        (b'##gs', [6, 10, 12])
    """
    special_tokens = check_special_tokens(special_tokens)
    if unk_token not in special_tokens:
        raise ArgumentError(f"unk_token is {unk_token!r:.40}, which is no special token; add it")
    counts = _counts(source, pattern, special_tokens, documents, n_threads)
    tokens, _, merges, _, dropped, n_invalid = _core.learn_wordpiece(
        list(counts.items()),
        vocab_size=vocab_size,
        max_merges=None,
        score=score,
        ties=ties,
        min_frequency=min_frequency,
        continuing_prefix=prefix,
        end_of_word_suffix="",
        special_tokens=list(special_tokens),
        limit_alphabet=limit_alphabet,
        character_coverage=character_coverage,
        extra_alphabet=list(extra_alphabet),
        all_forms=False,
        first_seen=counts.table.first_seen().tolist(),
        progress=progress,
    )
    if len(tokens) < vocab_size:
        warnings.warn(
            f"no pair is left: stopped after {len(merges)} merges, at a vocabulary of "
            f"{len(tokens)} tokens of {vocab_size}",
            StoppedEarlyWarning,
            stacklevel=2,
        )
    _warn_dropped(dropped, n_invalid)
    vocab = dict(enumerate(tokens))
    model = WordPiece(vocab, unk_token, prefix, max_input_chars_per_word)
    ids = {token: at for at, token in enumerate(special_tokens)}
    template = Template()
    if {"[CLS]", "[SEP]"} <= ids.keys():
        template = Template.parse("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1")
    return Tokenizer(
        model,
        ids,
        counts.pattern,
        pretokenizer=(Whitespace(),) if counts.pattern == _WORDS else None,
        template=template,
        decoder=(WordPieceDecoder(prefix, cleanup=False),),
    )


_WORDS = resolve_pattern(r"\w+|[^\w\s]+")


def _counts(
    source: PretokenCounts | Mapping[str, int] | Mapping[bytes, int] | Sources,
    pattern: str | Sequence[str] | None,
    special_tokens: tuple[str, ...],
    documents: str | bytes | None,
    n_threads: int | None,
) -> PretokenCounts:
    chosen = _WORDS if pattern is None else resolve_pattern(pattern)
    if isinstance(source, PretokenCounts):
        counts = source
    elif isinstance(source, Mapping):
        counts = PretokenCounts.from_mapping(source, pattern=chosen)
    else:
        counts = count(
            source,
            pattern=chosen,
            special_tokens=special_tokens,
            documents=documents,
            n_threads=n_threads,
        )
    if counts.pattern == _WORDS:
        # The gaps of this pattern are whitespace, which the tokenizer drops.
        counts = counts.keep(lambda pretoken: bool(pretoken.decode("utf-8", "replace").strip()))
    if not len(counts):
        raise EmptyCorpusError("the counts hold no word; there is nothing to learn from")
    return counts


def _warn_dropped(dropped: list[tuple[str, int]], n_invalid: int) -> None:
    if dropped:
        total = sum(n for _, n in dropped)
        warnings.warn(
            f"{len(dropped)} characters outside the alphabet were left out, {total} occurrences",
            UserWarning,
            stacklevel=3,
        )
    if n_invalid:
        warnings.warn(
            f"{n_invalid} bytes that are no UTF-8 count as U+FFFD", UserWarning, stacklevel=3
        )
