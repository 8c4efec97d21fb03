"""`python -m scenario_plots [NAME...]`: records the scenarios, all or those named, draws the plots and renews the catalogue."""

import subprocess
import sys
import tempfile
from pathlib import Path

from scenario_plots import catalogue, table
from scenario_plots.draw import draw
from scenario_plots.recording import read
from scenario_plots.signals import PICTURES
from wallwatch_local.hosts import SCENARIOS
from wallwatch_local.paths import binary

LENGTH = "4m"  # the longest, `all`, takes that
# The demo's switches are sampled each 2 s; where nothing is drawn only the truth is of interest.
DRAWN_INTERVAL, OTHER_INTERVAL = "2s", "10s"


def main(names: list[str]) -> int:
    """Record, draw and keep; 2 for a name that is no scenario."""
    files = {file.stem: file for file in sorted(SCENARIOS.glob("*.yaml"))}
    unknown = set(names) - set(files)
    if unknown:
        print(f"unknown scenario {', '.join(sorted(unknown))}: choose from {', '.join(files)}", file=sys.stderr)
        return 2
    entries = {name: entry for name, entry in catalogue.load().items() if name in files}
    catalogue.PLOTS.mkdir(parents=True, exist_ok=True)
    for name in names or files:
        print(f"{name} ...", flush=True)
        with tempfile.TemporaryDirectory(prefix="ww-scenario-") as folder:
            command = [str(binary("fleetsim")), "record", "--scenario", str(files[name]), "--out", folder, "--for", LENGTH]
            interval = DRAWN_INTERVAL if any(picture.scenario == name for picture in PICTURES) else OTHER_INTERVAL
            subprocess.run([*command, "--interval", interval], check=True, stderr=subprocess.DEVNULL)
            recording = read(Path(folder))
        entries[name] = catalogue.entry(recording)
        for picture in PICTURES:
            if picture.scenario == name:
                draw(picture, recording, catalogue.PLOTS / f"{name}.svg")
        catalogue.save(entries)
    return table.main([])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
