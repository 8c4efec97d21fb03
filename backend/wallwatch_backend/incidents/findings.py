"""Applies findings of `classify` to incidents: open, join, refresh, reopen, end.

Every message may come again (Kafka repeats after a crash), late, and in any state of the incident, so each is compared with what was
applied last.
"""

from datetime import timedelta
from enum import StrEnum

from wallwatch.domain.catalogue.grouping import grouping
from wallwatch_backend.incidents import candidates, events, inhibiting, members, merging, repository
from wallwatch_backend.incidents.finding import Finding, dump, new_incident, new_member, take_over
from wallwatch_backend.incidents.grouping import Decision, decide
from wallwatch_backend.incidents.inhibition import Run
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.silences import enforcement
from wallwatch_backend.webhooks.schemas import EventType

RESOLVED_BY_HAND_GRACE = timedelta(minutes=2)
"""A finding that goes on this long after someone resolved its incident reopens it: until then hysteresis may still hold the finding up."""


class Applied(StrEnum):
    opened = "opened"
    joined = "joined"
    reopened = "reopened"
    refreshed = "refreshed"
    over = "over"
    repeated = "repeated"
    unknown = "unknown"  # the end of a finding whose beginning never came


async def apply(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    """Apply one message; the caller commits, and only then the message's offset."""
    await repository.lock_grouping(session)
    known = await members.one(session, finding.finding_id)
    if known is not None and (finding.at <= known.last_at or known.cleared_at is not None):
        return Applied.repeated
    if finding.state == "cleared":
        return await _end(session, finding, known)
    if known is None:
        return await _begin(session, finding, reopen_within)
    return await _go_on(session, finding, known, reopen_within)


async def _begin(session: WriteSession, finding: Finding, reopen_within: timedelta) -> Applied:
    row = new_member(finding)
    as_member = candidates.member_of(row)
    found = await candidates.candidates(session, as_member, reopen_within)
    decision = decide(as_member, found, grouping(), reopen_within)
    run = None if decision.inhibited else await inhibiting.brought_about_by(session, finding)
    if run is not None:
        decision = inhibiting.quietly(as_member, found, reopen_within)
        row.inhibited, row.inhibited_by, row.inhibited_at = True, run.remedy_id, clock.now()
    if decision.join is None:
        return await _open(session, finding, row, run)
    target, sources = await _locked(session, decision)
    if target is None or (run is not None and target.state == "resolved"):
        return await _open(session, finding, row, run)
    if target.state == "resolved" and not decision.reopen:  # a person resolved it since it was looked up
        decision = Decision(join=target.id, reopen=True, why="it went on after the incident had been resolved")
    at = clock.now()
    known_symptom = finding.symptom in target.symptoms and any(c.id == target.id for c in found)
    if sources:
        await merging.absorb(session, target, sources, at, events.SYSTEM, decision.why)
    row.incident_id = row.origin_id = target.id
    row.inhibited = decision.inhibited
    await members.add(session, row)
    await members.end_older(session, row)
    was_over = not target.active
    await members.settle(session, target)
    if decision.reopen:
        await reopen(session, row, target, "The symptom came back.")
        return Applied.reopened
    where = f"{finding.symptom} on {finding.host} {finding.pci}".strip()
    again = known_symptom and was_over and not sources
    text = f"{where} came back. {finding.summary}" if again else sentence(f"{where}: {finding.summary} It belongs here: {decision.why}")
    events.note(session, target, finding.started_at, "symptom", text, finding_id=str(finding.finding_id))
    if run is not None:
        inhibiting.tell(session, target, row, run, at)
    await enforcement.apply_to_one(session, target, at)
    await merging.publish_merged(session, sources, at)
    await events.publish(session, target, None if decision.inhibited and not sources else EventType.updated, at)
    return Applied.joined


async def _locked(session: WriteSession, decision: Decision) -> tuple[IncidentRow | None, list[IncidentRow]]:
    """Lock what a decision concerns; incidents that a person has closed or merged since are left out."""
    assert decision.join is not None  # noqa: S101 - the caller has looked
    rows = {row.id: row for row in await repository.some_locked(session, [decision.join, *decision.merge])}
    target = rows.pop(decision.join, None)
    if target is not None and target.merged_into is not None:
        target = await repository.one_locked(session, target.merged_into)
    return target, [row for row in rows.values() if row.state != "resolved" and row.merged_into is None]


async def _open(session: WriteSession, finding: Finding, row: IncidentFindingRow, run: Run | None) -> Applied:
    at = clock.now()
    incident = new_incident(row, at)
    row.incident_id = row.origin_id = incident.id
    members.say(incident, [row])
    await repository.add(session, incident)
    await enforcement.apply_to_new(session, incident, row, at)
    await members.add(session, row)
    await members.end_older(session, row)
    events.note(session, incident, finding.started_at, "opened", finding.summary, finding_id=str(finding.finding_id))
    if run is not None:
        inhibiting.tell(session, incident, row, run, at)
    await events.publish_new(session, incident, row, at)
    return Applied.opened


async def _go_on(session: WriteSession, finding: Finding, known: IncidentFindingRow, reopen_within: timedelta) -> Applied:
    """An active finding is repeated while it lasts; most of the time only its evidence is fresher, which is news for nobody."""
    before = (known.severity, known.cause)
    take_over(known, finding)
    incident = await repository.one_locked(session, known.incident_id)
    if incident is None:
        return Applied.unknown
    if incident.state == "resolved":
        if incident.resolved_at is not None and finding.at <= incident.resolved_at + RESOLVED_BY_HAND_GRACE:
            return Applied.repeated
        await session.flush()
        await members.settle(session, incident)
        await reopen(session, known, incident, "The symptom was present after the incident had been resolved.")
        return Applied.reopened
    if before == (known.severity, known.cause):
        if incident.finding_id == known.finding_id:
            incident.title, incident.summary = known.title, known.summary
        return Applied.refreshed
    await session.flush()
    changed = []
    if known.severity != before[0]:
        changed.append(f"Severity changed from {before[0]} to {known.severity}.")
    if known.cause != before[1]:
        changed.append(f"The most likely cause is now {known.cause}, before {before[1] or 'none'}.")
        if not (known.inhibited and known.inhibited_by):  # what a remedy has brought about merges nothing
            incident = await regroup(session, known, incident, reopen_within)
    at = clock.now()
    await members.settle(session, incident)
    events.note(session, incident, finding.at, "updated", " ".join(changed), finding_id=str(finding.finding_id))
    await enforcement.apply_to_one(session, incident, at)
    await events.publish(session, incident, None if known.inhibited else EventType.updated, at)
    return Applied.refreshed


async def regroup(session: WriteSession, known: IncidentFindingRow, incident: IncidentRow, reopen_within: timedelta) -> IncidentRow:
    """A finding whose cause is seen now, or that counts only now, may belong together with others."""
    as_member = candidates.member_of(known)
    found = await candidates.candidates(session, as_member, reopen_within)
    decision = decide(as_member, found, grouping(), reopen_within)
    if decision.join is None or decision.reopen or not decision.merge:
        return incident
    target, sources = await _locked(session, decision)
    if target is None or target.state == "resolved":
        return incident
    at = clock.now()
    await merging.absorb(session, target, sources, at, events.SYSTEM, decision.why)
    await merging.publish_merged(session, sources, at)
    return target


async def reopen(session: WriteSession, finding: IncidentFindingRow, incident: IncidentRow, why: str) -> None:
    """Reopen a locked incident for a finding of its own, and tell of it."""
    at = clock.now()
    incident.state, incident.reopened = "reopened", incident.reopened + 1
    incident.resolved_at = incident.resolved_by = incident.acknowledged_at = incident.acknowledged_by = None
    events.note(session, incident, finding.last_at, "reopened", f"{why} {finding.summary}", finding_id=str(finding.finding_id))
    await enforcement.apply_to_one(session, incident, at)
    await events.publish(session, incident, EventType.opened, at)


async def _end(session: WriteSession, finding: Finding, known: IncidentFindingRow | None) -> Applied:
    """The incident stays unresolved for the hold time, so that someone who looks later sees that it was there and is over."""
    if known is None:
        return Applied.unknown
    known.last_at = known.cleared_at = finding.at
    known.evidence = known.evidence or dump(finding.evidence)
    # The last message of the time in which it was there says that it is fading, which is true no more.
    known.summary, known.explanation = finding.summary or known.summary, finding.explanation or known.explanation
    await session.flush()
    incident = await repository.one_locked(session, known.incident_id)
    if incident is None:
        return Applied.unknown
    at = clock.now()
    await members.settle(session, incident)
    where = f"{finding.symptom} on {finding.host} {finding.pci}".strip()
    if incident.active:
        events.note(session, incident, finding.at, "symptom", f"{where} is over; others go on.", finding_id=str(finding.finding_id))
    else:
        events.note(session, incident, finding.at, "cleared", "Telemetry shows the symptom no more.", finding_id=str(finding.finding_id))
    await enforcement.apply_to_one(session, incident, at)
    told = not incident.active and incident.state != "resolved"
    await events.publish(session, incident, EventType.updated if told else None, at)
    return Applied.refreshed if incident.active else Applied.over
