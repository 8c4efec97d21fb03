"""Fields of one RNIC over time, in equal steps, null where nothing was measured."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from wallwatch.domain.telemetry.registry import MetricField, measurements
from wallwatch_backend.fleet.rnics import series_repository
from wallwatch_backend.fleet.rnics.schemas import Series, SeriesField
from wallwatch_backend.fleet.rnics.service import identity_of, interval
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import InvalidInput

MAX_FIELDS = 20
MAX_STEPS = 5000
DEFAULT_STEPS = 300
MEASUREMENTS = ("rnic", "rnic_offload", "ovs_datapath")  # in the order in which an unqualified name is looked up


@dataclass(frozen=True)
class Requested:
    """A field as the caller named it, and where it is stored."""

    name: str
    measurement: str
    field: MetricField


def resolve(names: str) -> list[Requested]:
    """Look field names up: `tx_gbps`, or `ovs_datapath.flows` where the plain name belongs to another measurement too.

    >>> [(r.measurement, r.field.name) for r in resolve("tx_gbps,ovs_datapath.flows")]
    [('rnic', 'tx_gbps'), ('ovs_datapath', 'flows')]
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not wanted or len(wanted) > MAX_FIELDS:
        raise InvalidInput(f"Give 1 to {MAX_FIELDS} field names in `fields`, separated by commas.")
    return [_resolve_one(name) for name in wanted]


def _resolve_one(name: str) -> Requested:
    measurement, _, plain = name.rpartition(".")
    for candidate in (measurement,) if measurement else MEASUREMENTS:
        field = measurements()[candidate].fields.get(plain) if candidate in MEASUREMENTS else None
        if field is not None and field.numeric:
            return Requested(name, candidate, field)
    raise InvalidInput(f"{name!r} is not a numeric field of an RNIC; GET /api/v1/catalogue lists them.")


def steps(start: datetime, end: datetime, step_s: int | None) -> tuple[int, list[datetime]]:
    """Return the step and the beginning of each, aligned to whole steps since 1970 (as `time_bucket` does)."""
    span_s = (end - start).total_seconds()
    step = step_s or max(1, math.ceil(span_s / DEFAULT_STEPS))
    if span_s / step > MAX_STEPS:
        raise InvalidInput(f"That would be more than {MAX_STEPS} steps; use a longer `step_s` or a shorter interval.")
    first = math.floor(start.timestamp() / step) * step
    count = math.ceil((end.timestamp() - first) / step)
    return step, [datetime.fromtimestamp(first, UTC) + timedelta(seconds=step * i) for i in range(count)]


async def get_series(
    session: ReadSession, host: str, pci: str, fields: str, since: datetime | None, until: datetime | None, step_s: int | None
) -> Series:
    requested = resolve(fields)
    start, end = interval(since, until)
    step, times = steps(start, end, step_s)
    identity = await identity_of(session, host, pci)
    position = {at: i for i, at in enumerate(times)}
    values: dict[str, list[float | None]] = {r.name: [None] * len(times) for r in requested}
    for measurement in MEASUREMENTS:
        here = [r for r in requested if r.measurement == measurement]
        if not here:
            continue
        rows = await series_repository.bucketed(session, measurement, [r.field for r in here], identity, times[0], end, step)
        for row in rows:
            index = position.get(row[0])
            if index is not None:
                for r, value in zip(here, tuple(row)[1:], strict=True):
                    values[r.name][index] = None if value is None else float(value)
    shown = [SeriesField(name=r.name, label=r.field.label, unit=unit_of(r.field)) for r in requested]
    return Series(**{"from": start, "to": end}, step_s=step, fields=shown, times=times, values=values)


def unit_of(field: MetricField) -> str:
    """Return the unit of a series; counters are rates per second."""
    return f"{field.unit}/s" if field.kind == "counter" else field.unit
