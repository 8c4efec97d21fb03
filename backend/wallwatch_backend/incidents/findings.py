"""Applies findings of `classify` to incidents: open, refresh, reopen, resolve.

Every message may come again (Kafka repeats after a crash) and in any state of the incident, so each is compared with what was applied last.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from wallwatch_backend.incidents import events, repository
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.schemas import Evidence, Hypothesis, SuggestedRemedy
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import HostName, PciAddress, SafeText
from wallwatch_backend.webhooks.schemas import EventType

RESOLVED_BY_HAND_GRACE = timedelta(minutes=2)
"""A finding that goes on this long after someone resolved its incident reopens it: until then hysteresis may still hold the finding up."""


class Finding(BaseModel):
    """A message of `wallwatch.findings` (docs/contracts.md)."""

    model_config = ConfigDict(extra="ignore")

    finding_id: UUID
    host: HostName
    pci: PciAddress
    rack: SafeText | None = None
    symptom: str = Field(pattern=r"^S[1-8]$")
    state: Literal["active", "cleared"]
    started_at: AwareDatetime
    at: AwareDatetime
    severity: Literal["warning", "critical"]
    blast_radius: Literal["flows", "rnic", "host"]
    rule: SafeText
    title: SafeText
    summary: SafeText
    evidence: list[Evidence] = Field(default_factory=list, max_length=200)
    hypotheses: list[Hypothesis] = Field(default_factory=list, max_length=50)
    remedies: list[SuggestedRemedy] = Field(default_factory=list, max_length=50)

    @property
    def top_cause(self) -> str | None:
        return max(self.hypotheses, key=lambda h: h.posterior).cause if self.hypotheses else None


class Applied(StrEnum):
    opened = "opened"
    reopened = "reopened"
    refreshed = "refreshed"
    resolved = "resolved"
    repeated = "repeated"
    unknown = "unknown"  # the end of a finding whose beginning never came


async def apply(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    """Apply one message; the caller commits, and only then the message's offset."""
    await repository.lock_subject(session, finding.host, finding.pci, finding.symptom)
    known = await repository.finding(session, finding.finding_id)
    if known is not None and (finding.at <= known.last_at or known.cleared_at is not None):
        return Applied.repeated
    if finding.state == "cleared":
        return await _clear(session, finding, known)
    if known is None:
        return await _begin(session, finding, reopen_within)
    known.last_at = finding.at
    incident = await repository.one_locked(session, known.incident_id)
    if incident is None:
        return Applied.unknown
    if incident.state == "resolved":
        if incident.resolved_at is not None and finding.at <= incident.resolved_at + RESOLVED_BY_HAND_GRACE:
            return Applied.repeated
        return await _reopen(session, finding, incident, "The symptom was present after the incident had been resolved.")
    return await _refresh(session, finding, incident)


async def _begin(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    incident = await repository.unresolved(session, finding.host, finding.pci, finding.symptom)
    applied = Applied.refreshed
    if incident is None:
        incident = await repository.newest_resolved_since(
            session, finding.host, finding.pci, finding.symptom, finding.started_at - reopen_within
        )
        applied = Applied.reopened
    if incident is None:
        incident = _new(finding)
        await repository.add(session, incident)
        applied = Applied.opened
    await repository.add(
        session,
        IncidentFindingRow(finding_id=finding.finding_id, incident_id=incident.id, started_at=finding.started_at, last_at=finding.at),
    )
    if applied is Applied.opened:
        events.note(session, incident, finding.started_at, "opened", finding.summary)
        await events.publish(session, incident, EventType.opened, clock.now())
    elif applied is Applied.reopened:
        await _reopen(session, finding, incident, "The symptom came back.")
    else:
        await _refresh(session, finding, incident)
    return applied


def _dump(items: list[Any]) -> list[dict[str, Any]]:
    return [item.model_dump(mode="json", by_alias=True) for item in items]


def _new(finding: Finding) -> IncidentRow:
    return IncidentRow(
        host=finding.host,
        pci=finding.pci,
        rack=finding.rack or None,
        symptom=finding.symptom,
        state="open",
        severity=finding.severity,
        blast_radius=finding.blast_radius,
        rule=finding.rule,
        title=finding.title,
        summary=finding.summary,
        finding_id=finding.finding_id,
        active=True,
        opened_at=finding.started_at,
        updated_at=clock.now(),
        reopened=0,
        top_cause=finding.top_cause,
        evidence=_dump(finding.evidence),
        hypotheses=_dump(finding.hypotheses),
        remedies=_dump(finding.remedies),
    )


def _take_over(incident: IncidentRow, finding: Finding, at: datetime) -> None:
    """Let the incident show the newest evidence. An empty list says nothing new, so the last that said something stays."""
    incident.severity, incident.blast_radius, incident.rule = finding.severity, finding.blast_radius, finding.rule
    incident.title, incident.summary, incident.finding_id = finding.title, finding.summary, finding.finding_id
    incident.active, incident.updated_at = True, at
    incident.evidence = _dump(finding.evidence) or incident.evidence
    incident.hypotheses = _dump(finding.hypotheses) or incident.hypotheses
    incident.remedies = _dump(finding.remedies) or incident.remedies
    incident.top_cause = finding.top_cause or incident.top_cause


async def _refresh(session: WriteSession, finding: Finding, incident: IncidentRow) -> Applied:
    at = clock.now()
    changed = []
    if finding.severity != incident.severity:
        changed.append(f"Severity changed from {incident.severity} to {finding.severity}.")
    if finding.top_cause is not None and finding.top_cause != incident.top_cause:
        changed.append(f"The most likely cause is now {finding.top_cause}, before {incident.top_cause or 'none'}.")
    _take_over(incident, finding, at)
    if changed:
        events.note(session, incident, finding.at, "updated", " ".join(changed))
    # Fresher numbers alone are no news for a ticket: receivers hear of a change that a person would act on.
    await events.publish(session, incident, EventType.updated if changed else None, at)
    return Applied.refreshed


async def _reopen(session: WriteSession, finding: Finding, incident: IncidentRow, why: str) -> Applied:
    at = clock.now()
    _take_over(incident, finding, at)
    incident.state, incident.reopened = "open", incident.reopened + 1
    incident.resolved_at = incident.resolved_by = incident.acknowledged_at = incident.acknowledged_by = None
    events.note(session, incident, finding.at, "reopened", f"{why} {finding.summary}")
    await events.publish(session, incident, EventType.opened, at)
    return Applied.reopened


async def _clear(session: WriteSession, finding: Finding, known: IncidentFindingRow | None) -> Applied:
    if known is None:
        return Applied.unknown
    known.last_at = known.cleared_at = finding.at
    incident = await repository.one_locked(session, known.incident_id)
    if incident is None:
        return Applied.unknown
    if incident.finding_id != finding.finding_id:
        return Applied.repeated  # a newer finding holds the incident open
    at = clock.now()
    incident.active, incident.updated_at = False, at
    events.note(session, incident, finding.at, "cleared", "Telemetry shows the symptom no more.")
    if incident.state == "resolved":
        await events.publish(session, incident, None, at)
        return Applied.refreshed
    incident.state, incident.resolved_at, incident.resolved_by = "resolved", finding.at, events.SYSTEM
    await events.publish(session, incident, EventType.resolved, at)
    return Applied.resolved
