"""Proof of a hypothesis: configurations that it says fail, and others that differ in one condition only (paper, section 4.1)."""

from __future__ import annotations

from collections.abc import Sequence

from wallwatch.domain.lab.conditions import Among, Cause, Condition
from wallwatch.domain.lab.device import Config
from wallwatch.domain.lab.hypothesis import Hypothesis
from wallwatch.domain.lab.permutation import Trial
from wallwatch.domain.lab.report import Prediction
from wallwatch.domain.lab.revision import Reviser

ROUNDS = 10
"""Fresh configurations inside a cause, each with one just outside per condition."""


class Prover:
    """Tests predictions of a hypothesis away from causes that are known or `suspected` of other parameters."""

    def __init__(self, hypothesis: Hypothesis, reviser: Reviser, known: Sequence[Cause], suspected: Sequence[Cause]) -> None:
        self._hypothesis = hypothesis
        self._reviser = reviser
        self._known = known
        self._suspected = suspected
        self._is_blurred = False

    def is_proven(self, predictions: list[Prediction]) -> bool:
        """Rounds of one configuration inside and, for each condition, one with only that condition broken. False if something changed."""
        hypothesis = self._hypothesis
        trials = {one: Trial() for one in hypothesis.conditions}
        for number in range(ROUNDS):
            corner = number % 2 == 0 and not self._is_blurred
            hypothesis.phase = "verify" if corner else "permute"
            inside = self._inside(corner)
            if inside is None:
                break
            is_bad = hypothesis.judged(inside)
            if not is_bad and corner and self._is_unsure(inside):
                continue
            if not is_bad and self._reviser.revise(inside):
                return False
            predictions.append(Prediction(inside, None, is_bad))
            for condition in hypothesis.conditions if is_bad else ():
                outside = self._outside(inside, condition, near=corner)
                if outside is None:
                    continue
                follows = not hypothesis.judged(outside)
                if not follows and corner and self._is_unsure(outside):
                    continue
                predictions.append(Prediction(outside, condition, not follows))
                trials[condition].add(follows)
                if not follows and self._reviser.examine(outside, condition, trials[condition]):
                    return False
        return not self._drop_what_cannot_be_broken([one for one, trial in trials.items() if not trial.pairs])

    def _drop_what_cannot_be_broken(self, never_broken: Sequence[Condition]) -> bool:
        """A condition that follows from the others and the topology is none. True if there was one."""
        hypothesis = self._hypothesis
        implied = [one for one in never_broken if isinstance(one, Among) and not self._can_be_broken(one)]
        if not implied or len(implied) == len(hypothesis.conditions):
            return False
        hypothesis.conditions.remove(implied[0])
        return True

    def _can_be_broken(self, condition: Condition) -> bool:
        hypothesis = self._hypothesis
        return any(hypothesis.sampler.broken(one, condition, False, hypothesis.kept()) is not None for one in self._examples())

    def _examples(self) -> list[Config]:
        drawn = [self._hypothesis.sampler.inside(self._hypothesis.conditions, [], corner=False) for _ in range(5)]
        return [one for one in (*drawn, self._hypothesis.witness) if one is not None]

    def _is_unsure(self, config: Config) -> bool:
        """At its threshold the device disagrees with itself though the reproducer does not: the threshold is blurred."""
        hypothesis = self._hypothesis
        if hypothesis.judge.is_flaky or hypothesis.signal.symptom is None:
            return False
        if hypothesis.judge.doubt(hypothesis.witness, hypothesis.signal, "verify") or not hypothesis.judge.doubt(
            config, hypothesis.signal, "verify", 3, True
        ):
            return False
        self._is_blurred = True
        return True

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
