"""Input of a forecast for many RNICs: one hour of minutes, and the same minutes a day and a week ago."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from wallwatch.domain.forecast.targets import HISTORY_MIN, HORIZONS_MIN, Floats, targets

SEASONS_MIN = (60, 1440, 10080)
"""How long ago the same happened: jobs are repeated by the hour, by the day and by the week."""


@dataclass(frozen=True, slots=True)
class Window:
    """Minutes of `rnics` RNICs, NaN where nothing was measured.

    Attributes
    ----------
    models : sequence of str or None, length rnics
        RNIC profile, None where the model is unknown.
    hosts : int array (rnics,)
        Number of the host of each RNIC: RNICs of one host are peers.
    minute : int
        The newest minute, since 1970 in UTC.
    values : float array (rnics, HISTORY_MIN, targets)
        Means of each minute, newest last, in the targets' own units.
    seasons : float array (rnics, 3, 1 + horizons, targets)
        The value 60 minutes, a day and a week ago, and at each horizon after that.
    containers : float array (rnics, HISTORY_MIN)
        Containers started minus containers stopped per minute.
    spread : float array (rnics, 2)
        Standard deviation of the mask positions behind the newest `q_l` and `q_r`; NaN where unknown.
    of_peers : bool array (rnics,)
        Whether `q_r` is joined over peers; otherwise it is of the own ingress chain.
    link_gbps : float array (rnics,)
        What the PCIe link carries now; NaN if unknown, which means no bound.
    sent_gbps : float array (rnics,)
        What was sent in the newest minute, without encapsulation: the RNIC can carry at least this much. NaN if unknown.
    """

    models: Sequence[str | None]
    hosts: npt.NDArray[np.int64]
    minute: int
    values: Floats
    seasons: Floats
    containers: Floats
    spread: Floats
    of_peers: npt.NDArray[np.bool_]
    link_gbps: Floats
    sent_gbps: Floats | None = None

    def __post_init__(self) -> None:
        n, k = len(self.models), len(targets())
        shapes = {
            "values": (n, HISTORY_MIN, k),
            "seasons": (n, len(SEASONS_MIN), 1 + len(HORIZONS_MIN), k),
            "containers": (n, HISTORY_MIN),
            "spread": (n, 2),
            "of_peers": (n,),
            "link_gbps": (n,),
            "hosts": (n,),
            **({"sent_gbps": (n,)} if self.sent_gbps is not None else {}),
        }
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} has shape {getattr(self, name).shape}; it must be {shape}")

    def age(self) -> npt.NDArray[np.int64]:
        """Minutes of history of each RNIC: from the first minute with anything measured to the newest."""
        seen = np.asarray(~np.isnan(self.values).all(axis=2))
        return np.where(seen.any(axis=1), HISTORY_MIN - seen.argmax(axis=1), 0)


@dataclass(frozen=True, slots=True)
class History:
    """Minutes of many RNICs without an end: what models are trained and evaluated on. Shapes as in `Window`, with all minutes."""

    models: Sequence[str | None]
    names: Sequence[tuple[str, str]]
    """(host, pci)."""
    hosts: npt.NDArray[np.int64]
    first_minute: int
    values: Floats
    containers: Floats
    spread: Floats
    """(rnics, minutes, 2)."""
    of_peers: npt.NDArray[np.bool_]
    """(rnics, minutes)."""
    link_gbps: Floats
    """(rnics, minutes)."""
    sent_gbps: Floats | None = None
    """(rnics, minutes)."""

    @property
    def minutes(self) -> int:
        return int(self.values.shape[1])

    def at(self, index: int) -> Window:
        """The window that ends with a minute of the history; minutes before its beginning are NaN."""
        n, k = len(self.models), len(targets())
        first = index - HISTORY_MIN + 1
        padding = max(0, -first)
        values = np.full((n, HISTORY_MIN, k), np.nan)
        values[:, padding:] = self.values[:, max(first, 0) : index + 1]
        containers = np.zeros((n, HISTORY_MIN))
        containers[:, padding:] = self.containers[:, max(first, 0) : index + 1]
        seasons = np.full((n, len(SEASONS_MIN), 1 + len(HORIZONS_MIN), k), np.nan)
        for i, ago in enumerate(SEASONS_MIN):
            for j, ahead in enumerate((0, *HORIZONS_MIN)):
                if 0 <= index - ago + ahead <= index:
                    seasons[:, i, j] = self.values[:, index - ago + ahead]
        newest = (self.spread[:, index], self.of_peers[:, index], self.link_gbps[:, index])
        sent = None if self.sent_gbps is None else self.sent_gbps[:, index]
        return Window(self.models, self.hosts, self.first_minute + index, values, seasons, containers, *newest, sent)

    def minutes_between(self, first: int, last: int) -> History:
        """The minutes from `first` to before `last`."""
        return replace(
            self,
            first_minute=self.first_minute + first,
            values=self.values[:, first:last],
            containers=self.containers[:, first:last],
            spread=self.spread[:, first:last],
            of_peers=self.of_peers[:, first:last],
            link_gbps=self.link_gbps[:, first:last],
            sent_gbps=None if self.sent_gbps is None else self.sent_gbps[:, first:last],
        )
