"""Samples of all ages: the newest hours are rows; on the Apache edition of TimescaleDB, older ones are packed (docs/decisions/0027).

`<hypertable>_all` is a view of both. What reads more than the last hour reads the view, and bounds `hour`: a packed hour is unpacked as a
whole, so without a bound a query would unpack a week. Name the RNICs with `of_rnics`, too: PostgreSQL passes a constant on to the packed
hours, but not the condition of a join.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import psycopg
from sqlalchemy import Column, ColumnElement, DateTime, MetaData, Table, and_, any_, func, select, true

from wallwatch.store.tables import mask_sample, offload_sample, rnic, rnic_sample, vf_sample

HOUR = timedelta(hours=1)
PACKED = (rnic_sample.name, offload_sample.name, mask_sample.name, vf_sample.name)
"""Hypertables whose hours are packed: most of what a fleet sends. Masks and functions have further keys, and their arrays are in the order
of these and then of the times (docs/decisions/0050)."""
MINUTES = ("rnic_1m_rollup", "offload_1m_rollup")
"""One-minute aggregates whose hours are packed (docs/decisions/0042). Their views, `rnic_1m` and `offload_1m`, have all minutes and need
no condition on `hour`."""
BUSY = (psycopg.errors.SerializationFailure, psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
"""Errors of packing an hour that others read or write: nothing has changed, and the next turn tries again."""
MINUTES_OF_HOURS = "minutes_packed"
"""The minutes of all packed hours: through it a condition on `bucket` finds the hours to read."""


def _view(table: Table) -> Table:
    columns: list[Column[object]] = [Column(column.name, column.type) for column in table.columns]
    return Table(view_name(table.name), MetaData(), *columns, Column("hour", DateTime(timezone=True)))


def view_name(table: str) -> str:
    """The view of all samples; the table itself where none are packed.

    >>> view_name("offload_sample"), view_name("function_sample")
    ('offload_sample_all', 'function_sample')
    """
    return f"{table}_all" if table in PACKED else table


def table_name(table: str) -> str:
    """Where the packed hours of a hypertable are."""
    return f"{table}_packed"


rnic_sample_all = _view(rnic_sample)
offload_sample_all = _view(offload_sample)
mask_sample_all = _view(mask_sample)
vf_sample_all = _view(vf_sample)
_VIEWS = dict(zip(PACKED, (rnic_sample_all, offload_sample_all, mask_sample_all, vf_sample_all), strict=True))


def all_of(table: Table) -> Table:
    """The view of all samples of a hypertable; the hypertable itself where none are packed."""
    return _VIEWS.get(table.name, table)


def hours_within(samples: Table, start: datetime, end: datetime | None = None) -> ColumnElement[bool]:
    """The hours that may have samples from `start` to `end`; the times themselves are the caller's to compare."""
    if "hour" not in samples.c:
        return true()
    bounds = [samples.c.hour > start - HOUR]
    if end is not None:
        bounds.append(samples.c.hour <= end)
    return and_(*bounds)


def of_rnics(samples: Table, *where: ColumnElement[bool]) -> ColumnElement[bool]:
    """The samples of the RNICs for which the conditions on `rnic` hold."""
    numbers = select(rnic.c.rnic_id).where(*where).scalar_subquery()
    return samples.c.rnic_id == any_(func.array(numbers))
