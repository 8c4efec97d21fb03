"""Queries of what hosts report on policies: states over time, violations, and the events behind them."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import DateTime, Integer, Row, Text, case, cast, distinct, func, literal, literal_column, or_, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on

from wallwatch.store.tables import event, host, policy_sample
from wallwatch_backend.kit.database import ReadSession

VIOLATED = "policy_violated"
VALID_FOR = timedelta(minutes=12)
"""A state is repeated after ten intervals of a minute at the latest; older states are unknown."""
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

_e, _s = event.c, policy_sample.c
_LEFT_OUT = cast(_e.other["left_out"].astext, Integer)
_OF = _e.other["policy"].astext
# A row with `left_out` is not a violation itself: it counts those that its host left out.
_COUNTED = case((_LEFT_OUT.is_not(None), _LEFT_OUT), else_=1)
_COUNT = func.sum(_COUNTED)


async def states(session: ReadSession, at: datetime, policy_id: str | None = None) -> dict[str, Row[Any]]:
    """Policy -> (hosts, subjects, unknown, heard_at, reports), from the newest report of each RNIC and host."""
    newest = (
        select(_s.policy, _s.host_id, _s.subjects, _s.unknown, _s.time)
        .ext(distinct_on(_s.policy, _s.host_id, _s.pci))
        .where(_s.time > at - VALID_FOR, *([] if policy_id is None else [_s.policy == policy_id]))
        .order_by(_s.policy, _s.host_id, _s.pci, _s.time.desc())
        .subquery()
    )
    c = newest.c
    query = select(
        c.policy,
        func.count(distinct(c.host_id)).label("hosts"),
        func.coalesce(func.sum(c.subjects), 0).label("subjects"),
        func.coalesce(func.sum(c.unknown), 0).label("unknown"),
        func.max(c.time).label("heard_at"),
        func.count().label("reports"),
    ).group_by(c.policy)
    return {row.policy: row for row in await session.execute(query)}


async def violations_by_hour(session: ReadSession, since: datetime, policy_id: str | None = None) -> Sequence[Any]:
    """(policy, hour, violations, last_at), hours counted from `since`."""
    hour = func.floor(func.extract("epoch", _e.time - since) / 3600).cast(Integer)
    query = (
        select(_OF.label("policy"), hour.label("hour"), _COUNT.label("violations"), func.max(_e.time).label("last_at"))
        .where(_e.kind == VIOLATED, _e.time > since)
        .group_by("policy", "hour")
    )
    if policy_id is not None:
        query = query.where(policy_id == _OF)
    return (await session.execute(query)).all()


Within = tuple[str, str | None, datetime, datetime]
"""(host, PCI address or None for all of the host, from, until)."""


async def violations_within(session: ReadSession, since: datetime, policy_ids: Sequence[str], times: Sequence[Within]) -> Sequence[Any]:
    """(policy, hour, violations) of these policies at these places and times, each once; hours counted from `since`.

    The row that stands for the rest of a flood names no RNIC, and counts for each.
    """
    kinds: list[ARRAY[Any]] = [ARRAY(Text()), ARRAY(Text()), ARRAY(DateTime(timezone=True)), ARRAY(DateTime(timezone=True))]
    arrays = [cast(literal(list(values), kind), kind) for values, kind in zip(zip(*times, strict=True), kinds, strict=True)]
    within = func.unnest(*arrays).table_valued("host", "pci", "since", "until", name="within").render_derived().alias("within")
    at_once = (
        select(_e.time, _e.host_id, _e.pci, _OF.label("policy"), _COUNTED.label("violations"))
        .distinct()
        .join_from(within, host, host.c.host == within.c.host)
        .join(event, _e.host_id == host.c.host_id)
        .where(_e.kind == VIOLATED, _e.time > since, _e.time >= within.c.since, _e.time <= within.c.until)
        .where(_OF.in_(policy_ids), or_(within.c.pci.is_(None), within.c.pci == _e.pci, _e.pci == ""))
        .subquery()
    )
    c = at_once.c
    hour = func.floor(func.extract("epoch", c.time - since) / 3600).cast(Integer)
    query = select(c.policy, hour.label("hour"), func.sum(c.violations).label("violations")).group_by(c.policy, "hour")
    return (await session.execute(query)).all()


async def last_violations(session: ReadSession, policy_ids: Sequence[str], since: datetime) -> dict[str, datetime]:
    query = (
        select(_OF.label("policy"), func.max(_e.time)).where(_e.kind == VIOLATED, _e.time > since, _OF.in_(policy_ids)).group_by("policy")
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def violations(
    session: ReadSession,
    policy_id: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    of_host: str | None = None,
    pci: str | None = None,
    after: tuple[datetime, int, str] | None = None,
    limit: int,
) -> Sequence[Any]:
    """Newest first: (time, host_id, host, pci, detail, other)."""
    query = (
        select(_e.time, _e.host_id, host.c.host, _e.pci, _e.detail, _e.other)
        .join(host, host.c.host_id == _e.host_id)
        .where(_e.kind == VIOLATED, policy_id == _OF)
        .order_by(_e.time.desc(), _e.host_id.desc(), _e.pci.desc())
        .limit(limit)
    )
    if since is not None:
        query = query.where(_e.time >= since)
    if until is not None:
        query = query.where(_e.time < until)
    if of_host is not None:
        query = query.where(host.c.host == of_host)
    if pci is not None:
        query = query.where(_e.pci == pci)
    if after is not None:
        query = query.where(tuple_(_e.time, _e.host_id, _e.pci) < after)
    return (await session.execute(query)).all()


async def violation(session: ReadSession, policy_id: str, at: datetime, host_id: int, pci: str) -> Any:
    query = (
        select(_e.time, _e.host_id, host.c.host, _e.pci, _e.detail, _e.other)
        .join(host, host.c.host_id == _e.host_id)
        .where(_e.kind == VIOLATED, policy_id == _OF, _e.time == at, _e.host_id == host_id, _e.pci == pci)
    )
    return (await session.execute(query)).one_or_none()


async def buckets(
    session: ReadSession,
    since: datetime,
    until: datetime,
    step_s: int,
    *,
    policy_id: str | None = None,
    of_host: str | None = None,
    pci: str = "",
) -> Sequence[Any]:
    """(policy, pci, bucket, violations, subjects, unknown): of one policy over the fleet, or of all policies on an RNIC and its host."""
    bucket = func.time_bucket(timedelta(seconds=step_s), _s.time, _EPOCH)
    of_rnic = _s.pci if of_host is not None else literal_column("''")
    query = (
        select(
            _s.policy,
            of_rnic.label("pci"),
            bucket.label("bucket"),
            func.coalesce(func.sum(_s.violations), 0).label("violations"),
            func.coalesce(func.max(_s.subjects), 0).label("subjects"),
            func.coalesce(func.max(_s.unknown), 0).label("unknown"),
        )
        .where(_s.time >= since - VALID_FOR, _s.time < until)
        .group_by(_s.policy, *([_s.pci] if of_host is not None else []), bucket)
        .order_by(bucket)
    )
    if policy_id is not None:
        query = query.where(_s.policy == policy_id)
    if of_host is not None:
        host_id = select(host.c.host_id).where(host.c.host == of_host).scalar_subquery()
        query = query.where(_s.host_id == host_id, _s.pci.in_(("", pci)))
    return (await session.execute(query)).all()


async def events(
    session: ReadSession, kinds: Sequence[str], since: datetime, until: datetime, of_host: str | None, pci: str | None, most: int
) -> AsyncIterator[Sequence[Any]]:
    """Pages of (time, host, pci, kind, other) in the order of time; of an RNIC also what concerns no RNIC, such as a boot."""
    query = (
        select(_e.time, host.c.host, _e.pci, _e.kind, _e.other)
        .join(host, host.c.host_id == _e.host_id)
        .where(_e.kind.in_(kinds), _e.time >= since, _e.time < until)
        .order_by(_e.time, _e.host_id, _e.pci, _e.kind)
        .limit(most)
    )
    if of_host is not None:
        query = query.where(host.c.host == of_host)
    if pci is not None:
        query = query.where(_e.pci.in_(("", pci)))
    await session.one_transaction()
    result = await session.stream(query.execution_options(yield_per=5000))
    async for page in result.partitions(5000):
        yield page
