"""One chart from the results, for the README: MB a second of CPU time, as bars.

Drawn as SVG with two sets of colours, for light and dark pages. A peer that is ahead is as long as
it is: nothing is left out but peers whose ids or merges are wrong, or that did not finish.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from benchmarks.columns import Cell, Group, equal, figure
from benchmarks.corpora import PROJECT

__all__ = ["CHART", "Panel", "draw", "write_chart"]

CHART = PROJECT / "docs" / "pictures" / "performance.svg"
WIDTH, LEFT, RIGHT, ROW, HEAD = 760, 150, 110, 24, 40
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 }
  .note { fill: #57606a; font-size: 12px }
  .own { fill: #0a7d5a } .other { fill: #8c959f }
  .again { opacity: .35 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .note { fill: #9198a1 } .own { fill: #2fbf8f } .other { fill: #6e7681 }
  }
"""


@dataclass(frozen=True, slots=True)
class Panel:
    """One group of results as bars.

    Attributes:
        title: What was done.
        suite: Of the group, as are the next two.
        vocabulary: May be empty.
        corpus: Such as ``english``.
    """

    title: str
    suite: str
    vocabulary: str
    corpus: str


PANELS = (
    Panel("Encode English, GPT-2's vocabulary, one thread", "encode", "gpt2", "english"),
    Panel("Encode Chinese, o200k's vocabulary, one thread", "encode", "o200k", "chinese"),
    Panel("Encode English, BERT's vocabulary", "encode-wordpiece", "bert_uncased", "english-10"),
    Panel("Train a BPE vocabulary of 32,000 on English", "train-bpe", "", "english"),
)


def rate(cell: Cell, group: Group, phase: str) -> float | None:
    """Give MB a second, or None where the cell has no such figure."""
    cpu = figure(cell, phase, "cpu_s")
    return group["input"]["n_bytes"] / cpu / 1e6 if cpu else None


def bars(group: Group) -> list[tuple[str, float, float | None]]:
    """Give name, first pass and second pass of each peer, the fastest first pass on top."""
    cells = [c for c in group["cells"] if c.get("median") and "no" not in equal(c, group)]
    rows = []
    for cell in cells:
        first = rate(cell, group, "cold")
        if first is not None and cell["peer"] not in {"subword-hf", "tokenizers-lines"}:
            rows.append((cell["peer"], first, rate(cell, group, "warm")))
    return sorted(rows, key=lambda row: -row[1])


def draw(groups: list[Group], panels: tuple[Panel, ...] = PANELS) -> str:
    """Give the SVG; panels without results are left out.

    Args:
        groups: As ``read_groups`` gives them.
        panels: What to draw, from top to bottom.
    """
    known = {(group["suite"], group["vocabulary"], group["corpus"]): group for group in groups}
    top, parts = 0, []
    for panel in panels:
        group = known.get((panel.suite, panel.vocabulary, panel.corpus))
        rows = bars(group) if group else []
        if rows:
            parts += panel_lines(panel, rows, top)
            top += HEAD + ROW * len(rows)
    parts.append(
        f'<text class="note" x="0" y="{top + 24}">MB a second of CPU time, first pass; '
        "pale: a second pass over the same text.</text>"
    )
    size = f'width="{WIDTH}" height="{top + 36}" viewBox="0 0 {WIDTH} {top + 36}"'
    body = "\n".join(f"  {part}" for part in parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}>\n'
        f"  <title>subword and its peers</title>\n  <style>{STYLE}  </style>\n{body}\n</svg>\n"
    )


def panel_lines(
    panel: Panel, rows: list[tuple[str, float, float | None]], top: int
) -> Iterable[str]:
    """Give the elements of a panel that begins ``top`` pixels down."""
    most = max(max(first, again or 0) for _, first, again in rows)
    scale = (WIDTH - LEFT - RIGHT) / most
    yield f'<text class="title" x="0" y="{top + 28}">{escape(panel.title)}</text>'
    for place, (name, first, again) in enumerate(rows):
        y = top + HEAD + ROW * place
        kind = "own" if name == "subword" else "other"
        yield f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>'
        ends = [first * scale]
        if again is not None:
            ends.append(again * scale)
            yield bar(f"{kind} again", y, again * scale)
        yield bar(kind, y, first * scale)
        x = LEFT + max(ends) + 6
        label = f"{first:.0f}" if first >= 10 else f"{first:.1f}"
        yield f'<text class="note" x="{x:.0f}" y="{y + 14}">{label}</text>'


def bar(kind: str, y: int, length: float) -> str:
    """Give one bar."""
    return (
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{max(length, 1):.1f}" height="18" rx="2"/>'
    )


def write_chart(groups: list[Group], path: Path = CHART) -> None:
    """Write the chart."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(draw(groups), encoding="utf-8")
