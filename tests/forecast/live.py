"""`python -m tests.forecast.live`: what a new installation forecasts with the base model, minute by minute as the job does.

Six fleets with seeds that nothing was trained or chosen on, one after the other as if they were 18 hours of one fleet, so that the interval
widths go on from fleet to fleet; and an hour of the demo. Writes its part of docs/forecast-evaluation.json, and the page.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from tests.evaluation.__main__ import build
from tests.evaluation.record import is_there
from tests.forecast import document
from tests.forecast.draw import HELD_OUT, draw
from tests.forecast.recording import record
from tests.forecast.scoring.tally import HOUR, Tally, declines, summary
from tests.forecast.scoring.truth import PERFORMANCE, measured

from wallwatch.domain.catalogue.load import walls
from wallwatch.domain.forecast.decline import Declines, reportable
from wallwatch.domain.forecast.features import filled
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.interval_widths import IntervalWidths
from wallwatch.domain.forecast.predict import Forecast, predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN, limits, scales, targets
from wallwatch.domain.forecast.training_examples import LEAST_HISTORY_MIN
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM
from wallwatch.domain.forecast.wall_times import came_in_min
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.histories.from_recordings import read_history
from wallwatch.forecasting.live.outcomes import Outcomes
from wallwatch.forecasting.registry import base_model
from wallwatch_local.paths import REPOSITORY, local_dir

FLEETS = range(HELD_OUT + 100, HELD_OUT + 106)
DEMO = REPOSITORY / "tests/scenarios/demo.yaml"
DEMO_S, DEMO_INTERVAL_S = 3600, 10
CHANCES = (0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 1.01)
NOISE = 0.012
"""As in `scoring.tally`: the mechanism's own noise in a minute is no fault of the forecast."""


class Counts:
    """Sums by key."""

    def __init__(self) -> None:
        self.sums: dict[tuple[Any, ...], float] = defaultdict(float)

    def add(self, key: tuple[Any, ...], **values: float) -> None:
        for name, value in values.items():
            self.sums[(*key, name)] += float(value)

    def ratio(self, key: tuple[Any, ...], part: str, of: str) -> float | None:
        whole = self.sums.get((*key, of), 0.0)
        return round(self.sums[(*key, part)] / whole, 4) if whole else None


def intervals(counts: Counts, way: str, made: Forecast, values: Any, bandwidth: Any, scale: Any, index: int) -> None:
    """How many loads and bandwidths of a forecast were inside of their intervals, and how wide those were."""
    for j, ahead in enumerate(HORIZONS_MIN):
        if index + ahead >= values.shape[1]:
            continue
        came = values[:, index + ahead]
        low, high = made.ahead[:, :, j, 0], made.ahead[:, :, j, -1]
        known = ~np.isnan(came) & ~np.isnan(low)
        slack = 1e-6 * (1.0 + np.abs(came))
        inside = (came >= low - slack) & (came <= high + slack)
        for k, target in enumerate(targets()):
            for regime, growing in (("steady", False), ("growing", True)):
                some = known[:, k] & (made.growing[:, k] == growing)
                width = ((high - low)[:, k] / scale[:, k])[some].sum()
                counts.add((way, target.name, ahead, regime), inside=(inside[:, k] & some).sum(), of=some.sum(), width=width)
        truth = bandwidth[:, index + ahead]
        slow, fast = made.performance.bandwidth[:, j, 0], made.performance.bandwidth[:, j, -1]
        known = ~np.isnan(truth) & ~np.isnan(slow)
        held = known & (truth >= slow * (1 - NOISE)) & (truth <= fast * (1 + NOISE))
        width = ((fast - slow) / made.performance.bandwidth[:, j, 1])[known].sum()
        counts.add((way, "bandwidth", ahead), inside=held.sum(), of=known.sum(), width=width)


def chances(counts: Counts, way: str, made: Forecast, after: Any, limit: Any) -> None:
    """The chance of each wall that was not reached yet, and whether it was reached within the hour."""
    open_ = ~np.isnan(made.wall_chance) & (made.now[:, : limit.shape[1]] < limit)
    came = np.isfinite(came_in_min(after, limit)) & open_
    for low, high in pairwise(CHANCES):
        some = open_ & (made.wall_chance >= low) & (made.wall_chance < high)
        counts.add((way, "chance", low), of=some.sum(), said=made.wall_chance[some].sum(), came=came[some].sum())
    likely = open_ & (made.wall_chance >= LIKELY_FROM)
    counts.add((way, "walls"), warned=likely.sum(), right=(likely & came).sum(), came=came.sum())


def fleet(folder: Path, forecaster: Forecaster, widths: IntervalWidths, counts: Counts, tallies: dict[str, Tally]) -> None:
    """One fleet, minute by minute."""
    history = read_history(folder)
    truth, values = measured(folder, history), filled(history.values)
    limit, scale, outcomes = limits(history.models), scales(history.models), Outcomes(widths)
    reported: dict[str, list[Any]] = {"rolling": [], "cold": []}
    running = {way: Declines() for way in reported}
    for index in range(LEAST_HISTORY_MIN, history.minutes):
        window = history.at(index)
        made = {"trained": predict(window, forecaster), "cold": predict(window, None)}
        outcomes.settle(window.minute, history.values[:, index], made["cold"].performance.bandwidth_now)
        made["rolling"] = predict(window, forecaster, widths)
        outcomes.note(made["rolling"])
        for way, one in made.items():
            intervals(counts, way, one, values, truth.bandwidth_gbps, scale, index)
            if index + HOUR < history.minutes:
                chances(counts, way, one, values[:, index + 1 : index + HOUR + 1, : len(walls())], limit)
        for way, predicted in reported.items():
            chance = reportable(made[way].decline.chance, np.zeros(len(limit), dtype=np.bool_), made[way].wall_chance)
            predicted.append((index, running[way].step(index, chance, made[way].decline.learnt)))
    for way, predicted in reported.items():
        declines(history, truth, predicted, tallies[way])


