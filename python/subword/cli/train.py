"""``subword train``: a corpus, or a table of its counts, to a tokenizer; one command a method."""

from functools import partial
from typing import Annotated, Any, Literal

import typer

from subword.cli.options import (
    PatternOption,
    SourcesArgument,
    SpecialTokenOption,
    one_or_many,
)
from subword.cli.refusals import guarded
from subword.cli.training import Common, OutputOption, VocabSizeOption, run, with_common
from subword.models import Ties
from subword.patterns import resolve_pattern
from subword.training.baselines import WORD_PATTERN, train_characters, train_words
from subword.training.bpe import train_bpe
from subword.training.unigram import train_unigram
from subword.training.wordpiece import BERT_TOKENS, Score, train_wordpiece

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Train a tokenizer; one command a method.")

TiesOption = Annotated[Ties, typer.Option(help="Which of equally good pairs wins.")]
MinFrequencyOption = Annotated[int, typer.Option(help="What occurs less often is left out.")]
CoverageOption = Annotated[
    float, typer.Option(help="Keep the most frequent characters up to this share of all.")
]
LimitAlphabetOption = Annotated[
    int | None, typer.Option(help="Most characters to keep.", show_default="no limit")
]
ExtraAlphabetOption = Annotated[str, typer.Option(help="Characters that are kept in any case.")]
SplitOption = Annotated[
    list[str] | None,
    typer.Option("--pattern", help="A split pattern, as for bpe.", show_default="the method's own"),
]
BytesOption = Annotated[
    bool,
    typer.Option("--byte-fallback/--no-byte-fallback", help="Unknown characters become bytes."),
]


def _bpe(
    sources: SourcesArgument,
    vocab_size: VocabSizeOption,
    output: OutputOption,
    special_token: SpecialTokenOption = None,
    pattern: PatternOption = None,
    ties: TiesOption = "greatest",
    min_frequency: MinFrequencyOption = 1,
    max_token_length: Annotated[
        int | None, typer.Option(help="Most bytes of a token.", show_default="no limit")
    ] = None,
    alphabet: Annotated[
        Literal["bytes", "characters"], typer.Option(help="What merges start from.")
    ] = "bytes",
    limit_alphabet: LimitAlphabetOption = None,
    character_coverage: Annotated[
        float | None, typer.Option(help="Share of characters to keep.", show_default="all")
    ] = None,
    unk_token: Annotated[
        str | None, typer.Option(help="What unknown characters become.", show_default="refused")
    ] = None,
    byte_fallback: BytesOption = False,
    end_of_word_suffix: Annotated[str, typer.Option(help="Ends words, such as </w>.")] = "",
    continuing_subword_prefix: Annotated[str, typer.Option(help="Begins what is inside.")] = "",
    *,
    common: Common,
) -> None:
    """Train BPE, over bytes or over characters.

    Sources are texts, or tables (.parquet) that subword count wrote.
    """
    train = partial(
        train_bpe,
        vocab_size=vocab_size,
        special_tokens=special_token,
        pattern=one_or_many(pattern),
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        alphabet=alphabet,
        limit_alphabet=limit_alphabet,
        character_coverage=character_coverage,
        unk_token=unk_token,
        byte_fallback=byte_fallback,
        end_of_word_suffix=end_of_word_suffix,
        continuing_subword_prefix=continuing_subword_prefix,
        n_threads=common.threads,
    )
    marks_words = bool(end_of_word_suffix or continuing_subword_prefix)
    run(
        train,
        sources,
        output,
        wanted=vocab_size,
        default_pattern=resolve_pattern("whitespace" if marks_words else "gpt2"),
        unit="merges",
        total=vocab_size - 256 if alphabet == "bytes" else vocab_size,
        pattern=pattern,
        special_tokens=special_token,
        common=common,
        about={"ties": ties},
    )


def _wordpiece(
    sources: SourcesArgument,
    vocab_size: VocabSizeOption,
    output: OutputOption,
    special_token: Annotated[
        list[str] | None,
        typer.Option("--special-token", help="A reserved string.", show_default="those of BERT"),
    ] = None,
    pattern: SplitOption = None,
    score: Annotated[Score, typer.Option(help="What makes a pair good.")] = "likelihood",
    ties: TiesOption = "greatest",
    min_frequency: MinFrequencyOption = 1,
    unk_token: Annotated[str, typer.Option(help="What words become that cannot be spelled.")] = (
        "[UNK]"
    ),
    prefix: Annotated[str, typer.Option(help="Begins tokens inside a word.")] = "##",
    limit_alphabet: LimitAlphabetOption = None,
    character_coverage: CoverageOption = 1.0,
    extra_alphabet: ExtraAlphabetOption = "",
    *,
    common: Common,
) -> None:
    """Train WordPiece."""
    train = partial(
        train_wordpiece,
        vocab_size=vocab_size,
        special_tokens=BERT_TOKENS if special_token is None else special_token,
        pattern=one_or_many(pattern),
        score=score,
        ties=ties,
        min_frequency=min_frequency,
        unk_token=unk_token,
        prefix=prefix,
        limit_alphabet=limit_alphabet,
        character_coverage=character_coverage,
        extra_alphabet=extra_alphabet,
        n_threads=common.threads,
    )
    run(
        train,
        sources,
        output,
        wanted=vocab_size,
        default_pattern=resolve_pattern(r"\w+|[^\w\s]+"),
        unit="merges",
        total=vocab_size,
        pattern=pattern,
        special_tokens=special_token,
        common=common,
        about={"score": score, "ties": ties},
    )


