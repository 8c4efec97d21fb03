"""Predicted drops of all residents of a card, from descriptions of functions rather than a trained model for each.

Used for placement: memory contention is a curve of the competitors' load (piecewise linear, as Yala's figure 5), accelerators are the
round-robin model, and both compose by the function's pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from wallwatch.domain.contention.composition import Pattern, compose
from wallwatch.domain.contention.placement import Kind
from wallwatch.domain.contention.round_robin import EngineUser, common_rates, throughput

_LARGEST_DROP = 0.999


@dataclass(frozen=True, slots=True)
class Resident:
    """What contention of a function depends on."""

    kind: Kind
    solo: float
    """kpps."""
    pattern: Pattern = Pattern.PIPELINE
    memory_load: float = 0.0
    """What it adds to the memory subsystem, in the unit of the curves' abscissa (such as accesses per second)."""
    memory_curve: tuple[tuple[float, float], ...] = ()
    """(competitors' load, drop as a share of solo) in ascending order; linear between the points, flat outside."""
    engines: Mapping[str, EngineUser] = field(default_factory=dict)
    """By accelerator; times in 1/kpps, rates in kpps."""
    memory_errors: tuple[float, ...] = ()
    """Standard error of each drop of the curve, as a share of solo; empty where the curve is taken as exact."""


def drops_of(residents: Sequence[Resident]) -> list[float]:
    """Drop of each resident as a share of its solo throughput, in the order given."""
    loads = [resident.memory_load for resident in residents]
    limits = _engine_limits(residents)
    found = []
    for at, resident in enumerate(residents):
        drops = [_memory_drop(resident, sum(loads) - loads[at])]
        for limit in limits[at]:
            drops.append(min(max(1.0 - limit / resident.solo, 0.0), _LARGEST_DROP))
        found.append(1.0 - compose(resident.pattern, 1.0, drops))
    return found


def _memory_drop(resident: Resident, load: float) -> float:
    if not resident.memory_curve:
        return 0.0
    loads, drops = zip(*resident.memory_curve, strict=True)
    return min(float(np.interp(load, loads, drops)), _LARGEST_DROP)


def _engine_limits(residents: Sequence[Resident]) -> list[list[float]]:
    """For each resident, the throughput that each of its accelerators allows."""
    limits: list[list[float]] = [[] for _ in residents]
    for engine in sorted({name for resident in residents for name in resident.engines}):
        users = [(at, resident.engines[engine]) for at, resident in enumerate(residents) if engine in resident.engines]
        for at, user in users:
            # What the function could get if it asked for all it can: the others keep their own demand.
            asked = [EngineUser(user.queues, user.service_time) if other == at else other_user for other, other_user in users]
            place = [other for other, _ in users].index(at)
            limits[at].append(throughput(asked)[place])
    return limits


