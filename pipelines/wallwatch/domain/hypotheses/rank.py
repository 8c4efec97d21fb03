"""Causes C1..C8 ranked for one symptom: `posterior ~ prior * P(symptom | cause) * product of P(evidence | cause)`, normalised.

Priors are the ratios of the paper's Table 1, conditioned on model, driver and firmware: a cause that the installed version repairs is
ten times less likely. Each evidence rule is a yes/no test on a signal; a signal that is missing gives no evidence at all, for or against.
Rules
count as
independent given the cause, which overstates certainty when signals move together, so each rule of the catalogue tests something of its
own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wallwatch.domain.catalogue.load import causes, prior_factors, unexplained_probability
from wallwatch.domain.catalogue.models import Cause, EvidenceRule
from wallwatch.domain.evidence import Evidence, Feature, evidence, with_unit
from wallwatch.domain.hypotheses.versions import Identity, repaired_by

UNKNOWN = Identity()


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One cause with its weight and reasons."""

    cause: str
    title: str
    prior: float
    posterior: float
    evidence_for: tuple[Evidence, ...]
    evidence_against: tuple[Evidence, ...]
    next_test: str

    def as_json(self) -> dict[str, Any]:
        return {
            "cause": self.cause,
            "title": self.title,
            "prior": round(self.prior, 4),
            "posterior": round(self.posterior, 4),
            "evidence_for": [e.as_json() for e in self.evidence_for],
            "evidence_against": [e.as_json() for e in self.evidence_against],
            "next_test": self.next_test,
        }


def prior_of(cause: Cause, rnic: Identity) -> float:
    """Table 1's ratio, reduced if the installed version fixes the cause or the model is not known to have it.

    >>> round(prior_of(causes()["C5"], Identity("CX-6", "mlx5_core", "20.41.1000")), 4)
    0.0153
    """
    repaired, other_vendor = prior_factors()
    prior = cause.prior
    if rnic.model in cause.not_on:
        prior *= other_vendor
    if repaired_by(cause, rnic):
        prior *= repaired
    return prior


def rank(symptom: str, feature_of: Callable[[EvidenceRule], Feature | None], rnic: Identity = UNKNOWN) -> list[Hypothesis]:
    """All eight causes, the most likely first; posteriors add up to 1.

    Parameters
    ----------
    symptom : str
        `S1`..`S8`.
    feature_of : callable
        Rule -> its signal's value over its window, or None when it was not measured.
    rnic : Identity
        Model, driver and versions, as far as they are known.
    """
    priors = {cause.id: prior_of(cause, rnic) for cause in causes().values()}
    weights = {cause.id: priors[cause.id] * cause.explains.get(symptom, unexplained_probability()) for cause in causes().values()}
    reasons: dict[str, tuple[list[Evidence], list[Evidence]]] = {name: ([], []) for name in weights}
    tested: dict[tuple[object, ...], tuple[bool, dict[str, float], float]] = {}

    for cause in causes().values():
        for rule in cause.rules:
            found = feature_of(rule) if not rule.only_for or symptom in rule.only_for else None
            if found is None:
                continue
            holds = rule.test.holds(found.value)
            test = with_unit(rule.test.text, rule.signal)
            text = rule.text_for if holds else rule.text_against
            reasons[cause.id][0 if holds else 1].append(evidence(rule.signal, found, None, text, test))
            # Several causes may share one test: it is one observation, with a probability under each of them.
            key = (rule.signal, rule.test.text, rule.window_s, rule.statistic)
            _, under, otherwise = tested.setdefault(key, (holds, {}, rule.p_otherwise))
            under[cause.id] = rule.p_if_cause
            tested[key] = (holds, under, min(otherwise, rule.p_otherwise))

    for holds, under, otherwise in tested.values():
        for cause in causes().values():
            # Evidence for a cause that does not explain this symptom indicates an additional symptom.
            p = under.get(cause.id, otherwise) if symptom in cause.explains else otherwise
            weights[cause.id] *= p if holds else 1.0 - p

    total = sum(weights.values())
    ranked = sorted(causes().values(), key=lambda cause: (-weights[cause.id], cause.id))
    return [
        Hypothesis(c.id, c.title, priors[c.id], weights[c.id] / total, tuple(reasons[c.id][0]), tuple(reasons[c.id][1]), c.next_test)
        for c in ranked
    ]
