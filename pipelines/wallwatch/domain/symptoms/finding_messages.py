"""Messages for `wallwatch.findings`: one symptom of one RNIC or host, with its evidence, ranked causes and remedies (docs/contracts.md)."""

from __future__ import annotations

import re
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from wallwatch.domain.catalogue.behaviour_models import Behaviour
from wallwatch.domain.catalogue.load import known_signals
from wallwatch.domain.catalogue.models import Condition, Definition, Detected, EvidenceRule
from wallwatch.domain.evidence import Evidence, Feature, evidence, with_unit
from wallwatch.domain.hypotheses.rank import Hypothesis, rank
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.instants import rfc3339
from wallwatch.domain.symptoms.detect import Life, severity
from wallwatch.domain.symptoms.explain import CLOSE, explain_active, explain_behaviour, explain_cleared
from wallwatch.domain.symptoms.features import Features
from wallwatch.domain.symptoms.remedies import suggest

FINDINGS_NAMESPACE = uuid5(NAMESPACE_URL, "https://wallwatch.dev/finding")

REPEAT_MS = 15_000
"""An active finding is repeated at most this often."""

STALE_MS = 30_000
"""A finding whose signals have not been measured for this long is reported as stale."""

Subject = dict[str, str]
"""`host`, `pci`, `rack` of a finding."""


def finding_id(host: str, pci: str, symptom: str, started_at: str) -> UUID:
    """The same finding always has the same id, so a replay repeats and never adds."""
    return uuid5(FINDINGS_NAMESPACE, f"{host}|{pci}|{symptom}|{started_at}")


def shell(
    entry: Detected, subject: Subject, rnic: Identity, state: str, started_ms: int, at_ms: int, raised_on: str | None = None
) -> dict[str, Any]:
    """What every finding has. `raised_on` is the PCI address, or "", that it had when it was raised, where it has another one now."""
    started_at = rfc3339(started_ms)
    definition = entry.definition
    return {
        "finding_id": str(finding_id(subject["host"], subject["pci"] if raised_on is None else raised_on, entry.reported_as, started_at)),
        **subject,
        "symptom": entry.reported_as,
        "state": state,
        "started_at": started_at,
        "at": rfc3339(at_ms),
        "blast_radius": "host" if definition is None else definition.blast_radius,
        "rule": f"{entry.id}/1" if definition is None else definition.rule,
        "title": entry.title,
        "model": rnic.model,
        "driver": rnic.driver,
        "fw_ver": rnic.fw_ver,
    }


def active(
    entry: Detected, subject: Subject, rnic: Identity, life: Life, features: Features, at_ms: int, fading: bool, known_model: bool
) -> dict[str, Any]:
    """An active symptom. `life` keeps the basis of the ranking, see `_ranked`."""
    definition = entry.definition
    if definition is None:
        raise ValueError(f"{entry.id} has no definition")
    reasons: list[Evidence] = []
    values: dict[str, float] = {}
    for condition in definition.conditions:
        found = features.of(condition)
        if found is None:
            continue
        if condition.signal in values:  # one signal, one line: two bounds for it would contradict each other
            continue
        values[condition.signal] = found.value
        reasons.append(evidence(condition.signal, found, _expected(condition), condition.text + _parts(condition.signal, features)))
    stale_ms = at_ms - life.get("known", at_ms)
    since = rfc3339(life["known"]) if stale_ms >= STALE_MS else None
    ranked = entry.reported_as != "unexplained" and not isinstance(entry, Behaviour)
    causes = _ranked(entry.id, rnic, life, features, fading or since is not None) if ranked else []
    summary = _summary(entry, values, fading, since)
    if isinstance(entry, Behaviour) and not fading and since is None and not _is_confirmed(entry, definition, values):
        summary = f"Suspected, because no other counter confirms it: {summary}"
    found_severity = severity(definition, features.value)
    if found_severity == "critical":
        life["critical"] = True
    return {
        **shell(entry, subject, rnic, "active", life["started"], at_ms, life.get("raised_on")),
        "severity": "critical" if life.get("critical") else found_severity,
        "summary": summary,
        "explanation": explain_active(entry, subject, rnic, life["started"], summary, reasons, causes, known_model)
        if not isinstance(entry, Behaviour)
        else explain_behaviour(entry, subject, rnic, life["started"], summary),
        "evidence": [e.as_json() for e in reasons],
        "hypotheses": [h.as_json() for h in causes],
        "remedies": suggest(entry.id, definition, _likely(causes), subject["pci"], entry.title, features.value),
    }


def cleared(entry: Detected, subject: Subject, rnic: Identity, life: Life, features: Features, at_ms: int) -> dict[str, Any]:
    """A symptom that has cleared. The ranking from the active phase stays valid, so the message has none."""
    reasons: dict[str, dict[str, Any]] = {}
    if entry.definition is not None:
        for condition in entry.definition.conditions:
            found = features.of(condition)
            if found is not None and condition.role == "required" and condition.signal not in reasons:
                reasons[condition.signal] = evidence(condition.signal, found, _expected(condition), condition.text).as_json()
    base: str = "warning" if entry.definition is None else entry.definition.severity
    return {
        **shell(entry, subject, rnic, "cleared", life["started"], at_ms, life.get("raised_on")),
        "severity": "critical" if life.get("critical") else base,
        "summary": f"{entry.title} has cleared.",
        "explanation": explain_cleared(entry, subject, rnic, life["started"], at_ms),
        "evidence": list(reasons.values()),
        "hypotheses": [],
        "remedies": [],
    }


