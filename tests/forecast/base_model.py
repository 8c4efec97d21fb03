"""`python -m tests.forecast.base_model`: train the base model that Wallwatch ships, on simulated fleets. `make base-model` runs it.

Existing recordings are reused (`--fresh` repeats them). The same fleets give the same model: `--check` trains again and fails when the id
differs from that of the shipped file.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from tests.evaluation.__main__ import build
from tests.evaluation.record import is_there
from tests.forecast.draw import draw
from tests.forecast.recording import record

from wallwatch.forecasting.histories.from_recordings import read_history
from wallwatch.forecasting.registry import base_model, model_file
from wallwatch.forecasting.training.train import train
from wallwatch_local.paths import local_dir

FLEETS = (3, 4, 5, *range(8, 14), *range(15, 24))
"""The first half of the training fleets of docs/forecast-evaluation.md: 540 RNIC-hours. Their last quarter calibrates the intervals."""
EVERY_MIN = 2


def main(given: list[str]) -> int:
    """Record, train, write or compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.forecast.base_model", description=__doc__)
    parser.add_argument("--out", type=Path, default=local_dir() / "forecast", help="folder of the recordings")
    parser.add_argument("--fleetsim", type=Path, help="recording program; by default built from collectors/")
    parser.add_argument("--fresh", action="store_true", help="repeat existing recordings")
    parser.add_argument("--processes", type=int, default=1, help="fleets to record in parallel")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the shipped model is another one")
    options = parser.parse_args(given)
    folders = {seed: options.out / draw(seed).name for seed in FLEETS}
    missing = [seed for seed, folder in folders.items() if options.fresh or not is_there(folder, draw(seed))]
    if missing:
        options.out.mkdir(parents=True, exist_ok=True)
        fleetsim = options.fleetsim or build(options.out)
        with ThreadPoolExecutor(options.processes) as pool:
            list(pool.map(lambda seed: record(fleetsim, draw(seed), folders[seed]), missing))
    began = time.process_time()
    forecaster, description = train([read_history(folder) for folder in folders.values()], EVERY_MIN)
    description.pop("against_base", None)  # of the base model that is replaced
    body = model_file.body_of(forecaster, {**description, "source": base_model.SOURCE, "fleets": list(FLEETS)}, datetime.now(UTC))
    print(f"base model {body['meta']['id']}: {len(FLEETS)} fleets, {time.process_time() - began:.0f} s of CPU time", file=sys.stderr)
    if options.check:
        shipped = base_model.load().meta["id"]
        if shipped != body["meta"]["id"]:
            print(f"the shipped base model is {shipped}: run `make base-model`", file=sys.stderr)
            return 1
        return 0
    print(f"{base_model.FILE}: {base_model.write(body) / 1e6:.2f} MB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
