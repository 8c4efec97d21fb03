"""Queries of forecasts: one-minute aggregates for past minutes, raw samples for the minute that has just ended."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import psycopg

from wallwatch.domain.forecast.peers import Report
from wallwatch.domain.forecast.profile_lookup import RnicModel
from wallwatch.domain.forecast.targets import targets
from wallwatch.forecasting.histories.assemble import COUNTS, Q_INGRESS, SPREADS, Rnic
from wallwatch.forecasting.histories.peer_queries import report_of
from wallwatch.forecasting.histories.port_load import COUNTERS

FIELDS = (*(t.field for t in targets() if t.field is not None), Q_INGRESS)

ADDRESSES_MIN = 5
"""Tunnel addresses are reported every 30 s and rarely change."""
DECLINES_MIN = 15
"""Older forecasts are obsolete."""

MINUTE_OF = "(extract(epoch FROM {time}) / 60)::bigint"
# Fields are those of the registry, never input.
_ROLLED_UP = (
    f"SELECT rnic_id, {MINUTE_OF.format(time='bucket')} AS minute, {', '.join(f'{f}_avg' for f in FIELDS)} FROM offload_1m "  # noqa: S608
    "WHERE bucket >= %(since)s AND bucket < %(until)s AND (%(only)s::int[] IS NULL OR rnic_id = ANY(%(only)s))"
)
_SPREADS = ", ".join(f"avg((other ->> '{s}')::float8)" for s in SPREADS)
_RAW = (
    f"SELECT rnic_id, {_SPREADS}, {', '.join(f'avg({f})::float8' for f in FIELDS)} "  # noqa: S608
    "FROM offload_sample WHERE time >= %(since)s AND time < %(until)s GROUP BY rnic_id"
)
_OF_PEERS = "other ->> 'peers', (other ->> 'peers_other_packets_per_s')::float8"
REPORT = f"{_OF_PEERS}, other ->> 'tunnel_addresses', other ->> 'tunnel_sources', q_ingress"
REPORTED = "(other ? 'peers' OR other ? 'tunnel_addresses')"
_REPORTS = (
    f"SELECT DISTINCT ON (rnic_id) rnic_id, {REPORT} FROM offload_sample "  # noqa: S608
    f"WHERE time >= %(since)s AND time < %(until)s AND {REPORTED} ORDER BY rnic_id, time DESC"
)
_LINKS = (
    "SELECT rnic_id, min(pci_link_speed_gts), min(pci_link_width)::float8 FROM rnic_sample "
    "WHERE time >= %(since)s AND time < %(until)s AND pci_link_speed_gts > 0 AND pci_link_width > 0 GROUP BY rnic_id"
)


_HIDDEN = "(other ->> '{}')::float8"


def _rate(names: tuple[str, ...]) -> str:
    """A counter's growth per second; if it has no column, from the JSON fields."""
    column, *others = names
    value = f"COALESCE({', '.join([f'{column}::float8', *map(_HIDDEN.format, others)])})"
    return f"(last({value}, time) - first({value}, time)) / NULLIF(extract(epoch FROM max(time) - min(time))::float8, 0)"


_PORTS = (
    f"SELECT rnic_id, avg(tx_gbps)::float8, {', '.join(map(_rate, COUNTERS.values()))} FROM rnic_sample "  # noqa: S608
    "WHERE time >= %(since)s AND time < %(until)s GROUP BY rnic_id"
)
_CONTAINERS = f"""
SELECT h.host, e.pci, {MINUTE_OF.format(time="e.time")}, sum(CASE e.kind WHEN 'cni_add' THEN 1 ELSE -1 END)::int
FROM event e JOIN host h USING (host_id)
WHERE e.kind = ANY(%(kinds)s) AND e.pci <> '' AND e.time >= %(since)s AND e.time < %(until)s GROUP BY 1, 2, 3
"""  # noqa: S608
_VIOLATED = """
SELECT DISTINCT h.host, e.pci FROM event e JOIN host h USING (host_id)
WHERE e.kind = 'policy_violated' AND e.time >= %(since)s AND e.time < %(until)s
"""

