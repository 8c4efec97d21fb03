"""The figures, and the page of the documentation that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.isolation_assumptions.judging import Score, total

DOCS = Path(__file__).resolve().parents[2] / "docs"
FIGURES = DOCS / "isolation-assumptions.json"
PAGE = DOCS / "isolation-assumptions.md"
TITLES = ("broken", "precision", "recall", "aggressors")
WORDS = Path(__file__).with_name("words.md")


def figures(scores: dict[str, dict[str, Score]], first: int, seeds: int) -> dict[str, Any]:
    """What is stored: counts per variation, of both kinds of ingress overloads together."""
    rows = {}
    for variation, kinds in scores.items():
        ingress = total(kinds[kind] for kind in ("storm", "burst") if kind in kinds)
        egress, near = kinds.get("egress", Score()), kinds.get("near miss", Score())
        rows[variation] = {"ingress": ingress.counts(), "egress": egress.counts(), "near_miss": near.counts()}
    return {"seeds": [first, first + seeds - 1], "variations": rows}


def page(stored: dict[str, Any]) -> str:
    """The page."""
    titles = ["assumption changed", *TITLES, "mechanism", f"egress: {TITLES[0]}", *TITLES[1:], "near misses reported"]
    lines = [f"| {' | '.join(titles)} |"]
    lines.append("|---|" + "---:|" * 10)
    for variation, row in stored["variations"].items():
        ingress, egress = Score(**row["ingress"]), Score(**row["egress"])
        cells = [*_cells(ingress), _part(ingress.mechanism) if ingress.broken else "", *_cells(egress)]
        near = "" if variation.startswith("egress") else str(row["near_miss"]["invented"])
        lines.append(f"| {variation} | {' | '.join(cells)} | {near} |")
    first, last = stored["seeds"]
    text = WORDS.read_text().replace("FIRST", str(first)).replace("LAST", str(last))
    header = "<!-- Written by `python -m tests.isolation_assumptions --write`; words are in tests/isolation_assumptions/words.md. -->\n"
    return header + text.replace("TABLE", "\n".join(lines))


def _cells(score: Score) -> list[str]:
    if not score.broken:
        return [""] * 4
    return [str(score.broken), _part(score.precision), _part(score.recall), _part(score.aggressors)]


def _part(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
