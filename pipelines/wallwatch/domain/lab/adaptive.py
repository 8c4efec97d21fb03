"""The adaptive strategy: rows of growing strength until one fails, learn its cause, go on without it (paper, section 4.1)."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from statistics import median

from wallwatch.domain.lab.conditions import Cause, Signal
from wallwatch.domain.lab.covering import MOST_TUPLES, Coverage, Grid, one_at_a_time, tuples_of
from wallwatch.domain.lab.device import Config, Parameter, Value, brute_force_tests
from wallwatch.domain.lab.evidence import add_evidence, mostly_wrong
from wallwatch.domain.lab.hiding import hides
from wallwatch.domain.lab.hypothesis import Hidden
from wallwatch.domain.lab.inside import rows_inside
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.judge_report import baseline_of
from wallwatch.domain.lab.learner import Learner
from wallwatch.domain.lab.paths import difference
from wallwatch.domain.lab.report import FoundCause, Report, undecided
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.tester import Options, Outcome, SearchEnd

STAGES: tuple[tuple[int, Grid], ...] = ((2, "parts"), (3, "ends"), (4, "ends and inside"))
"""Strengths, and the levels of integers then."""
MOST_ROWS = 210
"""Rows of discovery that show nothing after which a strength of four is no longer pursued."""
ROWS_TO_DOUBT_THE_DEFAULT = 30
SHARE_TO_DOUBT_THE_DEFAULT = 0.85
GAIN_TO_DOUBT_THE_DEFAULT = 0.15
"""If a metric is better by so much in so many rows, all by nearly the same, it is the default that is degraded.

