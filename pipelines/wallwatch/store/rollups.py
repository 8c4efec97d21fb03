"""Aggregates of a minute and of a day, under the same view names on both editions of TimescaleDB.

`rnic_1m` and `offload_1m` have `bucket`, `rnic_id`, `samples`, for each gauge `<column>_avg`, `_min`, `_max`, and for each counter
`<column>_min`, `_max` (their difference is the minute's increase unless the counter was reset).
`vf_day` has the seconds of `vf_minute` summed by VF, pod and day (UTC).
"""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.telemetry.registry import measurements
from wallwatch.store.isolation_tables import SECONDS


@dataclass(frozen=True)
class Rollup:
    """A view of aggregates and, if the edition has no continuous aggregates, the table behind it."""

    view: str
    table: str
    source: str
    aggregates: tuple[tuple[str, str], ...]
    """Column name and SQL expression, in order."""
    width: str = "1 minute"
    keys: tuple[str, ...] = ("rnic_id",)
    refresh_every_s: float = 0.0
    """On the edition without continuous aggregates: shortest time between two computations, seconds."""

    @property
    def width_s(self) -> int:
        """Length of a bucket, seconds."""
        return {"1 minute": 60, "1 day": 86_400}[self.width]

    @property
    def select(self) -> str:
        """The aggregating query without a WHERE clause."""
        columns = ", ".join(f"{expression} AS {name}" for name, expression in self.aggregates)
        keys = ", ".join(self.keys)
        return f"SELECT {keys}, time_bucket(INTERVAL '{self.width}', time) AS bucket, count(*) AS samples, {columns} FROM {self.source}"  # noqa: S608 - names of the registry

    @property
    def group_by(self) -> str:
        """The positions of keys and bucket in `select`."""
        return ", ".join(str(i + 1) for i in range(len(self.keys) + 1))


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


_VF_DAY = Rollup(
    view="vf_day",
    table="vf_day_rollup",
    source="vf_minute",
    aggregates=tuple((name, f"sum({name})") for name in SECONDS),
    width="1 day",
    keys=("rnic_id", "vf", "tenant", "pod"),
    refresh_every_s=120.0,  # a whole day is read each time; today's newest seconds come from `vf_broken`
)

ROLLUPS: tuple[Rollup, ...] = (_rollup("rnic_1m", "rnic"), _rollup("offload_1m", "rnic_offload"), _VF_DAY)


def refresh_statement(rollup: Rollup) -> str:
    """SQL that recomputes the buckets from %(start)s up to %(end)s; running it twice changes nothing."""
    names = [name for name, _ in rollup.aggregates]
    updates = ", ".join(f"{name} = excluded.{name}" for name in ["samples", *names])
    keys = ", ".join([*rollup.keys, "bucket"])
    # Names come from the registry, never from input.
    return (
        f"INSERT INTO {rollup.table} ({keys}, samples, {', '.join(names)}) "
        f"{rollup.select} WHERE time >= %(start)s AND time < %(end)s GROUP BY {rollup.group_by} "
        f"ON CONFLICT ({keys}) DO UPDATE SET {updates}"
    )
