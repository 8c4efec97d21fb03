"""The catalogue's policies, and what a policy must be like."""

from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from wallwatch.domain.ltl.kind import check
from wallwatch.domain.policies.load import machine, policies
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.tables import tables
from wallwatch.domain.telemetry.registry import measurements

GOOD: dict[str, Any] = {
    "id": "a-policy",
    "title": "t",
    "formula": "G(A -> X B)",
    "subject": "host",
    "propositions": {"A": {"kind": "port_up"}, "B": {"kind": ["port_down", "port_disabled"]}},
    "severity": "warning",
    "violation": "v",
    "source": "s",
}


def test_there_are_policies_for_every_symptom_with_events_of_its_own() -> None:
    assert len(policies()) >= 15
    assert {symptom for policy in policies().values() for symptom in policy.symptoms} == {"S1", "S2", "S3", "S4", "S5", "S7", "S8"}


def test_every_kind_of_event_is_one_that_collectors_send() -> None:
    sent_kinds = measurements()["event"].tags["kind"]
    for policy in policies().values():
        for proposition in policy.propositions.values():
            for kind in proposition.kind:
                assert kind in sent_kinds, f"{policy.id}: {kind}"
            assert set(proposition.when) <= set(measurements()["event"].fields)


def test_every_policy_can_be_violated_and_its_machine_is_small() -> None:
    for policy in policies().values():
        assert check(policy.formula).violations
        assert len(machine(policy.formula).verdicts) <= 16


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"formula": "G(A -> X"}, "the formula ends"),
        ({"formula": "G(A -> C)"}, "no event sets C"),
        ({"formula": "A | !A"}, "the formula is valid"),
        ({"formula": "A & !A"}, "no trace can satisfy"),
        ({"formula": "G(A -> F B)"}, "Add a timeout event"),
        ({"timer": {"name": "A", "after": "B", "seconds": 1}}, "is already set by events"),
        ({"timer": {"name": "T", "after": "C", "seconds": 1}}, "C is not among the propositions"),
        ({"timer": {"name": "T", "after": "A", "seconds": 0}}, "greater than 0"),
        ({"propositions": {}}, "at least 1"),
        ({"propositions": {**GOOD["propositions"], "a b": {"kind": "port_up"}}}, "not a valid name in a formula"),
        ({"subject": "fleet"}, "subject"),
        ({"unheard_of": 1}, "unheard_of"),
    ],
)
def test_a_policy_that_cannot_work_is_refused_with_the_reason(change: dict[str, Any], expected: str) -> None:
    assert Policy.model_validate(GOOD).propositions["A"].kind == ("port_up",)
    with pytest.raises(ValidationError, match=expected):
        Policy.model_validate({**GOOD, **change})


def test_a_timer_bounds_what_would_be_liveness() -> None:
    bounded = Policy.model_validate(
        {**GOOD, "formula": "G(A -> X(!T W B))", "timer": {"name": "T", "after": "A", "unless": "B", "seconds": 5}}
    )
    assert bounded.timer is not None


def test_a_collector_gets_the_kinds_of_event_of_each_proposition_and_their_fields() -> None:
    refused = {"kind": ["cni_add", "cni_check"], "when": {"result": "refused"}}
    policy = Policy.model_validate({**GOOD, "propositions": {"A": refused, "B": {"kind": "cni_del"}}})
    [compiled] = orjson.loads(tables([policy]))["policies"]
    when = refused["when"]
    assert compiled["events"] == [
        {"kind": "cni_add", "when": when, "proposition": "A"},
        {"kind": "cni_check", "when": when, "proposition": "A"},
        {"kind": "cni_del", "when": None, "proposition": "B"},
    ]
