"""Queries of broken seconds over the fleet. An interval of an RNIC counts once, however many of its VFs suffered in it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Row, text

from wallwatch_backend.kit.database import ReadSession

BY_MINUTE = timedelta(days=2)
"""A longer interval begins and ends with whole hours: minutes of tenants are kept for days, hours for months."""
HOUR = timedelta(hours=1)

_SECONDS = """
    SELECT rnic_id, time, max(interval_s) AS seconds, bool_or(estimated) AS estimated, max(mechanism) AS mechanism
    FROM vf_broken WHERE time >= :since AND time < :until GROUP BY rnic_id, time
"""
_WORST = text(f"""
    SELECT s.*, r.host, r.pci, r.rack, r.model FROM (
      SELECT rnic_id, sum(seconds) AS broken_s, coalesce(sum(seconds) FILTER (WHERE estimated), 0) AS estimated_s, max(time) AS last,
        count(*) OVER () AS total, sum(sum(seconds)) OVER () AS of_all
      FROM ({_SECONDS}) AS one GROUP BY rnic_id ORDER BY broken_s DESC, rnic_id LIMIT :limit
    ) s JOIN rnic r USING (rnic_id) ORDER BY s.broken_s DESC, r.host, r.pci
""")  # noqa: S608 - put together from constants of this file
_MECHANISMS = text(f"""
    SELECT rnic_id, mechanism, sum(seconds) AS seconds FROM ({_SECONDS}) AS one WHERE rnic_id = ANY(:rnics)
    GROUP BY rnic_id, mechanism ORDER BY seconds DESC, mechanism
""")  # noqa: S608 - put together from constants of this file
_VICTIMS = text("""
    SELECT rnic_id, vf, last(pod, time) AS pod, last(tenant, time) AS tenant, sum(interval_s) AS seconds FROM vf_broken
    WHERE rnic_id = ANY(:rnics) AND time >= :since AND time < :until GROUP BY rnic_id, vf ORDER BY seconds DESC, vf
""")
_BY_WHOM = """
    FROM vf_broken b CROSS JOIN LATERAL jsonb_to_recordset(b.aggressors) AS a (vf int, pod text, tenant text)
    WHERE b.time >= :since AND b.time < :until
"""
_AGGRESSORS = text(f"""
    SELECT rnic_id, vf, last(pod, time) AS pod, last(tenant, time) AS tenant, sum(seconds) AS seconds FROM (
      SELECT DISTINCT ON (b.rnic_id, b.time, a.vf) b.rnic_id, b.time, b.interval_s AS seconds, a.vf, a.pod, a.tenant
      {_BY_WHOM} AND b.rnic_id = ANY(:rnics) ORDER BY b.rnic_id, b.time, a.vf
    ) one GROUP BY rnic_id, vf ORDER BY seconds DESC, vf
""")  # noqa: S608 - put together from constants of this file
_PAIRS = text(f"""
    SELECT b.rnic_id, a.vf AS aggressor_vf, b.vf AS victim_vf, sum(b.interval_s) AS seconds {_BY_WHOM} AND b.rnic_id = ANY(:rnics)
    GROUP BY 1, 2, 3 ORDER BY seconds DESC, 2, 3
""")
_HOSTS = text(f"""
    SELECT r.host, max(r.rack) AS rack, count(DISTINCT s.rnic_id) AS rnics, sum(s.seconds) AS broken_s, max(s.time) AS last
    FROM ({_SECONDS}) AS s JOIN rnic r USING (rnic_id) GROUP BY r.host ORDER BY broken_s DESC, r.host LIMIT :most
""")  # noqa: S608 - put together from constants of this file
_TOP_VICTIMS = text("""
    SELECT r.host, r.pci, s.vf, s.pod, s.tenant, s.seconds FROM (
      SELECT rnic_id, vf, pod, tenant, sum(interval_s) AS seconds FROM vf_broken WHERE time >= :since AND time < :until
      GROUP BY rnic_id, vf, pod, tenant ORDER BY seconds DESC, rnic_id, vf LIMIT :most
    ) s JOIN rnic r USING (rnic_id) ORDER BY s.seconds DESC, r.host, r.pci, s.vf
""")
_TOP_AGGRESSORS = text(f"""
    SELECT r.host, r.pci, s.vf, s.pod, s.tenant, s.seconds FROM (
      SELECT rnic_id, vf, pod, tenant, sum(seconds) AS seconds FROM (
        SELECT DISTINCT ON (b.rnic_id, b.time, a.vf) b.rnic_id, b.interval_s AS seconds, a.vf, a.pod, a.tenant
        {_BY_WHOM} ORDER BY b.rnic_id, b.time, a.vf
      ) one GROUP BY rnic_id, vf, pod, tenant ORDER BY seconds DESC, rnic_id, vf LIMIT :most
    ) s JOIN rnic r USING (rnic_id) ORDER BY s.seconds DESC, r.host, r.pci, s.vf
