"""Raises findings that have outlasted the remedy that inhibits them, and whatever it stirred up. One replica does it, every second."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog

from wallwatch_backend.audit import service as audit
from wallwatch_backend.incidents import events, inhibition_repository, members, repository
from wallwatch_backend.incidents.findings import regroup, reopen
from wallwatch_backend.incidents.inhibition import is_due, settled_at
from wallwatch_backend.incidents.models import IncidentFindingRow
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database, ReadSession, WriteSession
from wallwatch_backend.silences import enforcement
from wallwatch_backend.webhooks.schemas import EventType

log = structlog.get_logger(__name__)


async def raise_due(database: Database, reopen_within: timedelta) -> int:
    """Raise what is due; return how many findings were."""
    async with database.read() as session:
        due = await _due(session)
    for finding_id in due:
        async with database.write() as writing:
            await _raise(writing, finding_id, reopen_within)
    return len(due)


async def _due(session: ReadSession) -> list[UUID]:
    found = []
    for row in await inhibition_repository.inhibited(session):
        runs = await inhibition_repository.runs(session, row.host, row.pci, row.symptom, row.started_at)
        if is_due(clock.now(), row.last_at, row.inhibited_at, settled_at(row.inhibited_by, row.inhibited_at, runs)):
            found.append(row.finding_id)
    return found


async def _raise(session: WriteSession, finding_id: UUID, reopen_within: timedelta) -> None:
    """The finding counts from now on, as of its beginning: whoever was not told of its incident hears that it is opened."""
    await repository.lock_grouping(session)
    known = await members.one(session, finding_id)
    if known is None or known.cleared_at is not None or not known.inhibited:
        return  # it has ended, or somebody has reopened its incident, since it was looked up
    known.inhibited = False
    await session.flush()
    incident = await repository.one_locked(session, known.incident_id)
    if incident is None:
        return
    _audit(session, known)
    log.info("finding_raised", finding_id=str(finding_id), host=known.host, pci=known.pci, symptom=known.symptom)
    text = f"{known.symptom} has outlasted the remedy that inhibited it, and the time in which that settles: it counts from now on."
    at = clock.now()
    ids = {"finding_id": str(finding_id), "remedy_id": str(known.inhibited_by)}
    events.note(session, incident, at, "uninhibited", text, **ids)
    if incident.state == "resolved":
        await members.settle(session, incident)
        await reopen(session, known, incident, "The symptom lasted.")
        return
    alone = incident.id if incident.inhibited_by is not None else None
    incident = await regroup(session, known, incident, reopen_within)
    await members.settle(session, incident)
    await enforcement.apply_to_one(session, incident, at)
    await events.publish(session, incident, EventType.opened if incident.id == alone else EventType.updated, at)


def _audit(session: WriteSession, known: IncidentFindingRow) -> None:
    ids: dict[str, Any] = {"incident_id": str(known.incident_id), "finding_id": str(known.finding_id), "remedy_id": str(known.inhibited_by)}
    audit.record(session, "system", "incident.raise", f"{known.host} {known.pci}".strip(), symptom=known.symptom, **ids)
