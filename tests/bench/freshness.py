"""How long a change on a host takes to reach somebody who looks at the wall, with the demo's 8 hosts of 4 RNICs at an interval of 1 s.

The simulator is stopped, so that every counter stands still and every tile shows a rate of 0. Then the counter `port_xmit_data` of
one RNIC is moved in its sysfs file, and the clock runs until the event stream of the API has sent that tile's row with the new rate.
The wait for the collector's next reading is part of it. The client reads the stream as the page does, but is not a browser:
`wall_paint` has what a browser adds. WALLWATCH_BENCH_CHANGES is the number of changes (40).
"""

import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

import httpx
from tests.bench.report import percentile, report

from wallwatch_local import hosts
from wallwatch_testing import stack

CHANGES = int(os.environ.get("WALLWATCH_BENCH_CHANGES", "40"))
WORDS = 400_000_000  # 12.8 Gbit/s within one second
SETTLE_S = 30
PATIENCE_S = 15


def rows(stream: httpx.Response) -> Iterator[dict[str, Any]]:
    """Each changed row of the wall as it comes."""
    event = ""
    for line in stream.iter_lines():
        if line.startswith("event:"):
            event = line.partition(":")[2].strip()
        elif line.startswith("data:") and event == "rnic_state":
            decoded = json.loads(line.partition(":")[2])
            columns = decoded.get("columns", decoded)
            for values in zip(*columns.values(), strict=True):
                yield dict(zip(columns, values, strict=True))


def counters(layout_hosts: Path) -> list[tuple[str, str, Path]]:
    """(host, PCI address, file) of the counter of every RNIC that has an InfiniBand device."""
    found = []
    for file in layout_hosts.glob("*/sys/class/infiniband/*/ports/1/counters/port_xmit_data"):
        device = file.parents[3]
        found.append((file.relative_to(layout_hosts).parts[0], (device / "device").resolve().name, file))
    return sorted(found)


def measure(running: stack.Stack) -> list[float]:
    """Seconds from each change to its arrival."""
    seconds = []
    generator = random.Random(1)
    with running.api() as api, api.stream("GET", "/stream", timeout=PATIENCE_S + 30) as stream:
        arriving = rows(stream)
        places = counters(running.layout.hosts)
        for _ in range(CHANGES):
            host, pci, file = generator.choice(places)
            # A phase of the collector's second that is as likely as any other, and the tile back at 0.
            time.sleep(2.5 + generator.random())
            changed_at = time.time()
            file.write_text(f"{int(file.read_text()) + WORDS}\n")
            for row in arriving:
                # The tile stood at 0 for more than a second, so any other rate is this change.
                if (row["host"], row["pci"]) == (host, pci) and (row["tx_gbps"] or 0) > 1:
                    seconds.append(time.time() - changed_at)
                    break
                assert time.time() - changed_at < PATIENCE_S, f"the change of {host} {pci} never arrived"
    return seconds


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="ww-") as folder, stack.start(Path(folder), hosts.scenario_file("demo")) as running:
        time.sleep(SETTLE_S)
        simulator = running.pid("fleetsim")
        os.kill(simulator, SIGSTOP)
        try:
            time.sleep(SETTLE_S)
            seconds = measure(running)
        finally:
            os.kill(simulator, SIGCONT)
    report(
        "freshness",
        p50_s=percentile(seconds, 0.5),
        p95_s=percentile(seconds, 0.95),
        max_s=max(seconds),
        changes=len(seconds),
        client="server-sent events, not a browser",
        rnics=32,
        collector_interval_s=1,
    )


if __name__ == "__main__":
    main()