# As above: no part of it is input.
_DECLINING = (
    f"SELECT rnic_id, {MINUTE_OF.format(time='decline_since')} FROM rnic_forecast "  # noqa: S608
    "WHERE decline_since IS NOT NULL AND made_at > %(since)s AND made_at <= %(until)s"
)


_JUDGED = "SELECT live -> 'judged' FROM forecast_model WHERE id = %s"


class Known(NamedTuple):
    """An RNIC in the store."""

    host: str
    pci: str
    rack: str
    model: RnicModel | None


def rnics(connection: psycopg.Connection[Any]) -> dict[int, Known]:
    """All RNICs by number."""
    rows = connection.execute("SELECT rnic_id, host, pci, rack, model, driver, fw_ver FROM rnic ORDER BY host, pci")
    return {row[0]: Known(row[1], row[2], row[3], RnicModel(*row[4:]) if row[4] else None) for row in rows}


def rolled_up(connection: psycopg.Connection[Any], first: int, last: int, only: list[int] | None = None) -> list[tuple[Any, ...]]:
    """Aggregates of the minutes from `first` to before `last`: (rnic_id, minute, fields...), of all RNICs or of some."""
    return connection.execute(_ROLLED_UP, {**between(first, last), "only": only}).fetchall()


def newest(connection: psycopg.Connection[Any], minute: int) -> list[tuple[Any, ...]]:
    """Means of the samples of one minute: (rnic_id, spread of egress positions, of ingress positions, fields...)."""
    return connection.execute(_RAW, between(minute, minute + 1)).fetchall()


def reports(connection: psycopg.Connection[Any], first: int, last: int) -> dict[int, Report]:
    """The newest peer report of each RNIC, by number."""
    return {row[0]: report_of(row[1:]) for row in connection.execute(_REPORTS, between(first, last))}


def links(connection: psycopg.Connection[Any], minute: int) -> list[tuple[int, float, float]]:
    """PCIe links in one minute: (rnic_id, GT/s, lanes)."""
    return connection.execute(_LINKS, between(minute, minute + 1)).fetchall()


def ports(connection: psycopg.Connection[Any], minute: int) -> list[tuple[Any, ...]]:
    """Sent bandwidth of one minute, and rates of the counters in `port_load.COUNTERS`: (rnic_id, tx_gbps, rates...)."""
    return connection.execute(_PORTS, between(minute, minute + 1)).fetchall()


def containers(connection: psycopg.Connection[Any], first: int, last: int) -> list[tuple[str, str, int, int]]:
    """Containers started less ended: (host, pci, minute, change)."""
    return connection.execute(_CONTAINERS, {**between(first, last), "kinds": list(COUNTS)}).fetchall()


def violated(connection: psycopg.Connection[Any], first: int, last: int) -> set[Rnic]:
    """RNICs on which a policy was violated; with an empty PCI address the whole host."""
    return set(connection.execute(_VIOLATED, between(first, last)).fetchall())


def declining(connection: psycopg.Connection[Any], minute: int) -> list[tuple[int, int]]:
    """Declines predicted in the 15 minutes before the end of a minute: (rnic_id, minute of the first such forecast)."""
    rows = connection.execute(_DECLINING, between(minute - DECLINES_MIN, minute + 1))
    return [(rnic_id, since - 1) for rnic_id, since in rows]


def judged(connection: psycopg.Connection[Any], model: str) -> Mapping[str, Any] | None:
    """The comparison of a challenger with its champion by the job `forecast` (`comparison.Comparison.describe`); None without one."""
    row = connection.execute(_JUDGED, [model]).fetchone()
    return row[0] if row else None


def between(first: int, last: int) -> dict[str, Any]:
    """The times from minute `first` to before `last`, as parameters of these queries."""
    return {"since": datetime.fromtimestamp(first * 60, UTC), "until": datetime.fromtimestamp(last * 60, UTC)}
