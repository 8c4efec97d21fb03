"""Figures over many recordings: confusion, precision and recall, delay, false incidents, causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tests.evaluation.scoring.match import SYMPTOMS, False_, Judged

MISSED, NOTHING = "missed", "nothing"
"""The column of undetected symptoms, and the row of healthy places."""
HOUR_MS = 3_600_000


@dataclass(slots=True)
class Result:
    """The result of one recording."""

    name: str
    interval_s: float
    start_ms: int
    length_ms: int
    rnics: int
    healthy_ms: int
    messages: int
    judged: list[Judged]
    false: list[False_]
    problems: Counter[str] = field(default_factory=Counter)
    kind: str = ""
    """The part of the evaluation that it belongs to."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed.

    >>> percentile([1, 2, 3, 4], 0.95)
    4
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 100) * len(ordered) // 100) - 1))]


def confusion(results: Sequence[Result]) -> dict[str, dict[str, int]]:
    """`{row: {column: count}}`: rows are actual symptoms, columns detected ones.

    A truth counts once: on the diagonal, as `missed`, or under the symptom detected instead. A false incident that replaces no truth counts
    in the row of the symptom next to it, or in the row `nothing`.
    """
    cells: dict[str, Counter[str]] = {row: Counter() for row in (*SYMPTOMS, NOTHING)}
    for result in results:
        for one in result.judged:
            if one.outcome == "found":
                cells.setdefault(one.truth.symptom, Counter())[one.truth.symptom] += 1
            elif one.outcome == "missed":
                cells.setdefault(one.truth.symptom, Counter())[one.instead or MISSED] += 1
        for false in result.false:
            if not false.in_place_of:
                cells.setdefault(false.near_symptom or NOTHING, Counter())[_column(false)] += 1
    return {row: dict(columns) for row, columns in cells.items()}


def _column(false: False_) -> str:
    """A false finding next to the same symptom (at another time, or for longer) must not count on the diagonal."""
    return f"{false.symptom} again" if false.symptom == false.near_symptom else false.symptom


def per_symptom(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of each symptom that was present or detected; delays in samples and seconds."""
    found: dict[str, dict[str, float]] = {}
    for symptom in SYMPTOMS:
        truths = [j for r in results for j in r.judged if j.truth.symptom == symptom]
        hits = [j for j in truths if j.outcome == "found"]
        missed = sum(j.outcome == "missed" for j in truths)
        false = sum(f.symptom == symptom for r in results for f in r.false)
        if not hits and not missed and not false:
            continue
        precision = len(hits) / (len(hits) + false) if hits or false else 0.0
        recall = len(hits) / (len(hits) + missed) if hits or missed else 0.0
        found[symptom] = {
            "truths": len(hits) + missed,
            "found": len(hits),
            "missed": missed,
            "false": false,
            "precision": precision,
            "recall": recall,
            "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
            **_delays(hits),
            "cause_first": sum(_rank(j) == 0 for j in hits),
            "cause_in_two": sum(_rank(j) in (0, 1) for j in hits),
            "repeats": sum(j.repeats for j in hits),
            "outstays": sum(j.outstays_ms > 0 for j in hits),
        }
    return found


def _strict(symptoms: Mapping[str, Mapping[str, float]], reported: Mapping[str, int]) -> float | None:
    """The macro F1 if all detected marginal cases counted as false."""
    scores = [
        2 * s["found"] / max(2 * s["found"] + s["missed"] + s["false"] + reported.get(symptom, 0), 1) for symptom, s in symptoms.items()
    ]
    return sum(scores) / len(scores) if scores else None


def _delays(hits: Sequence[Judged]) -> dict[str, float]:
    if not hits:
        return {}
    samples, seconds = [j.delay_samples for j in hits], [j.delay_ms / 1000 for j in hits]
    return {
        "delay_samples_median": median(samples),
        "delay_samples_p95": percentile(samples, 0.95),
        "delay_s_median": median(seconds),
        "delay_s_p95": percentile(seconds, 0.95),
    }


def _rank(judged: Judged, first: bool = False) -> int:
    """Rank of the right cause, from 0; 99 if it was not ranked."""
    ranking = judged.first_ranking if first else judged.ranking
    return ranking.index(judged.truth.cause) if judged.truth.cause in ranking else 99


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """All reported figures, as plain JSON."""
    symptoms = per_symptom(results)
    hits = [j for r in results for j in r.judged if j.outcome == "found" and j.truth.symptom in SYMPTOMS]
    outcomes = Counter(j.outcome for r in results for j in r.judged)
    return {
        "recordings": len(results),
        "rnic_hours": sum(r.rnics * r.length_ms for r in results) / HOUR_MS,
        "messages": sum(r.messages for r in results),
        "confusion": confusion(results),
        "symptoms": symptoms,
        "macro_f1": sum(s["f1"] for s in symptoms.values()) / len(symptoms) if symptoms else None,
        "lowest_f1": min((s["f1"] for s in symptoms.values()), default=None),
        "delay": _delays(hits),
        "delay_by_interval": _delays_by_interval(results),
        **_false_incidents(results),
        **_causes(hits),
        "not_asked": {"brief": outcomes["brief"], "cut": outcomes["cut"]},
        "marginal": _marginal(results, symptoms),
        "outstays": sum(j.outstays_ms > 0 for j in hits),
        "repeats": sum(j.repeats for j in hits),
        "problems": dict(sum((r.problems for r in results), Counter())),
    }


def _delays_by_interval(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Delays per sampling interval, for intervals with any found symptom."""
    found: dict[float, list[Judged]] = {}
    for result in results:
        found.setdefault(result.interval_s, []).extend(j for j in result.judged if j.outcome == "found")
    return {f"{interval:g} s": {"found": len(hits), **_delays(hits)} for interval, hits in sorted(found.items()) if hits}


def _false_incidents(results: Sequence[Result]) -> dict[str, float | None]:
    hours = sum(r.healthy_ms for r in results) / HOUR_MS
    false = [f for r in results for f in r.false]
    on_healthy = sum(not f.near_symptom for f in false)
    return {
        "healthy_rnic_hours": hours,
        "false_on_healthy": on_healthy,
        "false_beside": len(false) - on_healthy,
        "false_per_1000_healthy_hours": 1000 * on_healthy / hours if hours else None,
    }


def _causes(hits: Sequence[Judged]) -> dict[str, float | None]:
    """Shares of found symptoms whose cause was ranked first, among the first two, and first at the time of raising."""
    ranks, ranks_at_raise = [_rank(j) for j in hits], [_rank(j, first=True) for j in hits]
    return {
        "cause_first": ranks.count(0) / len(hits) if hits else None,
        "cause_in_two": (ranks.count(0) + ranks.count(1)) / len(hits) if hits else None,
        "cause_first_at_raise": ranks_at_raise.count(0) / len(hits) if hits else None,
    }


def _marginal(results: Sequence[Result], symptoms: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    cases = [j for r in results for j in r.judged if j.outcome == "marginal"]
    reported = Counter(j.truth.symptom for j in cases if j.episodes)
    return {
        "there": len(cases),
        "said": reported.total(),
        "said_of": dict(sorted(reported.items())),
        "macro_f1_if_false": _strict(symptoms, reported),
    }
