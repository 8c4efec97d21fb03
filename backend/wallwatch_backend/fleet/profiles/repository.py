"""Queries of profile versions, and of the fleet's samples that lie on their surfaces."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select, text

from wallwatch.store.tables import rnic
from wallwatch_backend.fleet.profiles.models import ProfileVersionRow
from wallwatch_backend.kit.database import ReadSession, WriteSession

V = ProfileVersionRow


async def lock(session: WriteSession, model: str) -> None:
    """One change of a model's versions at a time."""
    await session.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:model, 7241011))"), {"model": model})


async def active(session: ReadSession) -> Sequence[ProfileVersionRow]:
    return (await session.scalars(select(V).where(V.state == "active").order_by(V.model, V.driver, V.fw_ver))).all()


async def versions(session: ReadSession, model: str) -> Sequence[ProfileVersionRow]:
    return (await session.scalars(select(V).where(V.model == model).order_by(V.number.desc()))).all()


async def version(session: ReadSession, model: str, number: int) -> ProfileVersionRow | None:
    return (await session.scalars(select(V).where(V.model == model, V.number == number))).one_or_none()


async def in_force(session: ReadSession, model: str, driver: str, fw_ver: str) -> ProfileVersionRow | None:
    query = select(V).where(V.model == model, V.driver == driver, V.fw_ver == fw_ver, V.state == "active")
    return (await session.scalars(query)).one_or_none()


async def before(session: ReadSession, present: ProfileVersionRow) -> ProfileVersionRow | None:
    """The version that was promoted last before another one; what was promoted later has been rolled back itself."""
    query = (
        select(V)
        .where(V.model == present.model, V.driver == present.driver, V.fw_ver == present.fw_ver, V.state == "retired")
        .where(V.promoted_at < present.promoted_at)
        .order_by(V.promoted_at.desc())
        .limit(1)
    )
    return (await session.scalars(query)).one_or_none()


async def next_number(session: ReadSession, model: str) -> int:
    newest = (await session.execute(select(func.max(V.number)).where(V.model == model))).scalar_one()
    return (newest or 0) + 1


async def add(session: WriteSession, row: ProfileVersionRow) -> None:
    session.add(row)
    await session.flush()
    await session.refresh(row)


async def waiting(session: ReadSession) -> dict[str, int]:
    """Model -> candidates."""
    query = select(V.model, func.count()).where(V.state == "candidate").group_by(V.model)
    return {row[0]: row[1] for row in await session.execute(query)}


async def rnics_by_model(session: ReadSession) -> dict[str, int]:
    query = select(rnic.c.model, func.count()).where(rnic.c.model.is_not(None)).group_by(rnic.c.model)
    return {row[0]: row[1] for row in await session.execute(query)}


_NEWEST = text(
    """
    SELECT r.rnic_id, r.host, r.pci, r.driver, r.fw_ver, s.tx_gbps, o.time, o.q_egress, o.q_ingress,
           (o.other ->> 'q_egress_sd')::float8 AS egress_sd, (o.other ->> 'q_ingress_sd')::float8 AS ingress_sd
    FROM rnic r
    JOIN rnic_state s USING (rnic_id)
    CROSS JOIN LATERAL (
        SELECT time, q_egress, q_ingress, other FROM offload_sample o
        WHERE o.rnic_id = r.rnic_id AND o.time >= :since AND o.q_egress IS NOT NULL AND o.q_ingress IS NOT NULL
        ORDER BY time DESC LIMIT 1
    ) o
    WHERE r.model = :model
    ORDER BY r.host, r.pci
    LIMIT :most
    """
)


async def newest_queries(session: ReadSession, model: str, since: datetime, most: int) -> Sequence[Row[Any]]:
    """Each RNIC of a model with the queries of its newest sample since a time."""
    return (await session.execute(_NEWEST, {"model": model, "since": since, "most": most})).all()


