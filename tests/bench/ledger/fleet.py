"""Telemetry of many hosts from a recording of one: the messages that a simulated host sends, under other names."""

from __future__ import annotations

import gzip
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from wallwatch_local.paths import binary

SCENARIO = """# One host with four models of RNICs, one of which has S1 in the second half.
name: ledger
seed: 1
topology: {racks: 1, hosts: 1, rnics_per_host: 4, models: [CX-6, CX-7, E810, CX-5], firmware: fixed, externals: 40}
workload:
  - {kind: training, containers: 2, flows: 24, gbps: 6}
  - {kind: microservices, containers: 4, flows: 110, gbps: 3, flow_lifetime: 45s, container_lifetime: 10m}
"""
LENGTH = "240s"


@cache
def recorded(length: str = LENGTH) -> tuple[bytes, ...]:
    """The recording's messages in their order."""
    with TemporaryDirectory(prefix="ww-bench-") as name:
        folder = Path(name)
        scenario = folder / "ledger.yaml"
        scenario.write_text(SCENARIO)
        command = [
            str(binary("fleetsim")),
            "record",
            "--scenario",
            str(scenario),
            "--out",
            f"{folder}/out",
            "--interval",
            "10s",
            "--for",
            length,
        ]
        subprocess.run(command, check=True, capture_output=True)
        return tuple(line.rstrip(b"\n") for line in gzip.open(folder / "out" / "telemetry.jsonl.gz"))


def fleet(measurements: frozenset[str], hosts: int) -> list[list[tuple[str, str, bytes]]]:
    """Rounds of `(measurement, host, message)`: in each, every host sends its next message; the hosts are named host00001 and so on."""
    rounds = []
    for message in recorded():
        name = message.rsplit(b'"name":"', 1)[1].split(b'"', 1)[0].decode()
        if name not in measurements:
            continue
        parts = message.split(b'"host":"host01"')
        rounds.append(
            [(name, host, b'"host":"%s"'.replace(b"%s", host.encode()).join(parts)) for host in map("host{:05}".format, range(hosts))]
        )
    return rounds