def _unigram(
    sources: SourcesArgument,
    vocab_size: VocabSizeOption,
    output: OutputOption,
    special_token: SpecialTokenOption = None,
    pattern: SplitOption = None,
    unk_token: Annotated[str, typer.Option(help="What no piece covers.")] = "<unk>",
    byte_fallback: BytesOption = True,
    character_coverage: CoverageOption = 0.9995,
    extra_alphabet: ExtraAlphabetOption = "",
    max_piece_length: Annotated[int, typer.Option(help="Most characters of a piece.")] = 16,
    seed_size: Annotated[int, typer.Option(help="Most pieces to begin with.")] = 1_000_000,
    shrinking_factor: Annotated[
        float, typer.Option(help="Share of the pieces that each pruning keeps.")
    ] = 0.75,
    n_sub_iterations: Annotated[
        int, typer.Option("--sub-iterations", help="Estimations between two prunings.")
    ] = 2,
    *,
    common: Common,
) -> None:
    """Train Unigram."""
    train = partial(
        train_unigram,
        vocab_size=vocab_size,
        special_tokens=special_token,
        pattern=one_or_many(pattern),
        unk_token=unk_token,
        byte_fallback=byte_fallback,
        character_coverage=character_coverage,
        extra_alphabet=extra_alphabet,
        max_piece_length=max_piece_length,
        seed_size=seed_size,
        shrinking_factor=shrinking_factor,
        n_sub_iterations=n_sub_iterations,
        n_threads=common.threads,
    )
    run(
        train,
        sources,
        output,
        wanted=vocab_size,
        default_pattern=resolve_pattern("gpt2_marks"),
        unit="bytes",
        total=None,
        pattern=pattern,
        special_tokens=special_token,
        common=common,
        about={"byte_fallback": byte_fallback},
    )


def _characters(
    sources: SourcesArgument,
    output: OutputOption,
    vocab_size: Annotated[
        int | None, typer.Option(help="Most ids.", show_default="all characters")
    ] = None,
    special_token: SpecialTokenOption = None,
    character_coverage: CoverageOption = 1.0,
    extra_alphabet: ExtraAlphabetOption = "",
    unk_token: Annotated[str, typer.Option(help="What unknown characters become.")] = "[UNK]",
    *,
    common: Common,
) -> None:
    """Take the characters of a corpus as the vocabulary."""
    options: dict[str, Any] = {
        "character_coverage": character_coverage,
        "extra_alphabet": extra_alphabet,
        "unk_token": unk_token,
        "n_threads": common.threads,
    }
    run(
        lambda source, progress=None: train_characters(  # noqa: ARG005
            source, vocab_size, special_token, **options
        ),
        sources,
        output,
        wanted=vocab_size,
        default_pattern=resolve_pattern("gpt2"),
        unit="characters",
        total=None,
        pattern=None,
        special_tokens=special_token,
        common=common,
        about={},
    )


def _words(
    sources: SourcesArgument,
    vocab_size: VocabSizeOption,
    output: OutputOption,
    special_token: SpecialTokenOption = None,
    pattern: SplitOption = None,
    min_frequency: MinFrequencyOption = 1,
    unk_token: Annotated[str, typer.Option(help="What unknown words become.")] = "[UNK]",
    *,
    common: Common,
) -> None:
    """Take the most frequent words of a corpus as the vocabulary."""
    options: dict[str, Any] = {
        "pattern": one_or_many(pattern),
        "min_frequency": min_frequency,
        "unk_token": unk_token,
        "n_threads": common.threads,
    }
    run(
        lambda source, progress=None: train_words(  # noqa: ARG005
            source, vocab_size, special_token, **options
        ),
        sources,
        output,
        wanted=vocab_size,
        default_pattern=(WORD_PATTERN,),
        unit="words",
        total=None,
        pattern=pattern,
        special_tokens=special_token,
        common=common,
        about={},
    )


app.command("bpe")(guarded(with_common(_bpe)))
app.command("wordpiece")(guarded(with_common(_wordpiece)))
app.command("unigram")(guarded(with_common(_unigram)))
app.command("characters")(guarded(with_common(_characters)))
app.command("words")(guarded(with_common(_words)))
