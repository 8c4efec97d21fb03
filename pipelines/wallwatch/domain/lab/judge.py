"""Decides whether a configuration shows a signal: health of the default, noise, repeats, memory of the device."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from wallwatch.domain.lab.conditions import Signal
from wallwatch.domain.lab.device import Config, Device, Value, to_json
from wallwatch.domain.lab.interference import Interference
from wallwatch.domain.lab.metric_level import NOTICEABLE, SCALES, SMALLEST_SCALE, Level, metric_level
from wallwatch.domain.lab.repeats import CHANCE_TESTS, RARE, TESTS_PER_VERDICT, chance_verdict, looks_even, wald_verdict
from wallwatch.domain.lab.tester import Outcome, Phase, SearchEnd, Stopped, Tester

BASELINE_TESTS = 5
NOISY_BASELINE_TESTS = 16
NOISY = 0.01
"""A metric that varies by more than this share of it needs a longer baseline."""
MOST_REPEATS = 15
SURE = 3.0
"""Standard errors between a mean and the cut that decide a noisy metric."""
CONFIRMING_TESTS = 6
CONFIRMED = 0.8
"""So many new tests of the reproducer of a noisy metric must show at least this share of what is noticeable."""
CONTROL_EVERY = 20
TORN_TESTS = 8
TORN = 0.25
"""At a threshold a symptom shows in at least this share of so many tests, and is missing in as many. A flaky one shows in 80% or more."""
ERRORS_TO_STOP = 8


class Judge:
    """Runs tests and judges them. Everything that was observed is kept, and asked for again at no cost."""

    def __init__(self, device: Device, tester: Tester) -> None:
        self.device = device
        self._tester = tester
        self.seen: dict[tuple[Value, ...], list[Outcome]] = defaultdict(list)
        self.levels: dict[str, Level] = {}
        self.operations: dict[str, int] = {}
        self.resets = 0
        self.is_flaky = False
        self.is_jumpy = False
        """Whether metrics of one configuration jump far beyond their noise: then each value is a vote, and no mean is taken."""
        self.by_chance: set[Signal] = set()
        """Symptoms that are a matter of chance in some configurations: one counts as failing if it can show them."""
        self.repeats = 0
        self.flips = 0
        self.interference = Interference()
        self.memory: dict[str, object] | None = None
        self.recovery: dict[Signal, bool] = {}
        """Whether the default passes right after a test that shows a signal, without a reset."""
        self.controls = self.controls_bad = 0
        self.reset_always = False
        self.invalid = 0
        self._dirty = False
        self._since_control = 0
        self._errors = 0
        self.default_is_bad = False
        self.most: float = math.inf
        """Tests and resets that a search is worth: those of brute force."""

    # --- the device ---

    def observe(self, config: Config, phase: Phase) -> Outcome:
        """One more test of the configuration."""
        return self.observe_all([config], phase)[0]

    def observe_all(self, configs: Sequence[Config], phase: Phase) -> list[Outcome]:
        if self.device.sequential or len(configs) == 1:
            return [self._one(config, phase) for config in configs]
        try:
            outcomes = self._tester.test_all(configs, phase)
        except SearchEnd as end:
            self._count(phase, len(end.answered))
            for position, outcome in end.answered.items():
                self._keep(configs[position], outcome)
            raise
        self._count(phase, len(configs))
        for config, outcome in zip(configs, outcomes, strict=True):
            self._keep(config, outcome)
        return outcomes

    def _one(self, config: Config, phase: Phase) -> Outcome:
        if self.device.sequential:
            self._clean_up(phase)
        outcome = self._tester.test(config, phase)
        self._count(phase, 1)
        self._keep(config, outcome)
        if self.device.sequential:
            self._dirty = self.reset_always or not self.is_healthy(outcome)
            self._since_control += 1
        return outcome

    def _clean_up(self, phase: Phase) -> None:
        """A device that remembers is reset after a bad result; whether that suffices is checked now and then with the default."""
        if self._dirty:
            self._reset(phase)
        elif self._since_control >= CONTROL_EVERY and self.levels and not self.default_is_bad:
            self._since_control = 0
            self.controls += 1
            if not self._default_passes() and not self._default_passes():  # one bad value may be noise; what stays until a reset is not
                self.controls_bad += 1
                self.reset_always = True
                self._reset("control")

    def _default_passes(self) -> bool:
        self._count("control", 1)
        return self.is_healthy(self._tester.test(self.device.default, "control"))

    def _reset(self, phase: Phase) -> None:
        self._tester.reset(phase)
        self._count(phase, 1)
        self.resets += 1
        self._dirty = False
        self._since_control = 0

    @property
    def spent(self) -> int:
        """Tests and resets so far."""
        return sum(self.operations.values())

    @property
    def is_spent(self) -> bool:
        """Whether the search has taken as many tests as it is worth."""
        return self.spent >= self.most * (self.tests_per_verdict if self.by_chance else 1)

    def has_seen(self, config: Config) -> bool:
        """Whether the configuration was tested."""
        return bool(self.seen.get(self.device.key(config)))

    def fresh(self, config: Config, phase: Phase) -> Outcome:
        """A test of a device that has just been reset."""
        if self.device.sequential:
            self._reset(phase)
        return self._one(config, phase)

    def _count(self, phase: Phase, number: int) -> None:
        self.operations[phase] = self.operations.get(phase, 0) + number

    def _keep(self, config: Config, outcome: Outcome) -> None:
        if outcome.status == "error":
            self._errors += 1
            if self._errors >= ERRORS_TO_STOP:
                raise Stopped(f"device failed: {outcome.reason or 'no usable answer'} ({self._errors} tests in a row)")
            return
        self._errors = 0
        self.seen[self.device.key(config)].append(outcome)
        if outcome.status == "invalid":
            self.invalid += 1
            return
        self.interference.note(outcome, self.levels)

    # --- health ---

    def is_healthy(self, outcome: Outcome) -> bool:
        return outcome.status == "ok" and not outcome.symptoms and not self.suspects(outcome)

    def suspects(self, outcome: Outcome) -> list[str]:
        """Metrics of one outcome that look degraded, the worst first."""
        found = []
        for name, level in self.levels.items():
            value = outcome.metrics.get(name)
            if value is not None and level.is_suspect(value):
                found.append((level.loss(value), name))
        return [name for _, name in sorted(found, key=lambda one: -one[0])]

    def measure_baseline(self, config: Config) -> bool:
        """Test a configuration that should be healthy. False if it shows a symptom in most tests."""
        outcomes = [self.fresh(config, "baseline") if i == 0 else self.observe(config, "baseline") for i in range(BASELINE_TESTS)]
        self._set_levels(outcomes)
        if any(level.spread > NOISY * abs(level.median) for level in self.levels.values()):
            outcomes += [self.observe(config, "baseline") for _ in range(NOISY_BASELINE_TESTS - BASELINE_TESTS)]
            self._set_levels(outcomes)
        usable = [one for one in outcomes if one.status == "ok"]
        bad = sum(bool(one.symptoms) for one in usable)
        if 0 < bad < len(usable):
            self.is_flaky = True
        return len(usable) > 0 and bad * 2 <= len(usable)

    def improved(self, outcome: Outcome) -> set[str]:
        """Metrics that are noticeably better than those of the default."""
        found = set()
        for name, level in self.levels.items():
            value = outcome.metrics.get(name)
            if value is not None and level.loss(value) <= -NOTICEABLE and abs(value - level.median) >= SCALES * level.floor:
                found.add(name)
        return found

    def worsens(self, effect: Mapping[str, Mapping[str, float]], metric: str | None) -> bool:
        """Whether the effect of a cause has a metric among what it noticeably worsens."""
        level, changed = self.levels.get(metric or ""), effect.get(metric or "")
        if level is None or changed is None:
            return False
        return level.sign * (changed["good"] - changed["bad"]) >= NOTICEABLE * abs(changed["good"])

    def _set_levels(self, outcomes: Iterable[Outcome]) -> None:
        values: dict[str, list[float]] = defaultdict(list)
        for one in outcomes:
            if one.status == "ok":
                for name, value in one.metrics.items():
                    values[name].append(value)
        self.levels = {name: metric_level(metric, values[name]) for name, metric in self.device.metric.items() if values[name]}

    # --- decisions ---

    def signals(self, outcome: Outcome, target: str | None) -> list[Signal]:
        """What one outcome shows: its symptoms, or without any the metric that is worst."""
        if outcome.status != "ok":
            return []
        found = [Signal(one) for one in sorted(outcome.symptoms)]
        if not found:
            found = [Signal(None, one) for one in self.suspects(outcome) if target in (None, one)][:1]
        return [one for one in found if target is None or target in (one.symptom, one.metric)]

    def decide(self, config: Config, signal: Signal, phase: Phase, surely: bool = False) -> bool | None:
        """Whether the configuration shows the signal; None where something else hides it or the device does not say.

        With `surely` a flaky symptom is repeated until errors are rarer still.
        """
        outcomes = self.seen[self.device.key(config)]
        while True:
            verdict, is_final = self._verdict(outcomes, signal, surely)
            if is_final:
                return verdict
            if len(outcomes) >= MOST_REPEATS and signal not in self.by_chance and not self.is_matter_of_chance(config, signal, phase):
                return verdict
            before = len(outcomes)
            self.observe(config, phase)
            if len(outcomes) == before:  # an error: asked again until there is an answer or the device is given up
                continue
            if before:
                self.repeats += 1
                self.flips += (signal.symptom in outcomes[-1].symptoms) != (signal.symptom in outcomes[0].symptoms) if signal.symptom else 0

    def doubt(self, config: Config, signal: Signal, phase: Phase, times: int = 3, at_threshold: bool = False) -> bool:
        """Repeat a decided test; True if the device disagrees with itself, from which on symptoms are decided sequentially.

        At a threshold a device that is sure of itself everywhere else may disagree: that alone does not make it flaky.
        """
        if self.is_flaky:
            return False
        outcomes = self.seen[self.device.key(config)]
        if self.remembers(config, signal, phase):
            return True
        while len(outcomes) < times + 1:
            self.observe(config, phase)
            self.repeats += 1
            if len(self._clear_verdicts(outcomes, signal)) > 1:
                self.flips += 1
                self.is_flaky = not at_threshold
                if self.is_flaky and signal.symptom is not None:
                    self.is_matter_of_chance(config, signal, phase)
                self.is_jumpy = self.is_flaky and signal.symptom is None
                return True
        return False

    def is_torn(self, config: Config, signal: Signal, phase: Phase) -> bool:
        """Whether the device is undecided about a symptom, as at a threshold; a flaky one mostly shows what it should."""
        outcomes = self.seen[self.device.key(config)]
        while len(outcomes) < TORN_TESTS:
            self.observe(config, phase)
            self.repeats += 1
        bad = sum(signal.symptom in one.symptoms for one in outcomes)
        return TORN <= bad / len(outcomes) <= 1 - TORN

    def is_matter_of_chance(self, config: Config, signal: Signal, phase: Phase) -> bool:
        """Whether a symptom shows in about half of many tests of a configuration: chance decides there, which no repeating settles.

        The race of two releases is such a case (paper, Table 1, cause C7): the closer they are, the likelier they meet.
        """
        if signal.symptom is None or self.default_is_bad:
            return False
        outcomes = self.seen[self.device.key(config)]
        for _ in range(2 * MOST_REPEATS):
            is_even = looks_even(*self.interference.counted(outcomes, signal.symptom))
            if is_even:
                self.by_chance.add(signal)
            if is_even is not None:
                return is_even
            self.observe(config, phase)
            self.repeats += 1
        return False

    def is_rare(self, config: Config, signal: Signal, phase: Phase) -> bool:
        """Whether a symptom that comes by chance hardly ever shows in this configuration."""
        outcomes = self.seen[self.device.key(config)]
        for _ in range(CHANCE_TESTS - len(outcomes)):
            self.observe(config, phase)
            self.repeats += 1
        shown, missing = self.interference.counted(outcomes, signal.symptom or "")
        return shown < RARE * (shown + missing)

    @property
    def certainty(self) -> tuple[bool, frozenset[Signal]]:
        """What verdicts rest on: where it changes, what was learned from them is learned again."""
        return self.is_flaky, frozenset(self.by_chance)

    @property
    def tests_per_verdict(self) -> int:
        return TESTS_PER_VERDICT["by chance" if self.by_chance else "flaky" if self.is_flaky else "once"]

    def _clear_verdicts(self, outcomes: Sequence[Outcome], signal: Signal) -> set[bool]:
        """What single tests of one configuration say; of a metric only values that are clear of the cut."""
        if signal.symptom is not None:
            return {signal.symptom in one.symptoms for one in outcomes if one.status == "ok"}
        level = self.levels[signal.metric or ""]
        distances = [level.sign * (self._cut(signal) - value) for value in self._values(outcomes, signal)]
        return {one > 0 for one in distances if abs(one) >= SURE * level.floor}

    def _cut(self, signal: Signal) -> float:
        level = self.levels[signal.metric or ""]
        return level.cuts.get(signal, level.first_cut)

    def _values(self, outcomes: Sequence[Outcome], signal: Signal) -> list[float]:
        """What tests without a symptom measured of a metric."""
        name = signal.metric or ""
        return [one.metrics[name] for one in outcomes if not one.symptoms and name in one.metrics]

    def known(self, config: Config, signal: Signal) -> bool | None:
        """The verdict of what was observed so far, without another test."""
        outcomes = self.seen.get(self.device.key(config))
        return self._verdict(outcomes, signal)[0] if outcomes else None

    def remembers(self, config: Config, signal: Signal, phase: Phase) -> bool:
        """Whether the verdict on a symptom differs after a reset.

        Then good tests leave traces too: nothing that was seen without a reset counts, and the device is reset before each test from then.
        """
        if not self.device.sequential or self.reset_always or signal.symptom is None or self.is_flaky:
            return False
        outcomes = self.seen[self.device.key(config)]
        before = len(outcomes)
        self.fresh(config, phase)
        new = outcomes[before:]
        if not new or not outcomes[:before] or (signal.symptom in new[-1].symptoms) == (signal.symptom in outcomes[0].symptoms):
            return False
        self.reset_always = self._dirty = True
        self.memory = {
            "text": "remembers earlier tests, good ones too: it is reset before each test",
            "after": to_json(config),
            "controls": self.controls + 1,
            "disagreed": self.controls_bad + 1,
        }
        for several in self.seen.values():
            several.clear()
        outcomes += new
        return True

    def _verdict(self, outcomes: Sequence[Outcome], signal: Signal, surely: bool = False) -> tuple[bool | None, bool]:
        """The verdict of the outcomes so far, and whether it is final."""
        if not outcomes:
            return None, False
        if outcomes[0].status == "invalid":
            return None, True
        return self._symptom_verdict(outcomes, signal.symptom, surely) if signal.symptom else self._metric_verdict(outcomes, signal, surely)

    def _symptom_verdict(self, outcomes: Sequence[Outcome], symptom: str, surely: bool) -> tuple[bool | None, bool]:
        bad, good = self.interference.counted(outcomes, symptom)
        hidden = len(outcomes) - bad - good
        if not self.is_flaky:
            return (None if hidden else bad > 0), True
        if hidden > max(1, bad + good):
            return None, True
        return chance_verdict(bad, good, surely) if Signal(symptom) in self.by_chance else wald_verdict(bad, good, surely)

    def _metric_verdict(self, outcomes: Sequence[Outcome], signal: Signal, surely: bool = False) -> tuple[bool | None, bool]:
        level = self.levels[signal.metric or ""]
        values = self._values(outcomes, signal)
        if not values:
            return None, len(outcomes) >= 2 or not self.is_flaky
        cut = self._cut(signal)
        if self.is_jumpy:
            bad = sum(level.sign * (cut - one) >= 0 for one in values)
            return wald_verdict(bad, len(values) - bad, surely)
        distance = level.sign * (cut - fmean(values))
        return distance >= 0, abs(distance) >= SURE * level.floor / math.sqrt(len(values))

    def is_degraded(self, outcomes: Sequence[Outcome], signal: Signal) -> bool:
        """Whether the mean of a metric lies beyond its cut."""
        return self._metric_verdict(outcomes, signal)[0] is True

    def is_confirmed(self, config: Config, signal: Signal, phase: Phase) -> bool:
        """Whether new tests alone show a noisy metric degraded: of many configurations the one that looks worst does so by chance too."""
        level = self.levels.get(signal.metric or "")
        if level is None or level.spread < SMALLEST_SCALE * abs(level.median):
            return True
        outcomes = [self.observe(config, phase) for _ in range(CONFIRMING_TESTS)]
        values = [one.metrics[level.metric.name] for one in outcomes if level.metric.name in one.metrics]
        return not values or level.loss(median(values)) >= CONFIRMED * NOTICEABLE

    def learn_cut(self, config: Config, signal: Signal, phase: Phase) -> None:
        """Put the cut of a metric in the middle between healthy and what this failing configuration shows."""
        if signal.metric is None:
            return
        level = self.levels[signal.metric]
        outcomes = self.seen[self.device.key(config)]
        wanted = 1 if level.scale < SMALLEST_SCALE * abs(level.median) else 6
        while len(outcomes) < wanted:
            self.observe(config, phase)
        values = [one.metrics[signal.metric] for one in outcomes if signal.metric in one.metrics]
        if values:
            share = max(0.5 * level.loss(median(values)), 0.6 * NOTICEABLE)
            level.cuts[signal] = level.median * (1 - level.sign * share * math.copysign(1, level.median))

    def check_recovery(self, failing: Config, signal: Signal) -> None:
        """After a failing test: does the default fail too until a reset? (the paper's S6 does not recover)"""
        if not self.device.sequential or signal in self.recovery or self.default_is_bad:
            return
        if self._dirty:
            self._reset("control")
        before = self._tester.test(failing, "control")
        self._count("control", 1)
        self._dirty = True
        if self.is_healthy(before):
            return
        after = self._tester.test(self.device.default, "control")
        self._count("control", 1)
        recovers = self.recovery[signal] = self.is_healthy(after)
        if self.memory is None:
            text = "recovers by itself" if recovers else "does not recover until a reset"
            self.memory = {"text": text, "after": to_json(failing), "controls": 1, "disagreed": int(not recovers)}
