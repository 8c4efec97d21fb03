"""The worst cases in words: recording, RNIC, time, and what was detected instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.evaluation.scoring.match import SYMPTOMS, False_, Judged
from tests.evaluation.scoring.scores import Result

SLOW_SAMPLES = 5
"""A longer delay is listed as a case."""


def cases(results: Sequence[Result]) -> list[dict[str, Any]]:
    """All errors, worst kind first: missed, false on a healthy RNIC, false next to a symptom, wrong cause, cleared late, detected late."""
    order = ("missed", "false", "false beside", "wrong cause", "outstays", "late")
    found = [case for result in results for case in _of(result)]
    return sorted(found, key=lambda case: (order.index(case["kind"]), case["symptom"], case["recording"], case["at_s"]))


def _of(result: Result) -> Iterator[dict[str, Any]]:
    for one in result.judged:
        if one.truth.symptom in SYMPTOMS:
            yield from _of_truth(result, one)
    for false in result.false:
        if not false.in_place_of:
            yield _case(
                result,
                "false beside" if false.near_symptom else "false",
                false.symptom,
                false.host,
                false.pci,
                false.from_ms,
                _described(false),
            )


def _of_truth(result: Result, one: Judged) -> Iterator[dict[str, Any]]:
    truth = one.truth

    def case(kind: str, text: str) -> dict[str, Any]:
        return _case(result, kind, truth.symptom, truth.host, truth.pci, one.onset_ms, text)

    if one.outcome == "missed":
        confused = next((f for f in result.false if f.symptom == one.instead and f.in_place_of == truth.symptom), None)
        instead = f"instead {_described(confused)}" if confused is not None else "nothing was detected"
        yield case("missed", f"lasted {(one.end_ms - one.onset_ms) / 1000:.0f} s, cause {truth.cause}; {instead}")
    if one.outcome != "found":
        return
    if truth.cause not in one.ranking[:1]:
        yield case("wrong cause", f"the cause is {truth.cause}; ranking: {', '.join(one.ranking[:3]) or 'empty'}")
    if one.outstays_ms:
        yield case("outstays", f"stayed active for {one.outstays_ms / 1000:.0f} s after the end")
    if one.delay_samples > SLOW_SAMPLES:
        yield case("late", f"raised after {one.delay_ms / 1000:.0f} s ({one.delay_samples} samples)")


def _described(false: False_) -> str:
    first = false.episodes[0]
    near = f" next to {false.near_symptom}" if false.near_symptom else ""
    times = f", {len(false.episodes)} times" if len(false.episodes) > 1 else ""
    return f"{false.symptom}{near} for {(false.to_ms - false.from_ms) / 1000:.0f} s{times}: {first.summary} [{'; '.join(first.evidence)}]"


def _case(result: Result, kind: str, symptom: str, host: str, pci: str, at_ms: int, text: str) -> dict[str, Any]:
    at_s = round((at_ms - result.start_ms) / 1000)
    return {"kind": kind, "symptom": symptom, "recording": result.name, "host": host, "pci": pci, "at_s": at_s, "text": text}
