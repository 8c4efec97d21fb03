"""What is believed about one cause while it is learned: its conditions, a configuration that shows it, and what was set aside."""

from __future__ import annotations

from collections.abc import Sequence

from wallwatch.domain.lab.axes import beside_threshold, condition_of
from wallwatch.domain.lab.conditions import Before, Boundary, Cause, Condition, Range, Signal
from wallwatch.domain.lab.device import Config, Value, as_integer
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.moving import Moving
from wallwatch.domain.lab.paths import difference
from wallwatch.domain.lab.report import Threshold
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.tester import Phase

MOST_EFFORT = 200
"""Tests spent on proof and revisions of one cause, and again on following its boundaries; more where a verdict takes several tests.

After them the conditions that explain most are reported.
"""
SHARE_OF_BRUTE_FORCE = 0.1
"""... and no more than this share of what the whole search may cost,"""
LEAST_EFFORT = 150
"""... though always this much: a threshold that moves takes about a hundred tests, and a reset each on a device that remembers."""
MOST_CORRECTIONS = 3
"""How often a threshold is looked for again where it turns out to be wrong."""


class Hidden(Exception):
    """Something that is not known yet hides the signal in this configuration: it has to be learned first."""

    def __init__(self, config: Config) -> None:
        self.config = config


class Hypothesis:
    """The conditions of one signal, as far as they are known. `same` are the signal's other causes, in which nothing can be seen."""

    def __init__(
        self, judge: Judge, sampler: Sampler, signal: Signal, same: Sequence[Cause], healthy: Config, with_symptoms: Sequence[Cause] = ()
    ) -> None:
        self.judge = judge
        self.sampler = sampler
        self.signal = signal
        self.same = same
        self._unusable = [*same, *(() if signal.symptom else with_symptoms)]
        """Causes under which nothing can be seen of the signal: its own, and for a metric, all known ones that show a symptom."""
        self.healthy = healthy
        self.device = judge.device
        self.phase: Phase = "minimise"
        self.witness: Config = healthy
        """The configuration that shows the signal, as near to the healthy one as possible."""
        self.conditions: list[Condition] = []
        self.thresholds: dict[str, list[Threshold]] = {}
        self.others: list[Config] = []
        """Configurations that fail though the cause does not hold: other causes'."""
        self._begin = self._begin_of_boundaries = 0

    def start_proof(self) -> None:
        """From here on tests count as effort."""
        self._begin = self.judge.spent
        self._begin_of_boundaries = self._boundary_tests

    @property
    def _boundary_tests(self) -> int:
        return self.judge.operations.get("boundary", 0)

    def is_spent(self) -> bool:
        """Whether the effort for this cause is out of proportion."""
        boundaries = self._boundary_tests - self._begin_of_boundaries
        others = self.judge.spent - self._begin - boundaries
        least = LEAST_EFFORT * (self.judge.tests_per_verdict if self.judge.by_chance else 1)
        most = min(MOST_EFFORT * self.judge.tests_per_verdict, max(least, SHARE_OF_BRUTE_FORCE * self.judge.most))
        return max(boundaries, others) > most or self.judge.is_spent

    # --- verdicts ---

    def decide(self, config: Config) -> bool | None:
        """Whether a configuration shows the signal; None where another cause does it, the topology forbids it or something hides it."""
        return self._decide(config, surely=False)

    def decide_surely(self, config: Config) -> bool | None:
        """As `decide`, with more repeats on a flaky device."""
        return self._decide(config, surely=True)

    def _decide(self, config: Config, surely: bool) -> bool | None:
        if any(one.holds(config) for one in self._unusable) or not self.sampler.is_valid(config):
            return None
        return self.judge.decide(config, self.signal, self.phase, surely)

    def agrees(self, config: Config, expected: bool) -> bool:
        """Whether a prediction comes true. One that does not is decided more surely on a flaky device.

        Raises
        ------
        Hidden
            where there is no verdict
        """
        verdict = self.decide(config)
        if verdict is (not expected):
            verdict = self.decide_surely(config)
        if verdict is None:
            raise Hidden(config)
        return verdict is expected

    # --- conditions ---

    def variant(self, config: Config, name: str, value: Value) -> Config | None:
        """The configuration with one value changed, valid, and the parameters of the conditions as they were; None if there is none."""
        kept = [one for one in self.kept() if one != name]
        return self.sampler.variant(config, name, value, kept)

    def kept(self) -> list[str]:
        return [name for one in self.conditions for name in one.parameters]

    def of(self, name: str) -> Condition | None:
        return next((one for one in self.conditions if name in one.parameters), None)

    def replace(self, old: Condition, new: Condition) -> None:
        self.conditions[self.conditions.index(old)] = new

    def add(self, bad: Config, name: str, good_value: Value) -> bool:
        """Add the conditions of one parameter. False if it has no value that passes or they are known."""
        self.phase = "threshold"
        parameter = self.device.by_name[name]
        decide = self.decide if parameter.kind == "integer" else self.decide_surely
        conditions, thresholds, points = condition_of(parameter, bad, good_value, decide, self.variant)
        for _ in range(MOST_CORRECTIONS):
            if not self._leaves_traces(bad, thresholds) and not self._was_wrong(bad, thresholds):
                break
            conditions, thresholds, points = condition_of(parameter, bad, good_value, decide, self.variant)
        for value, is_bad in points:
            if is_bad and not any(isinstance(one, Range) and one.holds({**bad, name: value}) for one in conditions):
                self.others.append({**bad, name: value})
        new = [one for one in conditions if one not in self.conditions]
        if not any(isinstance(one, Before) for one in new):
            self.conditions = [one for one in self.conditions if name not in one.parameters or isinstance(one, Boundary)]
        self.conditions += new
        if thresholds:
            self.thresholds[name] = thresholds
        return bool(new)

    def drop_what_never_passed(self) -> None:
        """Drop bounds of integers beyond which nothing passes, but another known cause holds: they would say only that it does not."""
        unsupported = [one for one in self.conditions if isinstance(one, Range) and not self._has_passed_beyond(one)]
        if len(unsupported) < len(self.conditions):
            self.conditions = [one for one in self.conditions if one not in unsupported]

    def _has_passed_beyond(self, condition: Range) -> bool:
        name = condition.parameter
        return any(self.decide({**self.witness, name: one.last_good}) is False for one in self.thresholds.get(name, ()))

    def _leaves_traces(self, bad: Config, thresholds: Sequence[Threshold]) -> bool:
        """Whether a threshold is another one after a reset: tests that passed have left traces, and it has to be found again."""
        return any(self.remembers(one) for one in _sides(bad, thresholds))

    def remembers(self, config: Config) -> bool:
        """Whether the verdict is another one after a reset."""
        return self.judge.remembers(config, self.signal, self.phase)

    def _was_wrong(self, bad: Config, thresholds: Sequence[Threshold]) -> bool:
        """Whether more repeats change a verdict at a threshold: one wrong verdict on the way leads astray.

        A device that is not known to be flaky is asked once more where it passed, which a flaky symptom does by chance.
        """
        before = [self.judge.known(one, self.signal) for one in _sides(bad, thresholds)]
        for one in thresholds if self.signal.symptom is not None else ():
            self.judge.doubt({**bad, one.parameter: one.last_good}, self.signal, self.phase, 1, at_threshold=True)
        return before != [self.decide_surely(one) for one in _sides(bad, thresholds)]

    # --- what was seen already ---

    def contradiction(self, checked: set[tuple[Value, ...]]) -> Config | None:
        """A configuration that was seen to pass though all conditions hold, not one of those checked before; None if there is none.

        One at a threshold says little: there a device may be unsure.
        """
        for key in list(self.judge.seen):
            config = self.device.config_of(key)
            if key in checked or not all(one.holds(config) for one in self.conditions) or not self._passed(config):
                continue
            checked.add(key)
            if self._is_clear(config, self.conditions) and self.decide_surely(config) is False:
                return config
        return None

    def is_needed(self, condition: Condition) -> bool:
        """Whether two configurations were seen that differ in this condition alone, all others hold, and only the one inside it fails.

        Then the others are no cause without it, whatever else makes the device fail where it is broken.
        """
        rest = [one for one in self.conditions if one is not condition]
        names = set(condition.parameters)
        configs = [self.device.config_of(key) for key in self.judge.seen]
        held = [one for one in configs if all(other.holds(one) for other in rest) and self._is_clear(one, rest)]
        failing = [one for one in held if condition.holds(one) and self.judge.known(one, self.signal)]
        passing = [one for one in held if not condition.holds(one) and self._passed(one)]
        return any(
            set(difference(self.device, good, bad)) <= names and self.decide_surely(good) is False and bool(self.decide_surely(bad))
            for good in passing
            for bad in failing
        )

    def _passed(self, config: Config) -> bool:
        return self.judge.known(config, self.signal) is False and not any(one.holds(config) for one in self._unusable)

    def _is_clear(self, config: Config, conditions: Sequence[Condition]) -> bool:
        """Whether no integer stands at a threshold of these conditions."""
        for one in conditions:
            value = config[one.parameters[0]]
            if isinstance(one, Range) and beside_threshold(self.device.by_name[one.parameter], one, as_integer(value)) is not None:
                return False
            if isinstance(one, Moving):
                threshold = one.threshold(config)
                if abs(as_integer(value) - threshold) <= one.tolerance(threshold):
                    return False
        return True

    # --- how good it is ---

    def score(self, conditions: Sequence[Condition]) -> float:
        """How well conditions separate all configurations that were judged: the mean of the shares right among bad and good ones."""
        right: dict[bool, list[bool]] = {True: [], False: []}
        for key in self.judge.seen:
            config = self.device.config_of(key)
            verdict = self.judge.known(config, self.signal)
            if verdict is not None and not any(one.holds(config) for one in self.same):
                right[verdict].append(all(one.holds(config) for one in conditions) == verdict)
        return sum(sum(one) / len(one) for one in right.values() if one) / 2

    def nearest_passing(self) -> Config:
        """The reproducer with one condition just broken, which was tested and passes."""
        self.phase = "verify"
        for one in self.conditions:
            changed = self.sampler.broken(self.witness, one, near=True, kept=[])
            if changed is not None and self.decide(changed) is False:
                return changed
        return self.healthy


def _sides(bad: Config, thresholds: Sequence[Threshold]) -> list[Config]:
    """The configurations on both sides of each threshold."""
    return [{**bad, one.parameter: value} for one in thresholds for value in (one.last_good, one.first_bad)]
