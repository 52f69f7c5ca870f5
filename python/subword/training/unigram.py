"""Learn Unigram vocabularies from pre-token counts."""

from collections.abc import Callable, Sequence

from subword import _core
from subword.decoders import ByteFallback
from subword.errors import VocabSizeError
from subword.models import Piece, Unigram
from subword.special_tokens import TokenFlags, check_special_tokens
from subword.tokenizer import Tokenizer
from subword.training.sources import (
    TrainingSource,
    as_counts,
    reserved_tokens,
    warn_left_out,
    warn_stopped_early,
)

__all__ = ["train_unigram"]


def train_unigram(
    source: TrainingSource,
    vocab_size: int,
    special_tokens: Sequence[str] | None = None,
    *,
    pattern: str | Sequence[str] | None = None,
    unk_token: str = "<unk>",
    byte_fallback: bool = True,
    character_coverage: float = 0.9995,
    extra_alphabet: str = "",
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
    documents: str | bytes | None = None,
    n_threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tokenizer:
    """Train a Unigram tokenizer.

    Ids are the unknown token, the special tokens in the order given, the 256 byte pieces where
    ``byte_fallback`` is on, then the pieces by falling score (ties by their text). The result
    depends on the counts alone. Characters beyond ``character_coverage`` end a word in training;
    a ``TextLeftOutWarning`` says how many there were. A ``StoppedEarlyWarning`` says when the
    text holds fewer pieces than asked for.

    Args:
        source: Pre-token counts, a mapping of pre-tokens to counts, or a corpus to count first.
        vocab_size: All ids.
        special_tokens: Reserved strings; those of the counts by default.
        pattern: The split pattern, ``"gpt2_marks"`` by default; counts bring their own, and those
            of ``"gpt2"`` cut words at marks, which hurts many scripts.
        unk_token: The token of what no piece covers; without byte fallback text is lost to it.
        byte_fallback: Characters without a piece become the bytes of their UTF-8.
        character_coverage: Keep the most frequent characters up to this share of all.
        extra_alphabet: Characters that get a piece whatever the corpus holds.
        max_piece_length: Most characters of a piece.
        seed_size: Most pieces to begin with.
        shrinking_factor: Share of the pieces that each round of pruning keeps.
        n_sub_iterations: Rounds of expectation and maximization between prunings.
        documents: How files are cut into documents, as in ``subword.count``.
        n_threads: Threads to work with; None for one a core.
        progress: Called about twenty times a second.

    Raises:
        VocabSizeError: ``vocab_size`` is below what is required: special tokens, bytes and the
            characters of the alphabet.
        EmptyCorpusError: There is no text to learn from.
        ArgumentError: An argument outside its range.
        CountsError: ``pattern`` is not the one the counts were made with.
        SubwordError: As ``subword.count``, when the source is a corpus.

    Source: Kudo 2018, "Subword Regularization"; choices it leaves open as sentencepiece 0.2.3.

    Examples:
        >>> tok = train_unigram({"hug": 10, "pug": 5, "hugs": 5}, 9, byte_fallback=False)
        >>> tok.decode(tok.encode("hugs"))
        'hugs'
    """
    reserved = reserved_tokens(source, special_tokens)
    special_tokens = check_special_tokens([unk_token, *reserved])[1:]
    counts = as_counts(
        source,
        pattern=pattern,
        default="gpt2_marks",
        special_tokens=special_tokens,
        documents=documents,
        n_threads=n_threads,
    )
    names = [f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else []
    n_reserved = 1 + len(special_tokens) + len(names)
    if vocab_size <= n_reserved:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}, but the unknown token, {len(special_tokens)} special "
            f"tokens and {len(names)} bytes need {n_reserved}, and characters more"
        )
    learnt, left_out = _core.learn_pieces(
        counts.table,
        vocab_size - n_reserved,
        character_coverage=character_coverage,
        extra_alphabet=extra_alphabet,
        max_piece_length=max_piece_length,
        seed_size=seed_size,
        shrinking_factor=shrinking_factor,
        n_sub_iterations=n_sub_iterations,
        n_threads=n_threads,
        progress=progress,
    )
    pieces = [Piece(unk_token.encode(), 0.0, "unknown")]
    pieces += [Piece(token.encode(), 0.0, "control") for token in special_tokens]
    pieces += [Piece(name.encode(), 0.0, "byte") for name in names]
    pieces += [Piece(text.encode(), score) for text, score in learnt]
    warn_stopped_early("the text holds no more pieces", len(pieces), vocab_size)
    warn_left_out(
        left_out, 0, "they become their bytes" if byte_fallback else f"they become {unk_token}"
    )
    ids = {token: 1 + at for at, token in enumerate(special_tokens)}
    return Tokenizer(
        Unigram(tuple(pieces), unk_id=0, byte_fallback=byte_fallback),
        {unk_token: 0, **ids},
        counts.pattern,
        token_flags={unk_token: TokenFlags(control=True)},
        decoder=(ByteFallback(),) if byte_fallback else (),
    )
