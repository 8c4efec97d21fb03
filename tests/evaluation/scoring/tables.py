"""The figures as text for a terminal, and as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.evaluation.scoring.match import SYMPTOMS
from tests.evaluation.scoring.scores import MISSED

Row = list[str]

KINDS = {"false beside": "false, next to a symptom", "outstays": "cleared late", "late": "detected late"}
"""Kinds of cases whose stored name is not their label."""


def aligned(head: Row, rows: Sequence[Row]) -> str:
    """Columns for a terminal."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True)))
        for row in (head, *rows)
    )


def markdown(head: Row, rows: Sequence[Row]) -> str:
    """A Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def number(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


def confusion_table(figures: Mapping[str, Any]) -> tuple[Row, list[Row]]:
    """Rows: actual symptoms. Columns: detected symptoms. Zeros are dots."""
    cells: Mapping[str, Mapping[str, int]] = figures["confusion"]
    others = sorted({column for row in cells.values() for column in row} - {*SYMPTOMS, MISSED})
    columns = [*SYMPTOMS, *others, MISSED]
    rows = [[row, *(str(found.get(column, 0) or "·") for column in columns)] for row, found in cells.items()]
    return ["actual \\ detected", *columns], rows


def symptom_table(figures: Mapping[str, Any]) -> tuple[Row, list[Row]]:
    """One row per symptom."""
    head = [
        "symptom",
        "actual",
        "found",
        "missed",
        "false",
        "precision",
        "recall",
        "F1",
        "delay median (samples)",
        "p95 (samples)",
        "median (s)",
        "p95 (s)",
        "cause ranked first",
        "in the first two",
    ]
    rows = []
    for symptom, s in figures["symptoms"].items():
        counts = [str(s[name]) for name in ("truths", "found", "missed", "false")]
        delays = [number(s.get(f"delay_{name}"), "g") for name in ("samples_median", "samples_p95", "s_median", "s_p95")]
        causes = [f"{s[name]}/{s['found']}" for name in ("cause_first", "cause_in_two")]
        rows.append([symptom, *counts, *(f"{s[name]:.3f}" for name in ("precision", "recall", "f1")), *delays, *causes])
    return head, rows


def headlines(figures: Mapping[str, Any]) -> list[tuple[str, str, str, bool | None]]:
    """`(what, value, target, reached)`; None where there is no value."""
    delay = figures["delay"]

    def line(what: str, value: float | None, form: str, aim: str, reached: bool) -> tuple[str, str, str, bool | None]:
        return what, number(value, form), aim, None if value is None else reached

    macro, lowest = figures["macro_f1"], figures["lowest_f1"]
    middle, slow = delay.get("delay_samples_median"), delay.get("delay_samples_p95")
    rate, first, two = figures["false_per_1000_healthy_hours"], figures["cause_first"], figures["cause_in_two"]
    return [
        line("macro F1", macro, ".3f", "at least 0.97", (macro or 0) >= 0.97),
        line("lowest F1 of a symptom", lowest, ".3f", "at least 0.93", (lowest or 0) >= 0.93),
        line("detection delay, median, samples", middle, "g", "at most 2", (middle or 0) <= 2),
        line("detection delay, 95th percentile, samples", slow, "g", "at most 5", (slow or 0) <= 5),
        line("false incidents per 1,000 healthy RNIC-hours", rate, ".2f", "at most 1", (rate or 0) <= 1),
        line("right cause ranked first", first, ".1%", "at least 90%", (first or 0) >= 0.9),
        line("right cause in the first two", two, ".1%", "at least 98%", (two or 0) >= 0.98),
    ]


def marginal_line(figures: Mapping[str, Any]) -> str:
    """How many cases were close to the expert's thresholds, and how many of them were detected."""
    near = figures.get("marginal")
    if not near or not near["there"]:
        return "marginal cases, where both verdicts are right: none"
    each = ", ".join(f"{symptom} {count}" for symptom, count in near["said_of"].items())
    strict = f"; if these counted as false, macro F1 would be {number(near['macro_f1_if_false'], '.3f')}" if near["said"] else ""
    return f"marginal cases, where both verdicts are right: {near['there']}, detected: {near['said']}{f' ({each})' if each else ''}{strict}"


def case_line(case: Mapping[str, Any]) -> str:
    place = f"{case['host']} {case['pci']}".strip()
    return (
        f"{KINDS.get(case['kind'], case['kind'])}: {case['symptom']} in {case['recording']}, {place}, at {case['at_s']} s: {case['text']}"
    )


def text(figures: Mapping[str, Any], cases: Sequence[Mapping[str, Any]], most_cases: int = 20) -> str:
    """All figures for a terminal."""
    parts = [
        f"{figures['recordings']} recordings, {figures['rnic_hours']:.1f} RNIC-hours ({figures['healthy_rnic_hours']:.1f} healthy), "
        f"{figures['messages']} messages",
        aligned(*confusion_table(figures)),
        aligned(*symptom_table(figures)),
        "\n".join(
            f"{what}: {value} ({aim}{'' if reached is None else ', reached' if reached else ', NOT reached'})"
            for what, value, aim, reached in headlines(figures)
        ),
        f"false incidents: {figures['false_on_healthy']} on healthy RNICs, {figures['false_beside']} next to a real symptom; excluded: "
        f"{figures['not_asked']['brief']} too brief, {figures['not_asked']['cut']} too close to the end",
        marginal_line(figures),
    ]
    if figures["problems"]:
        parts.append("unusable: " + ", ".join(f"{reason} ({count})" for reason, count in sorted(figures["problems"].items())))
    if cases:
        shown = [case_line(case) for case in cases[:most_cases]]
        more = [f"... and {len(cases) - most_cases} more (--json lists all)"] if len(cases) > most_cases else []
        parts.append("\n".join(["worst cases", *shown, *more]))
    return "\n\n".join(parts)
