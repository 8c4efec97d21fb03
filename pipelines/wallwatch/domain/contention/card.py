"""Everything that runs on one card at once: what each function gets, what it loses to which resource, and to whom.

A trained model predicts one function from its competitors' counters and times at the accelerator. Here each function is the competitor of
all others. Counters of a competitor are those of its own traffic, whatever the others take from it: the prediction is on the safe side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import erfc, inf, log, sqrt

import numpy as np

from wallwatch.domain.contention import diagnosis, round_robin
from wallwatch.domain.contention.counters import Counters, total
from wallwatch.domain.contention.function_model import COMPETITORS_TIME, FunctionModel
from wallwatch.domain.contention.round_robin import EngineUser

MEMORY, ACCELERATOR = "memory", "accelerator"
RESOURCES = (MEMORY, ACCELERATOR)
_DEVIATIONS_OF_90 = 1.645
"""Standard deviations from the middle of a normal distribution to the ends of its 90% interval."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What arrives for a function."""

    flows: float
    packet_bytes: float = 1518.0
    mtbr: float = 0.0
    """Matches per MB; means nothing to a function that does not use the accelerator."""


@dataclass(frozen=True, slots=True)
class Occupant:
    """One function on the card. Without a model it is load only: it takes from others, and nothing is predicted for it."""

    name: str
    traffic: Traffic
    model: FunctionModel | None = None
    counters: Counters | None = None
    """Its own; None while unknown, which makes the predictions for the others too high."""
    load: EngineUser | None = None
    """Its use of the accelerator, where there is no model to know it from; times in 1/kpps."""
    offered: float = inf
    """kpps that arrive for it: it asks the accelerator for no more. Infinite: all that it can process."""

    @property
    def engine(self) -> EngineUser | None:
        if self.model is None:
            return self.load
        profile = self.model.engine
        return None if profile is None else EngineUser(profile.queues, profile.service_time(self.traffic.mtbr, self.traffic.packet_bytes))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is predicted for one function; rates in kpps."""

    throughput: float
    low: float
    high: float
    solo: float
    """For the same traffic without competitors."""
    lost: Mapping[str, float]
    """By resource; adds up to what the competitors take."""
    bottleneck: str | None
    """The resource whose contention costs most; None when nothing is lost."""
    binding: str
    """The slower resource, contended or not."""
    contributors: Mapping[str, float]
    """What would come back if this competitor were away."""
    shifts_at_mtbr: float | None
    """Above this match-to-byte ratio the accelerator is the slower resource; None without one, or where that never changes."""
    outside: tuple[str, ...]
    """Columns that leave the model's training range: the interval is widened."""
    unknown: tuple[str, ...]
    """Competitors whose counters are unknown: the prediction leaves their memory accesses out."""

    @property
    def drop(self) -> float:
        """Share of the solo throughput that is lost."""
        return max(1.0 - self.throughput / self.solo, 0.0)

    @property
    def worst_drop(self) -> float:
        """Drop at the lower end of the interval."""
        return max(1.0 - self.low / self.solo, 0.0)

    def chance_of_breaking(self, most_drop: float) -> float:
        """Chance that it loses more than it may, if the logarithm of the prediction errs normally, as wide as its 90% interval."""
        if not self.contributors:
            return 0.0  # alone on a card: what is left is its own solo throughput
        promised = self.solo * (1.0 - most_drop)
        if promised <= 0.0:
            return 0.0
        deviation = log(self.throughput / self.low) / _DEVIATIONS_OF_90 if 0.0 < self.low < self.throughput else 0.0
        if deviation == 0.0:
            return float(self.throughput < promised)
        return 0.5 * erfc(log(self.throughput / promised) / deviation / sqrt(2.0))


def headroom(drop: float, most_drop: float) -> float:
    """What is left of the SLA, as of every limit: 1 - value / limit. Below 0 it is broken.

    >>> round(headroom(0.05, 0.2), 2), round(headroom(0.3, 0.2), 2)
    (0.75, -0.5)
    """
    return 1.0 - drop / most_drop if most_drop > 0 else (0.0 if drop <= 0 else -inf)


