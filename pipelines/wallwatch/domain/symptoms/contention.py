"""The finding `contention` (rule N/1): functions get other than predicted, lose more than promised, or soon will. Pure; event time.

What one minute shows is decided in `domain/contention/watch`; here is only how long it has to last, and the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wallwatch.domain.catalogue.contention import contention_rule
from wallwatch.domain.catalogue.load import other_conditions
from wallwatch.domain.catalogue.models import OtherCondition
from wallwatch.domain.contention.watch import Kind, Reason
from wallwatch.domain.evidence import Evidence
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.instants import rfc3339
from wallwatch.domain.symptoms import finding_messages
from wallwatch.domain.symptoms.explain import clock, explain_cleared, who

SYMPTOM = "contention"
MINUTE_MS = 60_000
"""Measured and predicted throughput are compared once per minute."""
_MOST_NAMED = 5
"""Functions that a summary names; a card has room for about four, and a longer list is not read."""


@dataclass(slots=True)
class Life:
    """The reasons of one card, and its finding while there is one."""

    subject: finding_messages.Subject
    identity: Identity
    since: dict[tuple[str, str], int] = field(default_factory=dict)
    """(kind, function) -> the first of the minutes in a row with this reason."""
    started_ms: int | None = None
    reason_minute: int = 0
    """The newest minute with a lasting reason."""
    last_minute: int = -1
    title: str | None = None
    """Of the last message while the finding lasts; None: the catalogue's."""


def step(life: Life, minute: int, reasons: Sequence[Reason]) -> list[dict[str, Any]]:
    """Take what one minute showed; a minute that was taken before changes nothing.

    Returns
    -------
    findings : list of dict
        Messages for `wallwatch.findings` (docs/contracts.md).
    """
    rule = contention_rule()
    if minute <= life.last_minute:
        return []
    gap = minute - life.last_minute > 1
    present = {(reason.kind.value, reason.function) for reason in reasons}
    life.since = {key: minute if gap else life.since.get(key, minute) for key in sorted(present)}
    life.last_minute = minute
    lasting = [reason for reason in reasons if minute - life.since[reason.kind.value, reason.function] + 1 >= rule.lasts_min]
    if lasting:
        life.reason_minute = minute
        if life.started_ms is None:
            life.started_ms = min(life.since[reason.kind.value, reason.function] for reason in lasting) * MINUTE_MS
        return [_active(life, life.started_ms, minute, lasting)]
    if life.started_ms is not None and minute - life.reason_minute >= rule.clear_min:
        return [_clear(life, life.started_ms, minute, f"All functions have been as predicted for {rule.clear_min:.0f} minutes.")]
    return []


def forget(life: Life, minute: int) -> list[dict[str, Any]]:
    """End the finding of a card whose functions are not measured any more."""
    rule = contention_rule()
    if life.started_ms is None or minute - max(life.last_minute, life.reason_minute) < rule.forgotten_min:
        return []
    return [_clear(life, life.started_ms, minute, f"No function of the card has been measured for {rule.forgotten_min:.0f} minutes.")]


def title(reasons: Sequence[Reason]) -> str | None:
    """The title where nothing is lost to competitors; None where functions do contend.

    A function that is slower than its model predicts also breaks its SLA sooner or later. As long as the prediction keeps the SLA, its
    competitors are not the reason: an update of its own, a fault or something that no model knows is.

    >>> title([Reason(Kind.SLOWER, "a", -0.3, 0.1, 630.0, 900.0, "memory"), Reason(Kind.BROKEN, "a", 0.37, 0.2, 630.0, 900.0, "memory")])
    'Function slower than its model'
    """
    slower = {reason.function for reason in reasons if reason.kind is Kind.SLOWER}
    if any(reason.kind is Kind.BROKEN and not (reason.function in slower and _kept_as_predicted(reason)) for reason in reasons):
        return None
    if any(reason.kind is Kind.DRIFT for reason in reasons):
        return _TITLES[Kind.DRIFT]
    return _TITLES[Kind.SLOWER if slower else Kind.FASTER]


_TITLES = {
    Kind.SLOWER: "Function slower than its model",
    Kind.FASTER: "Function faster than its model",
    Kind.DRIFT: "Function about to break its SLA",
}


def _kept_as_predicted(broken: Reason) -> bool:
    """Whether the predicted throughput would keep the SLA that the measured one breaks."""
    if broken.measured is None or broken.value >= 1.0:
        return False
    solo = broken.measured / (1.0 - broken.value)
    return 1.0 - broken.predicted / solo <= broken.bound