# A minute in which an RNIC's rate hardly moved while it was high is one in which the RNIC, not the traffic, was the limit.
# Both roll-ups are bounded: PostgreSQL does not pass a join's condition on to packed hours.
_PLATEAUS = text(
    """
    WITH minutes AS (
        SELECT o.bucket, r.host, r.pci, o.q_egress_avg AS q_l, o.q_ingress_avg AS q_r, s.tx_gbps_avg AS gbps
        FROM rnic r
        JOIN offload_1m o USING (rnic_id)
        JOIN rnic_1m s ON s.rnic_id = o.rnic_id AND s.bucket = o.bucket
        WHERE r.model = :model AND (:fw_ver = '' OR r.fw_ver = :fw_ver) AND o.bucket >= :since
          AND s.bucket >= :since AND o.q_egress_avg IS NOT NULL AND o.q_ingress_avg IS NOT NULL
          AND o.q_egress_max - o.q_egress_min <= 2 AND o.q_ingress_max - o.q_ingress_min <= 2
          AND s.tx_gbps_avg > 1 AND s.tx_gbps_max - s.tx_gbps_min <= 0.1 * s.tx_gbps_avg
    )
    SELECT round(q_l / 5) AS cell_l, round(q_r / 5) AS cell_r, count(*) AS minutes, count(DISTINCT (host, pci)) AS rnics, avg(q_l) AS q_l,
           avg(q_r) AS q_r, percentile_cont(0.9) WITHIN GROUP (ORDER BY gbps) AS gbps
    FROM minutes GROUP BY 1, 2 HAVING count(*) >= 5 ORDER BY 1, 2
    """
)


async def plateaus(session: ReadSession, model: str, fw_ver: str, since: datetime) -> Sequence[Row[Any]]:
    """Cells of 5 x 5 queries with the bandwidth that a model's RNICs reached in steady minutes."""
    return (await session.execute(_PLATEAUS, {"model": model, "fw_ver": fw_ver, "since": since})).all()


_PATH = text(
    """
    SELECT o.bucket, o.q_egress_avg, o.q_ingress_avg, s.tx_gbps_avg, s.rate_gbps_min AS rate_gbps,
           s.pci_link_speed_gts_min AS pci_gts, s.pci_link_width_min AS pci_lanes
    FROM offload_1m o LEFT JOIN rnic_1m s ON s.rnic_id = o.rnic_id AND s.bucket = o.bucket AND s.bucket >= :since
    WHERE o.rnic_id = :rnic_id AND o.bucket >= :since AND o.q_egress_avg IS NOT NULL
    ORDER BY o.bucket
    """
)
_PEER_PATHS = text(
    "SELECT bucket, rnic_id, q_ingress_avg FROM offload_1m WHERE rnic_id = ANY(:rnics) AND bucket >= :since AND q_ingress_avg IS NOT NULL"
)


async def path(session: ReadSession, rnic_id: int, since: datetime) -> Sequence[Row[Any]]:
    """Each minute's queries of an RNIC, with what it sent."""
    return (await session.execute(_PATH, {"rnic_id": rnic_id, "since": since})).all()


async def ingress_paths(session: ReadSession, rnics: Sequence[int], since: datetime) -> dict[datetime, dict[int, float]]:
    """Minute → RNIC → ingress queries."""
    found: dict[datetime, dict[int, float]] = {}
    for bucket, rnic_id, queries in await session.execute(_PEER_PATHS, {"rnics": list(rnics), "since": since}):
        found.setdefault(bucket, {})[rnic_id] = float(queries)
    return found


async def newest_of(session: ReadSession, rnic_id: int, since: datetime) -> Row[Any] | None:
    """The newest sample of one RNIC with queries, and what it sends."""
    query = text(
        """
        SELECT o.time, o.q_egress, o.q_ingress, (o.other ->> 'q_egress_sd')::float8 AS egress_sd,
               (o.other ->> 'q_ingress_sd')::float8 AS ingress_sd,
               s.tx_gbps, p.rate_gbps, p.pci_link_speed_gts AS pci_gts, p.pci_link_width AS pci_lanes
        FROM offload_sample o LEFT JOIN rnic_state s USING (rnic_id)
        LEFT JOIN LATERAL (
            SELECT rate_gbps, pci_link_speed_gts, pci_link_width FROM rnic_sample
            WHERE rnic_id = :rnic_id AND time >= :since ORDER BY time DESC LIMIT 1
        ) p ON true
        WHERE o.rnic_id = :rnic_id AND o.time >= :since AND o.q_egress IS NOT NULL ORDER BY o.time DESC LIMIT 1
        """
    )
    return (await session.execute(query, {"rnic_id": rnic_id, "since": since})).one_or_none()
