"""The symptom stage: `(state of one RNIC, sample) -> (state, findings)`.

Pure and in event time: the same samples in the same order give the same findings, with the same ids. Samples may come out of order within a
window; what is older is counted as late and otherwise ignored.
"""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from wallwatch.domain.catalogue.load import profiles, symptoms
from wallwatch.domain.catalogue.models import Condition, Definition, Symptom
from wallwatch.domain.hypotheses.rank import rank
from wallwatch.domain.symptoms import window
from wallwatch.domain.symptoms.detect import Change, Life, Phase, advance, judge, severity
from wallwatch.domain.symptoms.model import OffloadSample, evidence, rfc3339
from wallwatch.domain.symptoms.remedies import suggest
from wallwatch.domain.symptoms.signals import of_sample
from wallwatch.domain.symptoms.window import Feature

REPEAT_MS = 15_000
"""An active finding is repeated at most this often."""

EVIDENCE_WINDOW_S = 30

FINDINGS_NAMESPACE = uuid5(NAMESPACE_URL, "https://wallwatch.dev/finding")

State = dict[str, Any]
"""Plain JSON: `{"newest": ms, "late": count, "buckets": [...], "symptoms": {"S1": life}}`."""

_DEFINED: tuple[tuple[Symptom, Definition], ...] = tuple((s, s.definition) for s in symptoms().values() if s.definition is not None)


def finding_id(host: str, pci: str, symptom: str, started_at: str) -> UUID:
    """The same finding always has the same id, so a replay repeats and never adds."""
    return uuid5(FINDINGS_NAMESPACE, f"{host}|{pci}|{symptom}|{started_at}")


def step(state: State | None, sample: OffloadSample) -> tuple[State, list[dict[str, Any]]]:
    """Take one sample of one RNIC.

    Parameters
    ----------
    state : State or None
        As returned by the step before; None for an RNIC's first sample. It is changed in place.
    sample : OffloadSample
        The next sample, in the order in which it came.

    Returns
    -------
    state : State
    findings : list of dict
        Messages for `wallwatch.findings`, most often none.
    """
    if state is None:
        state = {"newest": sample.at_ms, "late": 0, "buckets": [], "symptoms": {}}
    if sample.at_ms <= state["newest"] - window.WINDOW_MS:
        state["late"] += 1
        return state, []
    profile = profiles().get(sample.model) if sample.model else None
    window.add(state["buckets"], sample.at_ms, of_sample(sample.fields, profile, sample.misses_per_s))
    if sample.at_ms < state["newest"]:
        return state, []  # it has filled its place in the window; verdicts move with the newest sample only
    state["newest"] = sample.at_ms

    findings = []
    for symptom, definition in _DEFINED:
        message = _step_symptom(state, sample, symptom, definition)
        if message is not None:
            findings.append(message)
    return state, findings


def _step_symptom(state: State, sample: OffloadSample, symptom: Symptom, definition: Definition) -> dict[str, Any] | None:
    life = state["symptoms"].get(symptom.id, {})
    now = sample.at_ms
    active = life.get("phase") in (Phase.ACTIVE, Phase.CLEARING)
    verdict = judge(definition, lambda condition: _feature(state, condition), active)
    after, change = advance(life, definition, verdict, now)

    max_idle = sample.fields.get("max_idle_ms")
    if after.get("started") is not None:
        after["max_idle"] = max_idle if change is Change.RAISED else life.get("max_idle", max_idle)

    message = None
    if change is Change.CLEARED:
        message = _finding(state, sample, symptom, definition, "cleared", life["started"])
        _keep_the_worst(message, life, life)
    elif change is Change.RAISED or (after.get("started") is not None and now - after.get("reported", now) >= REPEAT_MS):
        fading = after["phase"] == Phase.CLEARING
        message = _finding(state, sample, symptom, definition, "active", after["started"], fading)
    if message is not None and after:
        if after.get("max_idle") != max_idle:
            message["hypotheses"] = []  # someone acts on the cause: the ranking made before stands
        after["reported"] = now
        _keep_the_worst(message, life, after)
    if after:
        state["symptoms"][symptom.id] = after
    else:
        state["symptoms"].pop(symptom.id, None)
    return message


def _keep_the_worst(message: dict[str, Any], before: Life, after: Life) -> None:
    """A finding that has been critical stays so to its end: one that swings around a bound would otherwise open and close pages."""
    if before.get("critical") or message["severity"] == "critical":
        message["severity"] = "critical"
        after["critical"] = True


def _feature(state: State, condition: Condition) -> Feature | None:
    if condition.signal == "population_change":
        return window.change_of(state["buckets"], state["newest"], "flows_offloaded", condition.window_s)
    return window.feature(state["buckets"], state["newest"], condition.signal, condition.window_s, condition.statistic)


def _finding(
    state: State, sample: OffloadSample, symptom: Symptom, definition: Definition, outcome: str, started_ms: int, fading: bool = False
) -> dict[str, Any]:
    def feature_of(signal: str) -> Feature | None:
        return window.feature(state["buckets"], state["newest"], signal, EVIDENCE_WINDOW_S)

    def value_of(signal: str) -> float | None:
        found = feature_of(signal)
        return None if found is None else found.value

    reasons = []
    values: dict[str, float] = {}
    for condition in definition.conditions:
        found = _feature(state, condition)
        if found is None:
            continue
        values[condition.signal] = found.value
        expected = condition.clear.text if condition.clear is not None else _expected(condition)
        reasons.append(evidence(condition.signal, found, expected, condition.text).as_json())

    cleared = outcome == "cleared"
    started_at = rfc3339(started_ms)
    return {
        "finding_id": str(finding_id(sample.host, sample.pci, symptom.id, started_at)),
        "host": sample.host,
        "pci": sample.pci,
        "rack": sample.rack,
        "symptom": symptom.id,
        "state": outcome,
        "started_at": started_at,
        "at": rfc3339(sample.at_ms),
        "severity": severity(definition, value_of),
        "blast_radius": definition.blast_radius,
        "rule": definition.rule,
        "title": symptom.title,
        "summary": f"{symptom.title} has ended." if cleared else _summary(definition, symptom, values, fading),
        "evidence": reasons,
        # A symptom that fades or has ended no longer shows its cause: the ranking made while it lasted stands.
        "hypotheses": [] if cleared or fading else [h.as_json() for h in rank(symptom.id, feature_of)],
        "remedies": [] if cleared else suggest(definition, sample.pci, symptom.title, value_of),
    }


def _summary(definition: Definition, symptom: Symptom, values: dict[str, float], fading: bool) -> str:
    if fading:
        return f"{symptom.title} is fading; it counts as ended when it has stayed away for {definition.clear_for_s} s."
    try:
        return definition.summary.format_map(values)
    except KeyError:  # a signal of the sentence is missing now, while the symptom goes on
        return f"{symptom.title} goes on."


def _expected(condition: Condition) -> str:
    """What a healthy RNIC shows: a gate describes the circumstances, which are as they should be; the rest is the opposite of raising."""
    return condition.raise_.text if condition.role == "gate" else condition.raise_.opposite_text
