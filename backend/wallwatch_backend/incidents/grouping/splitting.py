"""Splits findings off an incident into one that grouping leaves alone."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from wallwatch_backend.incidents import events, finding_repository, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.rules import new_incident, unsuppressed_state
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.incidents.silences import enforcement
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.notify.schemas import EventType


async def split_off(session: WriteSession, source: IncidentRow, finding_ids: Sequence[UUID], at: datetime, actor: str) -> IncidentRow:
    """Move findings of `source` into an incident of their own and return it.

    They get back the incident that they came with if all its findings leave, otherwise a new one. `source` is locked, and keeps at least
    one finding; the caller publishes both.
    """
    rows = await finding_repository.without_evidence(session, source.id, finding_ids)
    incident = await _original(session, source, {row.origin_id for row in rows}, {row.finding_id for row in rows})
    if incident is not None:
        incident.merged_into, incident.resolved_at, incident.resolved_by = None, None, None
        incident.reopened += 1
        incident.state = unsuppressed_state(incident)
    else:
        incident = new_incident(rows[0], at)
        await repository.add(session, incident)
    incident.apart, incident.active = True, True  # the refresh clears `active` if no finding is active
    await finding_repository.move(session, finding_ids, incident.id, origin_id=incident.id)
    await finding_repository.refresh_incident(session, incident)
    await finding_repository.refresh_incident(session, source)
    events.note(session, incident, at, "split", f"Split from {source.subject}.", actor, incident_id=str(source.id))
    text = f"{len(finding_ids)} findings split off to {incident.subject}."
    events.note(session, source, at, "split", text, actor, incident_id=str(incident.id))
    for row in (incident, source):
        await enforcement.apply_to_incident(session, row, at)
    return incident


async def _original(session: WriteSession, source: IncidentRow, origins: set[UUID], leaving: set[UUID]) -> IncidentRow | None:
    """The locked incident that the leaving findings came with, if they are all of its findings."""
    if len(origins) != 1 or origins == {source.id}:
        return None
    origin = next(iter(origins))
    if await finding_repository.ids_by_origin(session, source.id, origin) != leaving:
        return None
    row = await repository.get_locked(session, origin)
    return row if row is not None and row.merged_into == source.id else None


async def publish_split(session: WriteSession, split: IncidentRow, source: IncidentRow, at: datetime) -> Incident:
    """Publish both sides of a split; return the one with the findings that left."""
    await events.publish(session, source, EventType.updated, at)
    return await events.publish_full(session, split, EventType.opened, at)
