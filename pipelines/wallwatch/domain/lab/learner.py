"""Learns one cause: the fewest parameters, where each begins to matter, and proof on fresh configurations (paper, sections 4.1 and 4.2)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from wallwatch.domain.lab.conditions import Cause, Signal
from wallwatch.domain.lab.device import Config
from wallwatch.domain.lab.hypothesis import Hypothesis
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.paths import minimal_failure
from wallwatch.domain.lab.proof import Prover
from wallwatch.domain.lab.report import FoundCause
from wallwatch.domain.lab.revision import Reviser
from wallwatch.domain.lab.sampling import Sampler

REVISIONS = 14
"""How often a cause is changed after a prediction that did not come true, before it is reported as it is."""

COME_TRUE = 0.8
"""A cause is proven only if at least this share of the configurations inside it fail."""


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
        self._rng = rng
        self._signal = signal
        self._healthy = healthy
        same = [one for one in known if one.signal == signal]
        with_symptoms = [one for one in known if one.signal.symptom is not None]
        self._hypothesis = Hypothesis(judge, sampler, signal, same, healthy, with_symptoms)
        self._prover = Prover(self._hypothesis, Reviser(self._hypothesis, rng), known, suspected)

    @property
    def others(self) -> list[Config]:
        """Configurations that fail though the cause does not hold: other causes'."""
        return self._hypothesis.others

    def learn(self, failing: Config) -> FoundCause | None:
        """The cause of the signal in this configuration; None if it turns out not to fail.

        Raises
        ------
        Hidden
            where another signal hides this one on the way
        """
        hypothesis = self._hypothesis
        if not self._reduce(failing):
            return None
        found = FoundCause(Cause(self._signal, ()), hypothesis.witness, self._healthy)
        if not self._prove(found, failing):
            return None
        inside = [one.is_bad for one in found.predictions if one.broken is None]
        if sum(inside) < COME_TRUE * len(inside):
            found.is_settled = False
        found.cause = Cause(self._signal, tuple(hypothesis.conditions))
        found.failing = hypothesis.witness
        found.passing = hypothesis.nearest_passing()
        names_left = found.cause.parameters
        found.thresholds = [one for name, several in hypothesis.thresholds.items() if name in names_left for one in several]
        return found

    def _reduce(self, failing: Config) -> bool:
        """Make a first hypothesis: the fewest parameters and their values. False if the configuration turns out not to fail."""
        hypothesis = self._hypothesis
        for _ in range(2):  # again where the device turns out to be flaky: single tests have led here
            hypothesis.phase = "minimise"
            certainty = self._judge.certainty
            hypothesis.witness, names = minimal_failure(hypothesis.device, self._healthy, failing, hypothesis.decide, self._rng)
            if not names:
                return False
            self._judge.doubt(hypothesis.witness, self._signal, "minimise")
            if self._judge.certainty == certainty:
                break
        if not hypothesis.decide(hypothesis.witness) or not self._judge.is_confirmed(hypothesis.witness, self._signal, "minimise"):
            return False
        self._judge.learn_cut(hypothesis.witness, self._signal, "minimise")
        hypothesis.conditions.clear()
        for name in names:
            hypothesis.add(hypothesis.witness, name, self._healthy[name])
        hypothesis.drop_what_never_passed()
        return True

    def alone(self, failing: Config, name: str) -> FoundCause | None:
        """What one parameter does by itself, not proven yet; None if the configuration turns out not to fail."""
        hypothesis = self._hypothesis
        self._judge.doubt(failing, self._signal, "minimise", times=2)
        if not hypothesis.decide(failing):
            return None
        hypothesis.witness = failing
        self._judge.learn_cut(failing, self._signal, "minimise")
        hypothesis.add(failing, name, self._healthy[name])
        cause = Cause(self._signal, tuple(hypothesis.conditions))
        thresholds = [one for several in hypothesis.thresholds.values() for one in several]
        return FoundCause(cause, failing, self._healthy, thresholds, is_settled=False)

    def _prove(self, found: FoundCause, failing: Config) -> bool:
        """Check and revise the conditions until their predictions come true, or the effort is out of proportion.

        Where the device turns out to be flaky, or a symptom a matter of chance, everything is learned again by repeated tests. False if
        it does not fail then.
        """
        hypothesis = self._hypothesis
        first = list(hypothesis.conditions)
        certainty = self._judge.certainty
        hypothesis.start_proof()
        for _ in range(REVISIONS):
            found.predictions.clear()
            is_proven = self._prover.is_proven(found.predictions)
            if self._judge.certainty != certainty:
                certainty = self._judge.certainty
                if not self._reduce(failing):
                    return False
                first = list(hypothesis.conditions)
            elif is_proven:
                return True
            elif hypothesis.is_spent():
                break
        hypothesis.conditions = max(first, list(hypothesis.conditions), key=lambda one: (round(hypothesis.score(one), 2), -len(one)))
        found.is_settled = False
        hypothesis.others.clear()
        return True
