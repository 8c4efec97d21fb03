"""Everything that follows from a change of incidents, in its transaction: timeline, change feed, webhooks, streams."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy.orm.attributes import set_committed_value

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.webhooks import outbox
from wallwatch_backend.webhooks.schemas import EventType

SYSTEM = "wallwatch"


def note(session: WriteSession, incident: IncidentRow, at: datetime, kind: str, text: str, actor: str = SYSTEM, **data: Any) -> None:
    """Add an entry to the timeline."""
    repository.add_timeline(session, incident_id=incident.id, at=at, kind=kind, actor=actor, text=text, data=data)


async def publish(session: WriteSession, incident: IncidentRow, event: EventType | None, at: datetime) -> None:
    """Give the incident its next version and its place in the change feed; tell streams, and webhooks when `event` is given.

    Call it once for each incident that the transaction changed, after all of them have been locked.
    """
    await _next_version(session, incident, at)
    wanted = event is not None and await outbox.anyone_listens(session)  # most of the work is to put the incident together
    await _tell(session, incident, event, await present.full(session, incident) if wanted else None, at)


async def publish_shown(session: WriteSession, incident: IncidentRow, event: EventType | None, at: datetime) -> Incident:
    """`publish`, for whoever wants to see the incident afterwards."""
    await _next_version(session, incident, at)
    shown = await present.full(session, incident)
    await _tell(session, incident, event if event is not None and await outbox.anyone_listens(session) else None, shown, at)
    return shown


async def publish_new(session: WriteSession, incident: IncidentRow, finding: IncidentFindingRow, at: datetime) -> None:
    """`publish` of an incident that was made in this transaction of one finding: little has to be read again."""
    await _next_version(session, incident, at)
    shown = None
    if await outbox.anyone_listens(session):
        timeline = list(await repository.timelines(session, [incident.id]))
        shown = present.assembled(incident, present.Parts(finding, [finding], timeline=timeline))
    await _tell(session, incident, EventType.opened, shown, at)


async def _next_version(session: WriteSession, incident: IncidentRow, at: datetime) -> None:
    incident.version, incident.updated_at = incident.version + 1, at
    await session.flush()


async def _tell(session: WriteSession, incident: IncidentRow, event: EventType | None, shown: Incident | None, at: datetime) -> None:
    """Draw the number of the change feed last: whoever changes another incident waits for it until the commit."""
    set_committed_value(incident, "seq", await repository.next_seq(session, incident.id))
    if shown is not None:
        shown.seq = incident.seq
        if event is not None:
            await outbox.add(session, event, shown.model_dump(mode="json", by_alias=True), at)
    await changes.announce(session, "incident", incident.id, incident.state)


async def publish_many(session: WriteSession, incident_ids: Sequence[UUID], event: EventType | None, at: datetime, **values: Any) -> int:
    """Change many incidents that are locked, and let the same follow as for one; webhooks get it soon after (notices.py)."""
    if not incident_ids:
        return 0
    count = await repository.update_many(session, incident_ids, at, **values)
    if event is not None:
        await repository.add_notices(session, incident_ids, str(event), at)
    await changes.announce_many(session, "incident", len(incident_ids))
    return count
