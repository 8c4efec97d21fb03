"""Merging and splitting by hand."""

from uuid import UUID

from wallwatch_backend.incidents import events, finding_repository, repository
from wallwatch_backend.incidents.errors import AlreadyResolved, CannotMerge, CannotSplit
from wallwatch_backend.incidents.grouping import merging, splitting
from wallwatch_backend.incidents.grouping.schemas import Merge, Split
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.incidents.service import record_action, require_for_change
from wallwatch_backend.incidents.silences import enforcement
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.notify.schemas import EventType


async def merge(session: WriteSession, caller: Caller, incident_id: UUID, body: Merge, if_match: str | None) -> Incident:
    await repository.lock_grouping(session)
    source_ids = set(body.incident_ids)
    if incident_id in source_ids:
        raise CannotMerge("An incident cannot be merged into itself.")
    rows = {row.id: row for row in await repository.get_many_locked(session, [incident_id, *source_ids])}
    target = await require_for_change(session, incident_id, if_match)
    if target.state == IncidentState.resolved:
        raise AlreadyResolved("Reopen it first: merging into a resolved incident would resolve the others too.")
    missing = source_ids - set(rows)
    if missing:
        raise CannotMerge(f"There is no incident {', '.join(str(id) for id in sorted(missing, key=str)[:5])}.")
    already_merged = [row for id, row in rows.items() if id in source_ids and row.merged_into is not None]
    if already_merged:
        raise CannotMerge(f"Incident {already_merged[0].id} is already merged into {already_merged[0].merged_into}.")
    sources = [rows[id] for id in sorted(source_ids, key=str)]
    at = clock.now()
    await merging.merge_into(session, target, sources, at, caller.actor, "merged by hand")
    await finding_repository.refresh_incident(session, target)
    await enforcement.apply_to_incident(session, target, at)
    record_action(session, caller, "merge", target, incident_ids=[str(source.id) for source in sources])
    await merging.publish_merged(session, sources, at)
    return await events.publish_full(session, target, EventType.updated, at)


async def split(session: WriteSession, caller: Caller, incident_id: UUID, body: Split, if_match: str | None) -> Incident:
    await repository.lock_grouping(session)
    source = await require_for_change(session, incident_id, if_match)
    leaving = set(body.finding_ids)
    present = {row.finding_id for row in await finding_repository.without_evidence(session, source.id, list(leaving))}
    if present != leaving:
        raise CannotSplit(f"Finding {min(leaving - present, key=str)} does not belong to this incident.")
    if await finding_repository.count(session, source.id) == len(leaving):
        raise CannotSplit("At least one finding must stay.")
    at = clock.now()
    split_incident = await splitting.split_off(session, source, sorted(leaving, key=str), at, caller.actor)
    finding_ids = [str(id) for id in sorted(leaving, key=str)]
    record_action(session, caller, "split", source, finding_ids=finding_ids, new_incident_id=str(split_incident.id))
    return await splitting.publish_split(session, split_incident, source, at)
