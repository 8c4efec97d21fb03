"""Which finding speaks of which truth?"""

from array import array
from collections import Counter
from dataclasses import replace

import pytest
from tests.evaluation.scoring.match import False_, Judged, healthy_ms, joined, match
from tests.evaluation.scoring.replay import Episode, Replay

from wallwatch.recordings import Truth

HOST, PCI, OTHER = "host01", "0000:17:00.0", "0000:3b:00.0"
END = 1_200_000
INTERVAL = 10_000


def truth(from_s: float, to_s: float | None, symptom: str = "S1", pci: str = PCI, host: str = HOST, cause: str = "C5") -> Truth:
    return Truth(symptom, cause, host, pci, int(from_s * 1000), None if to_s is None else int(to_s * 1000))


def episode(raised_s: float, cleared_s: float | None, symptom: str = "S1", pci: str = PCI, host: str = HOST) -> Episode:
    raised, cleared = int(raised_s * 1000), None if cleared_s is None else int(cleared_s * 1000)
    return Episode(f"{symptom} {raised}", symptom, host, pci, raised, raised, raised, cleared, rankings=[(raised, ["C5", "C1"])])


def replayed(*episodes: Episode, gap: tuple[int, int] = (0, 0)) -> Replay:
    times = [at for at in range(0, END + 1, INTERVAL) if not gap[0] * 1000 < at < gap[1] * 1000]
    samples = {(HOST, pci, "rnic_offload"): array("q", times) for pci in (PCI, OTHER)}
    return Replay(list(episodes), samples, 0, END, len(times), Counter())


def judge(truths: list[Truth], *episodes: Episode, gap: tuple[int, int] = (0, 0)) -> tuple[list[Judged], list[False_]]:
    return match(truths, replayed(*episodes, gap=gap), INTERVAL)


def test_a_finding_while_the_truth_lasts_is_found_with_its_delay_in_samples() -> None:
    [one], false = judge([truth(102, 400)], episode(125, 430))
    assert (one.outcome, one.delay_ms, one.delay_samples, false) == ("found", 23_000, 2, [])


@pytest.mark.parametrize(("raised", "outcome"), [(60, "missed"), (75, "found"), (455, "found"), (600, "missed")])
def test_a_finding_may_come_a_little_early_or_late(raised: float, outcome: str) -> None:
    [one], false = judge([truth(100, 400)], episode(raised, raised + 5 if raised < 70 else None))
    assert one.outcome == outcome
    assert len(false) == (outcome == "missed")


def test_a_silent_host_may_be_reported_once_it_sends_again() -> None:
    [one], false = judge([truth(100, 105, "S3", cause="C3")], episode(310, 400, "S3"), gap=(100, 300))
    assert (one.outcome, one.delay_samples, false) == ("found", 2, [])


def test_the_same_symptom_on_another_rnic_is_missed_and_false() -> None:
    [one], [wrong] = judge([truth(100, 400)], episode(120, 400, pci=OTHER))
    assert (one.outcome, one.instead, wrong.near_symptom) == ("missed", "", "")


@pytest.mark.parametrize(("symptom", "pci"), [("S2", OTHER), ("S3", ""), ("S7", "")])
def test_what_concerns_a_host_is_matched_on_the_host(symptom: str, pci: str) -> None:
    [one], false = judge([truth(100, 400, symptom)], episode(120, 400, symptom, pci))
    assert (one.outcome, false) == ("found", [])


def test_another_symptom_in_place_of_the_truth_is_a_confusion_counted_once() -> None:
    [one], [wrong] = judge([truth(100, 400, "S8")], episode(120, 300, "S1"))
    assert (one.outcome, one.instead, wrong.in_place_of) == ("missed", "S1", "S8")


def test_a_false_finding_shortly_after_a_real_symptom_is_next_to_it() -> None:
    _, [wrong] = judge([truth(100, 300, "S8")], episode(110, 320, "S8"), episode(400, 450, "S1"))
    assert wrong.near_symptom == "S8"


def test_false_findings_of_one_place_within_the_hold_time_are_one_incident() -> None:
    _, false = judge([], episode(100, 120), episode(200, 220), episode(150, 170, pci=OTHER))
    assert [(one.pci, len(one.episodes)) for one in false] == [(PCI, 2), (OTHER, 1)]


def test_a_symptom_that_is_raised_again_while_it_lasts_is_a_repeat_and_not_false() -> None:
    [one], false = judge([truth(100, 600)], episode(120, 200), episode(300, 650))
    assert (one.outcome, one.repeats, false) == ("found", 1, [])


def test_truths_with_a_short_pause_are_one() -> None:
    found = joined([truth(100, 200), truth(300, 400), truth(600, None)], END, INTERVAL)
    assert [one.end_ms for one in found] == [400_000, END]


