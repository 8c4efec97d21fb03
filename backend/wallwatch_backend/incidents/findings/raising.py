"""Raises inhibited findings that outlast the remedy that caused them. One replica does it, every second."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.incidents import events, finding_repository, repository
from wallwatch_backend.incidents.findings.service import regroup, reopen
from wallwatch_backend.incidents.inhibition import repository as inhibition_repository
from wallwatch_backend.incidents.inhibition.rules import is_due, settled_at
from wallwatch_backend.incidents.models import IncidentFindingRow
from wallwatch_backend.incidents.silences import enforcement
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.notify.schemas import EventType

log = structlog.get_logger(__name__)


async def raise_due(database: Database, reopen_within: timedelta) -> int:
    """Raise the findings that are due; return how many."""
    async with database.read() as session:
        due = await _due(session)
    for finding_id in due:
        async with database.write() as writing:
            await _raise(writing, finding_id, reopen_within)
    return len(due)


async def _due(session: ReadSession) -> list[UUID]:
    due = []
    for row in await inhibition_repository.active_inhibited(session):
        runs = await inhibition_repository.runs_that_may_cause(session, row.host, row.pci, row.symptom, row.started_at)
        if is_due(clock.now(), row.last_at, row.inhibited_at, settled_at(row.inhibited_by, row.inhibited_at, runs)):
            due.append(row.finding_id)
    return due


async def _raise(session: WriteSession, finding_id: UUID, reopen_within: timedelta) -> None:
    """Let the finding count, as of its start: receivers that were not notified of its incident get it as opened."""
    await repository.lock_grouping(session)
    row = await finding_repository.get(session, finding_id)
    if row is None or row.cleared_at is not None or not row.inhibited:
        return  # it cleared, or someone reopened its incident, since it was read
    row.inhibited = False
    await session.flush()
    incident = await repository.get_locked(session, row.incident_id)
    if incident is None:
        return
    _audit(session, row)
    log.info("finding_raised", finding_id=str(finding_id), host=row.host, pci=row.pci, symptom=row.symptom)
    text = f"{row.symptom} outlasted the remedy that inhibited it and the time in which that settles: it counts from now on."
    at = clock.now()
    ids = {"finding_id": str(finding_id), "remedy_id": str(row.inhibited_by)}
    events.note(session, incident, at, "uninhibited", text, **ids)
    if incident.state == IncidentState.resolved:
        await finding_repository.refresh_incident(session, incident)
        await reopen(session, row, incident, "The symptom persisted.")
        return
    inhibited_incident_id = incident.id if incident.inhibited_by is not None else None
    incident = await regroup(session, row, incident, reopen_within)
    await finding_repository.refresh_incident(session, incident)
    await enforcement.apply_to_incident(session, incident, at)
    await events.publish(session, incident, EventType.opened if incident.id == inhibited_incident_id else EventType.updated, at)


def _audit(session: WriteSession, row: IncidentFindingRow) -> None:
    ids: dict[str, Any] = {"incident_id": str(row.incident_id), "finding_id": str(row.finding_id), "remedy_id": str(row.inhibited_by)}
    audit.record(session, "system", "incident.raise", f"{row.host} {row.pci}".strip(), symptom=row.symptom, **ids)
