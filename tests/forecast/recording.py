"""Record one simulated fleet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.evaluation.draw import Drawn


def record(fleetsim: Path, drawn: Drawn, folder: Path) -> None:
    """Record one fleet with what its mechanism could do."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scenario.yaml").write_text(drawn.text)
    command = [fleetsim, "record", "--performance", "--scenario", folder / "scenario.yaml", "--out", folder, "--overwrite"]
    command += ["--for", f"{drawn.length_s}s", "--interval", f"{drawn.interval_s}s"]
    subprocess.run(command, check=True, capture_output=True)
    print(f"{drawn.name} is recorded", file=sys.stderr)
