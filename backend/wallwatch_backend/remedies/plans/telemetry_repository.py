"""Queries of what telemetry shows of an RNIC around a plan."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import func, select

from wallwatch.store.packed import hours_within, of_rnics, offload_sample_all, rnic_sample_all
from wallwatch.store.tables import rnic
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import CommandRow
from wallwatch_backend.remedies.plans.models import PlanRow

SIDES = {"egress": offload_sample_all.c.q_egress, "ingress": offload_sample_all.c.q_ingress}


async def queries(
    session: ReadSession, host: str, pci: str, sides: Sequence[str], since: datetime, until: datetime | None
) -> list[tuple[datetime, float]]:
    """Samples of the sum of mean queries over the sides, where all of them were measured."""
    columns = [SIDES[side] for side in sides]
    total = columns[0] if len(columns) == 1 else columns[0] + columns[1]
    query = (
        select(offload_sample_all.c.time, total)
        .where(
            of_rnics(offload_sample_all, rnic.c.host == host, rnic.c.pci == pci),
            offload_sample_all.c.time > since,
            hours_within(offload_sample_all, since, until),
            total.is_not(None),
        )
        .order_by(offload_sample_all.c.time)
    )
    if until is not None:
        query = query.where(offload_sample_all.c.time <= until)
    return [(row[0], float(row[1])) for row in await session.execute(query)]


async def began(session: ReadSession, remedy_id: UUID) -> datetime | None:
    query = select(func.min(CommandRow.issued_at)).where(CommandRow.remedy_id == remedy_id, CommandRow.operation == "apply")
    return (await session.execute(query)).scalar_one()


async def newest(session: ReadSession, row: PlanRow, since: datetime) -> datetime | None:
    query = select(func.max(offload_sample_all.c.time)).where(
        of_rnics(offload_sample_all, rnic.c.host == row.host, rnic.c.pci == row.pci),
        offload_sample_all.c.time > since,
        hours_within(offload_sample_all, since),
    )
    newest: datetime | None = (await session.execute(query)).scalar_one()
    return newest


async def means(session: ReadSession, row: PlanRow, since: datetime, until: datetime) -> tuple[float | None, float | None, float | None]:
    found: list[float | None] = []
    for table, columns in ((offload_sample_all, tuple(SIDES.values())), (rnic_sample_all, (rnic_sample_all.c.tx_gbps,))):
        query = select(*(func.avg(column) for column in columns)).where(
            of_rnics(table, rnic.c.host == row.host, rnic.c.pci == row.pci),
            table.c.time > since,
            table.c.time <= until,
            hours_within(table, since, until),
        )
        found += [None if value is None else float(value) for value in (await session.execute(query)).one()]
    return found[0], found[1], found[2]
