"""Measured against expected bandwidth of an RNIC, and the finding `unexplained` where they differ for minutes (rule U/2).

Unlike the stage's symptoms this needs `Q_r`, so the ingress lookups of other hosts: it is evaluated once per minute, after those are
joined.
There are two kinds of difference: the port has data waiting and sends less than the profile allows for these lookups; or it sends more,
and then the profile is wrong for this RNIC. A port with little traffic to send has no residual. Pure and in event time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from wallwatch.domain.catalogue.load import other_conditions
from wallwatch.domain.catalogue.models import Definition, Detected
from wallwatch.domain.catalogue.promoted import profile_of
from wallwatch.domain.catalogue.residual import residual_rule
from wallwatch.domain.evidence import Feature, evidence
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.performance.predict import predict
from wallwatch.domain.symptoms import finding_messages
from wallwatch.domain.symptoms.explain import clock, explain_cleared, who
from wallwatch.domain.symptoms.remedies import suggest

MINUTE_MS = 60_000
"""Bandwidth and lookups of all hosts are joined once per minute."""

Side = Literal["below", "above"]

Key = tuple[str, str]
"""Host and PCI address."""


@dataclass(slots=True)
class Life:
    """An RNIC that differs."""

    subject: finding_messages.Subject
    identity: Identity
    side: Side
    since_ms: int
    known_ms: int
    """End of the last evaluated minute."""
    count: int = 0
    """Minutes in a row that differ."""
    gone: int = 0
    """Minutes in a row that do not, of a finding."""
    started_ms: int | None = None
    """Since when it is a finding."""


Lives = dict[Key, Life]


@dataclass(frozen=True, slots=True)
class Minute:
    """One RNIC in one minute; what was not measured is None."""

    host: str
    pci: str
    rack: str
    identity: Identity
    until_ms: int
    q_l: float | None
    q_r: float | None
    """`Q_r` of its peers; None if unknown: the RNIC's own ingress chain cannot replace it."""
    sent_gbps: float | None
    link_gbps: float | None
    """What the port and its PCIe link carry at most."""
    waited_ticks_per_s: float | None
    paused_per_s: float | None
    notified_per_s: float | None
    """Congestion notifications that it heeded."""
    explained: bool
    """Whether a symptom is there, or at its peers, or was until just now."""
    to_congested: float = 0.0
    """Share of its packets that goes to congested receivers."""

    @property
    def key(self) -> Key:
        return self.host, self.pci


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of one minute: the side of the difference, or None if there is none."""

    side: Side | None
    expected: tuple[float, float, float]
    """Value and bounds, Gbit/s."""


def judge(minute: Minute) -> Judged | None:
    """Whether measured and expected differ; None where it is unknown.

    Examples
    --------
    >>> base = dict(host="h", pci="p", rack="", identity=Identity("CX-6"), until_ms=60_000, q_l=10.0, q_r=5.0, link_gbps=200.0,
    ...             paused_per_s=0.0, notified_per_s=0.0, explained=False)
    >>> [judge(Minute(**base, sent_gbps=sent, waited_ticks_per_s=ticks)).side for sent, ticks in ((60, 5e4), (60, 0), (118, 5e4), (170, 0))]
    ['below', None, None, 'above']
    >>> judge(Minute(**base, sent_gbps=None, waited_ticks_per_s=0.0)) is None
    True
    """
    profile = profile_of(minute.identity.model, minute.identity.driver, minute.identity.fw_ver)
    if profile is None or minute.q_l is None or minute.q_r is None or minute.sent_gbps is None:
        return None
    rule, sent = residual_rule(), minute.sent_gbps
    found = predict(profile.performance, minute.q_l, minute.q_r).bandwidth_gbps
    bound = float("inf") if minute.link_gbps is None else minute.link_gbps
    value, lower, upper = min(found.value, bound), min(found.lower, bound), found.upper
    expected = (value, lower, upper)
    if sent > upper and sent > value * (1.0 + rule.share):
        return Judged("above", expected)
    if sent >= lower or sent >= value * (1.0 - rule.share):
        return Judged(None, expected)
    if minute.waited_ticks_per_s is None or minute.paused_per_s is None or minute.notified_per_s is None:
        return None
    held = minute.paused_per_s >= rule.paused_per_s or minute.notified_per_s >= rule.notified_per_s
    held = held or minute.to_congested >= rule.share_to_congested
    return Judged("below" if minute.waited_ticks_per_s >= rule.waited_ticks_per_s and not held else None, expected)


def step(lives: Lives, minutes: Iterable[Minute], until_ms: int) -> list[dict[str, Any]]:
    """Take one minute of the whole fleet; `lives` moves on.

    Returns
    -------
    findings : list of dict
        Messages for `wallwatch.findings` (docs/contracts.md).
    """
    findings = []
    for minute in minutes:
        judged = judge(minute)
        if judged is None:
            continue
        life = lives.get(minute.key)
        raised = life is not None and life.started_ms is not None
        side = None if minute.explained and not raised else judged.side
        if side is not None and (life is None or (life.side != side and not raised)):
            subject = {"host": minute.host, "pci": minute.pci, "rack": minute.rack}
            life = lives[minute.key] = Life(subject, minute.identity, side, minute.until_ms - MINUTE_MS, minute.until_ms)
        if life is not None:
            findings += _move(lives, life, minute, judged, side)
    return findings + _forget(lives, until_ms)


def _move(lives: Lives, life: Life, minute: Minute, judged: Judged, side: Side | None) -> list[dict[str, Any]]:
    rule = residual_rule()
    if life.started_ms is None and minute.until_ms - life.known_ms > 2 * MINUTE_MS:
        life.count, life.since_ms = 0, minute.until_ms - MINUTE_MS  # nobody saw the minutes between
    life.known_ms, life.identity = minute.until_ms, minute.identity
    if side == life.side:
        life.count, life.gone = life.count + 1, 0
    elif life.started_ms is None:
        del lives[minute.key]
        return []
    else:
        life.gone += 1
        if life.gone >= rule.clear_min:
            del lives[minute.key]
            return [_cleared(life, life.started_ms, minute.until_ms)]
    if life.started_ms is None:
        if life.count < rule.raise_min:
            return []
        life.started_ms = life.since_ms
    return [_active(life, life.started_ms, minute, judged)]


def _forget(lives: Lives, until_ms: int) -> list[dict[str, Any]]:
    """Ends what has not been measured for long."""
    findings = []
    for key, life in list(lives.items()):
        if until_ms - life.known_ms >= residual_rule().forgotten_min * MINUTE_MS:
            del lives[key]
            if life.started_ms is not None:
                findings.append(_cleared(life, life.started_ms, until_ms))
    return findings


def _entry() -> tuple[Detected, Definition]:
    entry = other_conditions()["unexplained"]
    if entry.definition is None:
        raise ValueError("the catalogue's unexplained has no definition")
    return entry, entry.definition


def _active(life: Life, started_ms: int, minute: Minute, judged: Judged) -> dict[str, Any]:
    entry, definition = _entry()
    rule = residual_rule()
    value, lower, upper = judged.expected
    sent, minutes = minute.sent_gbps or 0.0, round((minute.until_ms - started_ms) / MINUTE_MS)
    off = f"{sent:.0f} Gbit/s instead of the predicted {value:.0f} Gbit/s ({sent / value - 1:+.0%})"
    below = life.side == "below"
    rows = [
        (
            "tx_gbps",
            sent,
            f"{lower:.0f} to {upper:.0f} Gbit/s",
            f"Sent in the last minute; the model predicts {value:.0f} Gbit/s for its mask lookups.",
        ),
        ("q_egress", minute.q_l, "", "Mean mask lookups per packet on this RNIC (Q_l)."),
        ("q_ingress", minute.q_r, "", "Mean mask lookups per packet at the peers (Q_r)."),
    ]
    if below:
        waited = f"< {rule.waited_ticks_per_s:.0f} ticks"
        rows.append(
            ("port_xmit_wait", minute.waited_ticks_per_s, waited, "Ticks per second in which data waited: the port could send more.")
        )
        summary = f"The port has had data waiting for {minutes} minutes and sends {off}, and no known symptom explains it."
        then = (
            "The RNIC delivers less than its profile predicts: check the RNIC, its link and its neighbours, and place no new containers "
            "on it."
        )
    else:
        summary = f"The port has sent {off} for {minutes} minutes: the profile does not match this RNIC."
        then = "Its mask limits and its forecasts are wrong too: calibrate the profile for its driver and firmware."
    return {
        **finding_messages.shell(entry, life.subject, life.identity, "active", started_ms, minute.until_ms),
        "rule": rule.rule,
        "severity": "warning",
        "summary": summary,
        "explanation": f"{entry.title} on {who(life.subject, life.identity)} since {clock(started_ms)}. {summary} {then}",
        "evidence": [
            evidence(signal, Feature(measured, minute.until_ms - MINUTE_MS, minute.until_ms), expected, text).as_json()
            for signal, measured, expected, text in rows
            if measured is not None
        ],
        "hypotheses": [],
        "remedies": suggest(entry.id, definition, [], life.subject["pci"], entry.title, lambda signal: None) if below else [],
    }


def _cleared(life: Life, started_ms: int, at_ms: int) -> dict[str, Any]:
    entry, _ = _entry()
    return {
        **finding_messages.shell(entry, life.subject, life.identity, "cleared", started_ms, at_ms),
        "rule": residual_rule().rule,
        "severity": "warning",
        "summary": "Measured and predicted bandwidth agree again, or are no longer measured.",
        "explanation": explain_cleared(entry, life.subject, life.identity, started_ms, at_ms),
        "evidence": [],
        "hypotheses": [],
        "remedies": [],
    }
