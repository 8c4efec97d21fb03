"""Queries of telemetry and events around an incident."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import func, select

from wallwatch.store.packed import hours_within, of_rnics, rnic_sample_all
from wallwatch.store.tables import datapath_sample, event, host, rnic
from wallwatch_backend.incidents.models import IncidentFindingRow, IncidentRow
from wallwatch_backend.kit.database import ReadSession

MAX_EVENTS = 20_000
_LONGEST_LIFE = timedelta(days=30)
"""Containers attached earlier are not found; events are not kept much longer either."""
_MARGIN = timedelta(minutes=5)
"""How long before the interval to look for the value before a change."""

_OF_FLOWS = "flow\\_%"
"""Events of single flows are input of policies: thousands per minute, and no change of a host."""


async def rnics(session: ReadSession, incident_id: UUID) -> Sequence[Any]:
    """(host, pci, blast radius) of an incident's findings."""
    f = IncidentFindingRow
    return (await session.execute(select(f.host, f.pci, f.blast_radius).where(f.incident_id == incident_id).distinct())).all()


def _events(hosts: Sequence[str], since: datetime, until: datetime) -> Any:
    e = event.c
    columns = (e.time, host.c.host, e.pci, e.kind, e.detail, e.other)
    return (
        select(*columns)
        .join(host, host.c.host_id == e.host_id)
        .where(host.c.host.in_(hosts), e.time >= since, e.time <= until)
        .order_by(e.time, e.pci, e.kind)
    )


async def cni_events(session: ReadSession, hosts: Sequence[str], until: datetime) -> Sequence[Any]:
    query = _events(hosts, until - _LONGEST_LIFE, until).where(event.c.kind.in_(("cni_add", "cni_del"))).limit(MAX_EVENTS)
    return (await session.execute(query)).all()


async def events(session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime) -> Sequence[Any]:
    query = _events(hosts, since, until).where(event.c.kind.not_like(_OF_FLOWS), event.c.kind != "cni_check").limit(MAX_EVENTS)
    return (await session.execute(query)).all()


async def max_idle_changes(session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime) -> Sequence[Any]:
    """Changes of `max-idle`: (time, host, before, after)."""
    d = datapath_sample.c
    value = d.max_idle_ms
    return await _changes(
        session,
        select(
            d.time,
            host.c.host,
            func.lag(value).over(partition_by=(d.host_id, d.datapath), order_by=d.time).label("before"),
            value.label("after"),
        )
        .join(host, host.c.host_id == d.host_id)
        .where(host.c.host.in_(hosts), d.time >= since - _MARGIN, d.time <= until, value.is_not(None)),
        since,
    )


async def firmware_changes(session: ReadSession, hosts: Sequence[str], since: datetime, until: datetime) -> Sequence[Any]:
    """Changes of the stored firmware, which takes effect at the next reset: (time, host, pci, before, after)."""
    s = rnic_sample_all.c
    value = s.other["fw_ver_stored"].astext
    return await _changes(
        session,
        select(
            s.time,
            rnic.c.host,
            rnic.c.pci,
            func.lag(value).over(partition_by=s.rnic_id, order_by=s.time).label("before"),
            value.label("after"),
        )
        .join(rnic, rnic.c.rnic_id == s.rnic_id)
        .where(
            of_rnics(rnic_sample_all, rnic.c.host.in_(hosts)),
            s.time >= since - _MARGIN,
            s.time <= until,
            hours_within(rnic_sample_all, since - _MARGIN, until),
            value.is_not(None),
        ),
        since,
    )


async def _changes(session: ReadSession, values: Any, since: datetime) -> Sequence[Any]:
    v = values.subquery()
    query = select(v).where(v.c.before.is_not(None), v.c.before != v.c.after, v.c.time >= since).order_by(v.c.time).limit(100)
    return (await session.execute(query)).all()


async def addresses(session: ReadSession, hosts: Collection[str]) -> dict[tuple[str, str], str]:
    """(host, InfiniBand device or PCI address) -> PCI address, of the hosts' RNICs."""
    r = rnic.c
    found = await session.execute(select(r.host, r.ibdev, r.pci).where(r.host.in_(hosts)))
    return {(row.host, name): row.pci for row in found for name in (row.ibdev, row.pci) if name is not None}


async def incidents(
    session: ReadSession, but: UUID | None, hosts: Sequence[str], since: datetime, until: datetime
) -> Sequence[IncidentRow]:
    """Incidents of the hosts that started in the interval, without the one named `but`."""
    i = IncidentRow
    query = select(i).where(i.hosts.overlap(list(hosts)), i.opened_at.between(since, until), i.merged_into.is_(None))
    if but is not None:
        query = query.where(i.id != but)
    return (await session.scalars(query.order_by(i.opened_at).limit(100))).all()
