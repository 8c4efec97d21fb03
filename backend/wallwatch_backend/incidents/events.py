"""Everything that follows from a change of incidents, in its transaction: timeline, change feed, webhooks, streams."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.webhooks import outbox
from wallwatch_backend.webhooks.schemas import EventType

SYSTEM = "wallwatch"


def note(session: WriteSession, incident: IncidentRow, at: datetime, kind: str, text: str, actor: str = SYSTEM, **data: Any) -> None:
    """Add an entry to the timeline."""
    repository.add_timeline(session, incident_id=incident.id, at=at, kind=kind, actor=actor, text=text, data=data)


async def publish(session: WriteSession, incident: IncidentRow, event: EventType | None, at: datetime) -> Incident:
    """Give the incident its next version and its place in the change feed; tell streams, and webhooks when `event` is given.

    Call it once for each incident that the transaction changed, after all of them have been locked. Returns the incident as it is shown.
    """
    await session.flush()
    incident.seq = await repository.next_seq(session)
    incident.version, incident.updated_at = incident.version + 1, at
    await session.flush()
    shown = await present.full(session, incident)
    if event is not None:
        await outbox.add(session, event, shown.model_dump(mode="json", by_alias=True), at)
    await changes.announce(session, "incident", incident.id, incident.state)
    return shown


async def publish_many(session: WriteSession, incident_ids: Sequence[UUID], event: EventType | None, at: datetime, **values: Any) -> int:
    """Change many incidents that are locked, and let the same follow as for one; webhooks get it soon after (notices.py)."""
    if not incident_ids:
        return 0
    count = await repository.update_many(session, incident_ids, at, **values)
    if event is not None:
        await repository.add_notices(session, incident_ids, str(event), at)
    await changes.announce_many(session, "incident", len(incident_ids))
    return count