A metric that parameters improve more or less is no sign of that: its values are spread over the range between.
"""
MOST_ATTEMPTS = 3
"""How often the cause of one failing configuration is looked for."""
MOST_NESTED = 6
MOST_UNSETTLED = 2
"""After so many causes of one signal that no simple conditions explain, the search stops looking for more of that signal."""
MOST_CAUSES = 25
LEAST_EFFORT = 400
"""Where brute force over five levels takes fewer tests than this, it does not find thresholds to a step: the search may cost more."""


class Adaptive:
    """One search. `run` fills the report as it goes, so that a search that is cut off has reported what it knew."""

    def __init__(self, judge: Judge, sampler: Sampler, options: Options, report: Report, rng: random.Random) -> None:
        self._judge = judge
        self._sampler = sampler
        self._options = options
        self._report = report
        self._rng = rng
        self._device = judge.device
        self._queue: deque[Config] = deque()
        self._attempts: dict[tuple[object, ...], int] = {}
        self._healthy = self._device.default
        self._default_was_judged = False
        self._suspected: list[Cause] = []
        self._found_alone: dict[Cause, FoundCause] = {}
        self._is_first_pass = False
        self._later: deque[Config] = deque()
        self._undecided: Counter[Signal] = Counter()
        """Failures that no conditions explain."""

    @property
    def _known(self) -> list[Cause]:
        return [one.cause for one in self._report.causes]

    def run(self, healthy: Config) -> None:
        self._healthy = healthy
        resets = 2 if self._device.sequential else 1  # brute force would reset such a device before each test
        self._judge.most = max(LEAST_EFFORT, resets * brute_force_tests(self._report.varied))
        self._default_was_judged = healthy != self._device.default
        if healthy != self._device.default:
            self._work(self._device.default)
        try:
            self._try_each_alone()
        except SearchEnd:
            self._report_suspected()
            raise
        clean = 0
        self._work_on_what_proofs_showed()
        if self._is_brute_force_everything():
            self._try_all()
            return
        for strength, grid in STAGES:
            if tuples_of(self._device, self._options.only, strength, grid) > MOST_TUPLES:
                break
            clean = self._cover(strength, grid, clean)
            self._work_on_what_proofs_showed()
            if len(self._report.causes) >= MOST_CAUSES:
                self._report.notes.append(f"The search ended after {MOST_CAUSES} causes.")
                return
            self._end_at_brute_force()
        self._look_inside()

    def _is_brute_force_everything(self) -> bool:
        """Whether there are no values but the levels of brute force, and no more combinations of them than rows are worth."""
        number = math.prod(one.size for one in self._report.varied)
        return number <= MOST_ROWS and number == brute_force_tests(self._report.varied)

    def _try_all(self) -> None:
        """Every configuration there is: where they are no more than the rows of a covering array, nothing is left to chance."""
        for values in itertools.product(*(_values(one) for one in self._report.varied)):
            row = {**self._device.default, **dict(zip((one.name for one in self._report.varied), values, strict=True))}
            if self._sampler.is_valid(row):
                self._work(row)
                self._end_at_brute_force()
        self._report.strength = len(self._report.varied)

    def _end_at_brute_force(self) -> None:
        """Where the search has cost as much as trying all combinations of five levels, it ends."""
        if self._judge.is_spent:
            raise SearchEnd("as many tests as trying every combination of up to five levels would take")

    def _try_each_alone(self) -> None:
        """Each parameter alone. What fails so is suspected before anything is proven: proofs avoid what others bring about alone."""
        rows = [one for one in one_at_a_time(self._device, self._options.only) if self._sampler.is_valid(one)]
        self._judge.observe_all([one for one in rows if not self._judge.has_seen(one)], "discover")
        for row in rows:
            if not self._judge.has_seen(row):  # what was seen before it became clear that the device remembers does not count
                self._judge.observe(row, "discover")
            (name,) = difference(self._device, row, self._healthy) if self._healthy == self._device.default else ("",)
            for signal in self._unexplained(row) if name else ():
                if not any(one.signal == signal and name in one.parameters for one in self._suspected):
                    found = self._learner(signal).alone(row, name)
                    if found is not None:
                        self._judge.check_recovery(row, signal)
                        self._suspected.append(found.cause)
                        self._found_alone[found.cause] = found
        self._is_first_pass = True
        for row in rows:
            self._work(row)
        self._is_first_pass = False
        self._suspected.clear()
        while self._later:
            self._work(self._later.popleft())

    def _report_suspected(self) -> None:
        """A search that is cut off before it has proven what fails alone reports it as what it is."""
        for one in self._suspected:
            (name,) = one.parameters
            found = self._found_alone[one]
            add_evidence(self._judge, found)
            self._report.causes.append(found)
            self._report.notes.append(f"{one.signal} with {name} alone is not proven yet: no other parameter was varied.")

    def _learner(self, signal: Signal) -> Learner:
        return Learner(self._judge, self._sampler, self._rng, signal, self._known, self._suspected, self._healthy)

    def _look_inside(self) -> None:
        """Rows inside each cause, which all others avoid: an exception to it, or a symptom that shows nowhere else, is seen only there."""
        looked: set[Cause] = set()
        while inside := [one for one in self._report.causes if one.is_settled and one.cause not in looked]:
            found = inside[0]
            looked.add(found.cause)
            for row in rows_inside(self._judge, self._sampler, found.cause, self._known, self._options.only):
                if self._judge.decide(row, found.cause.signal, "discover", surely=True) is False:
                    self._report.causes.remove(found)
                    self._work(found.failing)
                    break
                self._work(row)
                if all(one is not found for one in self._report.causes):
                    break

    def _cover(self, strength: int, grid: Grid, clean: int) -> int:
        """Rows until every combination of so many levels was seen; beyond the strength that was asked for only while effort is left.

        Returns
        -------
        int
            rows so far that show the whole device
        """
        coverage = Coverage(self._device, self._options.only, strength, grid, self._rng)
        for seen in list(self._clean_rows()):
            coverage.mark(seen)
        for row in self._rows(coverage, clean if strength > self._options.strength else None):
            if not any(one.holds(row) for one in self._known):
                coverage.mark(row)
                clean += 1
            self._doubt_the_default()
            self._end_at_brute_force()
            if len(self._report.causes) >= MOST_CAUSES:
                break
        if coverage.is_complete:
            self._report.strength = coverage.strength  # of fewer parameters, if no more vary
        return clean

    def _doubt_the_default(self) -> None:
        """A default that is degraded shows no symptom: nearly every other row is better. Then one of those is the reference."""
        if self._default_was_judged:
            return
        rows = [(key, one[0]) for key, one in self._judge.seen.items() if one and one[0].status == "ok" and not one[0].symptoms]
        if len(rows) < ROWS_TO_DOUBT_THE_DEFAULT:
            return
        self._default_was_judged = True
        better = {name: [key for key, one in rows if name in self._judge.improved(one)] for name in self._judge.levels}
        name, keys = max(better.items(), key=lambda one: len(one[1]), default=("", []))
        if len(keys) < SHARE_TO_DOUBT_THE_DEFAULT * len(rows) or not self._is_one_step([one for _, one in rows], name):
            return
        candidates = [self._device.config_of(key) for key in keys]
        reference = min(candidates, key=lambda one: len(difference(self._device, one, self._device.default)))
        self._judge.default_is_bad = True
        self._judge.measure_baseline(reference)
        self._report.baseline = baseline_of(self._judge, False)
        self._report.notes.append(
            f"The default is degraded: {name} is better in nearly every other configuration. One of those is the reference."
        )
        self._healthy = reference
        for key in [key for key, outcomes in self._judge.seen.items() if outcomes]:
            self._work(self._device.config_of(key))

    def _is_one_step(self, outcomes: Sequence[Outcome], name: str) -> bool:
        """Whether a metric lies in one narrow band that is far from the default."""
        gains = [-self._judge.levels[name].loss(one.metrics[name]) for one in outcomes if name in one.metrics]
        middle = median(gains)
        return middle >= GAIN_TO_DOUBT_THE_DEFAULT and median(abs(one - middle) for one in gains) <= middle / 8

    def _clean_rows(self) -> Iterator[Config]:
        for key, outcomes in self._judge.seen.items():
            if outcomes and all(self._judge.is_healthy(one) for one in outcomes):
                yield self._device.config_of(key)

    def _rows(self, coverage: Coverage, clean: int | None) -> Iterator[Config]:
        """Rows to test; with a number of clean ones so far, only as long as effort is left."""
        while clean is None or clean < MOST_ROWS:
            batch: list[Config] = []
            for _ in range(max(1, self._options.parallel)):
                row = coverage.next_row(self._acceptable)
                if row is None:
                    break
                batch.append(row)
            if not batch:
                return
            fresh = [row for row in batch if not self._judge.has_seen(row)]
            if fresh:
                self._judge.observe_all(fresh, "discover")
            for row in batch:
                self._work(row)
                yield row
            if clean is not None:
                clean += len(batch)

    def _acceptable(self, row: Config, fixed: Sequence[str]) -> Config | None:
        valid = self._sampler.valid(row, fixed)
        return None if valid is None else self._sampler.clear_of(valid, self._known, fixed)

    def _unexplained(self, row: Config) -> list[Signal]:
        """Signals of a configuration that no known cause explains."""
        outcomes = self._judge.seen.get(self._device.key(row), [])
        holding = [one for one in self._report.causes if one.cause.holds(row)]
        signals = {one.cause.signal for one in holding}
        unexplained = [one for one in self._shown(outcomes) if one not in signals]
        if any(one.symptom for one in signals):  # a degradation next to a symptom that is explained is explained
            return [one for one in unexplained if one.symptom]
        return [one for one in unexplained if not any(self._judge.worsens(found.effect, one.metric) for found in holding)]

    def _shown(self, outcomes: Sequence[object]) -> list[Signal]:
        found: dict[Signal, None] = {}
        for one in outcomes:
            found.update(dict.fromkeys(self._judge.signals(one, self._options.target)))  # type: ignore[arg-type]
        return list(found)

    def _work(self, row: Config) -> None:
        """Learn whatever this configuration shows, and what comes up on the way."""
        self._queue.append(row)
        while self._queue:
            config = self._queue.popleft()
            if not self._judge.has_seen(config):
                self._judge.observe(config, "discover")
            for signal in self._unexplained(config):
                if signal in self._unexplained(config):
                    self._learn(signal, config, 0)

    def _work_on_what_proofs_showed(self) -> None:
        """Proof of one cause may show a symptom that no row has shown. Metrics are left to the rows: in noise any looks worse at times."""
        for key in list(self._judge.seen):
            config = self._device.config_of(key)
            explained = {one.signal for one in self._known}
            if any(one.symptom and one not in explained for one in self._unexplained(config)):
                self._work(config)

    def _unsettled(self, signal: Signal) -> int:
        return self._undecided[signal] + sum(one.cause.signal == signal and not one.is_settled for one in self._report.causes)

    def _is_given_up(self, signal: Signal) -> bool:
        """Whether the search no longer looks for more of a signal. Of one that comes by chance it leaves the rare rest at once."""
        return self._unsettled(signal) >= (1 if signal in self._judge.by_chance else MOST_UNSETTLED)

    def _is_left(self, config: Config, signal: Signal) -> bool:
        """Whether a symptom that comes by chance, whose cause is known, shows here too, but rarely: a note says so, no cause is sought."""
        settled = any(one.is_settled and one.cause.signal == signal for one in self._report.causes)
        if signal not in self._judge.by_chance or not settled or not self._judge.is_rare(config, signal, "discover"):
            return False
        note = f"{signal} shows rarely outside its causes too."
        if note not in self._report.notes:
            self._report.notes.append(note)
        return True

    def _is_refuted(self, found: FoundCause) -> bool:
        """Conditions in which the signal mostly does not show explain nothing: a note says what is undecided, and no cause is reported."""
        weak = None if found.is_settled else mostly_wrong(self._judge, found, self._known)
        if weak is None:
            return False
        self._undecided[found.cause.signal] += 1
        self._report.notes.append(undecided(found, difference(self._device, found.failing, self._healthy), weak))
        return True

    def _agrees_with_the_others(self, found: FoundCause) -> bool:
        """Add the cause to the report. False where it shows that causes have to be learned again."""
        self._replace_what_it_covers(found)
        return not (self._learn_again_what_is_hidden(found) or self._learn_again_what_excludes(found))

    def _replace_what_it_covers(self, found: FoundCause) -> None:
        """Earlier causes that hold only where the new one does were a part of it; so were unproven ones whose reproducer it explains."""

        def covers(other: FoundCause) -> bool:
            if other.cause.signal != found.cause.signal:
                return False
            if found.is_settled and not other.is_settled and found.cause.holds(other.failing):
                return True
            examples = [self._sampler.inside(other.cause.conditions, [], corner=i % 2 == 0) for i in range(20)]
            return all(found.cause.holds(one) for one in examples if one is not None) and any(examples)

        self._report.causes[:] = [one for one in self._report.causes if not covers(one)]
        self._report.causes.append(found)

    def _learn_again_what_is_hidden(self, found: FoundCause) -> bool:
        """One of two symptoms may hide the other though the device goes on. What was learned before that was clear is learned again."""
        pairs = [(found.cause, one) for one in self._known] + [(one, found.cause) for one in self._known]
        for other, cause in pairs:
            if hides(self._judge, self._sampler, other, cause, self._known):
                self._judge.interference.hiding.add((str(other.signal.symptom), str(cause.signal.symptom)))
                again = [one for one in self._report.causes if one.cause.signal == cause.signal]
                self._report.causes[:] = [one for one in self._report.causes if one.cause.signal != cause.signal]
                self._queue.extend(one.failing for one in again)
                return any(one is found for one in again)
        return False

    def _learn_again_what_excludes(self, found: FoundCause) -> bool:
        """Two causes of one signal of which each holds only where the other does not: where both hold, it passes.

        Both are learned again, and what was seen where both hold then contradicts them.
        """
        signal = found.cause.signal
        for other in [one for one in self._report.causes if one is not found and one.cause.signal == signal]:
            conditions = [*found.cause.conditions, *other.cause.conditions]
            names = found.cause.parameters | other.cause.parameters
            third = [one for one in (*self._known, *self._suspected) if one.signal == signal and not one.parameters & names]
            both = self._sampler.inside(conditions, third, corner=False) or self._sampler.inside(conditions, [], corner=False)
            if both is None or self._judge.decide(both, signal, "verify", surely=True) is not False:
                continue
            self._report.causes[:] = [one for one in self._report.causes if one is not found and one is not other]
            self._queue.extend([other.failing, found.failing])
            return True
        return False

    def _forget_causes(self, config: Config) -> None:
        """The device turned out to be flaky: causes that were learned by single tests are learned again."""
        self._queue.extend([*(one.failing for one in self._report.causes), config])
        self._report.causes.clear()
        self._attempts.clear()

    def _learn(self, signal: Signal, config: Config, depth: int) -> None:
        key = (signal, self._device.key(config))
        self._attempts[key] = self._attempts.get(key, 0) + 1
        if self._judge.is_spent or self._attempts[key] > MOST_ATTEMPTS or depth > MOST_NESTED or self._is_given_up(signal):
            return
        certainty = self._judge.certainty
        if not self._judge.decide(config, signal, "discover") or self._is_left(config, signal):
            return
        if self._judge.doubt(config, signal, "discover", times=2) and not self._judge.decide(config, signal, "discover"):
            return
        learner = self._learner(signal)
        try:
            found = learner.learn(config)
        except Hidden as hidden:
            for other in self._unexplained(hidden.config):
                if other != signal:
                    self._learn(other, hidden.config, depth + 1)
            self._learn(signal, config, depth + 1)
            return
        if found is None:
            return
        if self._judge.certainty != certainty and self._report.causes:
            self._forget_causes(config)
            return
        if self._is_refuted(found) or not self._agrees_with_the_others(found):
            return
        self._suspected = [one for one in self._suspected if one.signal != signal or not one.parameters & found.cause.parameters]
        self._judge.check_recovery(found.failing, signal)
        add_evidence(self._judge, found)
        (self._later if self._is_first_pass else self._queue).extend(learner.others)
        if not found.is_settled:
            self._report.notes.append(
                f"{signal}: the conditions explain most tests, not all: other parameters move the threshold, or it is blurred."
            )
        if not found.cause.holds(config):
            self._queue.append(config)


def _values(parameter: Parameter) -> Iterator[Value]:
    """All values of a parameter."""
    if parameter.kind == "integer":
        return (parameter.at(i) for i in range(parameter.size))
    return itertools.permutations(parameter.values) if parameter.kind == "sequence" else iter(parameter.values)
