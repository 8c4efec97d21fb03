"""Aggregates of minutes, hours and days, under the same view names on both editions of TimescaleDB.

`rnic_1m` and `offload_1m` have `bucket`, `rnic_id`, `samples`, for each gauge `<column>_avg`, `_min`, `_max`, and for each counter
`<column>_min`, `_max` (their difference is the minute's increase unless the counter was reset). On the Apache edition,
past hours are packed.

Isolation has two chains from `vf_minute`, each with the seconds summed and the number of minutes in `samples`:

- `tenant_1m` by tenant, and `tenant_hour` from it. `vfs` is the number of VFs that the tenant held, in an hour the largest of its minutes.
- `vf_hour` by VF, tenant and pod, and `vf_day` (UTC) from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.telemetry.registry import measurements
from wallwatch.store import packed
from wallwatch.store.isolation_tables import SECONDS

_WIDTHS_S = {"1 minute": 60, "1 hour": 3_600, "1 day": 86_400}


@dataclass(frozen=True)
class Rollup:
    """A view of aggregates and, if the edition has no continuous aggregates, the table behind it."""

    view: str
    table: str
    source: str
    """A hypertable, or the view of a narrower roll-up."""
    aggregates: tuple[tuple[str, str], ...]
    """Column name and SQL expression, in order."""
    width: str = "1 minute"
    keys: tuple[str, ...] = ("rnic_id",)
    samples: str = "count(*)"
    """How many rows of the first source a bucket has."""
    source_time: str = "time"
    by_time: bool = False
    """The table is ordered by bucket first, and a refresh removes rows whose key is gone. For these, ingest notes each bucket that
    received rows; for the others, the first."""
    short_lived: bool = False
    """Kept for as long as samples are; the others stay longer."""
    refresh_every_s: float = 0.0
    """On the edition without continuous aggregates: shortest time between two computations, seconds."""
    most_share: float = 0.25
    """There: part of the time for which it may be computed."""

    @property
    def width_s(self) -> int:
        """Length of a bucket, seconds."""
        return _WIDTHS_S[self.width]

    @property
    def select(self) -> str:
        """The aggregating query without a WHERE clause."""
        return self.select_from(self.source)

    def select_from(self, source: str) -> str:
        """The same from another relation with the columns of the source."""
        columns = ", ".join(f"{expression} AS {name}" for name, expression in self.aggregates)
        keys = ", ".join(self.keys)
        bucket = f"time_bucket(INTERVAL '{self.width}', {self.source_time}) AS bucket"
        return f"SELECT {keys}, {bucket}, {self.samples} AS samples, {columns} FROM {source}"  # noqa: S608 - names of the registry

    @property
    def group_by(self) -> str:
        """The positions of keys and bucket in `select`."""
        return ", ".join(str(i + 1) for i in range(len(self.keys) + 1))

    @property
    def identity(self) -> tuple[str, ...]:
        """Columns of the primary key, in order."""
        return ("bucket", *self.keys) if self.by_time else (*self.keys, "bucket")


def _rollup(view: str, measurement: str) -> Rollup:
    found = measurements()[measurement]
    aggregates: list[tuple[str, str]] = []
    for field in found.columns:
        if not field.numeric:
            continue
        functions = ("min", "max") if field.kind == "counter" else ("avg", "min", "max")
        # avg() of a bigint is numeric, which neither the views nor their readers want.
        aggregates.extend((f"{field.name}_{f}", f"{f}({field.name}){'::double precision' if f == 'avg' else ''}") for f in functions)
    return Rollup(view=view, table=f"{view}_rollup", source=found.table, aggregates=tuple(aggregates))


_SUMS = tuple((name, f"sum({name})") for name in SECONDS)
_OF_ROLLUP = "sum(samples)::bigint"  # the sum of a bigint is numeric
_BY_VF = ("rnic_id", "vf", "tenant", "pod")

VF_HOUR = Rollup(
    view="vf_hour",
    table="vf_hour_rollup",
    source="vf_minute",
    aggregates=_SUMS,
    width="1 hour",
    keys=_BY_VF,
    by_time=True,
    short_lived=True,
    refresh_every_s=60.0,  # the newest broken seconds come from `vf_broken`
    most_share=0.05,  # an hour is read as a whole each time: one that takes 20 s, every 400 s
)
VF_DAY = Rollup(
    view="vf_day",
    table="vf_day_rollup",
    source="vf_hour",
    aggregates=_SUMS,
    width="1 day",
    keys=_BY_VF,
    samples=_OF_ROLLUP,
    source_time="bucket",
    by_time=True,
    refresh_every_s=60.0,
    most_share=0.05,
)
TENANT_1M = Rollup(
    view="tenant_1m",
    table="tenant_1m_rollup",
    source="vf_minute",
    aggregates=(("vfs", "count(*)"), *_SUMS),  # a VF has one row per minute, and two in which it was bound again
    keys=("tenant",),
    by_time=True,
    short_lived=True,
)
TENANT_HOUR = Rollup(
    view="tenant_hour",
    table="tenant_hour_rollup",
    source="tenant_1m",
    aggregates=(("vfs", "max(vfs)"), *_SUMS),
    width="1 hour",
    keys=("tenant",),
    samples=_OF_ROLLUP,
    source_time="bucket",
    by_time=True,
)

ISOLATION_ROLLUPS = (TENANT_1M, TENANT_HOUR, VF_HOUR, VF_DAY)
"""Each after its source."""

ROLLUPS: tuple[Rollup, ...] = (_rollup("rnic_1m", "rnic"), _rollup("offload_1m", "rnic_offload"), *ISOLATION_ROLLUPS)


def refresh_statement(rollup: Rollup, only_changed: bool = False, of_rnics: bool = False) -> str:
    """SQL that recomputes the buckets from %(start)s up to %(end)s; running it twice changes nothing.

    With `of_rnics`, those of the RNICs %(rnics)s only.

    With `only_changed`, no row is written that the view has already: buckets of packed hours are no rows, so each would be written again.

    A minute that is written again may name another pod: where keys can change like that (`by_time`), rows without a source are removed.
    """
    names = ["samples", *(name for name, _ in rollup.aggregates)]
    columns = ", ".join([*rollup.keys, "bucket", *names])
    updates = ", ".join(f"{name} = excluded.{name}" for name in names)
    changed = f"({', '.join(f'old.{name}' for name in names)}) IS DISTINCT FROM ({', '.join(f'excluded.{name}' for name in names)})"
    same = " AND ".join(f"fresh.{name} = old.{name}" for name in rollup.identity)
    some = " AND rnic_id = ANY (%(rnics)s)" if of_rnics else ""
    within = f"{rollup.source_time} >= %(start)s AND {rollup.source_time} < %(end)s{some}"
    if rollup.source in packed.PACKED:  # a late sample's minute also has those that are packed
        within += " AND hour > %(start)s::timestamptz - INTERVAL '1 hour' AND hour < %(end)s"
    select = rollup.select_from(packed.view_name(rollup.source))
    gone = (
        f"DELETE FROM {rollup.table} AS old WHERE bucket >= %(start)s AND bucket < %(end)s{some}"  # noqa: S608 - names of the registry
        f" AND NOT EXISTS (SELECT FROM fresh WHERE {same})"
    )
    known = f"SELECT {columns} FROM {rollup.view} WHERE bucket >= %(start)s AND bucket < %(end)s{some}"  # noqa: S608 - as above
    written = f"(SELECT {columns} FROM fresh EXCEPT {known}) AS changed" if only_changed else "fresh"  # noqa: S608 - as above
    # Names come from the registry, never from input.
    return (
        f"WITH fresh AS MATERIALIZED ({select} WHERE {within} GROUP BY {rollup.group_by})"  # noqa: S608 - see above
        f"{f', gone AS ({gone})' if rollup.by_time else ''} "
        f"INSERT INTO {rollup.table} AS old ({columns}) SELECT {columns} FROM {written} "
        f"ON CONFLICT ({', '.join(rollup.identity)}) DO UPDATE SET {updates} WHERE {changed}"
    )
