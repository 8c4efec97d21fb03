"""From a failing configuration to a cause, as people do it by hand: one parameter at a time, then bisection of thresholds.

Every baseline strategy uses it, so that they differ only in the configurations that they try. It proves nothing on fresh configurations
and knows no boundaries over several parameters: that is what the adaptive strategy adds.
"""

from __future__ import annotations

from collections.abc import Sequence

from wallwatch.domain.lab.axes import condition_of
from wallwatch.domain.lab.conditions import Cause, Condition, Signal
from wallwatch.domain.lab.device import Config, Value
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.paths import Decide, difference
from wallwatch.domain.lab.report import FoundCause, Threshold
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.tester import Phase


class Reducer:
    """Reduces failing configurations against a healthy one. Invalid configurations are never tested."""

    def __init__(self, judge: Judge, sampler: Sampler, healthy: Config) -> None:
        self._judge = judge
        self._sampler = sampler
        self._healthy = healthy
        self._device = judge.device

    def cause_of(self, signal: Signal, failing: Config, known: Sequence[Cause]) -> FoundCause | None:
        """The cause of a signal that a configuration shows; None if nothing distinguishes it from the healthy one.

        Configurations in which a known cause of the same signal holds say nothing and are not tested.
        """
        reduced = self._reduced(failing, self._decider(signal, known, "minimise"))
        names = difference(self._device, self._healthy, reduced)
        if not names:
            return None
        self._judge.learn_cut(reduced, signal, "minimise")
        decide = self._decider(signal, known, "threshold")
        conditions: list[Condition] = []
        thresholds: list[Threshold] = []
        for name in names:
            good_value = self._healthy[name]
            found, at, _ = condition_of(self._device.by_name[name], reduced, good_value, decide, self._variant)
            conditions += found
            thresholds += at
        cause = Cause(signal, tuple(conditions))
        return FoundCause(cause, reduced, self._passing(reduced, names[0], thresholds), thresholds)

    def _decider(self, signal: Signal, known: Sequence[Cause], phase: Phase) -> Decide:
        same = [cause for cause in known if cause.signal == signal]

        def decide(config: Config) -> bool | None:
            if any(cause.holds(config) for cause in same) or not self._sampler.is_valid(config):
                return None
            return self._judge.decide(config, signal, phase)

        return decide

    def _reduced(self, failing: Config, decide: Decide) -> Config:
        """The configuration with every parameter back at its healthy value that need not differ, until none is left."""
        reduced, is_smaller = failing, True
        while is_smaller:
            is_smaller = False
            for name in difference(self._device, self._healthy, reduced):
                candidate = {**reduced, name: self._healthy[name]}
                if decide(candidate):
                    reduced, is_smaller = candidate, True
        return reduced

    def _variant(self, config: Config, name: str, value: Value) -> Config | None:
        changed = {**config, name: value}
        return changed if self._sampler.is_valid(changed) else None

    def _passing(self, reduced: Config, name: str, thresholds: Sequence[Threshold]) -> Config:
        """The nearest neighbour that passes: just before a threshold, or one parameter at its healthy value."""
        nearest = [{**reduced, one.parameter: one.last_good} for one in thresholds] + [{**reduced, name: self._healthy[name]}]
        return next((config for config in nearest if self._sampler.is_valid(config)), self._healthy)
