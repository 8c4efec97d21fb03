"""`python -m tests.forecast`: record fleets, train on some, evaluate forecasts of the others. `make evaluate-forecasts` runs it.

Writes docs/forecast-evaluation.json and docs/forecast-evaluation.md. Existing recordings are reused (`--fresh` repeats them).
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
from tests.evaluation.__main__ import build
from tests.evaluation.record import is_there
from tests.forecast import document
from tests.forecast.declines import curve
from tests.forecast.draw import HELD_OUT, draw
from tests.forecast.judged import judged
from tests.forecast.recording import record
from tests.forecast.rhythm import measure
from tests.forecast.scoring.baselines import SupportVectors, linear, persistence
from tests.forecast.scoring.tally import Baseline, Tally, summary
from tests.forecast.scoring.text import figures
from tests.forecast.scoring.truth import PERFORMANCE, measured

from wallwatch.forecasting.histories.from_recordings import read_history
from wallwatch.forecasting.registry.folder import Registry
from wallwatch.forecasting.training.train import train
from wallwatch_local.paths import local_dir

TRAINING = (3, 4, 5, *range(8, 14), *range(15, 41))
DEVELOPMENT = range(HELD_OUT + 1, HELD_OUT + 44)
"""Development fleets: thresholds and constants are chosen on them, and no result is claimed for them."""
JUDGED = range(HELD_OUT + 44, HELD_OUT + 56)
SVM_FLEETS = 3
"""Of the last ones: their peers are inside, as in the judged fleets."""


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.forecast", description=__doc__)
    parser.add_argument("--out", type=Path, default=local_dir() / "forecast", help="folder of the recordings")
    parser.add_argument("--fleetsim", type=Path, help="recording program; by default built from collectors/")
    parser.add_argument("--fresh", action="store_true", help="repeat existing recordings")
    parser.add_argument("--processes", type=int, default=1, help="fleets to record and evaluate in parallel")
    parser.add_argument("--every", type=int, default=2, help="minutes between two forecasts")
    return parser.parse_args(given)


def recordings(options: argparse.Namespace) -> dict[int, Path]:
    """The folders of all fleets, by seed; what is missing is recorded."""
    folders = {seed: options.out / draw(seed).name for seed in (*TRAINING, *DEVELOPMENT, *JUDGED)}
    missing = [
        seed
        for seed, folder in folders.items()
        if options.fresh or not is_there(folder, draw(seed)) or not (folder / PERFORMANCE).is_file()
    ]
    if missing:
        options.out.mkdir(parents=True, exist_ok=True)
        fleetsim = options.fleetsim or build(options.out)
        with ThreadPoolExecutor(options.processes) as pool:
            list(pool.map(lambda seed: record(fleetsim, draw(seed), folders[seed]), missing))
    return folders


def main(given: list[str]) -> int:
    """Record, train, evaluate, write."""
    options = arguments(given)
    folders = recordings(options)
    seen = {seed: read_history(folders[seed]) for seed in TRAINING}
    began = time.process_time()
    forecaster, description = train(list(seen.values()), every_min=2)
    training_s = time.process_time() - began
    model = Registry(options.out / "models").save(forecaster, {**description, "source": "recordings"})
    truths = [measured(folders[seed], seen[seed]) for seed in TRAINING[-SVM_FLEETS:]]
    svm = SupportVectors().fit(list(seen.values())[-SVM_FLEETS:], truths)
    baselines: dict[str, Baseline] = {"persistence": persistence, "linear trend": linear, "SVM on flow features": svm}
    trained, cold, hours = Tally(), Tally(), 0.0
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        tasks = [pool.submit(judged, folders[seed], forecaster, baselines, options.every) for seed in JUDGED]
        for task in tasks:
            of_trained, of_cold, of_hours = task.result()
            hours += of_hours
            trained.merge(of_trained)
            cold.merge(of_cold)
    found: dict[str, Any] = {"model": model, "training": {**description["data"], "cpu_s": round(training_s, 1)}}
    found |= {
        "trained": summary(trained),
        "cold_start": summary(cold),
        "judged_fleets": len(JUDGED),
        "judged_rnic_hours": round(hours, 1),
        "seen_fleets": len(TRAINING),
    }
    found["decline_curve"] = curve([folders[seed] for seed in DEVELOPMENT], forecaster, options.every)
    found["development_fleets"] = len(DEVELOPMENT)
    found["rhythm"] = measure()
    found["combined_intervals"] = True
    before = orjson.loads(document.JSON.read_bytes()) if document.JSON.is_file() else {}
    found |= {name: before[name] for name in ("live",) if name in before}
    print(figures(found["trained"]))
    print("Cold start:\n" + figures(found["cold_start"]))
    document.write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
