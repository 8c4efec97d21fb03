"""What a policy must be, and whose step an event is."""

from typing import Any

import pytest

from wallwatch.domain.policies.models import Policy, Subject
from wallwatch.domain.policies.step import Event
from wallwatch.domain.policies.subjects import subjects_of

BASE: dict[str, Any] = {
    "id": "a-policy", "title": "t", "formula": "G(a -> X !b)", "subject": "flow", "severity": "warning", "violation": "v", "source": "s",
    "propositions": {"a": {"kind": "flow_offloaded"}, "b": {"kind": ["flow_aged", "flow_returned"], "when": {"x": 1}}},
}  # fmt: skip
TIMER = {"name": "late", "after": "a", "unless": "b", "seconds": 5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, ""),
        ({"timer": TIMER, "formula": "G(a -> !late)"}, ""),
        ({"timer": TIMER | {"unless": None}, "formula": "G !late"}, ""),
        ({"timer": TIMER | {"seconds": 86_400}}, ""),
        ({"timer": TIMER | {"seconds": 86_400.1}}, "less than or equal to 86400"),
        ({"timer": TIMER | {"seconds": 0}}, "greater than 0"),
        ({"formula": "G(a -> "}, "formula: "),
        ({"formula": "G(a -> c)"}, "no event sets c; add it to propositions"),
        ({"formula": "G !late"}, "no event sets late"),
        ({"timer": TIMER | {"after": "c"}, "formula": "G !late"}, "timer: c is not among the propositions"),
        ({"timer": TIMER | {"unless": "c"}, "formula": "G !late"}, "timer: c is not among the propositions"),
        ({"timer": TIMER | {"after": "late"}, "formula": "G !late"}, "timer: late is not among the propositions"),
        ({"timer": TIMER | {"name": "b"}, "formula": "G !b"}, "timer: b is already set by events"),
        ({"timer": TIMER | {"name": "too late"}}, "propositions: 'too late' is not a valid name"),
        ({"propositions": BASE["propositions"] | {"1c": {"kind": "x"}}}, "propositions: '1c' is not a valid name"),
        ({"formula": "true"}, "formula: "),
        ({"formula": "F a"}, "formula: "),  # no step violates it
        ({"formula": "false"}, "formula: "),
        ({"formula": "a | !a"}, "formula: "),
        ({"id": "A-policy"}, "pattern"),
        ({"id": "a"}, "pattern"),
        ({"id": "ab"}, ""),
        ({"propositions": {"a": {"kind": []}}, "formula": "G !a"}, "at least 1 item"),
    ],
)
def test_a_policy_is_refused_for_what_is_wrong_with_it(change: dict[str, Any], message: str) -> None:
    if message:
        with pytest.raises(ValueError, match=message):
            Policy.model_validate(BASE | change)
    else:
        Policy.model_validate(BASE | change)


def test_a_proposition_has_one_kind_or_several() -> None:
    policy = Policy.model_validate(BASE)
    assert (policy.propositions["a"].kind, policy.propositions["b"].kind) == (("flow_offloaded",), ("flow_aged", "flow_returned"))


@pytest.mark.parametrize(
    ("kind", "pci", "fields", "names"),
    [
        ("host", "", {}, [("h",)]),
        ("rnic", "p", {}, [("h", "p")]),
        ("rnic", "", {}, []),
        ("flow", "p", {"flow": "f"}, [("h", "p", "f")]),
        ("flow", "p", {}, []),
        ("flow", "p", {"flow": ""}, []),
        ("vf", "p", {"device": "d"}, [("h", "d")]),
        ("vf", "p", {}, []),
        ("command", "p", {"command": "c"}, [("h", "p", "c")]),
        ("command", "p", {"device": "d"}, []),
        ("address", "p", {"address": "10.0.0.1/8"}, [("vxlan none", "10.0.0.1/8")]),
        (
            "address",
            "p",
            {"address": " 10.0.0.1/8 ,, fd00::1/64", "vxlan_network": 7},
            [("vxlan 7", "10.0.0.1/8"), ("vxlan 7", "fd00::1/64")],
        ),
        ("address", "p", {"address": None}, []),
        ("address", "p", {}, []),
    ],
)
def test_an_event_is_a_step_of_whom_it_names(kind: Subject, pci: str, fields: dict[str, Any], names: list[tuple[str, ...]]) -> None:
    assert subjects_of(kind, Event("k", 0, "h", pci, fields)) == names
