"""Kinds of events that policies can be bound to."""

import re

import pytest

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.vocabulary import SUBJECTS, event_kinds, misfits
from wallwatch.domain.telemetry.registry import measurements


def test_it_has_each_kind_of_the_registry_but_what_policies_say_themselves() -> None:
    kinds = re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", measurements()["event"].tags["kind"])
    assert set(event_kinds()) == set(kinds) - {"policy_violated"}


def test_its_fields_are_those_of_events() -> None:
    fields = set(measurements()["event"].fields)
    assert {field for kind in event_kinds().values() for field in kind.when} <= fields
    assert {subject for kind in event_kinds().values() for subject in kind.subjects} == set(SUBJECTS)


@pytest.mark.parametrize("policy", policies().values(), ids=lambda policy: policy.id)
def test_every_policy_of_the_catalogue_is_bound_to_what_can_set_it(policy: Policy) -> None:
    assert list(misfits(policy)) == []


@pytest.mark.parametrize(
    ("subject", "proposition", "wrong"),
    [
        ("host", {"kind": "earthquake"}, "unknown kind of event 'earthquake'"),
        ("flow", {"kind": "soft_lockup"}, "soft_lockup has no flow as subject"),
        ("vf", {"kind": "cni_add", "when": {"color": "red"}}, "no field 'color'"),
        ("vf", {"kind": "cni_add", "when": {"result": "fine"}}, "result of cni_add must be one of ok, refused, unchecked, not 'fine'"),
    ],
)
def test_a_binding_that_could_never_hold_is_named(subject: str, proposition: dict[str, object], wrong: str) -> None:
    body = {"id": "own", "title": "t", "formula": "G !A", "subject": subject, "propositions": {"A": proposition}, "severity": "warning"}
    [(name, problem)] = misfits(Policy.model_validate({**body, "violation": "v", "source": "test"}))
    assert name == "A"
    assert wrong in problem
