"""Checks and parameters of remedies, bound by bound."""

from typing import Any

import pytest

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.models import Bound, EventSignal, FixedIn
from wallwatch.domain.catalogue.remedy_models import Check, Disturbance, Parameter
from wallwatch.domain.symptoms.remedies import suggested_contexts, suggested_max_idle

PARAMS: dict[str, object] = {"most": 8, "same": 2, "text": "x"}


def check(**bound: Any) -> Check:
    return Check.model_validate({"signal": "x", "expected": "x", "within_s": 1, "for_s": 0, "text": "x", **bound})


@pytest.mark.parametrize(
    ("bound", "holds", "fails", "limit"),
    [
        ({"below": 5}, [4.9, -1.0], [5.0, 6.0], 5.0),
        ({"at_least": 5}, [5.0, 6.0], [4.9], 5.0),
        ({"equals": 5}, [5.0], [4.9, 5.1], 5.0),
        ({"equals": 0}, [0.0], [1.0], 0.0),
        ({"below": 0}, [-0.1], [0.0], 0.0),
        ({"equals_param": "same"}, [2.0], [1.0, 3.0], 2.0),
        ({"at_most_param": "most"}, [8.0, 1.0], [8.1], 8.0),
        ({"at_most_param": "text"}, [], [0.0], None),
    ],
)
def test_a_value_is_as_expected_at_its_bound_and_not_beyond(
    bound: dict[str, Any], holds: list[float], fails: list[float], limit: float | None
) -> None:
    one = check(**bound)
    assert all(one.holds(value, PARAMS) for value in holds)
    assert not any(one.holds(value, PARAMS) for value in fails)
    assert one.limit(PARAMS) == limit


@pytest.mark.parametrize(
    ("bound", "text"), [({"equals_param": "same"}, "= 2"), ({"at_most_param": "same"}, "= 2"), ({"equals": 2}, "= {same}")]
)
def test_what_is_expected_names_the_parameter_s_value_where_the_bound_is_a_parameter(bound: dict[str, Any], text: str) -> None:
    assert check(**bound, expected="= {same}").expected_with(PARAMS) == text


@pytest.mark.parametrize("number", [0, 2])
def test_a_check_has_one_bound(number: int) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        check(**dict(list({"below": 1, "at_least": 1}.items())[:number]))


def parameter(**more: Any) -> Parameter:
    return Parameter.model_validate({"type": "integer", "unit": "ms", "label": "x", "meaning": "x", "required": True, **more})


@pytest.mark.parametrize(
    ("given", "value", "problem"),
    [
        ({"minimum": 2, "maximum": 4}, 2, None),
        ({"minimum": 2, "maximum": 4}, 4, None),
        ({"minimum": 2, "maximum": 4}, 1, "must be from 2 to 4 ms"),
        ({"minimum": 2, "maximum": 4}, 5, "must be from 2 to 4 ms"),
        ({"minimum": 2}, 99, None),
        ({"minimum": 2}, 1, "must be from 2 to None ms"),
        ({"maximum": 4}, -9, None),
        ({"maximum": 4}, 5, "must be from None to 4 ms"),
        ({}, 5, None),
        ({}, True, "must be an integer"),
        ({}, 5.0, "must be an integer"),
        ({}, "5", "must be an integer"),
        ({"type": "text"}, 5, "must be text"),
        ({"type": "text"}, "anything at all", None),
        ({"type": "text", "max_length": 3}, "abc", None),
        ({"type": "text", "max_length": 3}, "abcd", "must have at most 3 characters"),
        ({"type": "text", "pattern": "[a-c]+"}, "abc", None),
        ({"type": "text", "pattern": "[a-c]+"}, "abcd", r"must match [a-c]+"),
        ({"type": "text", "pattern": "[a-c]+"}, "", r"must match [a-c]+"),
        ({"type": "text", "format": "pci"}, "0000:3b:00.0", None),
        ({"type": "text", "format": "pci"}, "0000:3b:00.8", "must match"),
        ({"type": "text", "format": "pci"}, "0000:3b:00.0 ", "must have at most 12 characters"),
        ({"type": "text", "format": "pci", "max_length": 13}, "0000:3b:00.0 ", "must match"),
    ],
)
def test_a_parameter_says_what_is_wrong_with_a_value(given: dict[str, Any], value: object, problem: str | None) -> None:
    found = parameter(**given).problem(value)
    assert found is None if problem is None else (found or "").startswith(problem)