def test_a_brief_flare_before_a_symptom_neither_starts_the_clock_nor_makes_it_a_truth() -> None:
    [one], _ = judge([truth(100, 105), truth(180, 400)], episode(195, 420))
    assert (one.outcome, one.delay_samples) == ("found", 1)
    [one], _ = judge([truth(100, 105), truth(180, 190), truth(250, 255)])
    assert one.outcome == "brief"


def test_a_finding_that_goes_on_into_a_later_truth_finds_it_too() -> None:
    both, false = judge([truth(100, 200), truth(400, 500)], episode(110, 520))
    assert [one.outcome for one in both] == ["found", "found"]
    assert (both[0].outstays_ms, both[1].delay_samples, false) == (320_000, 0, [])


def test_what_is_brief_or_near_the_end_is_not_asked_for() -> None:
    judged, _ = judge([truth(100, 110), truth(400, 405, "S7"), truth(1170, None, "S6")])
    assert [one.outcome for one in judged] == ["brief", "missed", "cut"]


def test_silence_is_real_only_while_nothing_came() -> None:
    _, false = judge([], episode(380, 620, "silent", ""), gap=(300, 600))
    assert false == []
    _, false = judge([], episode(700, 720, "silent", ""), gap=(300, 600))
    assert [one.symptom for one in false] == ["silent"]


def test_the_ranking_that_counts_is_the_last_one_made_before_the_end() -> None:
    found = episode(120, 500)
    found.rankings = [(120_000, ["C1", "C5"]), (290_000, ["C5", "C1"]), (450_000, ["C1", "C5"])]
    [one], _ = judge([truth(100, 300)], found)
    assert (one.first_ranking[0], one.ranking[0]) == ("C1", "C5")


def test_healthy_time_leaves_out_what_was_sick_and_a_while_after() -> None:
    judged, _ = judge([truth(100, 200), truth(150, 250, "S6"), truth(500, 505, "S3", OTHER)])
    assert healthy_ms(HOST, PCI, judged, 0, END) == END - (250 + 180 - 70) * 1000 - (505 + 180 - 470) * 1000
    assert healthy_ms("host02", PCI, judged, 0, END) == END


def near(from_s: float, to_s: float | None, symptom: str = "S4") -> Truth:
    return replace(truth(from_s, to_s, symptom, cause="C4"), marginal=True)


def test_a_finding_for_a_marginal_case_is_neither_right_nor_wrong() -> None:
    [one], false = judge([near(100, 400)], episode(150, 420, "S4"))
    assert (one.outcome, len(one.episodes), false) == ("marginal", 1, [])
    [one], false = judge([near(100, 400)])
    assert (one.outcome, one.episodes, false) == ("marginal", [], [])


def test_a_marginal_case_excuses_no_other_symptom_and_no_other_place() -> None:
    _, false = judge([near(100, 400)], episode(150, 420, "S6"), episode(150, 420, "S4", pci=OTHER))
    assert sorted((one.symptom, one.pci, one.near_symptom) for one in false) == [("S4", OTHER, ""), ("S6", PCI, "")]


def test_a_finding_that_was_raised_while_it_was_marginal_counts_for_the_symptom_that_it_becomes() -> None:
    [one], false = judge([near(100, 700), truth(300, 600, "S4", cause="C4")], episode(150, 640, "S4"))
    assert (one.outcome, one.delay_samples, false) == ("found", 0, [])


def test_a_real_symptom_is_asked_for_although_its_edges_are_marginal() -> None:
    [one], false = judge([near(90, 700), truth(100, 600, "S4", cause="C4")])
    assert (one.outcome, false) == ("missed", [])


def test_a_gradual_symptom_is_not_asked_for_while_its_host_stands_still() -> None:
    stands = truth(103, 500, "S2", pci=OTHER, cause="C2")
    judged, _ = judge([truth(100, 510), stands], episode(140, 520, "S2"))
    assert {one.truth.symptom: one.outcome for one in judged} == {"S1": "brief", "S2": "found"}
    judged, _ = judge([truth(100, 560), stands], episode(140, 520, "S2"))
    assert {one.truth.symptom: one.outcome for one in judged} == {"S1": "missed", "S2": "found"}


def test_a_hang_that_a_crash_ends_before_the_watchdog_is_reported_as_the_crash() -> None:
    for stands_until in (103, 240):  # the truth joins what a boot interrupts
        judged, _ = judge([truth(100, stands_until, "S2"), truth(103, 250, "S3")], episode(105, 300, "S3"))
        assert {one.truth.symptom: one.outcome for one in judged} == {"S2": "brief", "S3": "found"}
    judged, _ = judge([truth(100, 130, "S2"), truth(130, 250, "S3")], episode(135, 300, "S3"))
    assert {one.truth.symptom: one.outcome for one in judged} == {"S2": "missed", "S3": "found"}
