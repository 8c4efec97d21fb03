"""What the lab costs for each test, next to a bare loop over the same pipe.

`bare_loop`: a few lines of Python that write a question and read the answer. `lab`: the same questions through client, limits and journal.
`search`: a whole campaign that finds two planted faults, the search's own work included. Differences are the overhead; the bar is 2 ms.
Medians of several runs in turn, because load on the machine moves all of them.
"""

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.report import report

from wallwatch.domain.lab.device import Device
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.search import run_lab
from wallwatch.domain.lab.tester import Options, Tester
from wallwatch.lab import campaign
from wallwatch.lab.options import CampaignOptions

DEVICE = [sys.executable, "-S", str(Path(__file__).with_name("lab_device.py"))]
TESTS = 3000
RUNS = 5


def bare_ms(tests: int) -> float:
    """Milliseconds for each test of a loop without checks, limits or journal."""
    with subprocess.Popen(DEVICE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin
        assert stdout
        stdin.write('{"op": "describe"}\n')
        config = json.loads(stdout.readline())["default"]
        begin = time.perf_counter()
        for number in range(tests):
            stdin.write(json.dumps({"op": "test", "id": number, "config": config | {"size_1": number % 1024 + 1}}) + "\n")
            json.loads(stdout.readline())
        taken = time.perf_counter() - begin
        stdin.close()
    return taken / tests * 1000


def lab_ms(folder: Path, tests: int) -> tuple[float, float]:
    """Milliseconds and CPU milliseconds of the lab for each test of the same loop."""
    taken: list[float] = []

    def loop(device: Device, tester: Tester, options: Options) -> Report:
        begin, cpu = time.perf_counter(), time.process_time()
        for number in range(tests):
            tester.test(device.default | {"size_1": number % 1024 + 1}, "discover")
        taken.extend((time.perf_counter() - begin, time.process_time() - cpu))
        return Report(device, options)

    campaign.run(folder, shlex.join(DEVICE), CampaignOptions(), search=loop)
    return taken[0] / tests * 1000, taken[1] / tests * 1000


def search_ms(folder: Path) -> tuple[float, float, dict[str, Any]]:
    """Milliseconds and CPU milliseconds for each test of a whole campaign, and its report."""
    taken: list[float] = []

    def search(device: Device, tester: Tester, options: Options) -> Report:
        begin, cpu = time.perf_counter(), time.process_time()
        found = run_lab(device, tester, options)
        taken.extend((time.perf_counter() - begin, time.process_time() - cpu))
        return found

    found = campaign.run(folder, shlex.join(DEVICE), CampaignOptions(), search=search)
    return taken[0] / found["tests"] * 1000, taken[1] / found["tests"] * 1000, found


def main() -> None:
    """Measure and report."""
    bare, lab, lab_cpu, search, search_cpu = (list[float]() for _ in range(5))
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as name:
        for run in range(RUNS):
            bare.append(bare_ms(TESTS))
            wall, cpu = lab_ms(Path(name) / f"lab-{run}", TESTS)
            lab.append(wall)
            lab_cpu.append(cpu)
            wall, cpu, found = search_ms(Path(name) / f"search-{run}")
            search.append(wall)
            search_cpu.append(cpu)
    report(
        "lab",
        bare_loop_ms_per_test=statistics.median(bare),
        lab_ms_per_test=statistics.median(lab),
        lab_cpu_ms_per_test=statistics.median(lab_cpu),
        times_bare_loop=statistics.median(lab) / statistics.median(bare),
        overhead_ms_per_test=statistics.median(lab) - statistics.median(bare),
        search_ms_per_test=statistics.median(search),
        search_cpu_ms_per_test=statistics.median(search_cpu),
        overhead_with_search_ms_per_test=statistics.median(search) - statistics.median(bare),
        search_tests=found["tests"],
        search_causes=len(found["causes"]),
        tests=TESTS,
    )


if __name__ == "__main__":
    main()
