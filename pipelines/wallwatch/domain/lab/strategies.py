"""The baselines: what a search that does not adapt would test. They exist to be compared with the adaptive strategy.

Each proposes configurations in an order of its own. A configuration that fails and that no cause found so far explains is reduced by
hand's methods (`reduction.py`) at once, so that a search that ends early has reported what it knew.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from wallwatch.domain.lab.conditions import Signal
from wallwatch.domain.lab.device import Config, Parameter, Value, all_level_combinations
from wallwatch.domain.lab.evidence import add_evidence
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.levels import levels_of
from wallwatch.domain.lab.pairwise import PairwiseRows
from wallwatch.domain.lab.reduction import Reducer
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.tester import Options, Strategy
from wallwatch.domain.lab.topology import Topology

QUIET_ROWS = 1000
"""Random configurations without a new cause after which the random strategy ends."""
MOST_CAUSES = 25
"""A boundary over several parameters looks like a new cause at each of its points: without an end that would go on for ever."""
MOST_ATTEMPTS = 3
"""How often a failing configuration is reduced, where the causes found in it do not explain it."""
UNPROVEN = (
    "Causes are not verified on fresh configurations, and a boundary over several parameters shows as thresholds at the values tested."
    " The adaptive strategy does both."
)


class Baseline(ABC):
    """One search. `run` fills the report as it goes."""

    limits: str
    """What the strategy cannot say."""
    going_on: str
    """What it would test next when cut off."""

    def __init__(self, judge: Judge, sampler: Sampler, options: Options, report: Report, rng: random.Random) -> None:
        self._judge = judge
        self._sampler = sampler
        self._options = options
        self._report = report
        self._rng = rng
        self._device = judge.device
        self._varied = [one for one in self._device.parameters if not options.only or one.name in options.only]
        self._healthy = self._device.default

    @abstractmethod
    def rows(self) -> Iterator[Config]:
        """Valid configurations to test, in order."""

    @abstractmethod
    def covered(self) -> int:
        """How many parameters' levels were tested in every combination, once all rows were."""

    def run(self, healthy: Config) -> None:
        """Test all rows and reduce what fails."""
        self._healthy = healthy
        self._report.notes += [self.limits, UNPROVEN]
        if healthy != self._device.default:
            self._examine(self._device.default)
        rows = self.rows()
        while batch := list(itertools.islice(rows, max(1, self._options.parallel))):
            fresh = {self._device.key(row): row for row in batch if self._device.key(row) not in self._judge.seen}
            if fresh:
                self._judge.observe_all(list(fresh.values()), "discover")
            for row in batch:
                self._examine(row)
                if len(self._report.causes) >= MOST_CAUSES:
                    self._report.notes.append(f"The search ended after {MOST_CAUSES} causes.")
                    return
        self._report.strength = min(self.covered(), len(self._report.varied))

    def _examine(self, row: Config) -> None:
        """Reduce whatever the configuration shows until it is explained."""
        if self._device.key(row) not in self._judge.seen:
            self._judge.observe(row, "discover")
        for _ in range(MOST_ATTEMPTS):
            found = [self._reduce(signal, row) for signal in self._unexplained(row)]
            if not any(found):
                return

    def _unexplained(self, row: Config) -> list[Signal]:
        """Signals that no known cause explains; a degradation next to a symptom that is explained is explained too."""
        holding = {one.cause.signal for one in self._report.causes if one.cause.holds(row)}
        outcomes = self._judge.seen.get(self._device.key(row), [])
        shown = dict.fromkeys(signal for one in outcomes for signal in self._judge.signals(one, self._options.target))
        is_explained = any(one.symptom for one in holding)
        return [one for one in shown if one not in holding and (one.symptom or not is_explained)]

    def _reduce(self, signal: Signal, row: Config) -> bool:
        """True if a cause was found."""
        for _ in range(2):  # a device that disagrees with itself is asked again, sequentially
            if not self._judge.decide(row, signal, "discover"):
                return False
            if not self._judge.doubt(row, signal, "discover", times=2):
                break
        found = Reducer(self._judge, self._sampler, self._healthy).cause_of(signal, row, [one.cause for one in self._report.causes])
        if found is None:
            return False
        self._judge.check_recovery(found.failing, signal)
        add_evidence(self._judge, found)
        self._report.causes.append(found)
        return True


