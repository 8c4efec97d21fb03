"""What the pages of a fleet of 32 RNICs cost a browser: transferred bytes, load CPU, LCP, INP and layout shift, with an empty cache.
Then how long a filter of 15,000 incidents takes from the click to its rows, and as a reference the same with 100 in the same run.

Each figure has the one of 2026-11-22 beside it (`before`), when every page loaded all code uncompressed.
WALLWATCH_BENCH_RUNS is the number of runs (3). Bytes do not depend on the machine; times do.
"""

import os
import tempfile
from pathlib import Path

from tests.bench import incidents
from tests.bench.fleet_paint import measured_by, seed, serving
from tests.bench.report import percentile, report

from wallwatch_testing import telemetry_path
from wallwatch_testing.telemetry_path import TelemetryPath

RNICS = 32
RUNS = int(os.environ.get("WALLWATCH_BENCH_RUNS", "3"))
SCRIPT = Path(__file__).with_name("pages.mjs")
FILTER_SCRIPT = Path(__file__).with_name("incident_filter.mjs")
INCIDENTS = 15_000
FEW_INCIDENTS = 100
FILTER_RUNS = 4 * RUNS
FILTER_BEFORE_MS = 3100  # the review's upper bound of 2026-11-22, on a busy machine
PAGES = {"fleet": "/", "rnic": "/rnics/host00000/0000:17:00.0", "incidents": "/incidents"}
FIGURES = ("transferred_kb", "requests", "load_cpu_ms", "lcp_ms", "inp_ms", "cls")
# The demo on a busy machine; incidents with 15,000 of them. None: not measured then.
BEFORE: dict[str, dict[str, float | None]] = {
    "fleet": {"transferred_kb": 1977, "requests": 15, "load_cpu_ms": 1600, "lcp_ms": 4100, "inp_ms": 32, "cls": 0.0},
    "rnic": {"transferred_kb": 2407, "requests": 41, "load_cpu_ms": 2000, "lcp_ms": 9600, "inp_ms": None, "cls": 0.22},
    "incidents": {"transferred_kb": 2135, "requests": 18, "load_cpu_ms": 1400, "lcp_ms": 4100, "inp_ms": None, "cls": 0.001},
}


def filtered(path: TelemetryPath, environment: dict[str, str], count: int) -> list[dict[str, float]]:
    """How long each change of the filter took with so many unresolved incidents, and the CPU time of the page's main thread."""
    with path.database() as connection:
        connection.execute("TRUNCATE incident CASCADE")
        connection.execute(incidents.SEED, {"count": count})
        connection.execute("ANALYZE incident, incident_finding")
    changes: list[dict[str, float]] = measured_by(FILTER_SCRIPT, {**environment, "RUNS": str(FILTER_RUNS)})
    return changes


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
        few, many = (filtered(path, environment, count) for count in (FEW_INCIDENTS, INCIDENTS))
        p50_ms, reference_ms = (percentile([change["ms"] for change in changes], 0.5) for changes in (many, few))
        report(
            "pages",
            page="incidents, filtered",
            filter_ms_p50=p50_ms,
            filter_ms_p95=percentile([change["ms"] for change in many], 0.95),
            reference_ms_p50=reference_ms,
            filter_to_reference=p50_ms / reference_ms,
            filter_cpu_ms_p50=percentile([change["cpu_ms"] for change in many], 0.5),
            reference_cpu_ms_p50=percentile([change["cpu_ms"] for change in few], 0.5),
            before_ms=FILTER_BEFORE_MS,
            incidents=INCIDENTS,
            reference_incidents=FEW_INCIDENTS,
            runs=len(many),
        )


if __name__ == "__main__":
    main()
