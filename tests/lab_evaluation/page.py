"""The page `docs/lab-evaluation.md`, from the figures in `docs/lab-evaluation.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tests.lab_evaluation.bars import OVERALL, Bar, bars, to_exhaustive, to_plain, to_the_end
from tests.lab_evaluation.run import HELD_OUT_FROM, Row, read_row

from dut_zoo.kinds import ALL, KINDS

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "lab-evaluation.md"
FIGURES = REPOSITORY / "docs" / "lab-evaluation.json"
WORDS = Path(__file__).parent / "words.md"
MOST_WRONG = 12
"""Wrong devices that the page lists."""


def by_kind(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by kind, in the order of the zoo."""
    groups = {kind: [row for row in rows if row.kind == kind] for kind in ALL}
    return {kind: group for kind, group in groups.items() if group}


def write(rows: Sequence[Row]) -> None:
    """Store the figures, and write the page from them."""
    lines = ",\n ".join(json.dumps(row.stored(), ensure_ascii=False) for row in rows)
    FIGURES.write_text(f"[\n {lines}\n]\n")
    PAGE.write_text(page(read(FIGURES)))


def read(path: Path) -> list[Row]:
    """The stored rows."""
    return [read_row(one) for one in json.loads(path.read_text())]


def page(rows: Sequence[Row]) -> str:
    """The whole page."""
    intro, definitions = WORDS.read_text().split("<!-- tables -->\n")
    lines = [
        "<!-- Written by `python -m tests.lab_evaluation --write`; words are in tests/lab_evaluation/words.md. -->",
        intro.rstrip(),
        "",
        judged(rows),
        "",
        *kinds_table(rows),
        "",
        "## Bars",
        "",
        *bars_table(rows),
        "",
        *wrong_list(rows),
        definitions.rstrip(),
    ]
    return "\n".join(lines) + "\n"


def judged(rows: Sequence[Row]) -> str:
    """Which devices were judged, and what they were used for before."""
    seeds = [row.seed for row in rows]
    first, last = min(seeds), max(seeds)
    text = f"Judged: {len(rows)} devices, seeds {first} to {last}. "
    if last < HELD_OUT_FROM:
        return f"{text}They served development: disagreements were looked into on both sides. Seeds from {HELD_OUT_FROM} on are held out."
    if first >= HELD_OUT_FROM:
        return text + "They are held out: nobody looked at them while the lab was written."
    return text + "Some of them served development."


def kinds_table(rows: Sequence[Row]) -> list[str]:
    """Figures by kind."""
    lines = [
        "| device | n | right | causes exact | F1, median | F1, least | tests, median | tests, most | found after | × exhaustive "
        "| random: right | × to the answer | × to the end | pairwise: right | × to the answer |",
        "|---|" + "---:|" * 14,
    ]
    groups = by_kind(rows)
    lines += [line(kind, group) for kind, group in groups.items()]
    twelve = [row for row in rows if row.kind in KINDS]
    if twelve and len(groups) > 1:
        lines.append(line("**the twelve kinds**", twelve))
    return lines


def line(name: str, group: Sequence[Row]) -> str:
    """One row of the table."""
    tests = [row.tests for row in group]
    cells = [name, len(group), sum(row.right for row in group), sum(row.exact for row in group)]
    cells += [f"{median(row.f1 for row in group):.4f}", f"{min(row.f1 for row in group):.4f}", f"{median(tests):.0f}", max(tests)]
    cells += [f"{median(row.found_at for row in group):.0f}", f"{to_exhaustive(group):,.0f}"]
    for other in ("random", "pairwise"):
        ratio = to_plain(other)(group)
        cells += [sum(getattr(row, other).right for row in group), f"{ratio:.2f}" if ratio else "–"]
        if other == "random":
            cells.append(f"{to_the_end(group):.2f}")
    return "| " + " | ".join(map(str, cells)) + " |"


def bars_table(rows: Sequence[Row]) -> list[str]:
    """Each bar, and whether it is reached."""

    def one(name: str, bar: Bar, group: Sequence[Row]) -> str:
        return f"| {name} | {bar.words()} | {bar.of(group):.4g} | {'yes' if bar.reached(group) else '**no**'} |"

    lines = ["| devices | bar | has | reached |", "|---|---|---:|---|"]
    lines += [one(kind, bar, group) for kind, group in by_kind(rows).items() for bar in bars(kind)]
    return lines + [one("all", bar, rows) for bar in OVERALL]


def wrong_list(rows: Sequence[Row]) -> list[str]:
    """Devices that the lab got wrong."""
    wrong = [row for row in rows if not row.right]
    if not wrong:
        return []
    lines = ["## Wrong", "", f"The first of {len(wrong)}; `--list-wrong` prints all, with the reasons.", ""]
    return [*lines, *(f"- `{row.kind}` {row.seed}: {row.wrong[0] if row.wrong else 'unknown'}" for row in wrong[:MOST_WRONG]), ""]


def missed(rows: Sequence[Row]) -> list[str]:
    """The bars that are not reached, in words."""
    groups = [(kind, group, bar) for kind, group in by_kind(rows).items() for bar in bars(kind)]
    groups += [("all", list(rows), bar) for bar in OVERALL]
    return [f"{name}: {bar.words()} (has {bar.of(group):.4g})" for name, group, bar in groups if not bar.reached(group)]


def summary(rows: Sequence[Row]) -> str:
    """The same figures for a terminal."""
    lines = []
    for kind, group in by_kind(rows).items():
        tests = [row.tests for row in group]
        f1s = [row.f1 for row in group]
        cells = [f"{kind:22} n={len(group):<4} right {sum(row.right for row in group):<4} exact {sum(row.exact for row in group):<4}"]
        cells += [f"F1 {median(f1s):.4f}/{min(f1s):.4f}", f"tests {median(tests):.0f}/{max(tests)}"]
        cells += [f"× exhaustive {to_exhaustive(group):,.0f}"]
        cells += [f"× {other} {to_plain(other)(group):.2f}" for other in ("random", "pairwise")]
        cells += [f"invalid {sum(row.invalid for row in group)}", f"{median(row.overhead_ms for row in group):.2f} ms/test"]
        lines.append("  ".join(cells))
    return "\n".join(lines + [f"not reached: {text}" for text in missed(rows)])
