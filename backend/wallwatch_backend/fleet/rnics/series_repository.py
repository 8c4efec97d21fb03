"""Queries of samples in buckets of time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Double, Row, Table, case, cast, func, select

from wallwatch.domain.telemetry.registry import MetricField, measurements
from wallwatch.store.packed import all_of, hours_within
from wallwatch.store.tables import host as host_table
from wallwatch.store.tables import metadata
from wallwatch_backend.kit.database import ReadSession

_LONGEST_GAP_S = 300  # a counter's growth over a longer silence belongs to no bucket


def _value(table: Table, field: MetricField) -> ColumnElement[Any]:
    if field.stored == "column":
        return table.c[field.name]
    return cast(table.c.other[field.name].astext, Double)


async def bucketed(
    session: ReadSession, measurement: str, fields: Sequence[MetricField], identity: Row[Any], start: datetime, end: datetime, step_s: int
) -> Sequence[Row[Any]]:
    """Per bucket the mean of each gauge, and the mean growth per second of each counter (null where it decreased: a reset)."""
    table = all_of(metadata.tables[measurements()[measurement].table])
    if "rnic_id" in table.c:
        mine = table.c.rnic_id == identity.rnic_id
    else:
        mine = table.c.host_id == select(host_table.c.host_id).where(host_table.c.host == identity.host).scalar_subquery()
    counters = [field for field in fields if field.kind == "counter"]
    # A counter's first growth in the interval needs the sample before it.
    from_time = start - timedelta(seconds=_LONGEST_GAP_S) if counters else start
    order = [table.c.time]
    partition = [table.c.datapath] if "datapath" in table.c else []
    raw: list[ColumnElement[Any]] = [table.c.time.label("time")]
    for i, field in enumerate(fields):
        value = _value(table, field)
        if field.kind == "counter":
            before = func.lag(value).over(order_by=order, partition_by=partition or None)
            passed = func.extract("epoch", table.c.time - func.lag(table.c.time).over(order_by=order, partition_by=partition or None))
            good = (value >= before) & (passed > 0) & (passed <= _LONGEST_GAP_S)
            raw.append(case((good, cast(value - before, Double) / passed), else_=None).label(f"v{i}"))
        else:
            raw.append(cast(value, Double).label(f"v{i}"))
    within = (table.c.time >= from_time, table.c.time < end, hours_within(table, from_time, end))
    samples = select(*raw).where(mine, *within).subquery()
    # The origin is 1970, so that buckets of any length begin where `steps` puts them.
    bucket = func.time_bucket(timedelta(seconds=step_s), samples.c.time, datetime.fromisoformat("1970-01-01T00:00:00+00:00"))
    query = (
        select(bucket.label("bucket"), *(func.avg(samples.c[f"v{i}"]) for i in range(len(fields))))
        .where(samples.c.time >= start)
        .group_by("bucket")
        .order_by("bucket")
    )
    return (await session.execute(query)).all()
