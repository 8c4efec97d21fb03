"""One-minute aggregates, under the same view names on both editions of TimescaleDB.

`rnic_1m` and `offload_1m` have `bucket`, `rnic_id`, `samples`, for each gauge `<column>_avg`, `_min`, `_max`, and for each counter
`<column>_min`, `_max` (their difference is the minute's increase unless the counter was reset).
"""

from __future__ import annotations

from dataclasses import dataclass

from wallwatch.domain.telemetry.registry import measurements


@dataclass(frozen=True)
class Rollup:
    """A view of aggregates and, if the edition has no continuous aggregates, the table behind it."""

    view: str
    table: str
    source: str
    aggregates: tuple[tuple[str, str], ...]
    """Column name and SQL expression, in order."""

    @property
    def select(self) -> str:
        """The aggregating query without a WHERE clause."""
        columns = ", ".join(f"{expression} AS {name}" for name, expression in self.aggregates)
        return f"SELECT rnic_id, time_bucket(INTERVAL '1 minute', time) AS bucket, count(*) AS samples, {columns} FROM {self.source}"  # noqa: S608 - names of the registry


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


ROLLUPS: tuple[Rollup, ...] = (_rollup("rnic_1m", "rnic"), _rollup("offload_1m", "rnic_offload"))


def refresh_statement(rollup: Rollup) -> str:
    """SQL that recomputes the buckets from %(start)s up to %(end)s; running it twice changes nothing."""
    names = [name for name, _ in rollup.aggregates]
    updates = ", ".join(f"{name} = excluded.{name}" for name in ["samples", *names])
    # Names come from the registry, never from input.
    return (
        f"INSERT INTO {rollup.table} (rnic_id, bucket, samples, {', '.join(names)}) "
        f"{rollup.select} WHERE time >= %(start)s AND time < %(end)s GROUP BY 1, 2 "
        f"ON CONFLICT (rnic_id, bucket) DO UPDATE SET {updates}"
    )
