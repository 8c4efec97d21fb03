"""One action on many incidents, in a few statements whatever their number."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import case, func, null

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.incidents import events, finding_repository, repository
from wallwatch_backend.incidents.listing import assignees
from wallwatch_backend.incidents.listing import repository as listing
from wallwatch_backend.incidents.listing.filters import IncidentFilter
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.silences import repository as silences
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.incidents.triage.schemas import MAX_BULK, Bulk, BulkResult, Skipped
from wallwatch_backend.incidents.triage.service import assigned_text
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.access import Caller
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.notify.schemas import EventType


async def run(session: WriteSession, caller: Caller, body: Bulk) -> BulkResult:
    """Apply the action to each incident that it can be applied to; skip the others with the reason."""
    if body.assignee is not None:
        await assignees.require(session, body.assignee)
    await repository.lock_grouping(session)  # merges and silences lock many incidents too, and would deadlock
    selected = (
        list(dict.fromkeys(body.ids))
        if body.ids is not None
        else list(await listing.ids(session, body.filter or IncidentFilter(), MAX_BULK))
    )
    rows = {row.id: row for row in await repository.lock_states(session, selected)}
    skipped = [Skipped(id=id, why="There is no such incident.") for id in selected if id not in rows]
    refuse, ids = _REFUSALS[body.action], []
    for id in selected:
        row = rows.get(id)
        if row is None:
            continue
        why = f"It was merged into {row.merged_into}." if row.merged_into is not None else refuse(row, body)
        if why is None:
            ids.append(id)
        else:
            skipped.append(Skipped(id=id, why=why))
    if ids:
        at = clock.now()
        await _change(session, caller, body, ids, at)
        selection = body.model_dump(mode="json", exclude={"ids"}, exclude_none=True)
        audit.record(
            session, caller.actor, f"incident.bulk.{body.action}", f"{len(ids)} incidents", address=caller.address, selection=selection
        )
    return BulkResult(changed=len(ids), skipped=skipped)


async def _change(session: WriteSession, caller: Caller, body: Bulk, ids: list[UUID], at: datetime) -> None:
    kind, text, event = {
        "acknowledge": ("acknowledged", "Acknowledged.", EventType.updated),
        "unacknowledge": ("unacknowledged", "Unacknowledged.", EventType.updated),
        "resolve": ("resolved", "Resolved by hand.", EventType.resolved),
        "reopen": ("reopened", "Reopened by hand.", EventType.opened),
        "assign": ("assigned", assigned_text(body.assignee), EventType.updated),
        "comment": ("comment", body.text or "", None),
    }[body.action]
    await repository.add_timeline_many(session, ids, at, kind, caller.actor, text)
    if body.action == "reopen":
        # The leader applies silences within a second: locking rows after drawing numbers of the change feed is not allowed here.
        await silences.request_reapplication(session, at)
        await finding_repository.end_inhibition(session, ids)
    await events.publish_many(session, ids, event, at, **_values(caller, body, at))


def _values(caller: Caller, body: Bulk, at: datetime) -> dict[str, Any]:
    i = IncidentRow
    if body.action == "acknowledge":
        state = case((i.state == IncidentState.suppressed, IncidentState.suppressed), else_=IncidentState.acknowledged)
        # As for one incident: never to a token.
        assignee = func.coalesce(i.assignee, caller.actor if caller.kind == "user" else null())
        return {"state": state, "acknowledged_at": at, "acknowledged_by": caller.actor, "assignee": assignee}
    if body.action == "unacknowledge":
        state = case(
            (i.state == IncidentState.suppressed, IncidentState.suppressed),
            (i.reopened > 0, IncidentState.reopened),
            else_=IncidentState.open,
        )
        released = case((i.assignee == i.acknowledged_by, null()), else_=i.assignee)
        return {"state": state, "acknowledged_at": null(), "acknowledged_by": null(), "assignee": released}
    if body.action == "resolve":
        return {
            "state": IncidentState.resolved,
            "resolved_at": at,
            "resolved_by": caller.actor,
            "suppressed_by": null(),
            "suppressed_at": null(),
        }
    if body.action == "reopen":
        cleared = dict.fromkeys(("resolved_at", "resolved_by", "acknowledged_at", "acknowledged_by", "cleared_at", "inhibited_by"), null())
        return {"state": IncidentState.reopened, "reopened": i.reopened + 1, **cleared}
    return {"assignee": body.assignee} if body.action == "assign" else {}


def _not_acknowledged(row: Any, body: Bulk) -> str | None:
    if row.state == IncidentState.resolved:
        return "It is resolved."
    return f"{row.acknowledged_by} has acknowledged it." if row.acknowledged_by is not None else None


_REFUSALS: dict[str, Callable[[Any, Bulk], str | None]] = {
    "acknowledge": _not_acknowledged,
    "unacknowledge": lambda row, body: (
        "It is resolved." if row.state == IncidentState.resolved else "Nobody has acknowledged it." if row.acknowledged_by is None else None
    ),
    "resolve": lambda row, body: "It is resolved." if row.state == IncidentState.resolved else None,
    "reopen": lambda row, body: "It is not resolved." if row.state != IncidentState.resolved else None,
    "assign": lambda row, body: "Already assigned." if row.assignee == body.assignee else None,
    "comment": lambda row, body: None,
}
