"""``subword trace``: an algorithm step by step on a small text; one command an algorithm."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Literal, ParamSpec

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from subword import trace
from subword.errors import ArgumentError, SubwordError
from subword.models import Ties
from subword.trace.sources import MAX_SOURCE_BYTES, TraceSource

__all__ = ["app"]

app = typer.Typer(
    name="trace",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Show an algorithm step by step on a small text.",
)

P = ParamSpec("P")

_REFUSED = 1
_PIPE_WIDTH = 120
_SHOWN_WORDS = 12

FileArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE", help="A text file; - is standard input.", show_default="standard input"
    ),
]
TextOption = Annotated[
    str | None, typer.Option("--text", help="A text instead of a file.", show_default=False)
]
WordOption = Annotated[
    list[str] | None,
    typer.Option(
        "--word",
        metavar="WORD=COUNT",
        help="A word with its count, instead of a text; repeat for more.",
        show_default=False,
    ),
]
MergesOption = Annotated[
    int | None, typer.Option("--merges", help="Merges to make.", show_default="10")
]
PatternOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern",
        help="A pattern's name (gpt2, whitespace, none, …) or a regular expression.",
        show_default=False,
    ),
]
SpecialTokenOption = Annotated[
    list[str] | None,
    typer.Option("--special-token", help="A reserved string; repeat for more.", show_default=False),
]
TiesOption = Annotated[Ties, typer.Option(help="Which of equally good pairs is merged.")]
TopOption = Annotated[int, typer.Option(help="Candidates to show of each step.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def _guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Make a command that says in one line what it refuses, and exits with 1."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack the ␠
        try:
            command(*args, **kwargs)
        except SubwordError as error:
            message = str(error)
        except OSError as error:
            place = "" if error.filename is None else f"{error.filename}: "
            message = f"{place}{error.strerror or error}"
        else:
            return
        print(f"subword: {' '.join(message.split())}", file=sys.stderr)
        raise typer.Exit(_REFUSED)

    return run


@app.command("bpe")
@_guarded
def _bpe(
    file: FileArgument = None,
    text: TextOption = None,
    word: WordOption = None,
    merges: MergesOption = None,
    vocab_size: Annotated[
        int | None, typer.Option(help="All ids, instead of --merges.", show_default=False)
    ] = None,
    pattern: PatternOption = None,
    special_token: SpecialTokenOption = None,
    ties: TiesOption = "greatest",
    alphabet: Annotated[
        Literal["bytes", "characters"], typer.Option(help="What words are made of.")
    ] = "bytes",
    end_of_word_suffix: Annotated[
        str, typer.Option(help="Put after the last character of a word, such as </w>.")
    ] = "",
    top: TopOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Learn BPE merges; words are cut by the gpt2 pattern unless another is given."""
    learnt = trace.bpe(
        _source(file, text, word),
        vocab_size,
        n_merges=10 if merges is None and vocab_size is None else merges,
        pattern=pattern or "gpt2",
        ties=ties,
        special_tokens=special_token or (),
        alphabet=alphabet,
        end_of_word_suffix=end_of_word_suffix,
        top=top,
    )
    _print_merges(learnt, as_json=as_json)


