"""`python -m tests.forecast.cold_start`: write the intervals of fleets without a trained model, from the training fleets.

Run it when the damped trend, the targets or the horizons change; the fleets must have been recorded (`make evaluate-forecasts`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import yaml
from tests.forecast.__main__ import DEVELOPMENT, TRAINING
from tests.forecast.draw import draw

from wallwatch.domain.forecast import damped_trend
from wallwatch.domain.forecast.targets import Floats, targets
from wallwatch.domain.forecast.training_examples import batches, together
from wallwatch.domain.forecast.wall_times import unstretched
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.histories.from_recordings import read_history
from wallwatch.forecasting.training.interval_widening import TAIL, cases, stretch
from wallwatch_local.paths import local_dir

HEAD = """# Written by `python -m tests.forecast.cold_start` from simulated fleets of training and development (tests/forecast/__main__.py);
# docs/forecast-evaluation.md evaluates none of them.
# margins: how far below and above the damped trend the changes were (90% interval), in units of labels (domain/forecast/features.py), by
# target; by horizon (1, 5, 15, 30, 60 minutes), each low and high. First for steady values, then for changing ones. How often loads start
# to grow differs by fleet: in a fleet where they never do, intervals are too wide until it has its own model.
# reach: how much wider intervals are for times to walls: quantiles above, factor for earlier times, quantiles below
# (domain/forecast/wall_times.py).
"""


class Plain(yaml.SafeDumper):
    """Without anchors for what is there twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def widening_of_trend(histories: Sequence[History]) -> Floats:
    """The stretch for forecasts by the damped trend alone, with the margins of a new fleet."""
    return stretch(cases(histories, None), damped_trend.starting_reach(), 2.0 * TAIL)


def write(histories: Sequence[History]) -> None:
    """Write margins first: the factor is found with them."""
    lots = list(batches(histories, 2))
    margins = damped_trend.margins([together(lot[k] for lot in lots) for k in range(len(targets()))])
    rounded = {name: [[[round(float(x), 3) for x in pair] for pair in regime] for regime in one] for name, one in margins.items()}
    for reach in (unstretched, lambda: widening_of_trend(histories)):
        damped_trend.STARTING.write_text(
            HEAD + yaml.dump({"reach": reach().tolist(), "margins": rounded}, Dumper=Plain, default_flow_style=None, width=130)
        )
        damped_trend.starting_margins.cache_clear()
        damped_trend.starting_reach.cache_clear()


def main() -> int:
    """Write the file."""
    write([read_history(local_dir() / "forecast" / draw(seed).name) for seed in (*TRAINING, *DEVELOPMENT)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
