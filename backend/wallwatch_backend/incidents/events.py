"""Everything that follows from a change of incidents, in its transaction: timeline, change feed, webhooks, streams."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm.attributes import set_committed_value

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.subject_traces import Step, request_now
from wallwatch_backend.notify.routing import incident_events
from wallwatch_backend.notify.schemas import EventType

SYSTEM = "wallwatch"


def note(session: WriteSession, incident: IncidentRow, at: datetime, kind: str, text: str, actor: str = SYSTEM, **data: Any) -> None:
    """Add an entry to the timeline."""
    repository.add_timeline(session, incident_id=incident.id, at=at, kind=kind, actor=actor, text=text, data=data)


async def publish(session: WriteSession, incident: IncidentRow, event: EventType | None, at: datetime) -> None:
    """Give the incident its next version and place in the change feed; notify streams, and webhooks if `event` is given.

    Call it once for each incident that the transaction changed, after all of them have been locked.
    """
    await _next_version(session, incident, at)
    # Building the full incident is most of the work, so only if a webhook may want it.
    full = await present.full(session, incident) if event is not None and await incident_events.any_webhook(session) else None
    await _announce(session, incident, event, full, at)


async def publish_full(session: WriteSession, incident: IncidentRow, event: EventType | None, at: datetime) -> Incident:
    """`publish`, and return the full incident as it is afterwards."""
    await _next_version(session, incident, at)
    full = await present.full(session, incident)
    await _announce(session, incident, event if event is not None and await incident_events.any_webhook(session) else None, full, at)
    return full


async def publish_new(session: WriteSession, incident: IncidentRow, finding: IncidentFindingRow, at: datetime) -> None:
    """`publish` an incident that this transaction opened for one finding: little has to be read again."""
    await _next_version(session, incident, at)
    full = None
    if await incident_events.any_webhook(session):
        timeline = list(await repository.timelines(session, [incident.id]))
        full = present.incident_of(incident, present.Details(finding, [finding], timeline=timeline))
    await _announce(session, incident, EventType.opened, full, at)


async def _next_version(session: WriteSession, incident: IncidentRow, at: datetime) -> None:
    incident.version, incident.updated_at = incident.version + 1, at
    await session.flush()


async def _announce(session: WriteSession, incident: IncidentRow, event: EventType | None, full: Incident | None, at: datetime) -> None:
    """Draw the number of the change feed last: other transactions that change incidents wait for it until the commit."""
    set_committed_value(incident, "seq", await repository.next_seq(session, incident.id))
    if full is not None:
        full.seq = incident.seq
        if event is not None:
            await incident_events.add(session, event, full.model_dump(mode="json", by_alias=True), at)
    if event is not None and session.is_traced:
        attributes = {"wallwatch.state": str(incident.state), "wallwatch.merged_into": str(incident.merged_into or "") or None}
        session.trace(incident.id, Step(str(event), at, clock.now(), f"{event} {incident.version}", attributes, links=request_now()))
    await changes.announce(session, "incident", incident.id, incident.state)


async def publish_many(session: WriteSession, incident_ids: Sequence[UUID], event: EventType | None, at: datetime, **values: Any) -> int:
    """Change many locked incidents with the consequences of `publish`; webhooks get the event soon after (`notice_worker`)."""
    if not incident_ids:
        return 0
    count = await repository.update_many(session, incident_ids, at, **values)
    if event is not None:
        await repository.add_notices(session, incident_ids, str(event), at)
        if session.is_traced:
            for incident_id in incident_ids:
                session.trace(incident_id, Step(str(event), at, clock.now(), f"{event} {at.isoformat()}", links=request_now()))
    await changes.announce_many(session, "incident", len(incident_ids))
    return count
