"""Proof of a hypothesis: configurations that it says fail, and others that differ in one condition only (paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from wallwatch.domain.lab.axes import beside_threshold
from wallwatch.domain.lab.conditions import Among, Cause, Condition, Range
from wallwatch.domain.lab.device import Config, Value, as_integer
from wallwatch.domain.lab.hypothesis import Hypothesis
from wallwatch.domain.lab.moving import Moving
from wallwatch.domain.lab.permutation import Trial
from wallwatch.domain.lab.report import Prediction
from wallwatch.domain.lab.revision import Reviser
from wallwatch.domain.lab.spread import Spread

ROUNDS = 10
"""Fresh configurations inside a cause, each with one just outside per condition."""
ROUNDS_OF_A_MOVED_THRESHOLD = 20
"""Where other parameters move a threshold, it has to be right at many of their values."""


class Prover:
    """Tests predictions of a hypothesis away from causes that are known or `suspected` of other parameters."""

    def __init__(self, hypothesis: Hypothesis, reviser: Reviser, known: Sequence[Cause], suspected: Sequence[Cause]) -> None:
        self._hypothesis = hypothesis
        self._reviser = reviser
        self._known = known
        self._suspected = suspected
        self._is_blurred = False
        self._contradictions: set[tuple[Value, ...]] = set()

    def is_proven(self, predictions: list[Prediction]) -> bool:
        """Whether nothing that was seen contradicts the hypothesis, and its predictions come true. False if something changed."""
        return not self._contradicts_what_was_seen() and self._comes_true(predictions)

    def _comes_true(self, predictions: list[Prediction]) -> bool:
        """Rounds of one configuration inside and, for each condition, one with only that condition broken. False if something changed."""
        hypothesis = self._hypothesis
        spread = Spread(hypothesis.device.parameters)
        trials = {one: Trial() for one in hypothesis.conditions}
        is_moved = any(isinstance(one, Moving) for one in hypothesis.conditions)
        for number in range(ROUNDS_OF_A_MOVED_THRESHOLD if is_moved else ROUNDS):
            corner = number % 2 == 0 and not self._is_blurred
            hypothesis.phase = "verify" if corner else "permute"
            inside = spread.best(partial(self._inside, corner))
            if inside is None:
                break
            spread.mark(inside)
            is_bad = hypothesis.agrees(inside, True)
            if not is_bad:
                surprise = self._surprise(inside, None, corner)
                if surprise is None:
                    continue
                inside = surprise
                if self._reviser.revise(inside):
                    return False
            predictions.append(Prediction(inside, None, is_bad))
            for condition in hypothesis.conditions if is_bad else ():
                outside = self._outside(inside, condition, near=corner)
                if outside is None:
                    continue
                follows = hypothesis.agrees(outside, False)
                if not follows:
                    outside = self._surprise(outside, condition, corner)
                    if outside is None:
                        continue
                predictions.append(Prediction(outside, condition, not follows))
                trials[condition].add(follows)
                if not follows and self._reviser.examine(outside, condition, trials[condition]):
                    return False
        if self._drop_what_cannot_be_broken([one for one, trial in trials.items() if not trial.pairs]):
            return False
        return self._holds_in_others(predictions)

    def _contradicts_what_was_seen(self) -> bool:
        """Whether a configuration that was tested before passes though all conditions hold, and that taught something."""
        while (config := self._hypothesis.contradiction(self._contradictions)) is not None:
            self._hypothesis.phase = "verify"
            if self._reviser.revise(config):
                return True
        return False

    def _drop_what_cannot_be_broken(self, never_broken: Sequence[Condition]) -> bool:
        """A condition that follows from the others, the topology and what is known is none. True if there was one."""
        hypothesis = self._hypothesis
        implied = [one for one in never_broken if not self._can_be_broken(one)]
        if not implied or len(implied) == len(hypothesis.conditions):
            return False
        hypothesis.conditions.remove(implied[0])
        return True

    def _can_be_broken(self, condition: Condition) -> bool:
        """Whether the condition is broken somewhere where the signal would show, and would show for no other reason."""
        hypothesis = self._hypothesis
        broken = [hypothesis.sampler.broken(one, condition, False, hypothesis.kept()) for one in self._examples()]
        if isinstance(condition, Among) and not any(broken):
            return False
        return any(one is None or not any(other.holds(one) and self._covers(other) for other in self._known) for one in broken)

    def _covers(self, other: Cause) -> bool:
        """Whether nothing can be learned about the signal where another cause holds: it has the same signal, or hides it."""
        signal, shown, interference = self._hypothesis.signal, other.signal, self._hypothesis.judge.interference
        if shown == signal:
            return True
        return shown.symptom is not None and signal.symptom is not None and interference.hides(shown.symptom, signal.symptom)

    def _holds_in_others(self, predictions: list[Prediction]) -> bool:
        """One configuration where another cause holds too, of each that leaves the device running. False if something changed.

        The rounds keep clear of what is known, so a condition that is broken only there would go unnoticed.
        """
        hypothesis = self._hypothesis
        for other in self._known:
            if other.signal == hypothesis.signal or hypothesis.judge.interference.damage.get(other.signal.symptom or ""):
                continue
            both = hypothesis.sampler.inside([*hypothesis.conditions, *other.conditions], hypothesis.same, corner=False)
            verdict = None if both is None else hypothesis.decide(both)
            if both is None or verdict is None:
                continue
            is_bad = verdict or hypothesis.agrees(both, True)
            if not is_bad and self._reviser.revise(both):
                return False
            predictions.append(Prediction(both, None, is_bad))
        return True

    def _examples(self) -> list[Config]:
        drawn = [self._hypothesis.sampler.inside(self._hypothesis.conditions, [], corner=False) for _ in range(5)]
        return [one for one in (*drawn, self._hypothesis.witness) if one is not None]

    def _is_unsure(self, config: Config, broken: Condition | None, corner: bool) -> bool:
        """At its threshold the device disagrees with itself though the reproducer does not: the threshold is blurred.

        Elsewhere that shows only where the device is torn: there another parameter may have moved the threshold near. If it is not torn, it
        is flaky. Where it is torn clear of the threshold too, the symptom is a matter of chance.
        """
        judge, signal = self._hypothesis.judge, self._hypothesis.signal
        if judge.is_flaky or signal.symptom is None:
            return False
        was_reset = judge.reset_always
        if judge.doubt(self._hypothesis.witness, signal, "verify") or not judge.doubt(config, signal, "verify", 3, True):
            return False
        if judge.reset_always is not was_reset:  # earlier tests had left traces: that is no disagreement
            return False
        if not corner:
            is_torn = judge.is_torn(config, signal, "verify")
            judge.is_flaky = not is_torn
            return is_torn
        clear = self._clear_of_thresholds(config, broken)
        if clear is not None and judge.is_torn(clear, signal, "verify") and judge.is_matter_of_chance(clear, signal, "verify"):
            judge.is_flaky = True
            return False
        self._is_blurred = True
        return True

    def _surprise(self, config: Config, broken: Condition | None, corner: bool) -> Config | None:
        """The configuration to learn from where a prediction did not come true; None where that is due to a blurred threshold only."""
        expected = broken is None
        if self._is_unsure(config, broken, corner) or self._hypothesis.agrees(config, expected):  # a reset may have changed the verdict
            return None
        clear = self._clear_of_thresholds(config, broken) if corner else None
        if clear is None:
            return config
        return None if self._hypothesis.agrees(clear, expected) else clear

    def _clear_of_thresholds(self, config: Config, broken: Condition | None) -> Config | None:
        """The configuration with integers that stand at a threshold a little further on the side where they are.

        What changes a verdict at the threshold only, and no more than its tolerance beside it, is no condition. None where nothing stands
        at a threshold, or the device is flaky: then verdicts rest on repeats.
        """
        hypothesis = self._hypothesis
        moved = dict(config)
        for one in hypothesis.conditions if broken is None else [broken]:
            if isinstance(one, Range) and not hypothesis.judge.is_flaky:
                value = beside_threshold(self._hypothesis.device.by_name[one.parameter], one, as_integer(config[one.parameter]))
                moved[one.parameter] = config[one.parameter] if value is None else value
        return moved if moved != config and hypothesis.sampler.is_valid(moved) else None

    def _inside(self, corner: bool) -> Config | None:
        hypothesis = self._hypothesis
        for avoided in ([*self._known, *self._elsewhere()], self._known, hypothesis.same):
            config = hypothesis.sampler.inside(hypothesis.conditions, avoided, corner)
            if config is not None:
                return config
        return None

    def _outside(self, inside: Config, condition: Condition, near: bool) -> Config | None:
        changed = self._hypothesis.sampler.broken(inside, condition, near, self._hypothesis.kept())
        if changed is None or any(one.holds(changed) for one in (*self._known, *self._elsewhere())):
            return None
        return changed

    def _elsewhere(self) -> list[Cause]:
        """Suspected causes of other parameters."""
        own = set(self._hypothesis.kept())
        return [one for one in self._suspected if not one.parameters & own]
