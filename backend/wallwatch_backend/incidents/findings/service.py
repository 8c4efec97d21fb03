"""Applies findings of `classify` to incidents: open, join, refresh, reopen, clear.

Every message may arrive again (Kafka repeats after a crash), late, and in any state of the incident, so each is compared with what was
applied last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.incidents import events, finding_repository, recommended, repository
from wallwatch_backend.incidents.findings import traces
from wallwatch_backend.incidents.findings.outcomes import Applied
from wallwatch_backend.incidents.findings.schemas import Finding, dump, new_finding_row, update_row
from wallwatch_backend.incidents.grouping import merging
from wallwatch_backend.incidents.grouping import repository as candidates
from wallwatch_backend.incidents.grouping.rules import Decision, decide
from wallwatch_backend.incidents.inhibition import service as inhibition
from wallwatch_backend.incidents.inhibition.rules import Beginning, Run
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.rules import is_caused_by_remedy, new_incident, refresh_from_findings
from wallwatch_backend.incidents.silences import enforcement
from wallwatch_backend.incidents.states import UNRESOLVED, IncidentState
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.notify.schemas import EventType

RESOLVED_BY_HAND_GRACE = timedelta(minutes=2)
"""A finding still active this long after someone resolved its incident reopens it: until then hysteresis may keep the finding active."""


async def apply(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    """Apply one message; the caller commits, and only then the message's offset."""
    await repository.lock_grouping(session)
    applied = await _apply(session, finding, reopen_within)
    if session.is_traced:
        await traces.note(session, finding, applied)
    return applied


