"""Answers what incidents ask about remedies (`wallwatch_backend.incidents.remedy_history`)."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, or_, select

from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.remedy_history import AppliedRemedy, CommandRun
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.rows import any_of_texts
from wallwatch_backend.remedies.models import CommandRow, RemedyRow
from wallwatch_backend.remedies.orders import repository
from wallwatch_backend.remedies.states import DONE_ON_HOST, CommandState, RemedyState

_MAX_REMEDIES = 100


class OrderHistory:
    """The remedies of this database; implements `RemedyHistory`."""

    async def ids_of_incidents(self, session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        return await repository.ids_of_incidents(session, incident_ids)

    async def applied_for_incidents(self, session: ReadSession, incident_ids: Sequence[UUID]) -> Sequence[tuple[UUID, AppliedRemedy]]:
        owner = func.coalesce(IncidentRow.merged_into, IncidentRow.id)
        query = (
            select(owner, RemedyRow)
            .join(IncidentRow, IncidentRow.id == RemedyRow.incident_id)
            .where(owner.in_(incident_ids), RemedyRow.mode == "apply", RemedyRow.state.in_(DONE_ON_HOST))
            .order_by((RemedyRow.state == RemedyState.confirmed).desc(), RemedyRow.created_at)
        )
        return [(row[0], _applied(row[1])) for row in await session.execute(query)]

    async def applied_on_hosts(
        self, session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, AppliedRemedy]]:
        query = select(RemedyRow.applied_at, RemedyRow).where(RemedyRow.host.in_(hosts), RemedyRow.applied_at.between(since, until))
        rows = await session.execute(query.order_by(RemedyRow.applied_at).limit(_MAX_REMEDIES))
        return [(row.applied_at, _applied(row.RemedyRow)) for row in rows]

    async def command_runs(
        self, session: ReadSession, actions: Collection[str], hosts: Sequence[str] | None, ended_after: datetime
    ) -> Sequence[CommandRun]:
        c, r = CommandRow, RemedyRow
        query = (
            select(c.remedy_id, r.action, r.host, r.pci, c.sent_at, c.finished_at)
            .join_from(r, c, c.remedy_id == r.id)
            .where(r.action.in_(actions), c.operation != "dry_run", c.sent_at.is_not(None), c.state != CommandState.refused)
            .where(or_(c.finished_at.is_(None), c.finished_at > ended_after))
            .order_by(c.sent_at, c.id)
        )
        if hosts is not None:
            query = query.where(r.host == any_of_texts(hosts))
        rows = await session.execute(query)
        return [CommandRun(row.remedy_id, row.action, row.host, row.pci, row.sent_at, row.finished_at) for row in rows]


def _applied(row: RemedyRow) -> AppliedRemedy:
    return AppliedRemedy(row.id, row.action, row.params, row.state, row.requested_by, row.host, row.pci)
