"""Whether a local rule fits the catalogue of this version: it was written for an earlier one."""

from __future__ import annotations

from wallwatch.domain.catalogue.load import event_signals, known_signals, profiles, remedies, symptoms
from wallwatch.domain.catalogue.models import AnotherRule


def problem_of(rule: AnotherRule) -> str | None:
    """What is wrong with a rule, None if it can be used.

    >>> from wallwatch.domain.catalogue.rule_of_cause import Condition, Found, rule_of
    >>> masks = Condition("egress_masks", ">=", 24, 23, "egress_masks is at least 24")
    >>> rule = AnotherRule.model_validate(rule_of(Found("S6", None, [masks], "lab card", None, "")).rule)
    >>> problem_of(rule), problem_of(rule.model_copy(update={"models": ("CX-1",)}))
    (None, 'there is no profile CX-1')
    """
    definition = rule.definition
    for condition in definition.conditions:
        if condition.signal not in known_signals():
            return f"there is no signal {condition.signal}"
        if (condition.statistic == "count") != (condition.signal in event_signals()):
            return f"signal {condition.signal}: statistic count is for events, and for nothing else"
    for kind, named, known in (
        ("signal", {bound.signal for bound in definition.critical_when}, set(known_signals())),
        ("symptom", set(definition.not_with), set(symptoms())),
        ("remedy", {remedy.action for remedy in definition.remedies}, set(remedies())),
        ("profile", set(rule.models), set(profiles())),
    ):
        if missing := named - known:
            return f"there is no {kind} {min(missing)}"
    return None
