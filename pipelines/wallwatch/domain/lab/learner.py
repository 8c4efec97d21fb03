"""Learns one cause: the fewest parameters, where each begins to matter, and proof on fresh configurations (paper, sections 4.1 and 4.2)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from wallwatch.domain.lab.axes import condition_of
from wallwatch.domain.lab.boundary_follower import BoundaryFollower
from wallwatch.domain.lab.conditions import Among, Before, Boundary, Cause, Condition, Range, Signal
from wallwatch.domain.lab.device import Config, Value, as_scalar
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.paths import Step, minimal_failure, step_between
from wallwatch.domain.lab.permutation import ENOUGH, log_odds
from wallwatch.domain.lab.report import FoundCause, Prediction, Threshold
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.tester import Phase

ROUNDS = 10
"""Fresh configurations inside a cause, each with one just outside per condition."""
REVISIONS = 14
"""How often a cause is changed after a prediction that did not come true, before it is reported as it is."""
MOST_EFFORT = 200
"""Tests spent on proof and revisions of one cause, three times as many on a flaky device.

After them the conditions that explain most are reported.
"""


class Hidden(Exception):
    """Something that is not known yet hides the signal in this configuration: it has to be learned first."""

    def __init__(self, config: Config) -> None:
        self.config = config


@dataclass
class _Trial:
    """Pairs of tests of one condition."""

    pairs: int = 0
    held: int = 0

    @property
    def odds(self) -> float:
        return log_odds(self.pairs, self.held)

    def add(self, follows: bool) -> None:
        self.pairs += 1
        self.held += follows


class Learner:
    """Learns the cause of one signal from a configuration that shows it."""

    def __init__(
        self,
        judge: Judge,
        sampler: Sampler,
        rng: random.Random,
        signal: Signal,
        known: Sequence[Cause],
        suspected: Sequence[Cause],
        healthy: Config,
    ) -> None:
        self._judge = judge
        self._sampler = sampler
        self._rng = rng
        self._signal = signal
        self._known = known
        self._suspected = suspected
        self._same = [one for one in known if one.signal == signal]
        self._healthy = healthy
        self._device = judge.device
        self._phase: Phase = "minimise"
        self._conditions: list[Condition] = []
        self._thresholds: dict[str, list[Threshold]] = {}
        self._follower = BoundaryFollower(self._device, self._decide, rng)
        self._witness: Config = healthy
        self._is_blurred = False
        self._begin = 0
        self.others: list[Config] = []
        """Configurations that fail though the cause does not hold: other causes'."""

    def _decide(self, config: Config) -> bool | None:
        if any(one.holds(config) for one in self._same) or not self._sampler.is_valid(config):
            return None
        return self._judge.decide(config, self._signal, self._phase)

    def learn(self, failing: Config) -> FoundCause | None:
        """The cause of the signal in this configuration; None if it turns out not to fail.

        Raises
        ------
        Hidden
            where another signal hides this one on the way
        """
        self._witness, names = minimal_failure(self._device, self._healthy, failing, self._decide, self._rng)
        if not names:
            return None
        self._judge.doubt(self._witness, self._signal, "minimise")
        if not self._decide(self._witness) or not self._judge.is_confirmed(self._witness, self._signal, "minimise"):
            return None
        self._judge.learn_cut(self._witness, self._signal, "minimise")
        for name in names:
            self._add(self._witness, name, self._healthy[name])
        found = FoundCause(Cause(self._signal, ()), self._witness, self._healthy)
        self._prove(found)
        found.cause = Cause(self._signal, tuple(self._conditions))
        found.failing = self._witness
        found.passing = self._nearest_passing()
        names_left = found.cause.parameters
        found.thresholds = [one for name, several in self._thresholds.items() if name in names_left for one in several]
        return found

    def alone(self, failing: Config, name: str) -> Cause | None:
        """What one parameter does by itself, not proven yet; None if the configuration turns out not to fail."""
        self._judge.doubt(failing, self._signal, "minimise", times=2)
        if not self._decide(failing):
            return None
        self._witness = failing
        self._judge.learn_cut(failing, self._signal, "minimise")
        self._add(failing, name, self._healthy[name])
        return Cause(self._signal, tuple(self._conditions))

    def _prove(self, found: FoundCause) -> None:
        """Check and revise the conditions until their predictions come true, or the effort is out of proportion."""
        first = list(self._conditions)
        self._begin = self._judge.spent
        for _ in range(REVISIONS):
            found.predictions.clear()
            if self._is_verified(found.predictions):
                return
            if self._is_spent:
                break
        self._conditions = max(first, list(self._conditions), key=lambda one: (round(self._score(one), 2), -len(one)))
        found.is_settled = False
        self.others.clear()

    @property
    def _is_spent(self) -> bool:
        return self._judge.spent - self._begin > MOST_EFFORT * (3 if self._judge.is_flaky else 1)

    def _score(self, conditions: Sequence[Condition]) -> float:
        """How well conditions separate all configurations that were judged: the mean of the shares right among bad and good ones."""
        names = [one.name for one in self._device.parameters]
        right: dict[bool, list[bool]] = {True: [], False: []}
        for key in self._judge.seen:
            config = dict(zip(names, key, strict=True))
            verdict = self._judge.known(config, self._signal)
            if verdict is not None and not any(one.holds(config) for one in self._same):
                right[verdict].append(all(one.holds(config) for one in conditions) == verdict)
        return sum(sum(one) / len(one) for one in right.values() if one) / 2

    def _nearest_passing(self) -> Config:
        for one in self._conditions:
            changed = self._sampler.broken(self._witness, one, near=True, kept=[])
            if changed is not None:
                return changed
        return self._healthy

    # --- conditions ---

    def _variant(self, config: Config, name: str, value: Value) -> Config | None:
        kept = [one for condition in self._conditions for one in condition.parameters if one != name]
        return self._sampler.variant(config, name, value, kept)

    def _add(self, bad: Config, name: str, good_value: Value) -> bool:
        """Add the conditions of one parameter. False if it has no value that passes or they are known."""
        self._phase = "threshold"
        parameter = self._device.by_name[name]
        conditions, thresholds, points = condition_of(parameter, bad, good_value, self._decide, self._variant)
        if self._leaves_traces(bad, thresholds):
            conditions, thresholds, points = condition_of(parameter, bad, good_value, self._decide, self._variant)
        for value, is_bad in points:
            if is_bad and not any(isinstance(one, Range) and one.holds({**bad, name: value}) for one in conditions):
                self.others.append({**bad, name: value})
        new = [one for one in conditions if one not in self._conditions]
        if not any(isinstance(one, Before) for one in new):
            self._conditions = [one for one in self._conditions if name not in one.parameters or isinstance(one, Boundary)]
        self._conditions += new
        if thresholds:
            self._thresholds[name] = thresholds
        return bool(new)

    def _leaves_traces(self, bad: Config, thresholds: Sequence[Threshold]) -> bool:
        """Whether a threshold is another one after a reset: tests that passed have left traces, and it has to be found again."""
        sides = [{**bad, one.parameter: value} for one in thresholds for value in (one.last_good, one.first_bad)]
        return any(self._judge.remembers(one, self._signal, self._phase) for one in sides)

    def _of(self, name: str) -> Condition | None:
        return next((one for one in self._conditions if name in one.parameters), None)

    # --- proof ---

    def _is_verified(self, predictions: list[Prediction]) -> bool:
        """Rounds of one configuration inside and, for each condition, one with only that condition broken. False if something changed."""
        trials = {one: _Trial() for one in self._conditions}
        for number in range(ROUNDS):
            corner = number % 2 == 0 and not self._is_blurred
            self._phase = "verify" if corner else "permute"
            inside = self._inside(corner)
            if inside is None:
                break
            is_bad = self._judged(inside)
            if not is_bad and corner and self._is_unsure(inside):
                continue
            if not is_bad and self._revise(inside):
                return False
            predictions.append(Prediction(inside, None, is_bad))
            for condition in self._conditions if is_bad else ():
                outside = self._outside(inside, condition, near=corner)
                if outside is None:
                    continue
                follows = not self._judged(outside)
                if not follows and corner and self._is_unsure(outside):
                    continue
                predictions.append(Prediction(outside, condition, not follows))
                trials[condition].add(follows)
                if not follows and self._examine(outside, condition, trials[condition]):
                    return False
        return not self._drop_what_cannot_be_broken([one for one, trial in trials.items() if not trial.pairs])

    def _drop_what_cannot_be_broken(self, never_broken: Sequence[Condition]) -> bool:
        """A condition that follows from the others and the topology is none. True if there was one."""
        implied = [one for one in never_broken if isinstance(one, Among) and not self._can_be_broken(one)]
        if not implied or len(implied) == len(self._conditions):
            return False
        self._conditions.remove(implied[0])
        return True

    def _can_be_broken(self, condition: Condition) -> bool:
        return any(self._sampler.broken(one, condition, False, self._kept()) is not None for one in self._examples())

    def _examples(self) -> list[Config]:
        drawn = [self._sampler.inside(self._conditions, [], corner=False) for _ in range(5)]
        return [one for one in (*drawn, self._witness) if one is not None]

    def _kept(self) -> list[str]:
        return [name for one in self._conditions for name in one.parameters]

    def _is_unsure(self, config: Config) -> bool:
        """At its threshold the device disagrees with itself though the reproducer does not: the threshold is blurred."""
        if self._judge.is_flaky or self._signal.symptom is None:
            return False
        if self._judge.doubt(self._witness, self._signal, "verify") or not self._judge.doubt(config, self._signal, "verify", 3, True):
            return False
        self._is_blurred = True
        return True

    def _inside(self, corner: bool) -> Config | None:
        for avoided in ([*self._known, *self._elsewhere()], self._known, self._same):
            config = self._sampler.inside(self._conditions, avoided, corner)
            if config is not None:
                return config
        return None

    def _outside(self, inside: Config, condition: Condition, near: bool) -> Config | None:
        changed = self._sampler.broken(inside, condition, near, self._kept())
        if changed is None or any(one.holds(changed) for one in (*self._known, *self._elsewhere())):
            return None
        return changed

    def _elsewhere(self) -> list[Cause]:
        """Suspected causes of other parameters."""
        own = set(self._kept())
        return [one for one in self._suspected if not one.parameters & own]

    def _judged(self, config: Config) -> bool:
        verdict = self._decide(config)
        if verdict is None:
            raise Hidden(config)
        return verdict

    def _examine(self, outside: Config, condition: Condition, trial: _Trial) -> bool:
        """A configuration fails though one condition is broken: the condition is not needed, not right, or another cause is at work."""
        if self._judge.doubt(outside, self._signal, "verify", times=1 if self.others else 3) and not self._judged(outside):
            return True
        if isinstance(condition, Boundary) and self._refit(condition, outside, is_bad=True):
            return True
        if trial.odds <= -ENOUGH and len(self._conditions) > 1:
            self._conditions.remove(condition)
            return True
        if trial.held == 0 and trial.pairs == 1 and self._widen(outside, condition):
            return True
        self.others.append(outside)
        return False

    def _widen(self, outside: Config, condition: Condition) -> bool:
        """Whether the condition is only too narrow: in the witness, too, the value outside fails."""
        if not isinstance(condition, Range | Among):
            return False
        name = condition.parameter
        config = self._variant(self._witness, name, outside[name])
        if config is None or not self._decide(config):
            return False
        if isinstance(condition, Among):
            values = condition.values | {as_scalar(outside[name])}
            self._conditions[self._conditions.index(condition)] = Among(name, values, condition.all_values)
            return True
        good = self._healthy[name]
        if condition.holds({**self._witness, name: good}):
            return False
        return self._add(config, name, good)

    # --- what was missing ---

    def _revise(self, good: Config) -> bool:
        """A configuration inside passes: find what else must hold. False if nothing could be learned from it."""
        if self._judge.doubt(good, self._signal, "verify") or self._judge.doubt(self._witness, self._signal, "verify"):
            return True  # the device is flaky: everything is judged again
        if self._decide(good) is not False or not self._decide(self._witness):
            return True
        for condition in self._conditions:
            if isinstance(condition, Boundary) and self._refit(condition, good, is_bad=False):
                return True
        self._phase = "minimise"
        step = step_between(self._device, self._witness, good, True, self._decide, self._rng)
        changed = False
        for name in step.names:
            changed = self._explain(step, name) or changed
        return changed

    def _explain(self, step: Step, name: str) -> bool:
        """The verdict changes with this parameter, in some surroundings. In those of the witness too, or does another decide with it?"""
        good_value = step.good[name]
        in_witness = self._variant(self._witness, name, good_value)
        verdict = None if in_witness is None else self._decide(in_witness)
        if verdict is False:
            return self._add(self._witness, name, good_value)
        if verdict is None or in_witness is None:
            return self._add(step.bad, name, good_value)
        other = step_between(self._device, in_witness, step.good, True, self._decide, self._rng)
        return self._join(name, other, step)

    def _join(self, name: str, other: Step, step: Step) -> bool:
        """Two parameters decide together: a boundary over integers, or one cause for each value of a choice."""
        partner = next(iter(other.names))
        kinds = {self._device.by_name[one].kind for one in (name, partner)}
        if kinds == {"integer"} and name != partner:
            names = {name, partner}
            for one in list(self._conditions):
                if isinstance(one, Boundary) and names & set(one.parameters):
                    names |= set(one.parameters)
            if self._fit(sorted(names), [other, step]):
                return True
        if self._of(partner) is None or isinstance(self._of(partner), Before):
            return self._add(other.bad, partner, other.good[partner])
        own = self._of(name)
        if isinstance(own, Among) and self._witness[name] in own.values and len(own.values) > 1:
            narrowed = Among(name, frozenset({as_scalar(self._witness[name])}), own.all_values)
            self._conditions[self._conditions.index(own)] = narrowed
            return True
        if own is None:
            return self._add(step.bad, name, step.good[name])
        return False

    # --- boundaries ---

    def _fit(self, names: list[str], steps: Sequence[Step]) -> bool:
        """Follow the boundary over these integers and replace their conditions by it."""
        self._phase = "boundary"
        boundary = self._follower.fit(names, self._witness, steps, lambda: self._is_spent)
        if boundary is None:
            return False
        self._conditions = [one for one in self._conditions if not set(one.parameters) & set(names)]
        self._conditions.append(boundary)
        return True

    def _refit(self, condition: Boundary, config: Config, is_bad: bool) -> bool:
        """A configuration on the wrong side of a boundary: fit it again with what this one shows."""
        at = {**self._witness, **{name: config[name] for name in condition.parameters}}
        if self._decide(at) is not is_bad:
            return False
        self._phase = "boundary"
        boundary = self._follower.refit(condition, at, is_bad)
        if boundary is None:
            return False
        self._conditions[self._conditions.index(condition)] = boundary
        return True
