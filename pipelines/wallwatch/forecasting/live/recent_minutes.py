"""The last hour of a fleet in memory, minute by minute, so that a forecast reads only new minutes from the store."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.features import filled
from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, Floats, targets
from wallwatch.domain.forecast.window import SEASONS_MIN, Window

_LONGEST = max(HORIZONS_MIN)


class Ring:
    """The newest `HISTORY_MIN` minutes of some values per RNIC, 4 bytes each: 7 values of 40,000 RNICs take 70 MB."""

    def __init__(self, width: int) -> None:
        self._minutes = np.full(HISTORY_MIN, -1, dtype=np.int64)
        self._values = np.full((0, HISTORY_MIN, width), np.nan, dtype=np.float32)

    def grow(self, rnics: int) -> None:
        """Make room for more RNICs."""
        missing = rnics - len(self._values)
        if missing > 0:
            more = np.full((missing, *self._values.shape[1:]), np.nan, dtype=np.float32)
            self._values = np.concatenate([self._values, more])

    def put(self, minute: int, rows: npt.NDArray[np.intp], values: npt.NDArray[np.floating]) -> None:
        """Set values of one minute, shape (rows, width). A minute older than the ring is ignored."""
        slot = minute % HISTORY_MIN
        if self._minutes[slot] > minute:
            return
        if self._minutes[slot] != minute:
            self._minutes[slot] = minute
            self._values[:, slot] = np.nan
        self._values[rows, slot] = values

    def add(self, minute: int, rows: npt.NDArray[np.intp], values: npt.NDArray[np.floating]) -> None:
        """Set values of some RNICs in a minute that the ring has; values of other RNICs stay."""
        if self.has(minute):
            self._values[rows, minute % HISTORY_MIN] = values

    def silent_since(self, minute: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """The first of the silent minutes just before `minute` per RNIC; `minute` itself if the minute before has a value.

        >>> ring = Ring(1)
        >>> ring.grow(2)
        >>> for m, row in ((100, 0), (101, 0), (101, 1), (102, 0), (103, 0)):
        ...     ring.put(m, np.array([row]), np.array([[1.0]])) if row == 0 else ring.add(m, np.array([row]), np.array([[1.0]]))
        >>> ring.silent_since(104, np.array([0, 1])).tolist()
        [104, 102]
        """
        found = np.full(len(rows), minute, dtype=np.int64)
        known = self.has(minute - 1)
        quiet = np.isnan(self._values[rows, (minute - 1) % HISTORY_MIN]).all(axis=1) if known else np.ones(len(rows), dtype=np.bool_)
        if quiet.any():
            before = np.arange(minute - 1, minute - HISTORY_MIN, -1)
            slots = before % HISTORY_MIN
            reported = ~np.isnan(self._values[rows[quiet]][:, slots]).all(axis=2) & (self._minutes[slots] == before)
            found[quiet] = minute - np.where(reported.any(axis=1), reported.argmax(axis=1), len(before))
        return found

    def has(self, minute: int) -> bool:
        return bool(self._minutes[minute % HISTORY_MIN] == minute)

    def last(self, minute: int) -> Floats:
        """The minutes up to this one, oldest first: shape (rnics, HISTORY_MIN, width), NaN where no value was put."""
        wanted = np.arange(minute - HISTORY_MIN + 1, minute + 1)
        slots = wanted % HISTORY_MIN
        found = self._values[:, slots].astype(np.float64)
        found[:, self._minutes[slots] != wanted] = np.nan
        return np.asarray(found)


class Rings:
    """The data of a window: the last hour, and the hour that followed this minute a day and a week ago."""

    def __init__(self) -> None:
        self.now = Ring(len(targets()))
        self.seasons = {ago: Ring(len(targets())) for ago in SEASONS_MIN if ago > _LONGEST}
        self.containers = Ring(1)
        self.spread = Ring(3)  # spread of q_l, spread of q_r, and 1 where q_r was measured at the peers
        self.link = Ring(1)
        self.sent = Ring(1)

    def grow(self, rnics: int) -> None:
        for ring in (self.now, *self.seasons.values(), self.containers, self.spread, self.link, self.sent):
            ring.grow(rnics)

    def window(self, minute: int, models: list[str | None], hosts: npt.NDArray[np.int64]) -> Window:
        """The window at the end of a minute."""
        values = self.now.last(minute)
        seasons = np.full((len(models), len(SEASONS_MIN), 1 + len(HORIZONS_MIN), len(targets())), np.nan)
        for i, ago in enumerate(SEASONS_MIN):
            ring = self.seasons.get(ago)
            # The hour that ends now began an hour ago; yesterday's hour ended an hour after this minute of yesterday.
            after = values if ring is None else ring.last(minute - ago + _LONGEST)
            seasons[:, i] = after[:, [HISTORY_MIN - 1 - _LONGEST + ahead for ahead in (0, *HORIZONS_MIN)]]
        containers = np.nan_to_num(self.containers.last(minute)[:, :, 0])
        spread, link = (filled(ring.last(minute))[:, -1] for ring in (self.spread, self.link))
        sent = self.sent.last(minute)[:, -1, 0]
        return Window(models, hosts, minute, values, seasons, containers, spread[:, :2], spread[:, 2] == 1.0, link[:, 0], sent)