def sentence(reason: Reason) -> str:
    """
    >>> sentence(Reason(Kind.SLOWER, "ids-0", -0.18, 0.1, 410.0, 500.0, "memory"))
    'ids-0 gets 410 kpps, 18% less than the predicted 500 kpps'
    >>> sentence(Reason(Kind.DRIFT, "fw-0", 0.12, 0.1, None, 900.0, "memory", 35))
    'fw-0 will lose 12.0% to memory in about 35 minutes if traffic goes on like this; it may lose 10.0%'
    """
    to = "" if reason.bottleneck is None else f" to {reason.bottleneck}"
    if reason.kind is Kind.DRIFT:
        when = f"in about {reason.in_min} minutes if traffic goes on like this"
        return f"{reason.function} will lose {reason.value:.1%}{to} {when}; it may lose {reason.bound:.1%}"
    if reason.kind is Kind.BROKEN:
        return f"{reason.function} loses {reason.value:.1%}{to}; it may lose {reason.bound:.1%}"
    more = "more" if reason.kind is Kind.FASTER else "less"
    predicted = f"{abs(reason.value):.0%} {more} than the predicted {reason.predicted:,.0f} kpps"
    return f"{reason.function} gets {reason.measured:,.0f} kpps, {predicted}"


_MEANS = {
    Kind.SLOWER: "Less than predicted although more arrives: the model is stale (retrain it), or something that no model knows takes it.",
    Kind.FASTER: "More than predicted: the model is stale; retrain it before you place functions by it.",
    Kind.BROKEN: "Move a function that takes from it, or limit its traffic; the page Functions names who takes what.",
    Kind.DRIFT: "Move a function before it happens; the page Placement proposes where.",
}


def _active(life: Life, started_ms: int, minute: int, reasons: Sequence[Reason]) -> dict[str, Any]:
    life.title = title(reasons)
    entry = _entry(life)
    said = [sentence(reason) for reason in reasons[:_MOST_NAMED]]
    more = f"; and {len(reasons) - _MOST_NAMED} more" if len(reasons) > _MOST_NAMED else ""
    summary = f"{'; '.join(said)}{more}."
    means = " ".join(_MEANS[kind] for kind in Kind if any(reason.kind is kind for reason in reasons))
    return {
        **_shell(life, "active", started_ms, (minute + 1) * MINUTE_MS),
        "severity": "critical" if any(reason.kind is Kind.BROKEN for reason in reasons) else "warning",
        "summary": summary,
        "explanation": f"{entry.title} on {who(life.subject, life.identity)} since {clock(started_ms)}. {summary} {means}",
        "evidence": [_evidence(life, minute, reason).as_json() for reason in reasons],
        "hypotheses": [],
        "remedies": [],
    }


_LABELS = {
    Kind.SLOWER: "Measured against predicted",
    Kind.FASTER: "Measured against predicted",
    Kind.BROKEN: "Throughput lost",
    Kind.DRIFT: "Throughput lost within the hour",
}


def _evidence(life: Life, minute: int, reason: Reason) -> Evidence:
    first = life.since[reason.kind.value, reason.function]
    bound = f"within {reason.bound:.0%}" if reason.kind in (Kind.SLOWER, Kind.FASTER) else f"<= {reason.bound:.1%}"
    return Evidence(
        f"nf_{reason.kind.value}_{reason.function}",
        f"{_LABELS[reason.kind]}: {reason.function}",
        "ratio",
        rfc3339(first * MINUTE_MS),
        rfc3339((minute + 1) * MINUTE_MS),
        round(reason.value, 4),
        bound,
        f"{sentence(reason)}.",
    )


def _clear(life: Life, started_ms: int, minute: int, why: str) -> dict[str, Any]:
    at_ms = (minute + 1) * MINUTE_MS
    life.started_ms = None
    life.since = {}
    cleared = {
        **_shell(life, "cleared", started_ms, at_ms),
        "severity": "warning",
        "summary": why,
        "explanation": f"{explain_cleared(_entry(life), life.subject, life.identity, started_ms, at_ms)} {why}",
        "evidence": [],
        "hypotheses": [],
        "remedies": [],
    }
    life.title = None
    return cleared


def _entry(life: Life) -> OtherCondition:
    """The catalogue's entry, with the title of what it is this time."""
    entry = other_conditions()[SYMPTOM]
    return entry if life.title is None else entry.model_copy(update={"title": life.title})


def _shell(life: Life, state: str, started_ms: int, at_ms: int) -> dict[str, Any]:
    shell = finding_messages.shell(_entry(life), life.subject, life.identity, state, started_ms, at_ms)
    return {**shell, "rule": contention_rule().rule, "blast_radius": "rnic"}
