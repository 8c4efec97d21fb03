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


def filter_ms(path: TelemetryPath, environment: dict[str, str], count: int) -> list[float]:
    """How long each change of the filter took with so many unresolved incidents."""
    with path.database() as connection:
        connection.execute("TRUNCATE incident CASCADE")
        connection.execute(incidents.SEED, {"count": count})
        connection.execute("ANALYZE incident, incident_finding")
    times: list[float] = measured_by(FILTER_SCRIPT, {**environment, "RUNS": str(FILTER_RUNS)})
    return times


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
        few = filter_ms(path, environment, FEW_INCIDENTS)
        many = filter_ms(path, environment, INCIDENTS)
        report(
            "pages",
            page="incidents, filtered",
            filter_ms_p50=percentile(many, 0.5),
            filter_ms_p95=percentile(many, 0.95),
            reference_ms_p50=percentile(few, 0.5),
            filter_to_reference=percentile(many, 0.5) / percentile(few, 0.5),
            before_ms=FILTER_BEFORE_MS,
            incidents=INCIDENTS,
            reference_incidents=FEW_INCIDENTS,
            runs=len(many),
        )


if __name__ == "__main__":
    main()
