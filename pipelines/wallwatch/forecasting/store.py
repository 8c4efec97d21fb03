"""Minutes of RNICs from the store: one-minute aggregates for what is past, raw samples for the minute that has just ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import polars as pl
import psycopg

from wallwatch.domain.forecast.card import Card
from wallwatch.domain.forecast.peers import Report, owners_of, shares
from wallwatch.domain.forecast.targets import targets
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.history import COUNTS, Q_INGRESS, SPREADS, Rnic, history
from wallwatch.forecasting.ports import COUNTERS
from wallwatch.forecasting.remote import REPORTS, report_of

FIELDS = (*(t.field for t in targets() if t.field is not None), Q_INGRESS)

ADDRESSES_MIN = 5
"""Tunnel addresses are reported every 30 s and change seldom."""
DECLINES_MIN = 15
"""A forecast from longer ago says nothing of now."""
RNICS_AT_A_TIME = 200
"""A week of so many RNICs is two million rows: about a gigabyte while they are read, and a tenth of that afterwards."""

_MINUTE = "(extract(epoch FROM {time}) / 60)::bigint"
# Fields are those of the registry, never input.
_ROLLED_UP = (
    f"SELECT rnic_id, {_MINUTE.format(time='bucket')} AS minute, {', '.join(f'{f}_avg' for f in FIELDS)} FROM offload_1m "  # noqa: S608
    "WHERE bucket >= %(since)s AND bucket < %(until)s AND (%(only)s::int[] IS NULL OR rnic_id = ANY(%(only)s))"
)
_SPREADS = ", ".join(f"avg((other ->> '{s}')::float8)" for s in SPREADS)
_RAW = (
    f"SELECT rnic_id, {_SPREADS}, {', '.join(f'avg({f})::float8' for f in FIELDS)} "  # noqa: S608
    "FROM offload_sample WHERE time >= %(since)s AND time < %(until)s GROUP BY rnic_id"
)
_OF_PEERS = "other ->> 'peers', (other ->> 'peers_other_packets_per_s')::float8"
_REPORT = f"{_OF_PEERS}, other ->> 'tunnel_addresses', other ->> 'tunnel_sources', q_ingress"
_REPORTED = "(other ? 'peers' OR other ? 'tunnel_addresses')"
_REPORTS = (
    f"SELECT DISTINCT ON (rnic_id) rnic_id, {_REPORT} FROM offload_sample "  # noqa: S608
    f"WHERE time >= %(since)s AND time < %(until)s AND {_REPORTED} ORDER BY rnic_id, time DESC"
)
# One report in an hour says enough of who talks to whom, and two minutes hold at least one of each RNIC.
_HOURLY = f"""
SELECT DISTINCT ON (rnic_id, h) rnic_id, {_MINUTE.format(time="time")}, {_REPORT}
FROM generate_series(%(since)s::timestamptz, %(until)s::timestamptz, '1 hour') AS h
JOIN offload_sample ON time >= h AND time < h + INTERVAL '2 minutes' AND time < %(until)s
WHERE rnic_id = ANY(%(only)s) AND {_REPORTED} ORDER BY rnic_id, h, time
"""  # noqa: S608
_LINKS = (
    "SELECT rnic_id, min(pci_link_speed_gts), min(pci_link_width)::float8 FROM rnic_sample "
    "WHERE time >= %(since)s AND time < %(until)s AND pci_link_speed_gts > 0 AND pci_link_width > 0 GROUP BY rnic_id"
)


_HIDDEN = "(other ->> '{}')::float8"


def _rate(names: tuple[str, ...]) -> str:
    """A counter's growth a second; where a card has no column for it, from the fields that have none."""
    column, *others = names
    value = f"COALESCE({', '.join([f'{column}::float8', *map(_HIDDEN.format, others)])})"
    return f"(last({value}, time) - first({value}, time)) / NULLIF(extract(epoch FROM max(time) - min(time))::float8, 0)"


_PORTS = (
    f"SELECT rnic_id, avg(tx_gbps)::float8, {', '.join(map(_rate, COUNTERS.values()))} FROM rnic_sample "  # noqa: S608
    "WHERE time >= %(since)s AND time < %(until)s GROUP BY rnic_id"
)
_CONTAINERS = f"""
SELECT h.host, e.pci, {_MINUTE.format(time="e.time")}, sum(CASE e.kind WHEN 'cni_add' THEN 1 ELSE -1 END)::int
FROM event e JOIN host h USING (host_id)
WHERE e.kind = ANY(%(kinds)s) AND e.pci <> '' AND e.time >= %(since)s AND e.time < %(until)s GROUP BY 1, 2, 3
"""  # noqa: S608
_VIOLATED = """
SELECT DISTINCT h.host, e.pci FROM event e JOIN host h USING (host_id)
WHERE e.kind = 'policy_violated' AND e.time >= %(since)s AND e.time < %(until)s
"""

# As above: nothing in it is input.
_DECLINING = (
    f"SELECT rnic_id, {_MINUTE.format(time='decline_since')} FROM rnic_forecast "  # noqa: S608
    "WHERE decline_since IS NOT NULL AND made_at > %(since)s AND made_at <= %(until)s"
)


_JUDGED = "SELECT live -> 'judged' FROM forecast_model WHERE id = %s"


class Known(NamedTuple):
    """An RNIC that the store knows."""

    host: str
    pci: str
    rack: str
    model: Card | None


def rnics(connection: psycopg.Connection[Any]) -> dict[int, Known]:
    """All RNICs by number."""
    rows = connection.execute("SELECT rnic_id, host, pci, rack, model, driver, fw_ver FROM rnic ORDER BY host, pci")
    return {row[0]: Known(row[1], row[2], row[3], Card(*row[4:]) if row[4] else None) for row in rows}


