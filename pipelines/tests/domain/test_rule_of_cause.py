"""Causes that the lab found as candidate rules."""

import pytest

from wallwatch.domain.catalogue.local_rule_check import problem_of
from wallwatch.domain.catalogue.local_rules import dump, parse
from wallwatch.domain.catalogue.models import AnotherRule
from wallwatch.domain.catalogue.rule_of_cause import Condition, Found, NoRule, rule_of
from wallwatch.domain.telemetry.registry import RegistryError

FLOWS = Condition("flows", ">=", 6000, 5900, "flows is at least 6,000")
IDLE = Condition("max_idle_ms", "<=", 800, 900, "max_idle_ms is at most 800")
JUMBO = Condition("jumbo", "==", True, None, "jumbo is on")


def found(*conditions: Condition, symptom: str | None = "S1", metric: str | None = None, device: str = "lab card") -> Found:
    return Found(symptom, metric, conditions, device, "CX-6", "Found in 300 tests.")


def test_thresholds_become_conditions_with_the_measured_interval_and_the_rest_is_named() -> None:
    candidate = rule_of(found(FLOWS, IDLE, JUMBO))
    rule = AnotherRule.model_validate(candidate.rule)
    assert problem_of(rule) is None
    assert [(c.signal, c.raise_.text, c.clear and c.clear.text) for c in rule.definition.conditions] == [
        ("flows_offloaded", ">= 6000", "< 5310"),
        ("max_idle_ms", "<= 800", "> 990"),
    ]
    assert "last good 5900, first bad 6000" in rule.definition.conditions[0].why
    assert candidate.not_checked == ("jumbo is on",)
    assert "It does not check: jumbo is on." in rule.definition.why
    assert rule.models == ("CX-6",)


def test_masks_without_a_direction_are_alternatives() -> None:
    (egress, ingress) = AnotherRule.model_validate(
        rule_of(found(Condition("masks", ">=", 31, 30, "masks is at least 31"))).rule
    ).definition.conditions
    assert (egress.signal, ingress.signal, egress.any, ingress.any) == ("masks_egress", "masks_ingress", "masks", "masks")


def test_a_degradation_is_named_by_its_metric_and_a_device_with_braces_is_no_place_for_a_signal() -> None:
    rule = rule_of(found(FLOWS, symptom=None, metric="bw_gbps", device="card {0} [b]")).rule
    assert rule["title"] == "State in which the lab saw a decline of bw_gbps"
    assert "on card (0) (b)[; offloaded flows: {flows_offloaded:.0f}]." in rule["definition"]["summary"]


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ((JUMBO,), "No signal of an RNIC shows this: jumbo is on."),
        ((Condition(None, ">=", 9, None, "a × b is at least 9"),), "No signal of an RNIC shows this: a × b is at least 9."),
        ((Condition("flows", ">=", True, None, "flows is on"),), "No signal of an RNIC shows this: flows is on."),
        ((Condition("flows", "==", 7, None, "flows is 7"),), "No signal of an RNIC shows this: flows is 7."),
        ((Condition("flows", ">=", 1, 0, "flows is at least 1"),), "No signal of an RNIC shows this: flows is at least 1."),
        ((FLOWS, Condition("flows", "<=", 7000, 7100, "flows is at most 7,000")), "Two conditions of the cause are bounds of one signal"),
        ((), "No signal of an RNIC shows this: a cause without conditions."),
    ],
)
def test_what_no_rule_can_express_is_refused_with_the_reason(conditions: tuple[Condition, ...], why: str) -> None:
    with pytest.raises(NoRule) as refused:
        rule_of(found(*conditions))
    assert str(refused.value).startswith(why)


def test_rules_are_written_and_read_again() -> None:
    rule = AnotherRule.model_validate(rule_of(found(FLOWS, JUMBO)).rule)
    assert parse(dump([rule], ["Two\nlines"])).rules == (rule,)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("rule: L1/1", "rule: U/1"), "rule 'U/1': a local rule is called L"),
        (("raise_for_s: 30", "raise_for_s: soon"), "rules.0.definition.raise_for_s"),
        (("rules:", "rules: ["), "invalid YAML"),
        (("blast_radius: rnic", "blast_radius: host\n    scope: host"), "scope must be rnic"),
    ],
)
def test_a_mistake_in_written_rules_is_named(change: tuple[str, str], words: str) -> None:
    text = dump([AnotherRule.model_validate(rule_of(found(FLOWS)).rule)])
    assert change[0] in text
    with pytest.raises(RegistryError, match=words):
        parse(text.replace(*change))


def test_two_rules_of_one_name_are_refused() -> None:
    rule = AnotherRule.model_validate(rule_of(found(FLOWS)).rule)
    with pytest.raises(RegistryError, match="two rules are called L1/1"):
        parse(dump([rule, rule]))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"not_with": {"S99": 1}}, "there is no symptom S99"),
        ({"remedies": [{"action": "pray", "why": "x"}]}, "there is no remedy pray"),
        ({"critical_when": [{"signal": "luck", "at_least": 1}]}, "there is no signal luck"),
    ],
)
def test_a_rule_that_does_not_fit_the_catalogue_is_named(change: dict[str, object], problem: str) -> None:
    body = rule_of(found(FLOWS)).rule
    assert problem_of(AnotherRule.model_validate({**body, "definition": {**body["definition"], **change}})) == problem
    counted = [{**body["definition"]["conditions"][0], "statistic": "count"}]
    wrong = AnotherRule.model_validate({**body, "definition": {**body["definition"], "conditions": counted}})
    assert problem_of(wrong) == "signal flows_offloaded: statistic count is for events, and for nothing else"
