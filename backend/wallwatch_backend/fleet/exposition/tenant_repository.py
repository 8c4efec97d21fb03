"""Queries of the exposition by tenant: seconds of today. A tenant that is unknown has the name ""."""

from sqlalchemy import text

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession

_BROKEN = text("""
    SELECT b.tenant, sum(b.interval_s) FROM vf_broken b JOIN rnic r USING (rnic_id)
    WHERE b.time >= :since AND (CAST(:rack AS text) IS NULL OR r.rack = :rack) GROUP BY b.tenant ORDER BY b.tenant
""")
_AGGRESSORS = text("""
    SELECT tenant, sum(seconds) FROM (
      SELECT DISTINCT b.rnic_id, b.time, a.vf, a.tenant, b.interval_s AS seconds
      FROM vf_broken b JOIN rnic r USING (rnic_id) CROSS JOIN LATERAL jsonb_to_recordset(b.aggressors) AS a (vf int, tenant text)
      WHERE b.time >= :since AND (CAST(:rack AS text) IS NULL OR r.rack = :rack)
    ) one GROUP BY tenant ORDER BY tenant
""")


async def broken_seconds(session: ReadSession, rack: str | None) -> dict[str, float]:
    """Tenant → VF-seconds since midnight (UTC) in which a promise to it was broken."""
    since = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return {row[0] or "": row[1] for row in await session.execute(_BROKEN, {"since": since, "rack": rack})}


async def aggressor_seconds(session: ReadSession, rack: str | None) -> dict[str, float]:
    """Tenant → VF-seconds since midnight (UTC) in which its VFs broke promises to others."""
    since = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    return {row[0] or "": row[1] for row in await session.execute(_AGGRESSORS, {"since": since, "rack": rack})}