def rolled_up(connection: psycopg.Connection[Any], first: int, last: int, only: list[int] | None = None) -> list[tuple[Any, ...]]:
    """Aggregates of the minutes from `first` to before `last`: (rnic_id, minute, fields...), of all RNICs or of some."""
    return connection.execute(_ROLLED_UP, {**_between(first, last), "only": only}).fetchall()


def newest(connection: psycopg.Connection[Any], minute: int) -> list[tuple[Any, ...]]:
    """Means of the samples of one minute: (rnic_id, spread of egress positions, of ingress positions, fields...)."""
    return connection.execute(_RAW, _between(minute, minute + 1)).fetchall()


def reports(connection: psycopg.Connection[Any], first: int, last: int) -> dict[int, Report]:
    """The newest report of each RNIC, by number, of whom it talks to."""
    return {row[0]: report_of(row[1:]) for row in connection.execute(_REPORTS, _between(first, last))}


def links(connection: psycopg.Connection[Any], minute: int) -> list[tuple[int, float, float]]:
    """PCIe links in one minute: (rnic_id, GT/s, lanes)."""
    return connection.execute(_LINKS, _between(minute, minute + 1)).fetchall()


def ports(connection: psycopg.Connection[Any], minute: int) -> list[tuple[Any, ...]]:
    """What was sent in one minute, Gbit/s, and how fast the counters of `ports.COUNTERS` grew: (rnic_id, tx_gbps, rates...)."""
    return connection.execute(_PORTS, _between(minute, minute + 1)).fetchall()


def containers(connection: psycopg.Connection[Any], first: int, last: int) -> list[tuple[str, str, int, int]]:
    """Containers started less ended: (host, pci, minute, change)."""
    return connection.execute(_CONTAINERS, {**_between(first, last), "kinds": list(COUNTS)}).fetchall()


def violated(connection: psycopg.Connection[Any], first: int, last: int) -> set[Rnic]:
    """RNICs on which a policy was violated; with an empty PCI address the whole host."""
    return set(connection.execute(_VIOLATED, _between(first, last)).fetchall())


def declining(connection: psycopg.Connection[Any], minute: int) -> list[tuple[int, int]]:
    """Declines that were being said in the quarter of an hour before the end of a minute: (rnic_id, minute of the first that said so)."""
    rows = connection.execute(_DECLINING, _between(minute - DECLINES_MIN, minute + 1))
    return [(rnic_id, since - 1) for rnic_id, since in rows]


def judged(connection: psycopg.Connection[Any], model: str) -> Mapping[str, Any] | None:
    """What the job `forecast` says of a challenger beside its champion (`duel.Duel.describe`); None where it says nothing."""
    row = connection.execute(_JUDGED, [model]).fetchone()
    return row[0] if row else None


def read(connection: psycopg.Connection[Any], first: int, last: int) -> list[History]:
    """The history of the fleet from minute `first` to before `last`, for training, in parts of some hundred RNICs of whole hosts."""
    return list(read_parts(connection, first, last, parts(connection)))


def parts(connection: psycopg.Connection[Any]) -> list[list[int]]:
    """The fleet in parts of some hundred RNICs of whole hosts, by number."""
    by_host: dict[str, list[int]] = {}
    for rnic_id, one in rnics(connection).items():
        by_host.setdefault(one.host, []).append(rnic_id)
    found: list[list[int]] = []
    for numbers in by_host.values():
        if not found or len(found[-1]) >= RNICS_AT_A_TIME:
            found.append([])
        found[-1] += numbers
    return found


def read_parts(connection: psycopg.Connection[Any], first: int, last: int, some: Sequence[list[int]]) -> Iterator[History]:
    """The history of some parts of the fleet, one after another."""
    known = rnics(connection)
    changes = pl.DataFrame(containers(connection, first, last), schema=["host", "pci", "minute", "change"], orient="row")
    owners = owners_of(reports(connection, last - ADDRESSES_MIN, last))
    for numbers in some:
        yield _part(connection, first, last, known, numbers, owners, changes)


def _part(
    connection: psycopg.Connection[Any],
    first: int,
    last: int,
    known: Mapping[int, Known],
    some: list[int],
    owners: Mapping[str, Sequence[int]],
    changes: pl.DataFrame,
) -> History:
    """The history of some RNICs, with what the ingress chains of all their peers were."""
    told = connection.execute(_HOURLY, {**_between(first, last), "only": some}).fetchall()
    peers = {one for row in told for address in shares(row[2] or "") for one in owners.get(address, ())} & known.keys() - set(some)
    rows = rolled_up(connection, first, last, sorted({*some, *peers}))
    # Of peers in other parts it matters whose their addresses are and what met packets there, not whom they send to.
    told += [(*row[:2], None, None, *row[4:]) for row in connection.execute(_HOURLY, {**_between(first, last), "only": sorted(peers)})]
    report = pl.DataFrame([(known[i].host, known[i].pci, *rest) for i, *rest in told], schema=REPORTS, orient="row", strict=False)
    samples = pl.DataFrame(
        {
            "host": [known[row[0]].host for row in rows],
            "pci": [known[row[0]].pci for row in rows],
            "minute": [row[1] for row in rows],
            **{field: [row[2 + i] for row in rows] for i, field in enumerate(FIELDS)},
        },
        schema_overrides=dict.fromkeys(FIELDS, pl.Float64),
    )
    return history(samples, changes, {(known[i].host, known[i].pci): known[i].model for i in some}, reports=report)


def _between(first: int, last: int) -> dict[str, Any]:
    return {"since": datetime.fromtimestamp(first * 60, UTC), "until": datetime.fromtimestamp(last * 60, UTC)}
