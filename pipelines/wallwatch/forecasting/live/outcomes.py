"""Forecasts that wait for their outcome at each horizon, and teach the interval widths of their model."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.interval_widths import LEAST, MOST, IntervalWidths, with_bandwidth
from wallwatch.domain.forecast.predict import Forecast
from wallwatch.domain.forecast.targets import HORIZONS_MIN, Floats

MOST_RNICS = 2000
"""RNICs whose outcomes are followed, evenly chosen: of more, the share of misses would not be known better than to half a percent of
all intervals, and an hour of forecasts of 40,000 RNICs would take 400 MB."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """One forecast of some RNICs."""

    minute: int
    rows: npt.NDArray[np.intp]
    ahead: npt.NDArray[np.float32]
    growing: npt.NDArray[np.bool_]
    logarithms: Floats


@dataclass
class Outcomes:
    """The widths of one model, and its forecasts of the last hour."""

    widths: IntervalWidths = field(default_factory=IntervalWidths)
    _waiting: deque[_Waiting] = field(default_factory=deque)

    def note(self, made: Forecast) -> None:
        """Remember a forecast; RNICs that start cold have other intervals."""
        trained = np.flatnonzero(~made.cold_start)
        rows = trained[:: max(1, -(-len(trained) // MOST_RNICS))]
        ahead = np.concatenate([made.ahead[rows], made.bandwidth_of_loads[rows, None]], axis=1).astype(np.float32)
        growing = with_bandwidth(made.growing[rows])
        self._waiting.append(_Waiting(made.minute, rows, ahead, growing, self.widths.logarithms.copy()))
        while self._waiting and self._waiting[0].minute <= made.minute - max(HORIZONS_MIN) - 1:
            self._waiting.popleft()

    def settle(self, minute: int, values: Floats, bandwidth: Floats) -> None:
        """Learn from the values of a minute, shape (rnics, targets), and from the bandwidth that they give, shape (rnics,)."""
        came = np.column_stack([values, bandwidth])
        by_minute = {one.minute: one for one in self._waiting}
        for horizon, ahead_min in enumerate(HORIZONS_MIN):
            one = by_minute.get(minute - ahead_min)
            if one is not None and len(one.rows):
                predicted = one.ahead[:, :, horizon].astype(np.float64)
                self.widths.learn(horizon, one.logarithms, one.growing, predicted, came[one.rows])

    def state(self) -> list[Any]:
        """What `restored` continues with."""
        return list(np.round(self.widths.logarithms, 4).tolist())

    @classmethod
    def restored(cls, live: Mapping[str, Any]) -> Outcomes:
        """Continue from the entry of a model in `forecast_model.live`; as trained if it has no widths that fit.

        >>> Outcomes.restored({}).widths.logarithms.any(), Outcomes.restored({"widths": [1.0]}).widths.logarithms.any()
        (np.False_, np.False_)
        """
        found = cls()
        try:
            stored = np.array(live["widths"], dtype=np.float64)
        except (KeyError, TypeError, ValueError):
            return found
        if stored.shape == found.widths.logarithms.shape and np.isfinite(stored).all():
            found.widths.logarithms = np.clip(stored, np.log(LEAST), np.log(MOST))
        return found