@pytest.mark.parametrize(
    ("bound", "text", "opposite", "holds", "fails"),
    [
        ({"at_least": 2}, ">= 2", "< 2", 2.0, 1.999),
        ({"at_most": 2}, "<= 2", "> 2", 2.0, 2.001),
        ({"above": 2}, "> 2", "<= 2", 2.001, 2.0),
        ({"below": 2}, "< 2", ">= 2", 1.999, 2.0),
        ({"at_least": 0}, ">= 0", "< 0", 0.0, -0.001),
        ({"at_most": 0}, "<= 0", "> 0", 0.0, 0.001),
        ({"above": 0}, "> 0", "<= 0", 0.001, 0.0),
        ({"below": 0}, "< 0", ">= 0", -0.001, 0.0),
    ],
)
def test_a_bound_its_text_and_its_opposite_say_the_same(
    bound: dict[str, float], text: str, opposite: str, holds: float, fails: float
) -> None:
    one = Bound(**bound)
    assert (one.text, one.opposite_text, one.holds(holds), one.holds(fails)) == (text, opposite, True, False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"models": ("CX-6",), "firmware_from": "1"}, ""),
        ({"driver": "ice", "driver_from": "1"}, ""),
        ({"models": ("CX-6",)}, "exactly one"),
        ({"models": ("CX-6",), "firmware_from": "1", "driver_from": "1"}, "exactly one"),
        ({"firmware_from": "1"}, "needs models"),
    ],
)
def test_a_fix_is_in_a_firmware_of_models_or_in_a_driver(given: dict[str, Any], message: str) -> None:
    if message:
        with pytest.raises(ValueError, match=message):
            FixedIn(**given)
    else:
        FixedIn(**given)


@pytest.mark.parametrize(
    ("where", "fields", "takes"),
    [
        ({}, {}, True),
        ({"a": ("x",)}, {"a": "x"}, True),
        ({"a": ("x",)}, {"a": "y"}, False),
        ({"a": ("x",)}, {}, False),
        ({"a": ("*",)}, {"a": "anything"}, True),
        ({"a": ("*",)}, {}, False),
        ({"a": ("*",)}, {"a": ""}, False),
        ({"a": ("",)}, {}, True),
        ({"a": ("",)}, {"a": False}, True),
        ({"a": ("",)}, {"a": True}, False),
        ({"a": ("",)}, {"a": None}, True),
        ({"a": ("", "7")}, {"a": 7}, True),
        ({"a": ("x",), "b": ("y",)}, {"a": "x", "b": "z"}, False),
        ({"a": ("x",), "b": ("y",)}, {"a": "x", "b": "y"}, True),
    ],
)
def test_an_event_counts_where_all_its_fields_are_as_asked(
    where: dict[str, tuple[str, ...]], fields: dict[str, object], takes: bool
) -> None:
    assert EventSignal(label="", meaning="", kinds=("k",), where=where, per="host").takes(fields) is takes


def test_a_remedy_is_judged_by_the_first_symptom_of_its_incident_that_it_cures() -> None:
    for remedy in load.remedies().values():
        assert remedy.cured_symptom(None) == remedy.without_incident
        assert remedy.cured_symptom([]) is None
        for symptom in remedy.cures:
            assert remedy.cured_symptom(["S0", symptom, *remedy.cures]) == symptom
    tune = load.remedies()["tune-revalidator"]
    assert tune.cured_symptom(["S7"]) is None
    assert {"S1", "S5"} <= tune.helped_symptoms


@pytest.mark.parametrize("symptom", ["S2", "S3", "S6", "S7", "S8", "silent"])
def test_a_failing_host_or_rnic_is_never_a_remedy_s_own_doing(symptom: str) -> None:
    with pytest.raises(ValueError, match=f"{symptom} must be raised"):
        Disturbance(symptoms=("S1", symptom), why="x")


@pytest.mark.parametrize(
    ("max_idle_ms", "gap_s", "value", "says"),
    [
        (None, None, 60_000, "at least 60,000 ms, six times the default"),
        (0.0, 0.0, 60_000, "at least 60,000 ms"),
        (20_000, 30.0, 60_000, "at least 60,000 ms"),
        (20_001, None, 70_000, "present max-idle 20,001 ms x 3, rounded up to 70,000 ms"),
        (30_000, 45.0, 90_000, "present max-idle 30,000 ms x 3"),
        (30_000, 45.1, 100_000, "longest counter gap 45.1 s x 2, rounded up to 100,000 ms"),
        (10_000, 40.0, 80_000, "longest counter gap 40 s x 2"),
        (1_200_000, None, 3_600_000, "present max-idle 1,200,000 ms x 3"),
        (1_200_001, None, 3_600_000, "present max-idle 1,200,001 ms x 3, limited to 3,600,000 ms"),
    ],
)
def test_an_idle_time_is_the_largest_of_three_rounded_up(max_idle_ms: float | None, gap_s: float | None, value: int, says: str) -> None:
    found = suggested_max_idle(max_idle_ms, gap_s)
    assert (found.value, found.derivation.startswith(says)) == (value, True)
    assert ("rounded" in found.derivation, "limited" in found.derivation) == ("rounded" in says, "limited" in says)


@pytest.mark.parametrize(
    ("contexts", "share", "value"),
    [(None, 0.5, 8000), (4000, None, 8000), (4000, 0, 8000), (0, 0.5, 8000), (4000, 0.5, 6400), (900, 0.9, 800)],
)
def test_a_cap_of_contexts_is_a_share_of_the_limit_where_it_is_known(contexts: float | None, share: float | None, value: int) -> None:
    found = suggested_contexts(contexts, share)
    assert (found.value, "is unknown" in found.derivation) == (value, not (contexts and share))
    parameter = load.remedies()["cap-encap-contexts"].params["max_contexts"]
    assert suggested_contexts(1, 1.0).value == parameter.minimum
    assert suggested_contexts(1e12, 0.5).value == parameter.maximum