def _in_errors(excess: npt.NDArray[np.float64], errors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How many standard errors something is too much; without an error, whether it is."""
    certain = errors <= 0
    return np.asarray(np.where(certain, np.where(excess > 0, np.inf, -np.inf), excess / np.where(certain, 1.0, errors)))


class Batch:
    """The same predictions for many combinations at once: a batch of functions has tens of thousands.

    >>> kinds = [Resident(Kind(name, 2, 0.1), 100.0, memory_load=1.0, memory_curve=((0, 0), (2, 0.2))) for name in "ab"]
    >>> Batch(kinds).drops(np.array([[0, 1], [1, 1]])).tolist()
    [[0.1, 0.1], [0.1, 0.1]]
    """

    def __init__(self, residents: Sequence[Resident]) -> None:
        self._residents = residents
        self._solo = np.array([resident.solo for resident in residents])
        self._loads = np.array([resident.memory_load for resident in residents])
        self._pipeline = np.array([resident.pattern is Pattern.PIPELINE for resident in residents])
        self._engines = []
        for engine in sorted({name for resident in residents for name in resident.engines}):
            users = [resident.engines.get(engine) for resident in residents]
            queues = np.array([0 if user is None else user.queues for user in users], dtype=float)
            times = np.array([0.0 if user is None else user.service_time for user in users])
            rates = np.array([0.0 if user is None else user.rate for user in users])
            self._engines.append((queues, times, rates))

    def drops(self, combinations: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Drops of residents given by their places in the list, shape (combinations, residents), as `drops_of` has them."""
        loads = self._loads[combinations]
        others = loads.sum(axis=1, keepdims=True) - loads
        found = [self._memory(combinations, others), *self._engine_drops(combinations)]
        largest = np.max(found, axis=0)
        added = sum(1.0 / (1.0 - drops) - 1.0 for drops in found)
        return np.asarray(np.where(self._pipeline[combinations], largest, 1.0 - 1.0 / (1.0 + added)))

    def chances(self, combinations: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Chance that each resident loses more than its SLA allows, shape (combinations, residents).

        Where a curve states its errors, that at the competitors' load counts, against what the engines leave of the SLA to the memory.
        Otherwise the error of the kind counts.
        """
        limit = np.array([resident.kind.most_drop for resident in self._residents])[combinations]
        error = np.array([resident.kind.error for resident in self._residents])[combinations]
        loads = self._loads[combinations]
        others = loads.sum(axis=1, keepdims=True) - loads
        curve_error = self._interpolated(combinations, others, lambda resident: resident.memory_errors)
        whole = ndtr(_in_errors(self.drops(combinations) - limit, error))
        if not curve_error.any():
            return np.asarray(whole)
        engines = self._engine_drops(combinations)
        added = sum((1.0 / (1.0 - drops) - 1.0 for drops in engines), np.zeros(combinations.shape))
        broken = np.max([*engines, np.zeros(combinations.shape)], axis=0) > limit
        left = np.maximum(1.0 / (1.0 - limit) - added, 1e-9)  # of the time per packet, for everything but the engines
        allowed = np.where(self._pipeline[combinations], np.where(broken, -np.inf, limit), 1.0 - 1.0 / left)
        by_curve = ndtr(_in_errors(self._memory(combinations, others) - allowed, curve_error))
        return np.asarray(np.where(curve_error > 0, by_curve, whole))

    def _engine_drops(self, combinations: npt.NDArray[np.int64]) -> list[npt.NDArray[np.float64]]:
        return [self._engine(combinations, *engine) for engine in self._engines]

    def _interpolated(
        self, combinations: npt.NDArray[np.int64], others: npt.NDArray[np.float64], values: Callable[[Resident], Sequence[float]]
    ) -> npt.NDArray[np.float64]:
        """Values of the residents' curves at the competitors' loads; 0 where a resident has none."""
        found = np.zeros(combinations.shape)
        for at in np.unique(combinations):
            if given := values(self._residents[at]):
                mine = combinations == at
                found[mine] = np.interp(others[mine], [load for load, _ in self._residents[at].memory_curve], given)
        return found

    def _memory(self, combinations: npt.NDArray[np.int64], others: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        drops = self._interpolated(combinations, others, lambda resident: [drop for _, drop in resident.memory_curve])
        return np.minimum(drops, _LARGEST_DROP)

    def _engine(
        self,
        combinations: npt.NDArray[np.int64],
        queues: npt.NDArray[np.float64],
        times: npt.NDArray[np.float64],
        rates: npt.NDArray[np.float64],
    ) -> npt.NDArray[np.float64]:
        count, weight = queues[combinations], (queues * times)[combinations]
        wanted = np.divide(rates, queues, out=np.zeros_like(rates), where=queues > 0)[combinations]
        found = np.zeros(combinations.shape)
        for at in range(combinations.shape[1]):
            asked = wanted.copy()
            asked[:, at] = np.inf
            asker = count[:, at] > 0
            limit = count[:, at] * common_rates(weight, asked)
            drop = np.clip(1.0 - limit / self._solo[combinations[:, at]], 0.0, _LARGEST_DROP)
            found[:, at] = np.where(asker, drop, 0.0)
        return found
