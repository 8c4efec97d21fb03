"""What the pages of a fleet of 32 RNICs cost a browser: transferred bytes, load CPU, LCP, INP and layout shift, with an empty cache.

Each figure has the one of 2026-11-22 beside it (`before`), when every page loaded all code uncompressed.
WALLWATCH_BENCH_RUNS is the number of runs (3). Bytes do not depend on the machine; times do.
"""

import os
import tempfile
from pathlib import Path

from tests.bench.fleet_paint import measured_by, seed, serving
from tests.bench.report import percentile, report

from wallwatch_testing import telemetry_path

RNICS = 32
RUNS = int(os.environ.get("WALLWATCH_BENCH_RUNS", "3"))
SCRIPT = Path(__file__).with_name("pages.mjs")
PAGES = {"fleet": "/", "rnic": "/rnics/host00000/0000:17:00.0", "incidents": "/incidents"}
FIGURES = ("transferred_kb", "requests", "load_cpu_ms", "lcp_ms", "inp_ms", "cls")
# The demo on a busy machine; incidents with 15,000 of them. None: not measured then.
BEFORE: dict[str, dict[str, float | None]] = {
    "fleet": {"transferred_kb": 1977, "requests": 15, "load_cpu_ms": 1600, "lcp_ms": 4100, "inp_ms": 32, "cls": 0.0},
    "rnic": {"transferred_kb": 2407, "requests": 41, "load_cpu_ms": 2000, "lcp_ms": 9600, "inp_ms": None, "cls": 0.22},
    "incidents": {"transferred_kb": 2135, "requests": 18, "load_cpu_ms": 1400, "lcp_ms": 4100, "inp_ms": None, "cls": 0.001},
}


def main() -> None:
    """Measure and report, one line per page."""
    with (
        tempfile.TemporaryDirectory(prefix="ww-bench-") as folder,
        telemetry_path.start(Path(folder), partitions=1) as path,
        serving(path, Path(folder)) as environment,
    ):
        seed(path, RNICS)
        for page, address in PAGES.items():
            runs = measured_by(SCRIPT, {**environment, "PAGE": address, "RUNS": str(RUNS)})
            figures = {name: percentile([run[name] for run in runs], 0.5) for name in FIGURES}
            report("pages", page=page, **figures, before=BEFORE[page], rnics=RNICS, runs=len(runs))


if __name__ == "__main__":
    main()
