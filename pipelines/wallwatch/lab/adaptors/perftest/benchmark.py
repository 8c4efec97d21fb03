"""One run of ib_write_bw, ib_send_bw or ib_read_bw between this host and its peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wallwatch.domain.perftest.parse import parse
from wallwatch.lab.adaptors.perftest.operations import Command, Executor
from wallwatch.lab.adaptors.perftest.setup import Setup
from wallwatch.lab.adaptors.serve import DeviceFailed

_START_S = 1.0
"""Until the peer's side listens."""
_SLACK_S = 30
"""For connecting and for many queue pairs, beyond the time of the run itself."""


def bandwidth_gbps(setup: Setup, config: Mapping[str, Any], executor: Executor, check: Callable[[], None]) -> float:
    """Average bandwidth of one run in Gbit/s.

    Raises
    ------
    DeviceFailed
        If the tool fails or prints no bandwidth.
    """
    here, there = commands(setup, config)
    check()
    with executor.running(there):
        executor.sleep(_START_S)
        printed = executor.do(here, setup.run_seconds + _SLACK_S, check)
    output = parse(printed, f"ib_{config['verb']}_bw")
    averages = [row.average_gbps for run in output.runs for row in run.rows if row.average_gbps is not None]
    if not averages:
        raise DeviceFailed(f"{here.words[0]} printed no bandwidth: {'; '.join(output.problems) or printed.strip()[-200:] or 'nothing'}")
    return averages[-1]


def commands(setup: Setup, config: Mapping[str, Any]) -> tuple[Command, Command]:
    """Command lines of this side and of the peer's, which ends by itself if this side never comes."""
    tool = f"ib_{config['verb']}_bw"
    options = [
        "-s", str(config["message_bytes"]), "-q", str(config["qps"]), "-m", str(config["mtu"]), "-t", str(config["tx_depth"]),
        "-D", str(setup.run_seconds), "-p", str(setup.port), "-F", "--report_gbits",
    ]  # fmt: skip
    here = Command((tool, "-d", setup.rdma_device, *options, setup.peer))
    limit = str(setup.run_seconds + _SLACK_S)
    return here, Command((*setup.peer_command, "timeout", limit, tool, "-d", setup.peer_rdma_device, *options))
