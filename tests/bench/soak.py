"""Whether the collector grows: 4 RNICs with 10,000 flows each, gathered every second. Not part of `make bench`; run it by its name.

WALLWATCH_SOAK_S is the length of the measurement (1,800 s). Slopes are those of a straight line through the second half of the samples:
memory rises while flows come and the runtime finds its size. Requires `make setup`, and builds the collector again with a probe that
counts goroutines.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.processes import usage
from tests.bench.report import report

from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.collector import INPUTS, Message, configuration, message, running_in
from wallwatch_testing.simulator import simulating

LENGTH_S = float(os.environ.get("WALLWATCH_SOAK_S", "1800"))
PAUSE_S = 5.0
INTERVAL = "1s"
OUTPUT = """
[[outputs.file]]
  files = ["{path}"]
  data_format = "json"
  rotation_max_size = "10MB"
  rotation_max_archives = 1
"""


def built_with_probe(folder: Path) -> Path:
    """The collector's program, with the probe in its package main."""
    collectors = REPOSITORY / "collectors"
    overlay = folder / "overlay.json"
    probe = collectors / "cmd/wallwatch-telegraf/soak_probe.go"
    overlay.write_text(json.dumps({"Replace": {str(probe): str(REPOSITORY / "tests/bench/soak_probe/probe.go")}}))
    program = folder / "wallwatch-telegraf"
    command = ["go", "build", "-mod=readonly", "-overlay", str(overlay), "-o", str(program), "./cmd/wallwatch-telegraf"]
    subprocess.run(command, cwd=collectors, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
    return program


@contextmanager
def collecting(host: Path, program: Path, output: Path, probe: Path) -> Iterator[int]:
    """The process id of a collector that runs for the length of the block."""
    (host / "telegraf.conf").write_text(configuration(host.name, INPUTS, OUTPUT.format(path=output), INTERVAL))
    with running_in(host, [f"WALLWATCH_SOAK_PROBE={probe}", str(program), "--config", "telegraf.conf"]) as process:
        yield process.pid


def slope_per_hour(values: list[float]) -> float | None:
    """Of the straight line nearest to values that were taken every PAUSE_S."""
    if len(values) < 3:
        return None
    middle, mean = (len(values) - 1) / 2, sum(values) / len(values)
    spread = sum((i - middle) ** 2 for i in range(len(values)))
    return sum((i - middle) * (value - mean) for i, value in enumerate(values)) / spread * 3600 / PAUSE_S


def second_half(values: list[float]) -> list[float]:
    return values[len(values) // 2 :]


def last_sample(output: Path) -> Message | None:
    """The newest sample of the datapath. The file is cut when it is rotated, and its last line may be half written."""
    for line in reversed(output.read_text().splitlines()) if output.exists() else []:
        if '"ovs_datapath"' in line and line.endswith("}"):
            return message(json.loads(line))
    return None


def main() -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory(prefix="ww-") as folder:
        program = built_with_probe(Path(folder))
        with simulating(Path(folder), "collector-soak") as [host]:
            output, probe = host / "taken.json", host / "probe"
            with collecting(host, program, output, probe) as pid:
                begin = time.monotonic()
                first = usage(pid)
                rss_mb: list[float] = []
                while time.monotonic() - begin < LENGTH_S:
                    time.sleep(PAUSE_S)
                    rss_mb.append(usage(pid).rss_mb)
                last, elapsed_s = usage(pid), time.monotonic() - begin
            sample = last_sample(output)
            probed = [[float(word) for word in line.split()] for line in probe.read_text().splitlines()]
    goroutines, heap_mb = [one[0] for one in probed], [one[1] / 1e6 for one in probed]
    report(
        "soak",
        measured_s=elapsed_s,
        offloaded_flows=int(sample.fields["offloaded_flows"]) if sample else None,
        collect_ms_last=float(sample.fields["collect_ms"]) if sample else None,
        cpu_percent_of_one_core=(last.cpu_s - first.cpu_s) / elapsed_s * 100,
        rss_mb=last.rss_mb,
        peak_rss_mb=last.peak_rss_mb,
        rss_mb_per_hour=slope_per_hour(second_half(rss_mb)),
        live_heap_mb=heap_mb[-1],
        live_heap_mb_per_hour=slope_per_hour(second_half(heap_mb)),
        goroutines_min=min(goroutines),
        goroutines_max=max(goroutines),
        goroutines_per_hour=slope_per_hour(second_half(goroutines)),
    )


if __name__ == "__main__":
    main()
