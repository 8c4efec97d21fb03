"""How long a change on a host takes to be seen on the page Fleet in a browser, with the demo's 8 hosts of 4 RNICs at an interval of 1 s.

The simulator is stopped, so that every counter stands still and every tile shows a rate of 0. Then the counter `port_xmit_data` of
one RNIC is moved in its sysfs file, and the clock runs until the next frame after Chromium shows the new rate at that tile, which the
pointer is on. The wait for the collector's next reading is part of it. WALLWATCH_BENCH_CHANGES is the number of changes (40).
"""

import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from subprocess import PIPE

from tests.bench import browser
from tests.bench.report import percentile, report

from wallwatch_local import hosts
from wallwatch_testing import stack

CHANGES = int(os.environ.get("WALLWATCH_BENCH_CHANGES", "40"))
WORDS = 400_000_000  # 12.8 Gbit/s within one second
SETTLE_S = 30
TILES = 8
SCRIPT = Path(__file__).with_name("tile_watch.mjs")


def counters(layout_hosts: Path) -> list[tuple[str, str, Path]]:
    """(host, PCI address, file) of the counter of every RNIC that has an InfiniBand device."""
    found = []
    for file in layout_hosts.glob("*/sys/class/infiniband/*/ports/1/counters/port_xmit_data"):
        device = file.parents[3]
        found.append((file.relative_to(layout_hosts).parts[0], (device / "device").resolve().name, file))
    return sorted(found)


def measure(running: stack.Stack, folder: Path) -> list[float]:
    """Seconds from each change to the frame that shows it."""
    asked = browser.environment(folder, running.layout.api_url, running.username, running.password)
    generator = random.Random(1)
    places = generator.sample(counters(running.layout.hosts), TILES)
    seconds = []
    with subprocess.Popen(["node", str(SCRIPT)], env=asked, stdin=PIPE, stdout=PIPE, text=True, bufsize=1) as watcher:
        assert watcher.stdin is not None
        assert watcher.stdout is not None
        for change in range(CHANGES):
            host, pci, file = places[change * TILES // CHANGES]
            watcher.stdin.write(f"{host} {pci}\n")
            answer = watcher.stdout.readline()
            assert answer == "ready\n", f"the browser ended while waiting for {host} {pci} to send nothing: {answer!r}"
            time.sleep(1 + generator.random())  # any phase of the collector's second is as likely as any other
            changed_at = time.time()
            file.write_text(f"{int(file.read_text()) + WORDS}\n")
            seconds.append(json.loads(watcher.stdout.readline())["at_ms"] / 1000 - changed_at)
        watcher.stdin.close()
    return seconds


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="ww-") as folder, stack.start(Path(folder), hosts.scenario_file("demo")) as running:
        time.sleep(SETTLE_S)
        simulator = running.pid("fleetsim")
        os.kill(simulator, SIGSTOP)
        try:
            time.sleep(SETTLE_S)
            seconds = measure(running, Path(folder))
        finally:
            os.kill(simulator, SIGCONT)
    report(
        "freshness",
        p50_s=percentile(seconds, 0.5),
        p95_s=percentile(seconds, 0.95),
        max_s=max(seconds),
        changes=len(seconds),
        client="Chromium, the tile under the pointer",
        rnics=32,
        collector_interval_s=1,
    )


if __name__ == "__main__":
    main()