class Card:
    """The functions of one card; predictions are made when they are asked for."""

    def __init__(self, occupants: Sequence[Occupant]) -> None:
        self.occupants = tuple(occupants)

    @cached_property
    def _rates(self) -> list[float]:
        """What each function offers to the accelerator: its throughput if only memory were contended."""
        rates = []
        for at, occupant in enumerate(self.occupants):
            if occupant.model is None or occupant.engine is None:
                rates.append(inf if occupant.load is None else occupant.load.rate)
                continue
            row = [self._matches(at), 0.0, *self._traffic(at), *self._counters(at, None)]
            rates.append(min(float(occupant.model.only_memory_contended(np.array([row]))[0]), occupant.offered))
        return rates

    def outlook(self, at: int) -> Outlook:
        """What is predicted for the function at this place.

        Raises
        ------
        ValueError
            When it has no model.
        """
        occupant = self.occupants[at]
        model = occupant.model
        if model is None:
            raise ValueError(f"{occupant.name} has no model")
        others = [other for other in range(len(self.occupants)) if other != at]
        rows = np.array([self._row(at, None), *(self._row(at, other) for other in others)])
        found = model.predict(rows)
        present = rows[:1]
        solo = float(model.alone(present)[0])
        only = {MEMORY: float(model.only_memory_contended(present)[0])}
        if model.engine is not None:
            only[ACCELERATOR] = float(model.only_engine_contended(present)[0])
        throughput = min(float(found.throughput[0]), solo)
        verdict = diagnosis.diagnose(model.pattern, solo, {name: min(value, solo) for name, value in only.items()})
        lost = solo - throughput
        shares = {name: verdict.shares.get(name, 0.0) for name in RESOURCES}
        if lost > 0 and not any(shares.values()):  # too little for a verdict: it is the larger of the two
            shares[min(only, key=lambda name: only[name])] = 1.0
        return Outlook(
            throughput=throughput,
            low=min(float(found.low[0]), throughput),
            high=float(found.high[0]),
            solo=solo,
            lost={name: lost * share for name, share in shares.items()},
            bottleneck=verdict.bottleneck,
            binding=ACCELERATOR if found.engine[0] < found.memory[0] else MEMORY,
            contributors={
                self.occupants[other].name: max(float(found.throughput[place]) - throughput, 0.0) for place, other in enumerate(others, 1)
            },
            shifts_at_mtbr=_shift(model, occupant.traffic, float(found.memory[0]), float(present[0, COMPETITORS_TIME])),
            outside=found.outside[0],
            unknown=tuple(self.occupants[other].name for other in others if self.occupants[other].counters is None),
        )

    def throughput(self, at: int, cautious: bool = False) -> float:
        """Predicted throughput of one function without the rest of its outlook: placement asks for thousands.

        `cautious` gives the lower end of the interval.
        """
        model = self.occupants[at].model
        if model is None:
            raise ValueError(f"{self.occupants[at].name} has no model")
        row = np.array([self._row(at, None)])
        return float(model.predict(row).low[0] if cautious else model.throughput(row)[0])

    def query(self, at: int) -> list[float]:
        """What the function's model is asked: the columns of a row (`profile_columns.QUERY`)."""
        return self._row(at, None)

    def _row(self, at: int, without: int | None) -> list[float]:
        """The columns of a query for one function, as if another were away."""
        return [self._matches(at), self._competitors_time(at, without), *self._traffic(at), *self._counters(at, without)]

    def _matches(self, at: int) -> float:
        occupant = self.occupants[at]
        return 0.0 if occupant.engine is None else occupant.traffic.mtbr

    def _traffic(self, at: int) -> tuple[float, float]:
        traffic = self.occupants[at].traffic
        return traffic.flows, traffic.packet_bytes

    def _counters(self, at: int, without: int | None) -> Counters:
        others = [occupant for other, occupant in enumerate(self.occupants) if other not in (at, without)]
        return total(occupant.counters for occupant in others if occupant.counters is not None)

    def _competitors_time(self, at: int, without: int | None) -> float:
        """The time per turn that a saturated function would see, given that queues of others may run empty.

        With all queues full this is the sum of `n_j t_j`; otherwise it is what gives the function the share of water-filling.
        """
        own = self.occupants[at].engine
        if own is None:
            return 0.0
        others = [
            EngineUser(engine.queues, engine.service_time, self._rates[other])
            for other, occupant in enumerate(self.occupants)
            if other not in (at, without) and (engine := occupant.engine) is not None
        ]
        served = round_robin.throughput([EngineUser(own.queues, own.service_time), *others])[0]
        return max(own.queues / served - own.queues * own.service_time, 0.0) if served > 0 else inf


def _shift(model: FunctionModel, traffic: Traffic, memory_limit: float, competitors_time: float) -> float | None:
    engine = model.engine
    if engine is None:
        return None
    return diagnosis.shift_at(memory_limit, competitors_time, engine.t0, engine.per_match(traffic.packet_bytes), engine.queues)
