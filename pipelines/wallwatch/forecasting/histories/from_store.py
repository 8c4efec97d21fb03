"""Histories from the store, for training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
import psycopg

from wallwatch.domain.forecast.peers import owners_of, shares
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.histories.assemble import history
from wallwatch.forecasting.histories.peer_queries import REPORTS
from wallwatch.forecasting.histories.store_queries import (
    ADDRESSES_MIN,
    FIELDS,
    MINUTE_OF,
    REPORT,
    REPORTED,
    Known,
    between,
    containers,
    reports,
    rnics,
    rolled_up,
)

RNICS_AT_A_TIME = 200
"""A week of this many RNICs is two million rows: about a gigabyte while they are read, and a tenth of that afterwards."""

# One report per hour is enough to know the peers, and two minutes contain at least one report of each RNIC.
_HOURLY = f"""
SELECT s.* FROM generate_series(%(since)s::timestamptz, %(until)s::timestamptz, '1 hour') AS h CROSS JOIN LATERAL (
  SELECT DISTINCT ON (rnic_id) rnic_id, {MINUTE_OF.format(time="time")}, {REPORT} FROM offload_sample_all
  WHERE time >= h AND time < h + INTERVAL '2 minutes' AND time < %(until)s
    AND hour > h - INTERVAL '1 hour' AND hour < h + INTERVAL '2 minutes' AND rnic_id = ANY(%(only)s) AND {REPORTED}
  ORDER BY rnic_id, time
) AS s ORDER BY rnic_id, h
"""  # noqa: S608


def read_histories(connection: psycopg.Connection[Any], first: int, last: int) -> list[History]:
    """The history of the fleet from minute `first` to before `last`, for training, in parts of some hundred RNICs of whole hosts."""
    return list(read_parts(connection, first, last, parts_of_fleet(connection)))


def parts_of_fleet(connection: psycopg.Connection[Any]) -> list[list[int]]:
    """The fleet in parts of some hundred RNICs of whole hosts, by number."""
    by_host: dict[str, list[int]] = {}
    for rnic_id, rnic in rnics(connection).items():
        by_host.setdefault(rnic.host, []).append(rnic_id)
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
    """The history of some RNICs, including the ingress chains of all their peers."""
    reported = connection.execute(_HOURLY, {**between(first, last), "only": some}).fetchall()
    peers = {one for row in reported for address in shares(row[2] or "") for one in owners.get(address, ())} & known.keys() - set(some)
    rows = rolled_up(connection, first, last, sorted({*some, *peers}))
    # From peers in other parts only the addresses and ingress lookups matter, not whom they send to.
    reported += [(*row[:2], None, None, *row[4:]) for row in connection.execute(_HOURLY, {**between(first, last), "only": sorted(peers)})]
    report = pl.DataFrame([(known[i].host, known[i].pci, *rest) for i, *rest in reported], schema=REPORTS, orient="row", strict=False)
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
