"""Merging incidents and giving them back: the same operation whether grouping or a person asks for it."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from wallwatch_backend.incidents import events, members, repository
from wallwatch_backend.incidents.finding import new_incident
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.text import sentence
from wallwatch_backend.silences import enforcement
from wallwatch_backend.webhooks.schemas import EventType


async def absorb(session: WriteSession, target: IncidentRow, sources: Sequence[IncidentRow], at: datetime, actor: str, why: str) -> None:
    """Move the findings of `sources` into `target` and close them. All rows are locked; the caller settles and publishes the target.

    What someone has taken or linked is not lost: the target inherits an assignee and an acknowledgement that it lacks, and all tickets.
    """
    ids = [source.id for source in sources]
    await members.move_all(session, ids, target.id)
    await repository.repoint_merged(session, ids, target.id)
    target.active = target.active or any(source.active for source in sources)
    for source in sources:
        target.assignee = target.assignee or source.assignee
        if target.state == "open" and source.acknowledged_by is not None:
            target.state, target.acknowledged_by, target.acknowledged_at = "acknowledged", source.acknowledged_by, source.acknowledged_at
        known = {(ref["system"], ref["key"]) for ref in target.external_refs}
        target.external_refs = target.external_refs + [r for r in source.external_refs if (r["system"], r["key"]) not in known]
        events.note(session, target, at, "merged", sentence(f"Merged with {source.subject}: {why}"), actor, incident_id=str(source.id))
        events.note(session, source, at, "merged", sentence(f"Merged into {target.subject}: {why}"), actor, incident_id=str(target.id))
        source.state, source.merged_into, source.active = "resolved", target.id, False
        source.resolved_at, source.resolved_by = source.resolved_at or at, source.resolved_by or actor
        source.suppressed_by = source.suppressed_at = None


async def publish_merged(session: WriteSession, sources: Sequence[IncidentRow], at: datetime) -> None:
    """Tell of incidents that were closed by a merge."""
    for source in sources:
        await events.publish(session, source, EventType.resolved, at)


async def split_off(session: WriteSession, source: IncidentRow, finding_ids: Sequence[UUID], at: datetime, actor: str) -> IncidentRow:
    """Give findings of `source` an incident of their own: the one that they came with, if it gets all of its own back, else a new one.

    `source` is locked, and keeps at least one finding; the caller publishes both.
    """
    rows = await members.of_incident(session, source.id, finding_ids)
    origins = {row.origin_id for row in rows}
    former = await _former(session, source, origins, {row.finding_id for row in rows})
    if former is not None:
        own = former
        own.merged_into, own.resolved_at, own.resolved_by = None, None, None
        own.state, own.reopened = "acknowledged" if own.acknowledged_by is not None else "reopened", own.reopened + 1
    else:
        own = new_incident(rows[0], at)
        await repository.add(session, own)
    own.apart, own.active = True, True  # settling says whether it is over
    await members.move(session, finding_ids, own.id, origin_id=own.id)
    await members.settle(session, own)
    await members.settle(session, source)
    events.note(session, own, at, "split", f"Split from {source.subject}.", actor, incident_id=str(source.id))
    events.note(session, source, at, "split", f"{len(finding_ids)} findings split off to {own.subject}.", actor, incident_id=str(own.id))
    for row in (own, source):
        await enforcement.apply_to_one(session, row, at)
    return own


async def _former(session: WriteSession, source: IncidentRow, origins: set[UUID], leaving: set[UUID]) -> IncidentRow | None:
    if len(origins) != 1 or origins == {source.id}:
        return None
    origin = next(iter(origins))
    if await members.ids_from(session, source.id, origin) != leaving:
        return None
    row = await repository.one_locked(session, origin)
    return row if row is not None and row.merged_into == source.id else None


async def publish_split(session: WriteSession, own: IncidentRow, source: IncidentRow, at: datetime) -> Incident:
    """Tell of both sides of a split; return the side that left."""
    await events.publish(session, source, EventType.updated, at)
    return await events.publish_shown(session, own, EventType.opened, at)
