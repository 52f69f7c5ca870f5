"""Train, save, reload and use a tokenizer on text that every machine has.

The corpus is the source of Python's own standard library. ``make demo`` runs this.
"""

import resource
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

import subword

VOCAB_SIZE = 10_000
SPECIAL_TOKEN = "<|endoftext|>"
MAX_CORPUS_BYTES = 30_000_000
OUTPUT = Path(__file__).parents[1] / "demo-output" / "tokenizer.json"
SENTENCE = f"def greet(name: str) -> str:\n    return f'Grüße, {{name}}! 你好 🌍'\n{SPECIAL_TOKEN}"
LONGEST_SHOWN = 12


def main() -> int:
    console = Console()
    seconds: dict[str, float] = {}
    with stage("find the corpus", seconds):
        paths = library_sources()
    with stage("count", seconds):
        counts = subword.count(paths, special_tokens=[SPECIAL_TOKEN])
    with stage("train", seconds):
        trained = subword.train_bpe(counts, VOCAB_SIZE)
    with stage("save", seconds):
        OUTPUT.parent.mkdir(exist_ok=True)
        subword.save(trained, OUTPUT)
    with stage("load", seconds):
        tok = subword.load(OUTPUT)
    texts = [path.read_bytes() for path in paths]
    with stage("encode the corpus, one thread", seconds):
        encoded = tok.encode_batch(texts, n_threads=1)

    n_bytes = counts.n_bytes
    console.print(
        f"{len(paths):,} files of {sysconfig.get_path('stdlib')}: {n_bytes / 1e6:.1f} MB, "
        f"{len(counts):,} distinct pre-tokens",
        highlight=False,
        soft_wrap=True,
    )
    show_stages(console, seconds, n_bytes)
    console.print(
        f"peak memory {peak_megabytes():,.0f} MB · vocabulary {tok.vocab_size:,} · "
        f"{n_bytes / len(encoded.ids):.2f} bytes per token · saved in {OUTPUT.parent.name}/",
        highlight=False,
        soft_wrap=True,
    )
    show_longest(console, tok)

    ids = tok.encode(SENTENCE)
    text = tok.decode(ids)
    console.print(
        f"{SENTENCE!r}\n→ {ids}\n→ {text!r}", markup=False, highlight=False, soft_wrap=True
    )
    back = tok.decode_bytes(encoded.ids)
    if text != SENTENCE or back != b"".join(texts) or tok != trained:
        console.print("the round trip failed", style="red")
        return 1
    console.print("round trip: the sentence and the corpus come back byte for byte")
    return 0


def library_sources() -> list[Path]:
    """Give the standard library's modules in a fixed order, installed packages left out."""
    root = Path(sysconfig.get_path("stdlib"))
    paths: list[Path] = []
    n_bytes = 0
    for path in sorted(root.rglob("*.py")):
        if {"site-packages", "dist-packages"} & set(path.parts[len(root.parts) :]):
            continue
        n_bytes += path.stat().st_size
        if n_bytes > MAX_CORPUS_BYTES:
            break
        paths.append(path)
    return paths


@contextmanager
def stage(name: str, seconds: dict[str, float]) -> Iterator[None]:
    """Time a stage."""
    started = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - started


def show_stages(console: Console, seconds: dict[str, float], n_bytes: int) -> None:
    table = Table("stage")
    table.add_column("seconds", justify="right")
    table.add_column("MB/s", justify="right")
    for name, taken in seconds.items():
        reads_all = name.startswith(("count", "encode"))
        rate = f"{n_bytes / 1e6 / taken:,.0f}" if reads_all else ""
        table.add_row(name, f"{taken:.2f}", rate)
    console.print(table)


def show_longest(console: Console, tok: subword.Tokenizer) -> None:
    ordinary = [
        (i, token) for i, token in tok.vocab.items() if i not in tok.special_tokens.values()
    ]
    longest = sorted(ordinary, key=lambda row: -len(row[1]))[:LONGEST_SHOWN]
    table = Table(title="the longest tokens", title_justify="left")
    table.add_column("id", justify="right")
    table.add_column("bytes", justify="right")
    table.add_column("token")
    for token_id, token in longest:
        quoted = repr(token.decode("utf-8", "backslashreplace"))
        shown = quoted if len(quoted) <= 60 else f"{quoted[:59]}…"
        table.add_row(str(token_id), str(len(token)), shown.replace("[", r"\["))
    console.print(table)


def peak_megabytes() -> float:
    """Give the most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    sys.exit(main())
