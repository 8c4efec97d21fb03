"""Examples to learn from: features of moments of a history, with what came after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.features import FeatureMaker, filled
from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats, targets
from wallwatch.domain.forecast.window import History

LEAST_HISTORY_MIN = 10
"""Minutes of history required for an example: younger RNICs get the cold start."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Examples of one target; arrays of length n.

    Attributes
    ----------
    rows : float32 array (n, features)
    labels : float array
        See `features`: 0 when the present growth continues, about -1 when it stops.
    growing : bool array
        Whether the value was growing or shrinking faster than `features.QUIET` when the forecast was made.
    """

    rows: npt.NDArray[np.float32]
    labels: Floats
    growing: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)


def examples_of(history: History, every_min: int = 1, offset: int = 0) -> list[Examples]:
    """Examples of each target, from every `every_min`-th minute of a history."""
    parts: list[list[Examples]] = [[] for _ in targets()]
    truth = filled(history.values)
    for index in range(LEAST_HISTORY_MIN + offset, history.minutes, every_min):
        maker = FeatureMaker(history.at(index))
        for k in range(len(targets())):
            features = maker.of(k)
            ahead = _ahead(truth[:, :, k], index)
            with np.errstate(invalid="ignore"):
                change = (ahead - features.now[:, None]) / np.array(HORIZONS_MIN)
                labels = ((change - features.rate[:, None]) / features.unit[:, None]).ravel()
            known = ~np.isnan(labels)
            growing = np.repeat(is_growing(features.rate, features.unit), len(HORIZONS_MIN))
            parts[k].append(Examples(features.rows[known], labels[known], growing[known]))
    return [together(one) for one in parts]


def is_growing(rate: Floats, unit: Floats) -> npt.NDArray[np.bool_]:
    """Whether the present rate is more than what counts as standing still: the unit is the rate and that, added."""
    return np.asarray(np.abs(rate) > 0.5 * unit)


def _ahead(series: Floats, index: int) -> Floats:
    """Values at the horizons after a minute, shape (rnics, horizons); NaN after the end."""
    found = np.full((len(series), len(HORIZONS_MIN)), np.nan)
    for j, ahead in enumerate(HORIZONS_MIN):
        if index + ahead < series.shape[1]:
            found[:, j] = series[:, index + ahead]
    return found


def together(parts: Iterable[Examples]) -> Examples:
    """Several lots of examples as one."""
    some = list(parts)
    return Examples(
        np.concatenate([p.rows for p in some]) if some else np.empty((0, 0), dtype=np.float32),
        np.concatenate([p.labels for p in some]) if some else np.empty(0),
        np.concatenate([p.growing for p in some]) if some else np.empty(0, dtype=np.bool_),
    )


def batches(histories: Iterable[History], every_min: int) -> Iterator[list[Examples]]:
    """Examples of each history, one after another, each with another first minute so that rhythms do not meet the same one."""
    for i, history in enumerate(histories):
        yield examples_of(history, every_min, offset=i % every_min)
