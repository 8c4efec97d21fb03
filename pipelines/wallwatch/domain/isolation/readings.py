"""Readings: the cumulative counters of one RNIC at one instant, as in the CSV files and in the measurement `vf_traffic`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PORT = "port"
"""Name of the physical port among the entities of a reading."""

MBPS = 1e6

_MOST_VFS = 65_536
"""PCIe has numbers of 16 bits for the virtual functions of a function."""
_NAMES: dict[int, str] = {}
_NUMBERS = frozenset((int, float, type(None)))


@dataclass(slots=True)
class Counters:
    """Cumulative counters of the port or of a VF; None where the interface does not have them (never 0 instead).

    The direction is seen from the VF: `rx` is what the VF receives, for the port what arrives from the wire.
    """

    rx_bytes: int | None = None
    rx_packets: int | None = None
    rx_dropped: int | None = None
    tx_bytes: int | None = None
    tx_packets: int | None = None
    tx_dropped: int | None = None


@dataclass(slots=True)
class VfCounters(Counters):
    """Counters and gauges of a VF."""

    generation: str = ""
    """Changes when the VF is bound again: its counters then start again."""
    delay_p50_us: float | None = None
    """Round trip of the probes since the previous reading, µs."""
    delay_p99_us: float | None = None
    tx_backlog_bytes: float | None = None
    """Gauge: bytes that wait in the queues of the VF's representor."""
    policed_drops: int | None = None
    """Cumulative: packets that the VF's own limiter dropped."""
    max_tx_bps: float | None = None
    """Limit that is set on the VF now, bit/s."""
    min_tx_bps: float | None = None
    cpu_us: float | None = None


@dataclass(slots=True)
class Extras:
    """What only the live measurement has; counters are cumulative."""

    pcie_stalled_writes: int | None = None
    pcie_stalled_reads: int | None = None
    pcie_buffer_overflows: int | None = None
    softnet_processed: int | None = None
    softnet_dropped: int | None = None
    softnet_squeezed: int | None = None
    cpu_pressure_us: int | None = None
    tx_backlog_bytes: float | None = None
    """Gauge: sum over the uplink and the representors."""
    port_bps: float | None = None
    """Gauge: speed of the port."""
    pcie_bps: float | None = None


@dataclass(slots=True)
class Reading:
    """Everything read of one RNIC at one instant."""

    t: float
    """Seconds on the host's own clock."""
    port: Counters | None
    vfs: dict[str, VfCounters]
    extras: Extras | None = None


def reading_of_message(t: float, fields: Mapping[str, Any]) -> Reading:
    """Read the fields of a `vf_traffic` message (docs/metrics.md).

    Parameters
    ----------
    t
        Time of the message, seconds.
    fields
        The fields as they are in the message; `vfs` is JSON text or an already parsed list.

    Raises
    ------
    ValueError
        If `vfs` is not a list of lists that each begin with the VF's number and its generation, followed by numbers or null.

    >>> reading_of_message(10.0, {"port_rx_bytes": 5, "vfs": "[[3, \\"g1\\", 100, 2]]"}).vfs["vf3"].rx_bytes
    100
    """
    get = fields.get
    port = Counters(
        get("port_rx_bytes"),
        get("port_rx_packets"),
        _sum(get("port_rx_discards"), get("port_rx_out_of_buffer")),
        get("port_tx_bytes"),
        get("port_tx_packets"),
        get("port_tx_discards"),
    )
    extras = Extras(
        get("pcie_stalled_writes"),
        get("pcie_stalled_reads"),
        get("pcie_buffer_overflows"),
        get("softnet_processed"),
        get("softnet_dropped"),
        get("softnet_squeezed"),
        get("cpu_pressure_us"),
        _float(get("tx_backlog_bytes")),
        _bps(get("port_mbps")),
        _bps(get("pcie_mbps")),
    )
    rows = get("vfs") or []
    if isinstance(rows, str | bytes):
        try:
            rows = json.loads(rows)
        except json.JSONDecodeError as error:
            raise ValueError(f"field vfs is not JSON: {error}") from None
    if not isinstance(rows, list):
        raise ValueError("field vfs must be a list of lists, one per VF")
    return Reading(t, port, dict(map(_vf_of_row, rows)), extras)


def _vf_of_row(row: Any) -> tuple[str, VfCounters]:
    """`[vf, generation, rx_bytes, ..., cpu_us]`; a shorter row lacks the last values."""
    if not isinstance(row, list) or not row or isinstance(row[0], bool) or not isinstance(row[0], int) or not 0 <= row[0] < _MOST_VFS:
        raise ValueError(f"field vfs has a row that does not begin with the number of a VF: {row!r:.80}")
    full = row if len(row) == 15 else (row + [None] * 15)[:15]
    if not isinstance(full[1], str | None):
        raise ValueError(f"field vfs: the generation of VF {row[0]} is not text: {full[1]!r:.80}")
    if not _NUMBERS.issuperset(map(type, full[2:])):
        raise ValueError(f"field vfs: a value of VF {row[0]} is not a number: {row[2:]!r:.200}")
    vf, generation, rx_b, rx_p, rx_d, tx_b, tx_p, tx_d, p50, p99, backlog, policed, max_tx, min_tx, cpu = full
    return vf_name(vf), VfCounters(
        rx_b,
        rx_p,
        rx_d,
        tx_b,
        tx_p,
        tx_d,
        generation or "",
        _float(p50),
        _float(p99),
        _float(backlog),
        policed,
        _bps(max_tx),
        _bps(min_tx),
        _float(cpu),
    )


def vf_name(vf: int) -> str:
    """The name of a VF, the same text object each time: every RNIC has a VF of this name.

    >>> vf_name(3), vf_name(3) is vf_name(3)
    ('vf3', True)
    """
    name = _NAMES.get(vf)
    if name is None:
        name = _NAMES[vf] = f"vf{vf}"
    return name


def _sum(one: int | None, other: int | None) -> int | None:
    if one is None:
        return other
    return one if other is None else one + other


def _float(value: float | None) -> float | None:
    """Gauges are whole numbers in some messages."""
    return None if value is None else float(value)


def _bps(mbps: float | None) -> float | None:
    return None if mbps is None else mbps * MBPS
