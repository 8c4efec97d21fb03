"""Found causes in words, the size of brute force, and which limits a profile gets."""

from typing import Any

import pytest

from wallwatch_backend.lab import words
from wallwatch_backend.lab.results import finding_text, limits_of
from wallwatch_backend.lab.schemas_report import FoundCause, LabCondition, LabReport
from wallwatch_backend.lab.space import brute_force_tests
from wallwatch_testing.lab_report import BRUTE_FORCE, DESCRIPTION, cause, report


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"parameter": "verb", "op": "==", "value": "send"}, "verb is send"),
        ({"parameter": "jumbo", "op": "==", "value": True}, "jumbo is on"),
        ({"parameter": "verb", "op": "!=", "value": "read"}, "verb is not read"),
        ({"parameter": "flows", "op": ">=", "value": 7200}, "flows is at least 7,200"),
        ({"parameter": "interval", "op": "<=", "value": 2.5}, "interval is at most 2.5 s"),
        ({"parameter": "order", "op": "before", "value": ["a", "b"]}, "order: a comes before b"),
        ({"parameter": None, "op": ">=", "expression": "qps*size", "value": 64}, "qps × size is at least 64"),
        ({"parameter": "x", "op": "resembles", "value": 1}, "x resembles 1"),  # of a later version: shown as it is
    ],
)
def test_a_condition_reads_as_a_person_would_say_it(condition: dict[str, Any], text: str) -> None:
    assert words.condition_text(LabCondition.model_validate(condition), {"interval": "s", "flows": "flows"}) == text


def test_a_ticket_has_the_failing_configuration_and_what_to_change() -> None:
    text = words.reproducer(FoundCause.model_validate(cause()), LabReport.model_validate(report()), {})
    assert text.startswith("S6 appears when egress_masks is at least 24.\n")
    assert "last good 23, first bad 24" in text
    assert '"egress_masks": 24' in text
    assert 'Passes with only this changed: {"egress_masks": 23}' in text
    assert "bw_gbps: 98.1 without the cause, 57 with it (-42%)" in text


def test_brute_force_counts_five_levels_of_numbers_and_every_order() -> None:
    assert brute_force_tests(DESCRIPTION["parameters"]) == BRUTE_FORCE


def limits(*causes: dict[str, Any]) -> dict[str, float]:
    return limits_of([FoundCause.model_validate(each) for each in causes])


def test_a_threshold_on_one_parameter_is_a_limit_and_the_lowest_counts() -> None:
    lower = cause(
        id=2,
        conditions=[{"parameter": "egress_masks", "op": ">=", "value": 12}],
        thresholds=[{"parameter": "egress_masks", "last_good": 11, "first_bad": 12, "step": 1}],
    )
    assert limits(cause()) == {"egress_masks": 23.0}
    assert limits(cause(), lower) == {"egress_masks": 11.0}


@pytest.mark.parametrize(
    "other",
    [
        cause(conditions=[*cause()["conditions"], {"parameter": "verb", "op": "==", "value": "send"}]),  # holds in a corner only
        cause(conditions=[{"parameter": "egress_masks", "op": "<=", "value": 24}]),  # bad below: no limit
        cause(thresholds=[{"parameter": "verb", "last_good": 1, "first_bad": 2}]),
        cause(conditions=[{"parameter": "mtu", "op": ">=", "value": 9}], thresholds=[{"parameter": "mtu", "last_good": 8, "first_bad": 9}]),
        cause(thresholds=[]),
    ],
)
def test_what_is_no_limit_of_the_rnic_does_not_reach_its_profile(other: dict[str, Any]) -> None:
    assert limits(other) == {}


def test_what_a_timeline_says_is_honest_about_what_was_not_tested() -> None:
    found = LabReport.model_validate(report(complete=False))
    assert finding_text("cx6", found, found.causes).endswith("The campaign is incomplete: there may be more.")
    nothing = LabReport.model_validate(report(causes=[]))
    assert (
        finding_text("cx6", nothing, [])
        == "The lab found nothing wrong with cx6 in 180 tests (every combination of any 2 of the 5 varied parameters)."
    )
    all_tried = LabReport.model_validate(report(causes=[], strength=2, varied=["verb", "jumbo"]))
    assert finding_text("cx6", all_tried, []).endswith("(every combination).")
    alone = LabReport.model_validate(report(causes=[], strength=1, varied=["egress_masks"]))
    assert finding_text("cx6", alone, []).endswith("(only egress_masks varied).")
    cut_off = LabReport.model_validate(report(causes=[], strength=0, complete=False))
    assert "the tests that it had time for" in finding_text("cx6", cut_off, [])