def gone(entry: Detected, subject: Subject, rnic: Identity, life: Life, features: Features, at_ms: int, last_ms: int) -> dict[str, Any]:
    """The message for a symptom of an RNIC that its host has not reported since `last_ms`."""
    message = cleared(entry, subject, rnic, life, features, at_ms)
    message["summary"] = f"{entry.title} is treated as cleared: its host has not reported the RNIC since {rfc3339(last_ms)}."
    message["explanation"] = (
        f"{message['summary']} The end was not observed. If the RNIC comes back with the symptom, a new finding is raised."
    )
    return message


def _ranked(symptom: str, rnic: Identity, life: Life, features: Features, keep: bool) -> list[Hypothesis]:
    """Causes by the evidence of the time in which the symptom was there under the settings in which it arose.

    Acting on the cause changes the evidence: with a longer max-idle late counters no longer fill the idle time, whatever their
    lateness. So once the setting differs, and while the symptom is clearing, the ranking stays based on the earlier observations. And
    what has been seen of a cause stays seen: a wall that was reached has been reached, also when the symptom itself (a reset of the RNIC, a
    standstill) ends the observation.
    """
    settings = features.get("max_idle_ms", 15, "last")
    setting = None if settings is None else settings.value
    if "setting" not in life:
        life["setting"] = setting
    kept: dict[str, list[Any]] = life.setdefault("observed", {})
    intervened = setting is not None and life["setting"] is not None and setting != life["setting"]

    def feature_of(rule: EvidenceRule) -> Feature | None:
        key = f"{rule.signal} {rule.window_s} {rule.statistic} {rule.test.text}"
        before = kept.get(key)
        found = None if keep or intervened else features.of(rule)
        if found is not None and (before is None or rule.test.holds(found.value) or not rule.test.holds(before[0])):
            kept[key] = [float(f"{found.value:.6g}"), found.from_ms, found.to_ms]
            return found
        if before is not None:
            return Feature(before[0], before[1], before[2])
        return None if kept else features.of(rule)

    return rank(symptom, feature_of, rnic)


def _likely(ranked: list[Hypothesis]) -> list[str]:
    """The causes whose remedies are offered first: the likeliest, and others that are close enough to be named."""
    return [each.cause for i, each in enumerate(ranked) if i == 0 or each.posterior >= CLOSE]


def _is_confirmed(entry: Behaviour, definition: Definition, values: dict[str, float]) -> bool:
    """Whether what the RNIC's own counter denies was seen elsewhere, for a behaviour that needs it."""
    holding = {c.signal for c in definition.conditions if c.signal in values and c.raise_.holds(values[c.signal])}
    return not entry.confirmed_by or not holding.isdisjoint(entry.confirmed_by)


_OPTIONAL = re.compile(r"\[([^\]]*)\]")
_NAMED = re.compile(r"\{(\w+)")


def _summary(entry: Detected, values: dict[str, float], fading: bool, stale_since: str | None) -> str:
    definition = entry.definition
    if definition is None:
        return entry.title
    if stale_since is not None:
        return f"{entry.title}: stale, its signals have not been measured since {stale_since}; it stays active until they are."
    if fading:
        return f"{entry.title} is clearing; it is cleared once its conditions have been gone for {definition.clear_for_s} s."

    def filled_in(match: re.Match[str]) -> str:
        if isinstance(entry, Behaviour) and not any(map(values.get, _NAMED.findall(match[1]))):
            return ""  # alternatives that nothing was seen of
        try:
            return match[1].format_map(values)
        except KeyError:
            return ""

    try:
        return _OPTIONAL.sub(filled_in, definition.summary).format_map(values)
    except KeyError:  # a signal of the sentence is missing now, while the symptom continues
        return f"{entry.title} continues."


MOST_PARTS = 3
"""Counters of a sum that are named."""


def _parts(signal: str, features: Features) -> str:
    """Which counters of a sum moved, the largest share first; empty for any other signal."""
    parts = features.parts(signal)
    total = sum(parts.values())
    if total <= 0.0:
        return ""
    largest = sorted(parts.items(), key=lambda part: -part[1])[:MOST_PARTS]
    said = ", ".join(f"{known_signals()[name][0]} ({name}) {value / total:.0%}" for name, value in largest)
    return f" Moved: {said}{', others' if len(parts) > MOST_PARTS else ''}."


def _expected(condition: Condition) -> str:
    """What a healthy RNIC shows: a gate describes the circumstances, which are as they should be; the rest is the opposite of raising."""
    if condition.clear is not None:
        text = condition.clear.text
    else:
        text = condition.raise_.text if condition.role == "gate" else condition.raise_.opposite_text
    return with_unit(text, condition.signal)