""")  # noqa: S608 - put together from constants of this file
_TENANTS = text(f"""
    WITH sums AS (
      SELECT tenant, vfs, kept_s, unknown_s FROM tenant_hour WHERE bucket >= :first_hour AND bucket < :last_hour
      UNION ALL
      SELECT tenant, vfs, kept_s, unknown_s FROM tenant_1m WHERE bucket >= :since AND bucket < :first_hour
      UNION ALL
      SELECT tenant, vfs, kept_s, unknown_s FROM tenant_1m WHERE bucket >= :last_hour AND bucket < :until
    ), known AS (
      SELECT tenant, max(vfs) AS vfs, sum(kept_s) AS kept_s, sum(unknown_s) AS unknown_s FROM sums GROUP BY tenant
    ), broken AS (
      SELECT tenant, sum(interval_s) AS broken_s FROM vf_broken WHERE time >= :since AND time < :until GROUP BY tenant
    ), aggressors AS (
      SELECT tenant, sum(seconds) AS aggressor_s FROM (
        SELECT DISTINCT b.rnic_id, b.time, a.vf, a.tenant, b.interval_s AS seconds {_BY_WHOM}
      ) one GROUP BY tenant
    )
    SELECT tenant, coalesce(vfs, 0) AS vfs, coalesce(kept_s, 0) AS kept_s, coalesce(unknown_s, 0) AS unknown_s,
      coalesce(broken_s, 0) AS broken_s, coalesce(aggressor_s, 0) AS aggressor_s
    FROM known FULL JOIN broken USING (tenant) FULL JOIN aggressors USING (tenant)
    ORDER BY broken_s DESC, aggressor_s DESC, tenant
""")  # noqa: S608 - put together from constants of this file

Rows = Sequence[Row[Any]]


async def worst(session: ReadSession, since: datetime, until: datetime, limit: int) -> Rows:
    """RNICs with broken seconds, most first; each row has the number and the seconds of all of them."""
    return (await session.execute(_WORST, {"since": since, "until": until, "limit": limit})).all()


async def mechanisms(session: ReadSession, rnics: Sequence[int], since: datetime, until: datetime) -> Rows:
    return (await session.execute(_MECHANISMS, {"rnics": list(rnics), "since": since, "until": until})).all()


async def victims(session: ReadSession, rnics: Sequence[int], since: datetime, until: datetime) -> Rows:
    return (await session.execute(_VICTIMS, {"rnics": list(rnics), "since": since, "until": until})).all()


async def aggressors(session: ReadSession, rnics: Sequence[int], since: datetime, until: datetime) -> Rows:
    return (await session.execute(_AGGRESSORS, {"rnics": list(rnics), "since": since, "until": until})).all()


async def pairs(session: ReadSession, rnics: Sequence[int], since: datetime, until: datetime) -> Rows:
    return (await session.execute(_PAIRS, {"rnics": list(rnics), "since": since, "until": until})).all()


async def hosts(session: ReadSession, since: datetime, until: datetime, most: int) -> Rows:
    return (await session.execute(_HOSTS, {"since": since, "until": until, "most": most})).all()


async def top_victims(session: ReadSession, since: datetime, until: datetime, most: int) -> Rows:
    """VFs of the fleet that suffered most, apart for each pod that held them."""
    return (await session.execute(_TOP_VICTIMS, {"since": since, "until": until, "most": most})).all()


async def top_aggressors(session: ReadSession, since: datetime, until: datetime, most: int) -> Rows:
    """VFs of the fleet that broke others' promises longest, apart for each pod that held them."""
    return (await session.execute(_TOP_AGGRESSORS, {"since": since, "until": until, "most": most})).all()


async def tenants(session: ReadSession, since: datetime, until: datetime) -> Rows:
    """Every tenant: what is known of its VFs, broken seconds, and seconds in which its VFs broke others' promises."""
    hours = whole_hours(since, until)
    return (await session.execute(_TENANTS, {"since": since, "until": until, **hours})).all()


def whole_hours(since: datetime, until: datetime) -> dict[str, datetime]:
    """Begin of the first and end of the last hour that is read as a whole; what is left of the interval is read by minute.

    >>> at = datetime(2026, 11, 23, 9, 30, tzinfo=UTC)
    >>> [f"{hour:%d %H:%M}" for hour in whole_hours(at, at + timedelta(hours=4)).values()]
    ['23 10:00', '23 13:00']
    >>> [f"{hour:%d %H:%M}" for hour in whole_hours(at, at + timedelta(minutes=20)).values()]
    ['23 09:50', '23 09:50']
    >>> [f"{hour:%d %H:%M}" for hour in whole_hours(at, at + timedelta(days=3)).values()]
    ['23 09:00', '26 10:00']
    """
    if until - since > BY_MINUTE:
        return {"first_hour": _hour(since), "last_hour": _hour(until + HOUR - timedelta(microseconds=1))}
    first, last = _hour(since + HOUR - timedelta(microseconds=1)), _hour(until)
    if first > last:  # within one hour
        return {"first_hour": until, "last_hour": until}
    return {"first_hour": first, "last_hour": last}


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
