"""Learn WordPiece vocabularies from pre-token counts."""

from collections.abc import Callable, Sequence
from typing import Literal

from subword import _core
from subword.counts import PretokenCounts
from subword.decoders import WordPiece as WordPieceDecoder
from subword.errors import ArgumentError
from subword.models import Ties, WordPiece
from subword.patterns import resolve_pattern
from subword.pretokens import Whitespace
from subword.special_tokens import check_special_tokens
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.training.sources import (
    TrainingSource,
    as_counts,
    warn_left_out,
    warn_stopped_early,
    without_whitespace,
)

__all__ = ["BERT_TOKENS", "train_wordpiece"]

BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

Score = Literal["likelihood", "frequency"]


def train_wordpiece(
    source: TrainingSource,
    vocab_size: int,
    special_tokens: Sequence[str] = BERT_TOKENS,
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
        CountsError: ``pattern`` is not the one the counts were made with.
        SubwordError: As ``subword.count``, when the source is a corpus.

    Source: Schuster and Nakajima 2012, "Japanese and Korean Voice Search"; the likelihood score
    as in the Hugging Face course, chapter 6; the frequency one as tokenizers 0.23.3.

    Examples:
        >>> words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
        >>> tok = train_wordpiece(words, 13)
        >>> tok.vocab[12], tok.encode("hugs")
        (b'##gs', [6, 11, 12])
    """
    special_tokens = check_special_tokens(special_tokens)
    if unk_token not in special_tokens:
        raise ArgumentError(f"unk_token is {unk_token!r:.40}, which is no special token; add it")
    counts = _words(source, pattern, special_tokens, documents, n_threads)
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
    warn_stopped_early(f"no pair is left after {len(merges)} merges", len(tokens), vocab_size)
    warn_left_out(dropped, n_invalid, f"a word with them becomes {unk_token}")
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


def _words(
    source: TrainingSource,
    pattern: str | Sequence[str] | None,
    special_tokens: tuple[str, ...],
    documents: str | bytes | None,
    n_threads: int | None,
) -> PretokenCounts:
    counts = as_counts(
        source,
        pattern=pattern,
        default=_WORDS,
        special_tokens=special_tokens,
        documents=documents,
        n_threads=n_threads,
    )
    # The gaps of the default pattern are whitespace, which the tokenizer drops.
    return without_whitespace(counts) if counts.pattern == _WORDS else counts
