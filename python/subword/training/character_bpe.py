"""Learn byte-pair encodings over characters from pre-token counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from subword import _core
from subword.decoders import Affixes, BpeSuffix, ByteFallback, Decoder
from subword.decoders import WordPiece as WordPieceDecoder
from subword.errors import ArgumentError
from subword.models import CharacterBpe, Ties, Training
from subword.patterns import resolve_pattern
from subword.pretokens import WhitespaceSplit
from subword.special_tokens import check_special_tokens
from subword.tokenizer import Tokenizer
from subword.training.sources import (
    TrainingSource,
    as_counts,
    reserved_tokens,
    warn_left_out,
    warn_stopped_early,
    without_whitespace,
)

__all__ = ["CharacterOptions", "learn"]

_WHITESPACE = resolve_pattern("whitespace")


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterOptions:
    """What BPE over characters has that BPE over bytes does not; see ``subword.train_bpe``."""

    limit_alphabet: int | None = None
    character_coverage: float | None = None
    unk_token: str | None = None
    byte_fallback: bool = False
    end_of_word_suffix: str = ""
    continuing_subword_prefix: str = ""

    @property
    def marks_words(self) -> bool:
        """Whether tokens say where a word begins or ends."""
        return bool(self.end_of_word_suffix or self.continuing_subword_prefix)


def learn(
    source: TrainingSource,
    vocab_size: int,
    special_tokens: Sequence[str] | None,
    options: CharacterOptions,
    *,
    pattern: str | Sequence[str] | None,
    ties: Ties,
    min_frequency: int,
    documents: str | bytes | None,
    n_threads: int | None,
    progress: Callable[[int], object] | None,
) -> Tokenizer:
    """Train as ``subword.train_bpe`` does with ``alphabet="characters"``.

    The merges are those of ``subword.reference.wordpiece.learn_wordpiece`` by frequency.
    """
    _check(options)
    special = check_special_tokens(reserved_tokens(source, special_tokens))
    named = options.unk_token is None or options.unk_token in special
    reserved = special if named else check_special_tokens([options.unk_token or "", *special])
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)] if options.byte_fallback else []
    counts = as_counts(
        source,
        pattern=pattern,
        default=_WHITESPACE if options.marks_words else "gpt2",
        special_tokens=special,
        documents=documents,
        n_threads=n_threads,
    )
    # Where tokens mark the ends of words, the whitespace between these need not be kept.
    drops_whitespace = options.marks_words and counts.pattern == _WHITESPACE
    if drops_whitespace:
        counts = without_whitespace(counts)
    coverage = options.character_coverage
    tokens, _, merges, _, dropped, n_invalid = _core.learn_wordpiece(
        list(counts.items()),
        vocab_size=vocab_size,
        max_merges=None,
        score="frequency",
        ties=ties,
        min_frequency=min_frequency,
        continuing_prefix=options.continuing_subword_prefix,
        end_of_word_suffix=options.end_of_word_suffix,
        special_tokens=[*reserved, *byte_tokens],
        limit_alphabet=options.limit_alphabet,
        character_coverage=1.0 if coverage is None else coverage,
        extra_alphabet=[],
        all_forms=False,
        first_seen=counts.table.first_seen().tolist(),
        progress=progress,
    )
    warn_stopped_early(
        f"no pair is left that occurs {min_frequency} times or more",
        len(tokens),
        vocab_size,
        stacklevel=4,
    )
    warn_left_out(dropped, n_invalid, _fate(options), stacklevel=4)
    model = CharacterBpe(
        dict(enumerate(tokens)),
        tuple((left, right) for left, right, *_ in merges),
        options.unk_token,
        byte_fallback=options.byte_fallback,
        continuing_subword_prefix=options.continuing_subword_prefix,
        end_of_word_suffix=options.end_of_word_suffix,
        training=Training(ties, tuple(count for _, _, _, count, _, _ in merges), min_frequency),
    )
    return Tokenizer(
        model,
        {token: at for at, token in enumerate(reserved)},
        () if drops_whitespace else counts.pattern,
        pretokenizer=(WhitespaceSplit(),) if drops_whitespace else None,
        decoder=_decoder(options, drops_whitespace=drops_whitespace),
    )


def _check(options: CharacterOptions) -> None:
    if options.limit_alphabet is not None and options.limit_alphabet < 1:
        raise ArgumentError(
            f"limit_alphabet is {options.limit_alphabet}; give at least 1, or None for no limit"
        )
    if options.byte_fallback and options.marks_words:
        raise ArgumentError(
            "byte_fallback is on, and the tokens of bytes carry no mark of where a word begins or "
            "ends; leave end_of_word_suffix and continuing_subword_prefix out"
        )


def _fate(options: CharacterOptions) -> str:
    if options.byte_fallback:
        return "they become their bytes"
    if options.unk_token is None:
        return "a text with them is refused: give unk_token or byte_fallback to take it"
    return f"they become {options.unk_token}"


def _decoder(options: CharacterOptions, *, drops_whitespace: bool) -> Decoder:
    if options.byte_fallback:
        return (ByteFallback(),)
    if not options.marks_words:
        return ()
    prefix, suffix = options.continuing_subword_prefix, options.end_of_word_suffix
    if not drops_whitespace:
        return (Affixes(prefix, suffix),)
    if not prefix:
        return (BpeSuffix(suffix),)
    joined = (WordPieceDecoder(prefix, cleanup=False),)
    return (Affixes("", suffix), *joined) if suffix else joined
