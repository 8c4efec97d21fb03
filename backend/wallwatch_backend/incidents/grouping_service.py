"""Merging and splitting by hand."""

from uuid import UUID

from wallwatch_backend.incidents import events, members, merging, repository, service
from wallwatch_backend.incidents.errors import AlreadyResolved, CannotMerge, CannotSplit
from wallwatch_backend.incidents.requests import Merge, Split
from wallwatch_backend.incidents.schemas import Incident
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.silences import enforcement
from wallwatch_backend.webhooks.schemas import EventType


async def merge(session: WriteSession, caller: Caller, incident_id: UUID, body: Merge, if_match: str | None) -> Incident:
    await repository.lock_grouping(session)
    wanted = set(body.incident_ids)
    if incident_id in wanted:
        raise CannotMerge("An incident cannot be merged into itself.")
    rows = {row.id: row for row in await repository.some_locked(session, [incident_id, *wanted])}
    target = await service.to_change(session, incident_id, if_match)
    if target.state == "resolved":
        raise AlreadyResolved("Reopen it first: what is merged into a resolved incident would be closed with it.")
    missing = wanted - set(rows)
    if missing:
        raise CannotMerge(f"There is no incident {', '.join(str(id) for id in sorted(missing, key=str)[:5])}.")
    away = [row for id, row in rows.items() if id in wanted and row.merged_into is not None]
    if away:
        raise CannotMerge(f"Incident {away[0].id} is already merged into {away[0].merged_into}.")
    sources = [rows[id] for id in sorted(wanted, key=str)]
    at = clock.now()
    await merging.absorb(session, target, sources, at, caller.actor, "merged by hand")
    await members.settle(session, target)
    await enforcement.apply_to_one(session, target, at)
    service.record(session, caller, "merge", target, incident_ids=[str(source.id) for source in sources])
    await merging.publish_merged(session, sources, at)
    return await events.publish_shown(session, target, EventType.updated, at)


async def split(session: WriteSession, caller: Caller, incident_id: UUID, body: Split, if_match: str | None) -> Incident:
    await repository.lock_grouping(session)
    source = await service.to_change(session, incident_id, if_match)
    wanted = set(body.finding_ids)
    found = {row.finding_id for row in await members.of_incident(session, source.id, list(wanted))}
    if found != wanted:
        raise CannotSplit(f"Finding {min(wanted - found, key=str)} does not belong to this incident.")
    if await members.count(session, source.id) == len(wanted):
        raise CannotSplit("At least one finding must stay.")
    at = clock.now()
    own = await merging.split_off(session, source, sorted(wanted, key=str), at, caller.actor)
    finding_ids = [str(id) for id in sorted(wanted, key=str)]
    service.record(session, caller, "split", source, finding_ids=finding_ids, new_incident_id=str(own.id))
    return await merging.publish_split(session, own, source, at)
