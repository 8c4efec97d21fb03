"""Columns of profiles and rows to evaluate: names, units, and the values that a card can have."""

from __future__ import annotations

from typing import NamedTuple

from wallwatch.domain.contention.counters import COUNTER_NAMES


class Column(NamedTuple):
    """One column; values outside of `low` to `high` are wrong units or other columns, not measurements."""

    name: str
    unit: str
    low: float
    high: float
    hint: str
    zero_allowed: bool = False


_PER_SECOND = (1e4, 1e11, "per second: not in millions, and not a total")
_LIMITS: dict[str, tuple[float, float, str]] = {
    "ipc": (0.01, 10, "instructions per cycle"),
    "instructions": (1e6, 1e12, "instructions retired per second: not in millions"),
    "l2_reads": _PER_SECOND,
    "l2_writes": _PER_SECOND,
    "memory_reads": _PER_SECOND,
    "memory_writes": _PER_SECOND,
    "working_set_mb": (1e-3, 1024, "in MB, not in bytes or KB"),
}
_UNITS = {"ipc": "", "working_set_mb": "MB"}

TRAFFIC = (
    Column("flows", "", 1, 1e8, "number of concurrent flows"),
    Column("packet_bytes", "B", 60, 9600, "in bytes"),
)
COUNTERS = tuple(Column(name, _UNITS.get(name, "1/s"), *_LIMITS[name], zero_allowed=True) for name in COUNTER_NAMES)
THROUGHPUT = Column("throughput_kpps", "kpps", 1, 3e5, "in thousands of packets per second: not pps or Mpps")
MATCHES = Column("mtbr", "matches/MB", 0.1, 1e5, "matches per MB, not per byte", zero_allowed=True)
TIME = Column("time_per_packet", "1/kpps", 1e-6, 0.1, "in 1/kpps (milliseconds), not microseconds or seconds", zero_allowed=False)
COMPETITORS_TIME = Column("competitors_time", "1/kpps", 1e-7, 1.0, "sum of the competitors' times in 1/kpps", zero_allowed=True)

QUEUES = Column("queues", "", 1, 64, "of the function at the accelerator")

MEMORY_PROFILE = (*TRAFFIC, *COUNTERS, THROUGHPUT)
ENGINE_PROFILE = (MATCHES, TIME)
WHOLE_ENGINE_PROFILE = (*ENGINE_PROFILE, QUEUES, TRAFFIC[1])
"""With what `wallwatch nf profile` knows in addition; otherwise one queue, and all packets of one size."""
EVALUATION = (MATCHES, COMPETITORS_TIME, *TRAFFIC, *COUNTERS, THROUGHPUT)
"""`--format yala`."""
QUERY = EVALUATION[:-1]