async def _apply(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    row = await finding_repository.get(session, finding.finding_id)
    if row is not None and (finding.at <= row.last_at or row.cleared_at is not None):
        return Applied.repeated
    if finding.state == "cleared":
        return await _clear(session, finding, row)
    if row is None:
        return await _start(session, finding, reopen_within)
    return await _update(session, finding, row, reopen_within)


@dataclass
class _NewFinding:
    """A finding that starts: its message, its row, and the remedy's run that caused it, if any."""

    message: Finding
    row: IncidentFindingRow
    run: Run | None

    @property
    def place(self) -> str:
        return f"{self.message.host} {self.message.pci}".strip()


async def _start(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    row = new_finding_row(finding)
    member = candidates.member_of(row)
    possible = await candidates.candidates(session, member, reopen_within)
    decision = decide(member, possible, grouping(), reopen_within)
    run = None if decision.inhibited else await inhibition.find_causing_run(session, _beginning(finding))
    if run is not None:
        decision = inhibition.decide_inhibited(member, possible, reopen_within)
        row.inhibited, row.inhibited_by, row.inhibited_at = True, run.remedy_id, clock.now()
    new = _NewFinding(finding, row, run)
    if decision.join is None:
        return await _open(session, new)
    target, sources = await _lock_decided(session, decision)
    if target is None or (run is not None and target.state == IncidentState.resolved):
        return await _open(session, new)
    if target.state == IncidentState.resolved and not decision.reopen:  # a person resolved it since the candidates were read
        decision = Decision(join=target.id, reopen=True, why="it continued after the incident was resolved")
    recurs = finding.symptom in target.symptoms and any(c.id == target.id for c in possible) and not target.active and not sources
    return await _join(session, new, decision, target, sources, recurs=recurs)


def _beginning(finding: Finding) -> Beginning:
    return Beginning(finding.host, finding.pci, finding.symptom, finding.started_at, finding.at, finding.received_at)


async def _join(
    session: WriteSession, new: _NewFinding, decision: Decision, target: IncidentRow, sources: Sequence[IncidentRow], *, recurs: bool
) -> Applied:
    """Add a new finding to a locked incident, after merging `sources` into it."""
    finding, row, at = new.message, new.row, clock.now()
    if sources:
        await merging.merge_into(session, target, sources, at, events.SYSTEM, decision.why)
    row.incident_id = row.origin_id = target.id
    row.inhibited = decision.inhibited
    await finding_repository.add(session, row)
    await finding_repository.clear_superseded(session, row)
    await finding_repository.refresh_incident(session, target)
    if decision.reopen:
        await reopen(session, row, target, "The symptom recurred.")
        return Applied.reopened
    where = f"{finding.symptom} on {new.place}"
    text = f"{where} recurred. {finding.summary}" if recurs else sentence(f"{where}: {finding.summary} Grouped here: {decision.why}")
    events.note(session, target, finding.started_at, "symptom", text, finding_id=str(finding.finding_id))
    if new.run is not None:
        inhibition.record_inhibition(session, target, row, new.run, at)
    await enforcement.apply_to_incident(session, target, at)
    await merging.publish_merged(session, sources, at)
    await events.publish(session, target, None if decision.inhibited and not sources else EventType.updated, at)
    return Applied.joined


async def _lock_decided(session: WriteSession, decision: Decision) -> tuple[IncidentRow | None, list[IncidentRow]]:
    """Lock the incidents of a decision: (target, sources); those that a person resolved or merged since are left out."""
    assert decision.join is not None  # noqa: S101 - checked by the caller
    rows = {row.id: row for row in await repository.get_many_locked(session, [decision.join, *decision.merge])}
    target = rows.pop(decision.join, None)
    if target is not None and target.merged_into is not None:
        target = await repository.get_locked(session, target.merged_into)
    return target, [row for row in rows.values() if row.state in UNRESOLVED and row.merged_into is None]


async def _open(session: WriteSession, new: _NewFinding) -> Applied:
    row, at = new.row, clock.now()
    incident = new_incident(row, at)
    row.incident_id = row.origin_id = incident.id
    refresh_from_findings(incident, [row])
    incident.recommended = recommended.derived([row.remedies], at)
    await repository.add(session, incident)
    await enforcement.apply_to_new(session, incident, row, at)
    await finding_repository.add(session, row)
    await finding_repository.clear_superseded(session, row)
    events.note(session, incident, row.started_at, "opened", row.summary, finding_id=str(row.finding_id))
    if new.run is not None:
        inhibition.record_inhibition(session, incident, row, new.run, at)
    await events.publish_new(session, incident, row, at)
    return Applied.opened


async def _update(session: WriteSession, finding: Finding, row: IncidentFindingRow, reopen_within: timedelta) -> Applied:
    """An active finding is repeated while it lasts; usually only its evidence is fresher, which is news for nobody."""
    before = (row.severity, row.cause, row.pci)
    update_row(row, finding)
    incident = await repository.get_locked(session, row.incident_id)
    if incident is None:
        return Applied.unknown
    if incident.state == IncidentState.resolved:
        if incident.resolved_at is not None and finding.at <= incident.resolved_at + RESOLVED_BY_HAND_GRACE:
            return Applied.repeated
        await session.flush()
        await finding_repository.refresh_incident(session, incident)
        await reopen(session, row, incident, "The symptom was present after the incident was resolved.")
        return Applied.reopened
    if before == (row.severity, row.cause, row.pci):
        if incident.finding_id == row.finding_id:
            incident.summary = row.summary
        return Applied.refreshed
    await session.flush()
    changed = [f"The RNIC is {row.pci}."] if row.pci != before[2] else []
    if row.severity != before[0]:
        changed.append(f"Severity changed from {before[0]} to {row.severity}.")
    if row.cause != before[1]:
        changed.append(f"The most likely cause is now {row.cause}, before {before[1] or 'none'}.")
        if not is_caused_by_remedy(row):  # side effects of remedies merge nothing
            incident = await regroup(session, row, incident, reopen_within)
    at = clock.now()
    await finding_repository.refresh_incident(session, incident)
    events.note(session, incident, finding.at, "updated", " ".join(changed), finding_id=str(finding.finding_id))
    await enforcement.apply_to_incident(session, incident, at)
    await events.publish(session, incident, None if row.inhibited else EventType.updated, at)
    return Applied.refreshed


async def regroup(session: WriteSession, row: IncidentFindingRow, incident: IncidentRow, reopen_within: timedelta) -> IncidentRow:
    """Merge incidents that belong together since the finding has a new cause or counts; return the one that has the finding."""
    member = candidates.member_of(row)
    possible = await candidates.candidates(session, member, reopen_within)
    decision = decide(member, possible, grouping(), reopen_within)
    if decision.join is None or decision.reopen or not decision.merge:
        return incident
    target, sources = await _lock_decided(session, decision)
    if target is None or target.state == IncidentState.resolved:
        return incident
    at = clock.now()
    await merging.merge_into(session, target, sources, at, events.SYSTEM, decision.why)
    await merging.publish_merged(session, sources, at)
    return target


async def reopen(session: WriteSession, row: IncidentFindingRow, incident: IncidentRow, why: str) -> None:
    """Reopen and publish a locked incident because of one of its findings."""
    at = clock.now()
    incident.state, incident.reopened = IncidentState.reopened, incident.reopened + 1
    incident.resolved_at = incident.resolved_by = incident.acknowledged_at = incident.acknowledged_by = None
    events.note(session, incident, row.last_at, "reopened", f"{why} {row.summary}", finding_id=str(row.finding_id))
    await enforcement.apply_to_incident(session, incident, at)
    await events.publish(session, incident, EventType.opened, at)


async def _clear(session: WriteSession, finding: Finding, row: IncidentFindingRow | None) -> Applied:
    """The incident stays unresolved for the hold time, so that someone who looks later sees the symptom and that it cleared."""
    if row is None:
        return Applied.unknown
    row.last_at = row.cleared_at = finding.at
    row.evidence = row.evidence or dump(finding.evidence)
    # The last active message says that the symptom is fading, which is no longer true.
    row.summary, row.explanation = finding.summary or row.summary, finding.explanation or row.explanation
    await session.flush()
    incident = await repository.get_locked(session, row.incident_id)
    if incident is None:
        return Applied.unknown
    at = clock.now()
    await finding_repository.refresh_incident(session, incident)
    where = f"{finding.symptom} on {finding.host} {finding.pci}".strip()
    if incident.active:
        text = f"{where} cleared; other symptoms remain."
        events.note(session, incident, finding.at, "symptom", text, finding_id=str(finding.finding_id))
    else:
        events.note(session, incident, finding.at, "cleared", "Telemetry no longer shows the symptom.", finding_id=str(finding.finding_id))
    await enforcement.apply_to_incident(session, incident, at)
    is_news = not incident.active and incident.state in UNRESOLVED
    await events.publish(session, incident, EventType.updated if is_news else None, at)
    return Applied.refreshed if incident.active else Applied.cleared
