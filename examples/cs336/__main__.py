"""The whole chapter: train on two corpora, look at the tokenizers, encode both corpora.

``python -m examples.cs336`` uses the samples of the shared data; ``--tinystories`` and ``--owt``
name the course's own files or globs, plain, gzip or zstd. Everything is written to ``--output``;
shards that an earlier run finished are kept, and their rate is not shown again.
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

import subword
from subword.corpus import read_documents

SPECIAL_TOKEN = "<|endoftext|>"
ENCODE = "encode to uint16 arrays"
N_SAMPLES = 10
LONGEST_SHOWN = 5
PILE_BYTES = 825e9
SHARED = Path(os.environ.get("SUBWORD_SHARED", Path(__file__).parents[3] / "shared"))


@dataclass
class Corpus:
    """A corpus of the course, and what was made of it."""

    name: str
    sources: str
    vocab_size: int
    seconds: dict[str, float] = field(default_factory=dict)
    n_bytes: int = 0
    n_tokens: int = 0

    def samples(self) -> list[bytes]:
        """Give the first documents that hold text."""
        documents = read_documents(self.sources, special_tokens=[SPECIAL_TOKEN])
        texts = (text.encode() if isinstance(text, str) else text for text in documents)
        return list(islice((text for text in texts if text.strip()), N_SAMPLES))


def main() -> int:
    corpora, output, vocab_scale = parse()
    console = Console()
    tokenizers = {corpus.name: trained(corpus, output, vocab_scale) for corpus in corpora}
    for corpus in corpora:
        encoded(corpus, tokenizers[corpus.name], output)
    console.print(stages(corpora))
    for corpus in corpora:
        console.print(longest(corpus.name, tokenizers[corpus.name]), highlight=False)
    console.print(ratios(corpora, tokenizers))
    for corpus in corpora:
        if ENCODE not in corpus.seconds:
            continue
        rate = corpus.n_bytes / corpus.seconds[ENCODE]
        console.print(
            f"{corpus.name}: {rate / 1e6:,.0f} MB/s; the 825 GB of the Pile would take "
            f"{PILE_BYTES / rate / 3600:.1f} hours on this machine",
            highlight=False,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1 if sys.platform == "darwin" else 1024
    )
    console.print(f"peak memory {peak:,.0f} MiB; all files are in {output}", highlight=False)
    return 0


def parse() -> tuple[list[Corpus], Path, float]:
    parser = argparse.ArgumentParser(prog="python -m examples.cs336", description=__doc__)
    samples = SHARED / "data"
    parser.add_argument("--tinystories", default=str(samples / "en_tinystories" / "*.txt.zst"))
    parser.add_argument("--owt", default=str(samples / "en_web" / "*.txt.zst"))
    parser.add_argument("--output", type=Path, default=Path("cs336-output"))
    parser.add_argument("--vocab-scale", type=float, default=1.0, help="for a quick look")
    arguments = parser.parse_args()
    corpora = [
        Corpus("TinyStories", arguments.tinystories, 10_000),
        Corpus("OpenWebText", arguments.owt, 32_000),
    ]
    return corpora, arguments.output, arguments.vocab_scale


@contextmanager
def stage(corpus: Corpus, name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    corpus.seconds[name] = time.perf_counter() - started


def trained(corpus: Corpus, output: Path, vocab_scale: float) -> subword.Tokenizer:
    """Count, train and save; the saved tokenizer is what is used from here on."""
    folder = output / corpus.name.lower()
    folder.mkdir(parents=True, exist_ok=True)
    with stage(corpus, "count pre-tokens"):
        counts = subword.count(corpus.sources, special_tokens=[SPECIAL_TOKEN])
    with stage(corpus, "learn merges"):
        tok = subword.train_bpe(counts, int(corpus.vocab_size * vocab_scale))
    with stage(corpus, "save and load"):
        subword.save(tok, folder / "tokenizer.json")
        tok = subword.load(folder / "tokenizer.json")
    corpus.n_bytes = counts.n_bytes
    return tok


def encoded(corpus: Corpus, tok: subword.Tokenizer, output: Path) -> None:
    """Encode the corpus to ``uint16`` arrays for ``np.load(..., mmap_mode="r")``."""
    folder = output / corpus.name.lower() / "shards"
    name = "check the shards" if (folder / "manifest.json").exists() else ENCODE
    with stage(corpus, name):
        shards = subword.tokenize(corpus.sources, tok, folder, dtype="uint16")
    corpus.n_tokens = 0 if shards is None else shards.n_tokens


def stages(corpora: list[Corpus]) -> Table:
    table = Table(title="profile", title_justify="left")
    for column in ("corpus", "stage", "seconds", "MB/s"):
        table.add_column(column, justify="right" if column in ("seconds", "MB/s") else "left")
    for corpus in corpora:
        for name, seconds in corpus.seconds.items():
            rate = (
                f"{corpus.n_bytes / seconds / 1e6:,.0f}"
                if name.startswith(("count", "enc"))
                else ""
            )
            table.add_row(corpus.name, name, f"{seconds:.2f}", rate)
    return table


def longest(name: str, tok: subword.Tokenizer) -> str:
    tokens = [token for at, token in tok.vocab.items() if at not in tok.special_tokens.values()]
    tokens.sort(key=lambda token: (-len(token), token))
    shown = ", ".join(repr(token.decode("utf-8", "replace")) for token in tokens[:LONGEST_SHOWN])
    return f"longest tokens of {name}: {shown}"


def ratios(corpora: list[Corpus], tokenizers: dict[str, subword.Tokenizer]) -> Table:
    """Bytes per token of each tokenizer on the samples of each corpus."""
    title = f"bytes per token on {N_SAMPLES} documents"
    table = Table(title=title, title_justify="left")
    table.add_column("tokenizer")
    for corpus in corpora:
        table.add_column(corpus.name, justify="right")
    for name, tok in tokenizers.items():
        row = []
        for corpus in corpora:
            samples = corpus.samples()
            n_tokens = sum(tok.count_tokens(text) for text in samples)
            row.append(f"{sum(map(len, samples)) / max(n_tokens, 1):.2f}")
        table.add_row(name, *row)
    return table


if __name__ == "__main__":
    sys.exit(main())
