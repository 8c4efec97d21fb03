"""Queries of what each host is, has and went through lately."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, literal_column, select

from wallwatch.store.tables import event, host, rnic, rnic_isolation, rnic_state
from wallwatch_backend.kit.database import ReadSession

_ACTIVE: ColumnElement[list[str]] = literal_column("ARRAY(SELECT key FROM jsonb_each(symptoms) WHERE value ->> 'until' IS NULL)")
_TENANTS: ColumnElement[list[str] | None] = literal_column(
    "ARRAY(SELECT DISTINCT vf ->> 'tenant' FROM jsonb_array_elements(rnic_isolation.vfs) AS vf WHERE vf ->> 'tenant' <> '' ORDER BY 1)"
)
_JOINED = rnic_state.outerjoin(rnic, rnic.c.rnic_id == rnic_state.c.rnic_id).outerjoin(
    rnic_isolation, rnic_isolation.c.rnic_id == rnic_state.c.rnic_id
)
_QUIET = ("cni_check",)
_OF_FLOWS = "flow\\_%"


async def rnics(session: ReadSession) -> Sequence[Any]:
    """(host, rack, model, firmware, tenants, active symptoms) of every RNIC."""
    s = rnic_state.c
    query = select(s.host, s.rack, s.model, rnic.c.fw_ver, _TENANTS.label("tenants"), _ACTIVE.label("symptoms"))
    return (await session.execute(query.select_from(_JOINED))).all()


async def kinds_of_events(session: ReadSession, since: datetime, until: datetime) -> Sequence[Any]:
    """(host, kind) of what happened, each once; events of single flows are no change of a host."""
    e = event.c
    query = (
        select(host.c.host, e.kind)
        .join(host, host.c.host_id == e.host_id)
        .where(e.time >= since, e.time < until, e.kind.not_like(_OF_FLOWS), e.kind.not_in(_QUIET))
        .group_by(host.c.host, e.kind)
    )
    return (await session.execute(query)).all()


async def details(session: ReadSession, wall: str | None) -> Sequence[Any]:
    """(host, pci, firmware, tenants, headroom to the wall) of every RNIC, in the fleet's order."""
    s = rnic_state.c
    headroom = s.walls[(wall, "headroom")].as_float() if wall is not None else literal_column("NULL")
    query = select(s.host, s.pci, rnic.c.fw_ver, _TENANTS.label("tenants"), headroom.label("headroom"))
    return (await session.execute(query.select_from(_JOINED).order_by(s.rack, s.host, s.pci))).all()
