"""Changes a hypothesis after a prediction that did not come true: further conditions, wider ones, boundaries over several integers."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Sequence

from wallwatch.domain.lab.boundary_follower import BoundaryFollower
from wallwatch.domain.lab.conditions import Among, Before, Boundary, Condition, Range
from wallwatch.domain.lab.device import Config, as_scalar
from wallwatch.domain.lab.hypothesis import Hypothesis
from wallwatch.domain.lab.moving import Moving
from wallwatch.domain.lab.paths import Step, step_between
from wallwatch.domain.lab.permutation import ENOUGH, Trial
from wallwatch.domain.lab.threshold_map import ThresholdMap

MOST_FOREIGN = 2
"""After so many failures for another reason, further ones are set aside unexamined: that reason is learned after this cause."""
MOST_WAYS = 4
"""Ways that are tried between two configurations until a single parameter makes the difference."""


class Reviser:
    """Learns from surprises. Each method says whether it changed the hypothesis, or the verdicts it rests on."""

    def __init__(self, hypothesis: Hypothesis, rng: random.Random) -> None:
        self._hypothesis = hypothesis
        self._device = hypothesis.device
        self._rng = rng
        self._follower = BoundaryFollower(self._device, hypothesis.decide, hypothesis.healthy, rng)
        self._map = ThresholdMap(self._device, hypothesis.decide, hypothesis.remembers, hypothesis.is_spent)
        self._unmoved: set[tuple[tuple[str, ...], str | None]] = set()
        """Integers, with another parameter that was found not to move their threshold."""
        self._foreign: Counter[Condition] = Counter()
        """How often a configuration failed for another reason though a condition that is needed was broken."""
        self._unfit: set[frozenset[str]] = set()
        """Integers to which no boundary could be fitted."""

    # --- it fails though a condition is broken ---

    def examine(self, outside: Config, condition: Condition, trial: Trial) -> bool:
        """A configuration fails though one condition is broken: the condition is not needed, not right, or another cause is at work."""
        hypothesis = self._hypothesis
        times = 1 if hypothesis.others else 3
        if hypothesis.judge.doubt(outside, hypothesis.signal, "verify", times) and not hypothesis.decide(outside):
            return True
        if self._corrected(condition, outside, is_bad=True):
            return True
        if self._foreign[condition] >= MOST_FOREIGN:
            hypothesis.others.append(outside)
            return False
        if trial.odds <= -ENOUGH and len(hypothesis.conditions) > 1 and not hypothesis.is_needed(condition):
            hypothesis.conditions.remove(condition)
            return True
        if trial.held == 0 and trial.pairs == 1 and self._widen(outside, condition):
            return True
        if self._moves_with_another(outside, condition):
            return True
        self._foreign[condition] += hypothesis.is_needed(condition)
        hypothesis.others.append(outside)
        return False

    def _widen(self, outside: Config, condition: Condition) -> bool:
        """Whether the condition is only too narrow: in the witness, too, the value outside fails."""
        hypothesis = self._hypothesis
        if not isinstance(condition, Range | Among):
            return False
        name = condition.parameter
        config = hypothesis.variant(hypothesis.witness, name, outside[name])
        if config is None or not hypothesis.decide_surely(config):
            return False
        if isinstance(condition, Among):
            values = (*condition.values, as_scalar(outside[name]))
            hypothesis.replace(condition, Among(name, values, condition.all_values))
            return True
        good = hypothesis.healthy[name]
        if condition.holds({**hypothesis.witness, name: good}):
            return False
        return hypothesis.add(config, name, good)

    def _moves_with_another(self, outside: Config, condition: Condition) -> bool:
        """Whether another integer makes up for the broken condition, and the condition's integers still matter then.

        In a sum, for instance, more of one makes up for less of another. A cause of its own would not depend on the condition's integers:
        it fails at their far end too.
        """
        hypothesis = self._hypothesis
        names = list(condition.parameters)
        if isinstance(condition, Before | Among):
            return False
        good = {**hypothesis.witness, **{name: outside[name] for name in names}}
        if hypothesis.decide(good) is not False:
            return False
        hypothesis.phase = "minimise"
        step = step_between(self._device, good, outside, False, hypothesis.decide, self._rng)
        partner = step.names[0] if len(step.names) == 1 else names[0]
        if partner in names:
            return False
        is_integer = self._device.by_name[partner].kind == "integer"
        together = frozenset((*names, partner))
        if isinstance(condition, Boundary) and is_integer and together in self._unfit:
            return False
        if not any(hypothesis.decide(one) is False for one in self._far_ends(step.bad, condition)):
            return False
        if isinstance(condition, Moving) or not is_integer or together in self._unfit:
            return self._moved(condition, partner)
        for one in hypothesis.conditions:
            if isinstance(one, Boundary) and together & set(one.parameters):
                together |= set(one.parameters)
        if self._fit(sorted(together), [step]):
            return True
        self._unfit.add(frozenset((*names, partner)))
        return self._moved(condition, partner)

    def _far_ends(self, config: Config, condition: Condition) -> list[Config]:
        """The configuration with one of the condition's integers as far outside of it as possible."""
        if isinstance(condition, Moving):
            return [{**config, condition.parameter: condition.end(is_bad=False)}]
        found = []
        for name in condition.parameters:
            parameter = self._device.by_name[name]
            ends = [{**config, name: value} for value in (parameter.minimum, parameter.maximum) if value != config[name]]
            found += [one for one in ends if not condition.holds(one)]
        return found

    # --- it passes though all conditions hold ---

    def revise(self, good: Config) -> bool:
        """A configuration inside passes: find what else must hold. False if nothing could be learned from it."""
        hypothesis = self._hypothesis
        if hypothesis.judge.doubt(good, hypothesis.signal, "verify") or hypothesis.judge.doubt(
            hypothesis.witness, hypothesis.signal, "verify"
        ):
            return True  # the device is flaky: everything is judged again
        if hypothesis.decide(good) is not False or not hypothesis.decide(hypothesis.witness):
            return True
        for condition in hypothesis.conditions:
            if self._corrected(condition, good, is_bad=False):
                return True
        hypothesis.phase = "minimise"
        step = self._step_to(good)
        changed = False
        for name in step.names:
            changed = self._explain(step, name) or changed
        return changed

    def _step_to(self, good: Config) -> Step:
        """Where the verdict changes on the way from the witness. Another way is tried where nothing on the first one could be used."""
        start = self._across_boundaries(good)
        steps = []
        for _ in range(MOST_WAYS):
            steps.append(step_between(self._device, start, good, True, self._hypothesis.decide, self._rng))
            if len(steps[-1].names) == 1:
                break
        return min(steps, key=lambda one: len(one.names))

    def _across_boundaries(self, good: Config) -> Config:
        """The witness with the integers of boundaries as in another configuration, if it fails so.

        On a way that changes them one by one the boundaries would not hold, and the verdict would change for a reason that is known.
        """
        hypothesis = self._hypothesis
        moved = {name: good[name] for one in hypothesis.conditions if isinstance(one, Boundary) for name in one.parameters}
        config = {**hypothesis.witness, **moved}
        return config if config != good and hypothesis.decide(config) else hypothesis.witness

    def _explain(self, step: Step, name: str) -> bool:
        """The verdict changes with this parameter, in some surroundings. In those of the witness too, or does another decide with it?"""
        hypothesis = self._hypothesis
        good_value = step.good[name]
        in_witness = hypothesis.variant(hypothesis.witness, name, good_value)
        verdict = None if in_witness is None else hypothesis.decide(in_witness)
        if verdict is False and in_witness is not None:
            return self._moves_one(in_witness, name) or hypothesis.add(hypothesis.witness, name, good_value)
        if verdict is None or in_witness is None:
            return hypothesis.add(step.bad, name, good_value)
        other = step_between(self._device, in_witness, step.good, True, hypothesis.decide, self._rng)
        return self._join(name, other, step)

    def _join(self, name: str, other: Step, step: Step) -> bool:
        """Two parameters decide together: a boundary over integers, or one cause for each value of a choice."""
        hypothesis = self._hypothesis
        if not other.names:
            return False
        partner = other.names[0]
        kinds = {self._device.by_name[one].kind for one in (name, partner)}
        if kinds == {"integer"} and name != partner:
            names = {name, partner}
            for one in list(hypothesis.conditions):
                if isinstance(one, Boundary) and names & set(one.parameters):
                    names |= set(one.parameters)
            if self._fit(sorted(names), [other, step]):
                return True
        if self._moved(hypothesis.of(partner), name) or self._moved(hypothesis.of(name), partner):
            return True
        if hypothesis.of(partner) is None or isinstance(hypothesis.of(partner), Before):
            return hypothesis.add(other.bad, partner, other.good[partner])
        own = hypothesis.of(name)
        if isinstance(own, Among) and own.holds(hypothesis.witness) and len(own.values) > 1:
            hypothesis.replace(own, Among(name, [as_scalar(hypothesis.witness[name])], own.all_values))
            return True
        if own is None:
            return hypothesis.add(step.bad, name, step.good[name])
        return False

    # --- thresholds that others move ---

    def _moves_one(self, passing: Config, mover: str) -> bool:
        """The reproducer passes with another value of a parameter. Does it fail again further beyond a threshold, which then moves?"""
        hypothesis = self._hypothesis
        for condition in list(hypothesis.conditions):
            if not isinstance(condition, Range | Moving | Boundary) or mover in condition.parameters:
                continue
            integers = [self._device.by_name[one] for one in condition.parameters if self._device.by_name[one].kind == "integer"]
            corners = itertools.product(*((one.minimum, one.maximum) for one in integers))
            ends = [{**passing, **{p.name: value for p, value in zip(integers, corner, strict=True)}} for corner in corners]
            failing = [one for one in ends if condition.holds(one)]
            if failing and hypothesis.decide(failing[-1]) and self._moved(condition, mover):
                return True
        return False

    def _moved(self, condition: Condition | None, mover: str | None) -> bool:
        """Measure how a parameter moves the threshold of a condition, and replace the condition by what comes out."""
        hypothesis = self._hypothesis
        if not isinstance(condition, Range | Moving | Boundary) or (condition.parameters, mover) in self._unmoved:
            return False
        hypothesis.phase = "boundary"
        moving = self._map.fit(condition, mover, hypothesis.witness)
        if moving is None:
            self._unmoved.add((condition.parameters, mover))
            return False
        hypothesis.conditions = [one for one in hypothesis.conditions if not set(one.parameters) & set(moving.parameters)]
        hypothesis.conditions.append(moving)
        return True

    # --- boundaries ---

    def _corrected(self, condition: Condition, config: Config, is_bad: bool) -> bool:
        """Whether a configuration on the wrong side teaches where a boundary, or a threshold that moves, really is."""
        if isinstance(condition, Boundary):
            if self._refit(condition, config, is_bad):
                return True
            return self._follower.is_without_form(condition.parameters) and self._moved(condition, None)
        if not isinstance(condition, Moving):
            return False
        hypothesis = self._hypothesis
        at = {**hypothesis.witness, **{name: config[name] for name in condition.parameters}}
        if hypothesis.decide(at) is not is_bad:
            return False
        hypothesis.phase = "boundary"
        refined = self._map.refine(condition, at)
        if refined is None:
            return False
        hypothesis.replace(condition, refined)
        return True

    def _fit(self, names: list[str], steps: Sequence[Step]) -> bool:
        """Follow the boundary over these integers and replace their conditions by it."""
        hypothesis = self._hypothesis
        hypothesis.phase = "boundary"
        boundary = self._follower.fit(names, hypothesis.witness, steps, hypothesis.is_spent)
        if boundary is None:
            return False
        hypothesis.conditions = [one for one in hypothesis.conditions if not set(one.parameters) & set(names)]
        hypothesis.conditions.append(boundary)
        return True

    def _refit(self, condition: Boundary, config: Config, is_bad: bool) -> bool:
        """A configuration on the wrong side of a boundary: fit it again with what this one shows."""
        hypothesis = self._hypothesis
        at = {**hypothesis.witness, **{name: config[name] for name in condition.parameters}}
        if hypothesis.decide(at) is not is_bad:
            return False
        hypothesis.phase = "boundary"
        boundary = self._follower.refit(condition, at, is_bad)
        if boundary is None:
            return False
        hypothesis.replace(condition, boundary)
        return True
