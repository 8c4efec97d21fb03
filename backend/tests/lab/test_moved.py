"""A threshold that other parameters move, in the words of the page, the rule and the recognised cause."""

from typing import Any

from wallwatch_backend.lab import cause_rule, words
from wallwatch_backend.lab.schemas_report import FoundCause, LabCondition, LabReport, LabThreshold


def moved(**more: Any) -> LabCondition:
    thresholds = [{"at": {"pcie_lanes": "16"}, "value": 44}, {"at": {"pcie_lanes": "8"}, "value": 60}]
    condition = {"parameter": "masks_egress", "op": ">=", "value": 44, "moved_by": ["pcie_lanes"], "thresholds": thresholds}
    return LabCondition.model_validate(condition | more)


def test_the_words_say_between_which_values_the_threshold_moves() -> None:
    assert words.condition_text(moved(), {}) == "masks_egress is at least 44 (44 to 60, depending on pcie_lanes)"
    never = [{"at": {"pcie_lanes": "16"}, "value": 44}, {"at": {"pcie_lanes": "8"}, "value": None}]
    assert words.condition_text(moved(thresholds=never), {}).endswith("(44 to 44 or never, depending on pcie_lanes)")


def test_a_rule_has_the_usual_bound_and_says_what_it_does_not_check() -> None:
    limit = LabThreshold(parameter="masks_egress", last_good=43, first_bad=44)
    found = FoundCause(id=1, symptom="S6", conditions=[moved()], thresholds=[limit])
    candidate = cause_rule.draft(found, LabReport(device="lab card", tests=180), "CX-6")
    assert candidate.not_checked == ("how the bound of masks_egress depends on pcie_lanes",)
    (condition,) = candidate.rule["definition"]["conditions"]
    assert condition["raise"] == {"at_least": 44}
    assert "It does not check: how the bound of masks_egress depends on pcie_lanes." in candidate.rule["definition"]["why"]


def test_a_report_of_an_earlier_version_has_no_moved_thresholds() -> None:
    condition = LabCondition.model_validate({"parameter": "masks", "op": ">=", "value": 44})
    assert (condition.moved_by, condition.thresholds) == ([], [])