def quiet_hour(history: History, forecaster: Forecaster | None) -> dict[str, Any]:
    """The RNICs of the demo that are warned of anything, and in how many minutes, from its first minute on."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    limit, running, widths = limits(history.models), Declines(), Outcomes()
    for index in range(history.minutes):
        made = predict(history.at(index), forecaster, widths.widths)
        widths.settle(made.minute, history.values[:, index], made.performance.bandwidth_now)
        widths.note(made)
        with np.errstate(invalid="ignore"):
            kinds = {
                "at a limit": (made.now[:, : limit.shape[1]] >= limit).any(axis=1),
                "likely": ((made.wall_chance >= LIKELY_FROM) & (made.now[:, : limit.shape[1]] < limit)).any(axis=1),
            }
        chance = reportable(made.decline.chance, np.zeros(len(limit), dtype=np.bool_), made.wall_chance)
        kinds["decline"] = running.step(index, chance, made.decline.learnt)
        for kind, flags in kinds.items():
            for place in np.flatnonzero(flags):
                found[history.names[place]].add(kind)
    return {"rnics": len(history.names), "warned": {f"{host} {pci}": sorted(kinds) for (host, pci), kinds in sorted(found.items())}}


def figures(counts: Counts) -> dict[str, Any]:
    """What the page shows."""
    found: dict[str, Any] = {}
    for way in ("trained", "rolling", "cold"):
        loads = {
            target.name: {
                str(ahead): {
                    regime: {
                        "covered": counts.ratio((way, target.name, ahead, regime), "inside", "of"),
                        "width": counts.ratio((way, target.name, ahead, regime), "width", "of"),
                        "n": round(counts.sums[way, target.name, ahead, regime, "of"]),
                    }
                    for regime in ("steady", "growing")
                }
                for ahead in HORIZONS_MIN
            }
            for target in targets()
        }
        found[way] = {
            "loads": loads,
            "bandwidth": {
                str(ahead): {
                    "covered": counts.ratio((way, "bandwidth", ahead), "inside", "of"),
                    "width": counts.ratio((way, "bandwidth", ahead), "width", "of"),
                }
                for ahead in HORIZONS_MIN
            },
            "chances": [
                {
                    "from": low,
                    "n": round(counts.sums[way, "chance", low, "of"]),
                    "said": counts.ratio((way, "chance", low), "said", "of"),
                    "came": counts.ratio((way, "chance", low), "came", "of"),
                }
                for low in CHANCES[:-1]
            ],
            "warned": round(counts.sums[way, "walls", "warned"]),
            "came_true": counts.ratio((way, "walls"), "right", "warned"),
            "walls_warned": counts.ratio((way, "walls"), "right", "came"),
        }
    return found


def main(given: list[str]) -> int:
    """Record, forecast, write."""
    parser = argparse.ArgumentParser(prog="python -m tests.forecast.live", description=__doc__)
    parser.add_argument("--out", type=Path, default=local_dir() / "forecast", help="folder of the recordings")
    parser.add_argument("--fleetsim", type=Path, help="recording program; by default built from collectors/")
    options = parser.parse_args(given)
    folders = {seed: options.out / draw(seed).name for seed in FLEETS}
    missing = [seed for seed, folder in folders.items() if not (is_there(folder, draw(seed)) and (folder / PERFORMANCE).is_file())]
    demo = options.out / "demo"
    if missing or not (demo / "run.json").is_file():
        options.out.mkdir(parents=True, exist_ok=True)
        fleetsim = options.fleetsim or build(options.out)
        for seed in missing:
            record(fleetsim, draw(seed), folders[seed])
        if not (demo / "run.json").is_file():
            command = [fleetsim, "record", "--scenario", DEMO, "--out", demo, "--overwrite"]
            subprocess.run([*command, "--for", f"{DEMO_S}s", "--interval", f"{DEMO_INTERVAL_S}s"], check=True, capture_output=True)
    forecaster, counts, widths = base_model.load(), Counts(), IntervalWidths()
    tallies = {"rolling": Tally(), "cold": Tally()}
    for seed, folder in folders.items():
        fleet(folder, forecaster, widths, counts, tallies)
        print(f"fleet {seed} is forecast", file=sys.stderr)
    hour = read_history(demo)
    found = orjson.loads(document.JSON.read_bytes())
    found["live"] = {
        "base_model": forecaster.meta["id"],
        "base_fleets": len(forecaster.meta["fleets"]),
        "seeds": list(FLEETS),
        **figures(counts),
        "declines": {way: summary(tally)["declines"] for way, tally in tallies.items()},
        "demo": {"base": quiet_hour(hour, forecaster), "cold": quiet_hour(hour, None)},
    }
    document.write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
