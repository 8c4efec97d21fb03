"""Merges incidents: the same operation whether grouping or a person requests it."""

from collections.abc import Sequence
from datetime import datetime

from wallwatch_backend.incidents import events, finding_repository, repository
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.notify.schemas import EventType


async def merge_into(
    session: WriteSession, target: IncidentRow, sources: Sequence[IncidentRow], at: datetime, actor: str, why: str
) -> None:
    """Move the findings of `sources` into `target` and resolve the sources.

    All rows are locked; the caller refreshes and publishes the target, and publishes the sources (`publish_merged`). Nothing that people
    added is lost: the target inherits an assignee and an acknowledgement that it lacks, and all tickets.
    """
    ids = [source.id for source in sources]
    await finding_repository.move_all(session, ids, target.id)
    await repository.repoint_merged(session, ids, target.id)
    target.active = target.active or any(source.active for source in sources)
    for source in sources:
        target.assignee = target.assignee or source.assignee
        if target.state == IncidentState.open and source.acknowledged_by is not None:
            target.state = IncidentState.acknowledged
            target.acknowledged_by, target.acknowledged_at = source.acknowledged_by, source.acknowledged_at
        linked = {(ref["system"], ref["key"]) for ref in target.external_refs}
        target.external_refs = target.external_refs + [r for r in source.external_refs if (r["system"], r["key"]) not in linked]
        events.note(session, target, at, "merged", sentence(f"Merged with {source.subject}: {why}"), actor, incident_id=str(source.id))
        events.note(session, source, at, "merged", sentence(f"Merged into {target.subject}: {why}"), actor, incident_id=str(target.id))
        source.state, source.merged_into, source.active = IncidentState.resolved, target.id, False
        source.resolved_at, source.resolved_by = source.resolved_at or at, source.resolved_by or actor
        source.suppressed_by = source.suppressed_at = None


async def publish_merged(session: WriteSession, sources: Sequence[IncidentRow], at: datetime) -> None:
    """Publish incidents that a merge resolved."""
    for source in sources:
        await events.publish(session, source, EventType.resolved, at)