class Exhaustive(Baseline):
    """Every valid combination of levels (`all_level_combinations`)."""

    limits = "Exhaustive: all combinations of up to five levels; a fault between two levels is not seen."
    going_on = "go on with the combinations of levels that are left"

    def rows(self) -> Iterator[Config]:
        """Parameters of the topology outermost, so that invalid combinations of them are left out as a whole."""
        wired = set(Topology(self._device).parameters)
        outer = [one for one in self._varied if one.name in wired]
        inner = [one for one in self._varied if one.name not in wired]
        for first in self._combinations(outer):
            if self._sampler.is_valid({**self._device.default, **first}):
                for second in self._combinations(inner):
                    yield {**self._device.default, **first, **second}

    def _combinations(self, parameters: Sequence[Parameter]) -> Iterator[Config]:
        return all_level_combinations(dataclasses.replace(self._device, parameters=tuple(parameters)))

    def covered(self) -> int:
        return len(self._varied)


class Random(Baseline):
    """Random configurations until many in a row show nothing new."""

    limits = f"Random: ends after {QUIET_ROWS} configurations without a new cause; rare combinations may be left unseen."
    going_on = "go on with random configurations"

    def rows(self) -> Iterator[Config]:
        quiet, causes = 0, 0
        while quiet < QUIET_ROWS:
            quiet += 1
            drawn = dict(self._device.default)
            drawn.update({one.name: self._drawn(one) for one in self._varied})
            row = self._sampler.valid(drawn, self._kept())
            if row is not None:
                yield row
            if len(self._report.causes) > causes:
                quiet, causes = 0, len(self._report.causes)

    def _kept(self) -> list[str]:
        """Parameters that must keep their default: those that the user has not asked for."""
        return [one.name for one in self._device.parameters if one not in self._varied]

    def _drawn(self, parameter: Parameter) -> Value:
        if parameter.kind == "integer":
            return parameter.between(parameter.minimum, parameter.maximum, self._rng.random())
        if parameter.kind == "sequence":
            return tuple(self._rng.sample(parameter.values, len(parameter.values)))
        return self._rng.choice(parameter.values)

    def covered(self) -> int:
        return 0


class OneFactor(Baseline):
    """Each parameter alone over its levels, all others as in the healthy configuration."""

    limits = "One factor at a time: a fault that needs two parameters or more to differ from the default is not seen."
    going_on = "go on with the parameters that are left, one at a time"

    def rows(self) -> Iterator[Config]:
        unreachable: list[str] = []
        for parameter in self._varied:
            rows = [{**self._healthy, parameter.name: one} for one in levels_of(parameter, self._healthy[parameter.name])]
            others = [row for row in rows if row != self._healthy]
            valid = [row for row in others if self._sampler.is_valid(row)]
            if len(valid) < len(others):
                unreachable.append(parameter.name)
            yield from valid
        if unreachable:
            names = ", ".join(unreachable)
            self._report.notes.append(f"The topology does not allow some values of these parameters alone: {names}. They were not tested.")

    def covered(self) -> int:
        return 1


class Pairwise(Baseline):
    """A covering array of strength 2, made in one piece by a library; rows do not depend on what earlier ones showed."""

    limits = "Pairwise: a row that fails may hide other faults in it; a fault of three parameters or more may be left unseen."
    going_on = "go on with the rows of the covering array that are left"

    def rows(self) -> Iterator[Config]:
        rows = PairwiseRows(self._device, self._sampler, self._varied, self._rng)
        yield from rows
        if rows.impossible:
            self._report.notes.append(f"The topology rules out {rows.impossible} pairs of levels.")

    def covered(self) -> int:
        """A failing row shows only its own fault, so pairs in it may not count; with no cause at all every pair passed."""
        return 1 if self._report.causes else min(2, len(self._varied))


BASELINES: dict[Strategy, type[Baseline]] = {
    "exhaustive": Exhaustive,
    "random": Random,
    "one-factor": OneFactor,
    "pairwise": Pairwise,
}
