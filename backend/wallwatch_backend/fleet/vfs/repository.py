"""Queries of virtual functions: newest sample, and the container that holds each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select, text

from wallwatch.store.packed import hours_within, rnic_sample_all, vf_sample_all
from wallwatch.store.tables import rnic_sample, vf_sample
from wallwatch_backend.kit.database import ReadSession


async def newest(session: ReadSession, rnic_id: int, since: datetime) -> Sequence[Row[Any]]:
    """The functions of the newest sample since a time; all functions of an RNIC are sampled at the same time."""
    for samples in (vf_sample, vf_sample_all):  # rows are found at once; packed hours only matter when there are none
        v = samples.c
        newest_at = select(func.max(v.time)).where(v.rnic_id == rnic_id, v.time >= since, hours_within(samples, since))
        if (at := (await session.execute(newest_at)).scalar_one()) is not None:
            query = select(samples).where(v.rnic_id == rnic_id, v.time == at, hours_within(samples, at, at)).order_by(v.vf)
            return (await session.execute(query)).all()
    return []


async def counts(session: ReadSession, rnic_id: int, since: datetime) -> Row[Any] | None:
    """How many functions there are, by the newest sample of the RNIC that has the number."""
    for samples in (rnic_sample, rnic_sample_all):  # rows are found at once; packed hours only matter when there are none
        r = samples.c
        query = (
            select(r.time, r.sriov_numvfs, r.other["sriov_totalvfs"].as_integer().label("sriov_totalvfs"))
            .where(r.rnic_id == rnic_id, r.time >= since, hours_within(samples, since), r.sriov_numvfs.is_not(None))
            .order_by(r.time.desc())
            .limit(1)
        )
        if newest := (await session.execute(query)).one_or_none():
            return newest
    return None


# The kinds are literals, so that the planner can use the partial index event_container_of_device.
_HOLDERS = text("""
    SELECT d.device, a.time, a.other
    FROM unnest(CAST(:devices AS text[])) AS d (device)
    JOIN host h ON h.host = :host
    CROSS JOIN LATERAL (
        SELECT e.time, e.kind, e.other FROM event e
        WHERE e.host_id = h.host_id AND e.other->>'device' = d.device AND e.kind IN ('cni_add', 'cni_del')
          AND e.other->>'result' IS DISTINCT FROM 'refused'
        ORDER BY e.time DESC LIMIT 1
    ) a
    WHERE a.kind = 'cni_add'
      AND NOT EXISTS (
        SELECT FROM event e
        WHERE e.host_id = h.host_id AND e.other->>'device' IS NULL AND e.time > a.time
          AND (e.kind = 'host_booted'
               OR e.kind = 'cni_del' AND e.other->>'container' = a.other->>'container'
                  AND e.other->>'interface' IS NOT DISTINCT FROM a.other->>'interface')
          AND e.kind IN ('cni_del', 'host_booted')
      )
""")


async def holders(session: ReadSession, host: str, devices: list[str]) -> dict[str, tuple[datetime, dict[str, Any]]]:
    """PCI address of a function → time of the last CNI ADD that assigned it, and the fields of that event.

    A refused ADD gave nothing. A DEL takes the function back, also one that does not know its address any more; a boot of the host
    takes all.
    """
    rows = await session.execute(_HOLDERS, {"host": host, "devices": devices})
    return {row.device: (row.time, row.other) for row in rows}
