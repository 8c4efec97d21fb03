"""The one line of JSON that a benchmark prints."""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from wallwatch_local.paths import REPOSITORY


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def report(benchmark: str, **figures: Any) -> None:
    """Print the figures with what they were measured on. Units are in the names; None is a figure that could not be measured."""
    line = {
        "benchmark": benchmark,
        **{name: round(value, 4) if isinstance(value, float) else value for name, value in figures.items()},
        "cores": os.cpu_count(),
        "processor": _processor(),
        "load_before": round(os.getloadavg()[0], 2),
        "commit": _commit(),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def percentile(values: list[float], share: float) -> float:
    """The nearest-rank percentile; the values need not be sorted."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]
