"""Turn results into tables: one for the terminal, the same ones in ``docs/performance.md``.

Nothing here is typed in: every figure is read from ``results/*.json``. A ratio is only ever
taken inside one group, whose cells took turns on one machine.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from benchmarks.columns import Column, Group, columns_of, equal, figure
from benchmarks.corpora import PROJECT, ROOT
from benchmarks.peers import PEERS

__all__ = ["RESULTS", "read_groups", "rich_tables", "write_group", "write_markdown"]

RESULTS = ROOT / "results"
MARKDOWN = PROJECT / "docs" / "performance.md"


@dataclass(frozen=True, slots=True)
class Section:
    """A table: groups of one suite, vocabulary and corpus, slices of the corpus among them."""

    title: str
    groups: list[Group]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that the suite has."""
        return columns_of(self.groups[0])

    def rows(self) -> Iterable[list[str]]:
        """Give a row a cell, values as text; one without figures has only how it ended."""
        for group in self.groups:
            for cell in group["cells"]:
                if cell["status"] == "unsupported":
                    continue
                if cell["status"] == "ok":
                    yield [cell["peer"], *(c.value(cell, group) for c in self.columns)]
                else:
                    blank = [""] * (len(self.columns) - 1)
                    yield [cell["peer"], cell["status"], *blank]

    def reasons(self) -> Iterable[str]:
        """Give a line for each cell that has no figures."""
        for group in self.groups:
            for cell in group["cells"]:
                if cell["status"] in {"failed", "timeout"}:
                    yield f"{cell['peer']}: {cell['status']}, {cell['message']}"


# --- results --------------------------------------------------------------------------------


def group_key(group: Group) -> tuple[str, ...]:
    """Give what makes a group itself: a new run of it replaces the old one whole."""
    words = (group["suite"], group["vocabulary"], group["corpus"])
    return (*words, json.dumps(group["options"], sort_keys=True))


def write_group(group: Group, folder: Path = RESULTS) -> None:
    """Put a group in its suite's file, in the place of an older run of the same."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{group['suite']}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    keys = [group_key(other) for other in kept]
    if group_key(group) in keys:
        kept[keys.index(group_key(group))] = group
    else:
        kept.append(group)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


def read_groups(folder: Path = RESULTS) -> list[Group]:
    """Read every kept group, by suite."""
    return [
        group
        for path in sorted(folder.glob("*.json"))
        for group in json.loads(path.read_text(encoding="utf-8"))
    ]


def sections(groups: list[Group]) -> list[Section]:
    """Put groups together that make one table: a corpus with its slices."""
    tables: dict[str, list[Group]] = {}
    for group in groups:
        base = group["corpus"].partition("-")[0]
        options = (f"{key} {value}" for key, value in group["options"].items())
        title = ", ".join(word for word in (group["vocabulary"], base, *options) if word)
        tables.setdefault(f"{group['suite']}: {title}", []).append(group)
    return [
        Section(title, sorted(members, key=lambda group: group["input"].get("n_bytes", 0)))
        for title, members in tables.items()
    ]


def rich_tables(groups: list[Group]) -> Iterable[Table | str]:
    """Give the tables for a terminal."""
    for section in sections(groups):
        table = Table(title=section.title, title_justify="left")
        table.add_column("peer")
        for column in section.columns:
            table.add_column(column.head, justify="right")
        for row in section.rows():
            table.add_row(*row)
        yield "\n".join(section.reasons())
        yield table


# --- Markdown -------------------------------------------------------------------------------

PREFACE = """\
# Performance

This page is written by `make bench` from `benchmarks/results/*.json`; edits are lost.

Each cell ran in a fresh process, the peers of a table in turn, kept to as many CPUs as
threads (one where the table says nothing); figures are medians over the runs. MB are 10^6
bytes. *Cold* is the first call in the process, *warm* the same call again; CPU is user and
system time of the call, all its threads included. *Memory growth* is how far the peak of
resident memory during the cold call rises above what was resident before it, the input
included in that. A *ratio* is CPU time over subword's in the same run (over the first row's
where subword has no figure): above 1, the peer is slower. *Ids equal* compares the SHA-256 of
all ids with the reference's. Texts are given to each peer without special tokens in them.
Peers that take very long get the first 10 MB of a corpus: see the input column.

