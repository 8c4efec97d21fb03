"""A function's traffic and competitors as JSON, for `wallwatch nf predict` and `nf diagnose`.

{"traffic": {"flows": 16000, "packet_bytes": 1500, "mtbr": 600},
 "competitors": [{"name": "acl", "engine_time": 0.0004, "counters": {"ipc": 1.1, ...}}]}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wallwatch.cli.nf_input import JSON, YALA, cases_of, number, read_json, read_rows, refuse

if TYPE_CHECKING:
    from wallwatch.domain.contention.counters import Counters
    from wallwatch.domain.contention.gaussian_process import Array


@dataclass(frozen=True, slots=True)
class Competitor:
    """One function on the same card."""

    name: str
    counters: Counters
    engine_time: float
    """Queues times service time at the accelerator, 1/kpps; 0 when it does not use it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One prediction to make."""

    matches: float
    flows: float
    packet_bytes: float
    competitors: tuple[Competitor, ...]

    def row(self, without: int | None = None) -> list[float]:
        """The columns of a query, without the competitor at one place."""
        from wallwatch.domain.contention.counters import total

        present = [competitor for at, competitor in enumerate(self.competitors) if at != without]
        times = sum(competitor.engine_time for competitor in present)
        return [self.matches, times, self.flows, self.packet_bytes, *total(competitor.counters for competitor in present)]


def read_queries(command: str, file: Path, file_format: str) -> tuple[Array, list[Scenario] | None]:
    """Rows to predict, shape (rows, 11), and the scenarios behind them when the file names competitors one by one.

    Rows of `--format yala` may end with the measured throughput, which is left out.
    """
    import numpy as np

    from wallwatch.domain.contention.profile_columns import QUERY, THROUGHPUT

    if file_format == JSON:
        scenarios = [
            _scenario(command, f"{file}: case {at}", case) for at, case in enumerate(cases_of(command, file, read_json(command, file)))
        ]
        return np.array([scenario.row() for scenario in scenarios]).reshape(len(scenarios), len(QUERY)), scenarios
    if file_format != YALA:
        refuse(command, f"--format must be {YALA} or {JSON}, not {file_format}")
    return read_rows(command, file, QUERY, THROUGHPUT)[:, : len(QUERY)], None


def _scenario(command: str, where: str, case: dict[str, Any]) -> Scenario:
    traffic = case.get("traffic")
    if not isinstance(traffic, dict):
        refuse(command, f"{where}: traffic must be an object with flows, and optionally packet_bytes and mtbr")
    competitors = case.get("competitors", [])
    if not isinstance(competitors, list):
        refuse(command, f"{where}: competitors must be a list")
    return Scenario(
        number(command, f"{where}: traffic", traffic, "mtbr", 0.0),
        number(command, f"{where}: traffic", traffic, "flows", low=1),
        number(command, f"{where}: traffic", traffic, "packet_bytes", 1518.0, low=60),
        tuple(_competitor(command, f"{where}: competitor {at}", at, one) for at, one in enumerate(competitors)),
    )


def _competitor(command: str, where: str, at: int, body: Any) -> Competitor:
    from wallwatch.domain.contention.counters import COUNTER_NAMES, NONE, Counters

    if not isinstance(body, dict):
        refuse(command, f"{where}: an object with name, counters and engine_time is required")
    given = body.get("counters", dict(zip(COUNTER_NAMES, NONE, strict=True)))
    if isinstance(given, list) and len(given) == len(COUNTER_NAMES):
        given = dict(zip(COUNTER_NAMES, given, strict=True))
    if not isinstance(given, dict) or set(given) != set(COUNTER_NAMES):
        refuse(command, f"{where}: counters must have {', '.join(COUNTER_NAMES)}")
    counters = Counters(*(number(command, f"{where}: counters", given, name) for name in COUNTER_NAMES))
    return Competitor(str(body.get("name", f"competitor {at}")), counters, number(command, where, body, "engine_time", 0.0))