@app.command("wordpiece")
@_guarded
def _wordpiece(
    file: FileArgument = None,
    text: TextOption = None,
    word: WordOption = None,
    merges: MergesOption = None,
    score: Annotated[
        Literal["likelihood", "frequency"], typer.Option(help="What the best pair is.")
    ] = "likelihood",
    prefix: Annotated[str, typer.Option(help="Put before characters inside a word.")] = "##",
    pattern: PatternOption = None,
    special_token: SpecialTokenOption = None,
    ties: TiesOption = "greatest",
    top: TopOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Learn a WordPiece vocabulary; words are cut at whitespace unless a pattern is given."""
    learnt = trace.wordpiece(
        _source(file, text, word),
        10 if merges is None else merges,
        score=score,
        ties=ties,
        prefix=prefix,
        pattern=pattern or "whitespace",
        special_tokens=special_token or (),
        top=top,
    )
    _print_merges(learnt, as_json=as_json)


@app.command("unigram")
@_guarded
def _unigram(
    vocab_size: Annotated[int, typer.Option(help="Pieces wanted.", show_default=False)],
    file: FileArgument = None,
    text: TextOption = None,
    word: WordOption = None,
    pattern: PatternOption = None,
    special_token: SpecialTokenOption = None,
    metaspace: Annotated[
        bool, typer.Option("--metaspace", help="Put ▁ before each word, as SentencePiece does.")
    ] = False,
    top: TopOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Learn a unigram model; words are cut at whitespace unless a pattern is given."""
    learnt = trace.unigram(
        _source(file, text, word),
        vocab_size,
        pattern=pattern or "whitespace",
        special_tokens=special_token or (),
        metaspace=metaspace,
        top=top,
    )
    if as_json:
        _print_json(learnt)
        return
    rows = [
        (
            step.kind,
            step.n_pieces,
            f"{step.log_likelihood:.3f}",
            ", ".join(map(str, step.pieces)),
            ", ".join(map(str, step.removed)),
        )
        for step in learnt.steps
    ]
    seed = ("seed", learnt.n_seed, "", ", ".join(map(str, learnt.seed)), "")
    columns = ("step", "pieces", "log-likelihood", "best pieces", "removed")
    _print_table("steps", columns, [seed, *rows])
    final = [(at, trace.readable(p.piece), f"{p.score:.4f}") for at, p in enumerate(learnt.pieces)]
    _print_table("pieces", ("place", "piece", "score"), final)
    _print_words(learnt.segmentations)


@app.command("encode")
@_guarded
def _encode(
    tokenizer: Annotated[
        Path, typer.Argument(metavar="TOKENIZER", help="A tokenizer file.", show_default=False)
    ],
    file: FileArgument = None,
    text: TextOption = None,
    special: Annotated[
        Literal["recognize", "as_text", "forbid"],
        typer.Option(help="What text that spells a special token becomes."),
    ] = "recognize",
    as_json: JsonOption = False,
) -> None:
    """Encode a text, step by step."""
    from subword.formats import load  # here: the readers are many, and three commands need none

    encoded = trace.encode(load(tokenizer), _read(file, text), special=special)
    if as_json:
        _print_json(encoded)
        return
    rows: list[Sequence[object]] = []
    for part in encoded.parts:
        rows.append((part.kind, trace.readable(part.text), "", "", _joined(part.start)))
        for step in part.steps:
            if isinstance(step, trace.MergeApplied):
                pair = " + ".join(map(trace.readable, step.pair))
                rows.append(("", "", step.rank, pair, _joined(step.parts)))
            else:
                rows.append(("", "", "", "", str(step)))
        rows.append(("", "", "", "ids", " ".join(map(str, part.ids))))
    _print_table("steps", ("part", "text", "rank", "merge", "parts"), rows)
    _print(Text(f"ids: {' '.join(map(str, encoded.ids))}"))
    _print(
        Text(
            f"{len(encoded.text)} bytes, {len(encoded.ids)} tokens, "
            f"{encoded.bytes_per_token:.2f} bytes per token"
        )
    )


def _source(file: str | None, text: str | None, words: list[str] | None) -> TraceSource:
    """Give the text, or the words with their counts."""
    if not words:
        return _read(file, text)
    if file is not None or text is not None:
        raise ArgumentError("both --word and a text are given; give one of them")
    counts: dict[str, int] = {}
    for word in words:
        spelling, _, count = word.rpartition("=")
        if not spelling or not count.isascii() or not count.isdigit():
            raise ArgumentError(f"--word is {word!r:.40}; expected WORD=COUNT, such as low=5")
        counts[spelling] = counts.get(spelling, 0) + int(count)
    return counts


def _read(file: str | None, text: str | None) -> bytes:
    if text is not None:
        if file is not None:
            raise ArgumentError("both --text and a file are given; give one of them")
        # The argument's bytes as they were given, UTF-8 or not.
        return text.encode("utf-8", "surrogateescape")
    # One byte more than is allowed, so that a larger file is refused and not read whole.
    if file in (None, "-"):
        return sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1)
    with Path(str(file)).open("rb") as opened:
        return opened.read(MAX_SOURCE_BYTES + 1)


def _print_merges(learnt: trace.MergeTrace, *, as_json: bool) -> None:
    if as_json:
        _print_json(learnt)
        return
    _print(Text(f"{learnt.algorithm} over {learnt.alphabet}, {learnt.score}, ties {learnt.ties}"))
    _print_words(learnt.words)
    for step in learnt.steps:
        title = f"merge {step.rank + 1} makes {trace.readable(step.merged)}, id {step.merged_id}"
        rows = [
            (" + ".join(map(trace.readable, c.pair)), c.count, c.left_count, c.right_count, c.score)
            for c in step.candidates
        ]
        _print_table(title, ("pair", "count", "left", "right", "score"), rows)
        _print(Text(step.reason))
        _print_words(step.words[at] for at in step.changed)
    if len(learnt.steps) < learnt.n_merges:
        _print(Text(f"stopped: no pair is left after {len(learnt.steps)} merges"))


def _print_words(words: Iterable[trace.Word]) -> None:
    texts = [str(word) for word in words]
    more = [f"… and {len(texts) - _SHOWN_WORDS} more"] if len(texts) > _SHOWN_WORDS else []
    _print(Text("words: " + "  ".join([*texts[:_SHOWN_WORDS], *more])))


def _joined(parts: Iterable[bytes]) -> str:
    return "|".join(map(trace.readable, parts))


def _print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    _print(table)


def _print(what: Table | Text) -> None:
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(file=sys.stdout, width=width, highlight=False).print(what, soft_wrap=width is not None)


def _print_json(record: object) -> None:
    """Print one JSON object on a line, as UTF-8 whatever the locale is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(json.dumps(trace.as_dict(record), ensure_ascii=False).encode() + b"\n")
