"""Everything that follows from a change of an incident, in its transaction: timeline, webhooks, streams."""

from datetime import datetime

from wallwatch_backend.incidents import present, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit import changes
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.webhooks import outbox
from wallwatch_backend.webhooks.schemas import EventType

SYSTEM = "wallwatch"


def note(session: WriteSession, incident: IncidentRow, at: datetime, kind: str, text: str, actor: str = SYSTEM) -> None:
    """Add an entry to the timeline."""
    repository.add_timeline(session, incident_id=incident.id, at=at, kind=kind, actor=actor, text=text, data={})


async def publish(session: WriteSession, incident: IncidentRow, event: EventType | None, at: datetime) -> Incident:
    """Tell streams, and webhooks when `event` is given; return the incident as it is shown."""
    await session.flush()
    shown = await present.full(session, incident)
    if event is not None:
        await outbox.add(session, event, shown.model_dump(mode="json", by_alias=True), at)
    await changes.announce(session, "incident", incident.id, incident.state)
    return shown