The suites `encode-…` of other models than byte-level BPE and `drop-in` encode the documents of
a corpus one by one; `drop-in` is code written for tiktoken, `encode` to a list, with the import
changed. A `tokenizer.json` is taken without its template; that of mistral_v3, published as a
`.model`, is made as `transformers` makes Llama's. `files` is from a file of documents to ids.

Vocabularies of other trainers than byte-level BPE differ by design, so there is no *equal*: the
table gives how many of the first row's tokens are in each, and for Unigram the mean natural
logarithm of the probability of a character of 500 kB that no trainer saw, all segmentations
added (nearer to 0 is better).

To repeat: `make bench`; `python -m benchmarks --help` says how to run a part of it.
"""


def write_markdown(groups: list[Group], path: Path = MARKDOWN) -> None:
    """Write ``docs/performance.md``."""
    parts = [PREFACE, *machines(groups), *ahead(groups)]
    suite = ""
    for section in sections(groups):
        if section.groups[0]["suite"] != suite:
            suite = section.groups[0]["suite"]
            parts.append(f"## {suite}\n")
        parts.append(f"### {section.title}\n\n{markdown_table(section)}")
        parts.append("".join(f"- {reason}\n" for reason in section.reasons()))
        parts.append(sources(section))
    parts.append(notes(groups))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def markdown_table(section: Section) -> str:
    """Give a table with its head."""
    heads = ["peer", *(column.head for column in section.columns)]
    lines = [heads, ["---", *["---:"] * len(section.columns)], *section.rows()]
    return "".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |\n" for line in lines)


def sources(section: Section) -> str:
    """Say when a table was measured and on which text."""
    lines = []
    for group in section.groups:
        text = group["input"]
        about = (
            f"{group['corpus']}: {text['n_bytes']:,} bytes in {text['n_documents']:,} documents "
            f"of {text['source']}, sha256 {text['sha256'][:16]}…; "
            if text
            else ""
        )
        load = " to ".join(str(number) for number in group["load_average"])
        lines.append(f"{about}measured {group['date'][:10]}, load average {load}.\n")
    return "\n".join(lines)


def machines(groups: list[Group]) -> Iterable[str]:
    """Describe the machines that the figures are from."""
    known = {json.dumps(group["machine"], sort_keys=True): group["machine"] for group in groups}
    for about in known.values():
        yield (
            f"Measured on: {about['cpu']}, {about['n_cpus']} CPUs, {about['memory']}, "
            f"{about['system']}, Python {about['python']}.\n"
        )


def ahead(groups: list[Group]) -> Iterable[str]:
    """List where a peer is faster than subword, wrong results left out."""
    lines = []
    for group in groups:
        own = [c for c in group["cells"] if c["peer"] == "subword" and c.get("median")]
        for cell in group["cells"]:
            for phase in ("cold", "warm") if own else ():
                theirs, ours = figure(cell, phase, "cpu_s"), figure(own[0], phase, "cpu_s")
                is_other = not cell["peer"].startswith("subword")
                if (
                    is_other
                    and theirs
                    and ours
                    and theirs < ours
                    and "no" not in equal(cell, group)
                ):
                    options = (f"{key} {value}" for key, value in group["options"].items())
                    where = ", ".join(w for w in (*group_key(group)[:3], *options) if w)
                    lines.append(f"- {where}, {phase}: {cell['peer']} takes {theirs / ours:.2f}×\n")
    if lines:
        yield "## Where a peer is ahead\n\n" + "".join(lines)


def notes(groups: list[Group]) -> str:
    """Give what must be known of a peer to read its figures."""
    shown = {cell["peer"] for group in groups for cell in group["cells"]}
    lines = [f"- {name}: {peer.note}.\n" for name, peer in PEERS.items() if name in shown]
    return "## Notes\n\n" + "".join(line for line in lines if not line.endswith(": .\n"))
