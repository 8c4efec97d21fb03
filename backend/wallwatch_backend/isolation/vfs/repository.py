"""Queries of one RNIC's VFs: newest state, seconds, minutes, broken intervals, holders."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text

from wallwatch.store.packed import hours_within, vf_sample_all
from wallwatch.store.tables import rnic_isolation, vf_broken, vf_sample
from wallwatch_backend.kit.database import ReadSession

Rows = Sequence[Row[Any]]

_SUFFERED = text("""
    SELECT vf, sum(interval_s) AS seconds FROM vf_broken WHERE rnic_id = :rnic AND time >= :since AND time < :until GROUP BY vf
""")
_TOOK = text("""
    SELECT vf, sum(seconds) AS seconds FROM (
      SELECT DISTINCT b.time, a.vf, b.interval_s AS seconds
      FROM vf_broken b CROSS JOIN LATERAL jsonb_to_recordset(b.aggressors) AS a (vf int)
      WHERE b.rnic_id = :rnic AND b.time >= :since AND b.time < :until
    ) one GROUP BY vf
""")
_BROKEN = text("""
    SELECT coalesce(sum(seconds), 0) FROM (
      SELECT max(interval_s) AS seconds FROM vf_broken WHERE rnic_id = :rnic AND time >= :since AND time < :until GROUP BY time
    ) one
""")
_SUMMED = """
    SELECT time_bucket(make_interval(secs => :step), time) AS at, vf, last(pod, time) AS pod, last(tenant, time) AS tenant,
      sum(kept_s) AS kept_s, sum(broken_s) AS broken_s, sum(unknown_s) AS unknown_s, sum(not_promised_s) AS not_promised_s,
      sum(aggressor_s) AS aggressor_s {more}
    FROM vf_minute WHERE rnic_id = :rnic AND time >= :since AND time < :until {only} GROUP BY 1, 2 ORDER BY 1, 2
"""
_MINUTES = text(_SUMMED.format(more="", only=""))
_SERIES = text(
    _SUMMED.format(
        more=""", avg(tx_mbps) AS tx_mbps, avg(rx_mbps) AS rx_mbps, max(tx_mbps_max) AS tx_mbps_max, max(rx_mbps_max) AS rx_mbps_max,
      avg(tx_kpps) AS tx_kpps, avg(rx_kpps) AS rx_kpps, max(delay_p50_us) AS delay_p50_us, max(delay_p99_us) AS delay_p99_us,
      sum(dropped) AS dropped, avg(share) AS share, avg(fair_share) AS fair_share""",
        only="AND vf = :vf",
    )
)
_TIMES = text("""
    SELECT time, count(*) OVER () AS total FROM (
      SELECT DISTINCT time FROM vf_broken
      WHERE rnic_id = :rnic AND time >= :since AND time < :until
        AND (vf = :vf OR aggressors @> jsonb_build_array(jsonb_build_object('vf', CAST(:vf AS int))))
    ) one ORDER BY time DESC LIMIT :limit
""")
_HELD = text("""
    SELECT e.time, e.kind, e.other FROM event e JOIN host h USING (host_id)
    WHERE h.host = :host AND e.time < :until AND e.kind IN ('cni_add', 'cni_del', 'host_booted')
      AND (e.other->>'device' = :device AND e.other->>'result' IS DISTINCT FROM 'refused' OR e.other->>'device' IS NULL)
    ORDER BY e.time DESC LIMIT :limit
""")


async def now(session: ReadSession, rnic_id: int) -> Row[Any] | None:
    return (await session.execute(select(rnic_isolation).where(rnic_isolation.c.rnic_id == rnic_id))).one_or_none()


async def suffered(session: ReadSession, rnic_id: int, since: datetime, until: datetime) -> dict[int, float]:
    """Broken seconds of each VF."""
    return {row.vf: row.seconds for row in await session.execute(_SUFFERED, {"rnic": rnic_id, "since": since, "until": until})}


async def took(session: ReadSession, rnic_id: int, since: datetime, until: datetime) -> dict[int, float]:
    """Seconds in which each VF broke others' promises."""
    return {row.vf: row.seconds for row in await session.execute(_TOOK, {"rnic": rnic_id, "since": since, "until": until})}


async def broken_s(session: ReadSession, rnic_id: int, since: datetime, until: datetime) -> float:
    """Seconds in which any VF suffered."""
    return float((await session.execute(_BROKEN, {"rnic": rnic_id, "since": since, "until": until})).scalar_one())


async def minutes(session: ReadSession, rnic_id: int, since: datetime, until: datetime, step_s: int) -> Rows:
    """Seconds by state of each VF in steps of whole minutes."""
    return (await session.execute(_MINUTES, {"rnic": rnic_id, "since": since, "until": until, "step": max(step_s, 60)})).all()


async def series(session: ReadSession, rnic_id: int, vf: int, since: datetime, until: datetime, step_s: int) -> Rows:
    return (await session.execute(_SERIES, {"rnic": rnic_id, "vf": vf, "since": since, "until": until, "step": step_s})).all()


async def intervals(session: ReadSession, rnic_id: int, since: datetime, until: datetime) -> Rows:
    """Broken intervals of all VFs, oldest first."""
    b = vf_broken.c
    query = select(vf_broken).where(b.rnic_id == rnic_id, b.time >= since, b.time < until).order_by(b.time, b.vf)
    return (await session.execute(query)).all()


async def intervals_of(session: ReadSession, rnic_id: int, vf: int, since: datetime, until: datetime, limit: int) -> tuple[int, Rows]:
    """How many intervals a VF has a part in, and the rows of all VFs in the newest of them, newest first."""
    values = {"rnic": rnic_id, "vf": vf, "since": since, "until": until, "limit": limit}
    times = (await session.execute(_TIMES, values)).all()
    if not times:
        return 0, []
    b = vf_broken.c
    query = select(vf_broken).where(b.rnic_id == rnic_id, b.time.in_([row.time for row in times])).order_by(b.time.desc(), b.vf)
    return times[0].total, (await session.execute(query)).all()


async def device_of(session: ReadSession, rnic_id: int, vf: int, since: datetime) -> str | None:
    """PCI address of a function, by its newest sample."""
    for samples in (vf_sample, vf_sample_all):  # rows are found at once; packed hours only matter when there are none
        v = samples.c
        query = select(v.vf_pci).where(v.rnic_id == rnic_id, v.vf == vf, v.time >= since, hours_within(samples, since), v.vf_pci != "")
        found: str | None = (await session.execute(query.order_by(v.time.desc()).limit(1))).scalar_one_or_none()
        if found is not None:
            return found
    return None


async def holding_events(session: ReadSession, host: str, device: str, until: datetime, limit: int) -> Rows:
    """Events that assigned a function to containers or released it, newest first."""
    return (await session.execute(_HELD, {"host": host, "device": device, "until": until, "limit": limit})).all()
