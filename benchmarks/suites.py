"""What is measured, as data: a row a line, expanded to groups of cells that are compared.

A group is what one ratio may be taken in: the same suite, corpus, vocabulary and options,
its cells run in turn on one machine. To measure one thing more, add a row; to measure a new
kind of thing, add a ``measure_`` function to the worker and name it as the row's suite.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from benchmarks.published import PUBLISHED
from benchmarks.worst_cases import WORST_CASES

__all__ = [
    "ENCODERS",
    "ROWS",
    "SLICE_MB",
    "SUITES",
    "TRAINERS",
    "Group",
    "Row",
    "expand",
    "stand_in_rows",
]

SLICE_MB = 10  # what a slow peer gets of a corpus

# The first of each is the reference that "ids equal" compares with.
ENCODERS = (
    "tiktoken",
    "subword",
    "gigatoken",
    "fastokens",
    "snaptokens",
    "splintr",
    "quicktok",
    "tokie",
    "tokenizers",
)
JSON_ENCODERS = (
    "subword",
    "gigatoken",
    "fastokens",
    "snaptokens",
    "splintr",
    "tokie",
    "tokenizers",
)
# Peers that get only the first SLICE_MB of a corpus to encode; tiktoken gives the ids there too.
SLOW_ENCODERS = ("tokenizers",)
TRAINERS = (
    "tokenizers",
    "tokenizers-lines",
    "subword-hf",
    "subword",
    "gigatoken",
    "gigabpe",
    "rustbpe",
    "sentencepiece",
)
WORDPIECE_TRAINERS = ("tokenizers", "subword-hf", "subword")
UNIGRAM_TRAINERS = ("sentencepiece", "subword")
WORDPIECE_ENCODERS = (
    "tokenizers",
    "subword",
    "nanotoken",
    "splintr",
    "tokie",
    "fastokens",
    "gigatoken",
)
PIECE_ENCODERS = ("sentencepiece", "tokenizers", "subword", "splintr", "fastokens", "gigatoken")
TEXTS = ("english", "code", "chinese", "multilingual")
PIECE_TEXTS = ("english-10", "chinese-10")  # slices for all: the references give a few MB a second
BYTE_LEVEL = ("gpt2", "cl100k", "o200k")
# What ordinary text of the same size takes stands first.
WORST_TEXTS = tuple(f"{name}-{size}" for name in ("english", *WORST_CASES) for size in (1, 10))

Options = dict[str, int | str]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a suite.

    Attributes:
        suite: Name of the worker's measurement.
        corpora: Names for ``build_corpus``, each its own group.
        vocabularies: Each its own group; empty where the suite makes the vocabulary.
        peers: In the order they run; the first that succeeds is the reference.
        slow: Of these, the ones that get a slice of each corpus.
        options: For the worker, such as ``n_threads``.
    """

    suite: str
    corpora: tuple[str, ...]
    vocabularies: tuple[str, ...] = ("",)
    peers: tuple[str, ...] = ENCODERS
    slow: tuple[str, ...] = ()
    options: Options = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Cells that are measured in turn and compared with each other."""

    suite: str
    corpus: str
    vocabulary: str
    peers: tuple[str, ...]
    options: Options

    @property
    def title(self) -> str:
        """What the group is called in tables and messages."""
        words = (self.suite, self.vocabulary, self.corpus)
        values = (f"{key}={value}" for key, value in self.options.items())
        return " ".join(word for word in (*words, *values) if word)


ROWS = (
    Row(
        "encode",
        TEXTS,
        (*BYTE_LEVEL, "llama3"),
        slow=SLOW_ENCODERS,
        options={"n_threads": 1},
    ),
    Row(
        "encode",
        TEXTS,
        ("qwen3", "deepseek_v3"),
        peers=JSON_ENCODERS,
        slow=SLOW_ENCODERS,
        options={"n_threads": 1},
    ),
    Row(
        "train-bpe",
        ("mixed-10", "mixed-100", "mixed", "english"),
        peers=TRAINERS,
        options={"vocab_size": 32_000, "n_threads": 1},
    ),
    Row("latency", ("english",), BYTE_LEVEL, options={"n_bytes": 100, "n_texts": 1_500}),
    Row("latency", ("english",), BYTE_LEVEL, options={"n_bytes": 1_000, "n_texts": 1_500}),
    Row("load", ("",), BYTE_LEVEL, options={"file": "tiktoken"}),
    Row("load", ("",), BYTE_LEVEL, options={"file": "tokenizer.json"}),
    Row(
        "load",
        ("",),
        ("bert_uncased", "xlm_roberta"),
        peers=("tokenizers", "subword", "nanotoken", "splintr", "tokie"),
        options={"file": "tokenizer.json"},
    ),
    Row(
        "load",
        ("",),
        ("albert_sp", "mistral_v3"),
        peers=("sentencepiece", "subword", "gigatoken"),
        options={"file": "model"},
    ),
    Row(
        "train-wordpiece",
        ("mixed-10", "mixed-100"),
        peers=WORDPIECE_TRAINERS,
        options={"vocab_size": 32_000, "n_threads": 1},
    ),
    Row(
        "train-unigram",
        ("mixed-10", "mixed-100"),
        peers=UNIGRAM_TRAINERS,
        options={"vocab_size": 32_000, "n_threads": 1},
    ),
    Row(  # HF's trainer did not finish 10 MB in nine minutes
        "train-unigram",
        ("mixed-2",),
        peers=("sentencepiece", "tokenizers", "subword"),
        options={"vocab_size": 32_000, "n_threads": 1},
    ),
    Row(
        "encode-wordpiece",
        PIECE_TEXTS,
        ("bert_uncased",),
        peers=WORDPIECE_ENCODERS,
        options={"n_threads": 1},
    ),
    Row(
        "encode-unigram",
        PIECE_TEXTS,
        ("albert_sp", "xlm_roberta"),
        peers=PIECE_ENCODERS,
        options={"n_threads": 1},
    ),
    Row(
        "encode-sentencepiece-bpe",
        PIECE_TEXTS,
        ("mistral_v3",),
        peers=PIECE_ENCODERS,
        options={"n_threads": 1},
    ),
    Row(
        "encode-worst-case",
        WORST_TEXTS,
        BYTE_LEVEL,
        peers=("tiktoken", "subword", "gigatoken", "quicktok"),
        options={"n_threads": 1},
    ),
    Row(
        "drop-in",
        PIECE_TEXTS,
        BYTE_LEVEL,
        peers=("tiktoken", "subword"),
        options={"n_threads": 1},
    ),
    Row(
        "files",
        ("english", "multilingual"),
        ("gpt2", "o200k"),
        peers=("subword", "subword-memory", "gigatoken", "datasets", "datatrove"),
        slow=("datasets", "datatrove"),
        options={"n_threads": 1},
    ),
)
SUITES = tuple(dict.fromkeys(row.suite for row in ROWS))


def expand(
    rows: tuple[Row, ...] = ROWS,
    *,
    suites: tuple[str, ...] = (),
    corpora: tuple[str, ...] = (),
    vocabularies: tuple[str, ...] = (),
    peers: tuple[str, ...] = (),
    quick: bool = False,
) -> Iterator[Group]:
    """Give the groups of some rows; an empty selection means all.

    Args:
        rows: What to expand.
        suites: Names of suites to keep.
        corpora: Names of corpora to keep; a row without a corpus is always kept. A name that
            no row of the suite has, such as ``english-1``, stands in for the corpora of that base.
        vocabularies: Names to keep; a row without a vocabulary is always kept.
        peers: Names to keep.
        quick: Take the first ``SLICE_MB`` of each corpus, and each group once.
    """
    seen: set[str] = set()
    for row in rows:
        if suites and row.suite not in suites:
            continue
        others = {c for other in rows if other.suite == row.suite for c in other.corpora}
        wanted = tuple(c for c in corpora if c in row.corpora or c not in others)
        if corpora and not wanted and row.corpora != ("",):
            continue
        for corpus, few in row_corpora(row, wanted, quick=quick):
            for vocabulary in row.vocabularies:
                if vocabularies and vocabulary and vocabulary not in vocabularies:
                    continue
                kept = tuple(p for p in group_peers(row, few) if not peers or p in peers)
                group = Group(row.suite, corpus, vocabulary, kept, row.options)
                if kept and group.title not in seen:
                    seen.add(group.title)
                    yield group


def stand_in_rows(rows: tuple[Row, ...], name: str) -> tuple[Row, ...]:
    """Give rows with one corpus and one vocabulary in the place of all, its slice included.

    Rows of published vocabularies are left out: nothing that every machine has stands in for
    WordPiece, Unigram or SentencePiece's BPE.
    """

    def corpus(old: str) -> str:
        base, _, size = old.partition("-")
        if base in WORST_CASES:  # made up, on every machine
            return old
        return old and (f"{name}-{size}" if size and int(size) <= SLICE_MB else name)

    return tuple(
        replace(
            row,
            corpora=tuple(dict.fromkeys(corpus(old) for old in row.corpora)),
            vocabularies=tuple(dict.fromkeys(old and name for old in row.vocabularies)),
        )
        for row in rows
        if PUBLISHED.keys().isdisjoint(row.vocabularies)
    )


def row_corpora(
    row: Row, wanted: tuple[str, ...], *, quick: bool
) -> Iterator[tuple[str, bool | None]]:
    """Give each corpus of a row, with whether it is the slice for the slow (None: for all)."""
    chosen = row.corpora
    if wanted and chosen != ("",):
        bases = {corpus.partition("-")[0] for corpus in row.corpora}
        chosen = tuple(w for w in wanted if w in row.corpora or w.partition("-")[0] in bases)
    for corpus in chosen:
        if not corpus or "-" in corpus or not (quick or row.slow):
            yield corpus if not quick or not corpus else slice_of(corpus), None
        elif quick:
            yield slice_of(corpus), None
        else:
            yield corpus, False
            yield slice_of(corpus), True


def slice_of(corpus: str) -> str:
    """Name the slice of a corpus."""
    return f"{corpus.partition('-')[0]}-{SLICE_MB}"


def group_peers(row: Row, few: bool | None) -> tuple[str, ...]:
    """Give the peers of a corpus: all, the fast ones, or the slow ones with the reference."""
    if few is None:
        return row.peers
    if few:
        reference = tuple(peer for peer in row.peers[:2] if peer not in row.slow)
        return (*reference, *row.slow)
    return tuple(peer for peer in row.peers if peer not in row.slow)
