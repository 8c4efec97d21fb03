"""Figures over recordings."""

import pytest
from tests.evaluation.scoring.cases import cases
from tests.evaluation.scoring.match import False_, Judged
from tests.evaluation.scoring.replay import Episode
from tests.evaluation.scoring.scores import Result, confusion, percentile, summary
from tests.evaluation.scoring.tables import text

from wallwatch.recordings import Truth

HOST, PCI = "host01", "0000:17:00.0"


def judged(
    symptom: str, outcome: str = "found", instead: str = "", cause: str = "C5", samples: int = 1, ranking: tuple[str, ...] = ("C5",)
) -> Judged:
    truth = Truth(symptom, cause, HOST, PCI, 100_000, 200_000)
    return Judged(truth, 100_000, 200_000, outcome, instead, samples * 10_000, samples, list(ranking), list(ranking))


def false(symptom: str, near_symptom: str = "", in_place_of: str = "") -> False_:
    episode = Episode("id", symptom, HOST, PCI, 1000, 1000, 1000, 5000, "It was reported.", ["ratio 0.4 (< 0.1)"])
    return False_(symptom, HOST, PCI, 1000, 5000, [episode], near_symptom, in_place_of)


def result(of: list[Judged], wrong: list[False_], hours: float = 1.0) -> Result:
    return Result("one", 10.0, 0, int(hours * 3_600_000), 1, int(hours * 3_600_000), 100, of, wrong)


def test_precision_recall_and_f1_follow_from_found_missed_and_false() -> None:
    figures = summary([result([judged("S1"), judged("S1"), judged("S1", "missed"), judged("S1", "brief")], [false("S1")])])
    s1 = figures["symptoms"]["S1"]
    assert (s1["precision"], s1["recall"], s1["f1"]) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert figures["not_asked"] == {"brief": 1, "cut": 0}


def test_a_symptom_that_is_reported_and_never_there_lowers_the_macro_f1() -> None:
    assert summary([result([judged("S1")], [false("S4")])])["macro_f1"] == 0.5


def test_the_matrix_counts_each_truth_and_each_false_incident_once() -> None:
    cells = confusion(
        [
            result(
                [judged("S8", "missed", "S1"), judged("S2", "missed")],
                [false("S1", "S8", "S8"), false("S4"), false("S1", "S8"), false("S8", "S8")],
            )
        ]
    )
    assert cells["S8"] == {"S1": 2, "S8 again": 1}
    assert (cells["S2"], cells["nothing"]) == ({"missed": 1}, {"S4": 1})


def test_false_incidents_on_healthy_rnics_are_counted_by_the_hour_and_those_next_to_a_symptom_apart() -> None:
    figures = summary([result([], [false("S4"), false("S1", "S8")], hours=500)])
    assert (figures["false_per_1000_healthy_hours"], figures["false_beside"]) == (2.0, 1)


def test_the_place_of_the_right_cause_is_counted() -> None:
    figures = summary([result([judged("S1"), judged("S1", ranking=("C1", "C5")), judged("S2", cause="C2", ranking=()), judged("S5")], [])])
    assert (figures["cause_first"], figures["cause_in_two"]) == (0.5, 0.75)


@pytest.mark.parametrize(
    ("values", "share", "expected"), [([5], 0.95, 5), (list(range(1, 101)), 0.95, 95), ([1, 9], 0.95, 9), ([3, 1, 2], 0.5, 2)]
)
def test_percentiles_are_values_that_were_measured(values: list[int], share: float, expected: int) -> None:
    assert percentile(values, share) == expected


def test_the_report_names_the_worst_cases_with_place_and_what_was_reported() -> None:
    results = [result([judged("S8", "missed", "S1", "C8"), judged("S5", samples=9)], [false("S1", "S8", "S8"), false("S4")])]
    found = cases(results)
    assert [case["kind"] for case in found] == ["missed", "false", "late"]
    shown = text(summary(results), found)
    for words in ("instead S1 next to S8", "ratio 0.4 (< 0.1)", "raised after 90 s (9 samples)", "S4 in one, host01 0000:17:00.0, at 1 s"):
        assert words in shown


def test_a_report_of_nothing_says_so_without_failing() -> None:
    figures = summary([])
    assert figures["macro_f1"] is None
    assert "macro F1: - (at least 0.97)" in text(figures, [])
