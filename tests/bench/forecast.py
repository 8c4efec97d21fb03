"""How long forecasts of the fleet take on one core, and training on a part of 7 days of 1,000 RNICs, from which the whole is estimated.

The fleet is synthetic: values that grow, fall and stay constant. WALLWATCH_BENCH_RNICS (40,000) are forecast; training takes
WALLWATCH_BENCH_TRAINING_SHARE (0.02) of the RNICs."""

import os
import time

import numpy as np
from tests.bench.report import report

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.forecaster import Forecaster, calibrate, fit
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, column, targets
from wallwatch.domain.forecast.training_examples import examples_of
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.training.train import spacing

RNICS = int(os.environ.get("WALLWATCH_BENCH_RNICS", "40000"))
SHARE = float(os.environ.get("WALLWATCH_BENCH_TRAINING_SHARE", "0.02"))
WEEK_MIN, WEEK_RNICS, EVERY_MIN = 7 * 1440, 1000, 5


def history(rnics: int, minutes: int, seed: int = 1) -> History:
    """Random walks of all targets, a third of them constant."""
    rng = np.random.default_rng(seed)
    moves = rng.random((rnics, 1, 1)) > 1 / 3
    steps = rng.normal(0.02, 0.5, (rnics, minutes, len(targets()))) * moves
    values = np.abs(20.0 + np.cumsum(steps, axis=1))
    values[:, :, column("q_l")] = values[:, :, column("egress_masks")] / 2
    values[:, :, column("q_r")] = values[:, :, column("ingress_masks")] / 2
    names = [(f"host{i // 5}", f"0000:{i % 5:02x}:00.0") for i in range(rnics)]
    shape = (rnics, minutes)
    link = np.full(shape, np.nan)
    spread, of_peers = np.full((*shape, 2), 8.0), np.ones(shape, dtype=np.bool_)
    return History(["CX-6"] * rnics, names, np.arange(rnics) // 5, 29_000_000, values, np.zeros(shape), spread, of_peers, link)


def main() -> None:
    """Measure and report; times are of the CPU, so that other processes of the machine are not counted."""
    part = round(WEEK_RNICS * SHARE)
    began, wall = time.process_time(), time.monotonic()
    # As `train` does with the whole: of a long history fewer moments.
    examples = examples_of(history(part, WEEK_MIN), spacing(WEEK_RNICS * WEEK_MIN, EVERY_MIN))
    examples_s = time.process_time() - began
    boosters = fit(examples, threads=1)
    of_chains = history(part, WEEK_MIN)
    falls = decline_model.fit([decline_model.decline_examples_of(of_chains, HISTORY_MIN, decline_model.spacing(WEEK_RNICS * WEEK_MIN))])
    training_s = time.process_time() - began
    forecaster = Forecaster(boosters, calibrate(boosters, examples), decline_booster=falls)
    window = history(RNICS, 61, 2).at(60)
    predict(window, forecaster)  # compiled and warm
    began = time.process_time()
    predict(window, forecaster)
    forecast_s = time.process_time() - began
    report(
        "forecast",
        forecast_cpu_s=forecast_s,
        rnics=RNICS,
        horizons=len(HORIZONS_MIN),
        targets=len(boosters),
        training_cpu_s=training_s,
        training_examples_cpu_s=examples_s,
        training_share=SHARE,
        examples=sum(map(len, examples)),
        training_whole_cpu_s_estimated=training_s / SHARE,
        wall_s=time.monotonic() - wall,
    )


if __name__ == "__main__":
    main()
