"""Measured against expected bandwidth: what becomes a finding, and what does not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.catalogue.promoted import Promotion
from wallwatch.domain.catalogue.residual import residual_rule
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.performance.formulas import bandwidth_gbps
from wallwatch.domain.performance.predict import predict
from wallwatch.domain.symptoms.residual import MINUTE_MS, Life, Lives, Minute, judge, step

CX6 = Identity("CX-6", "mlx5_core", "20.35.1012")
SLOW = Minute("host01", "0000:3b:00.0", "r1", CX6, 0, 10.0, 5.0, 60.0, 200.0, 50_000.0, 0.0, 0.0, explained=False)
"""121 Gbit/s are expected here."""


@pytest.fixture(autouse=True)
def catalogue_again() -> Iterator[None]:
    yield
    promoted.use([])


def play(lives: Lives, minutes: list[Minute], first: int = 1) -> list[dict[str, Any]]:
    findings = []
    for number, minute in enumerate(minutes, first):
        findings += step(lives, [replace(minute, until_ms=number * MINUTE_MS)], number * MINUTE_MS)
    return findings


def test_a_port_with_data_waiting_that_sends_less_than_expected_for_minutes_is_a_finding() -> None:
    assert play({}, [SLOW] * 4) == []
    [found] = play({}, [SLOW] * 5)
    assert (found["symptom"], found["state"], found["rule"], found["started_at"]) == (
        "unexplained",
        "active",
        "U/2",
        "1970-01-01T00:00:00.000Z",
    )
    assert "sends 60 Gbit/s instead of the predicted 121 Gbit/s (-51%)" in found["summary"]
    assert [e["signal"] for e in found["evidence"]] == ["tx_gbps", "q_egress", "q_ingress", "port_xmit_wait"]
    assert [r["action"] for r in found["remedies"]] == ["cordon-rnic"]


@pytest.mark.parametrize(
    "near",
    [
        replace(SLOW, sent_gbps=2.0, waited_ticks_per_s=0.0),
        replace(SLOW, sent_gbps=115.0),
        replace(SLOW, q_l=35.0, q_r=20.0),
        replace(SLOW, link_gbps=62.0),
        replace(SLOW, paused_per_s=500.0),
        replace(SLOW, notified_per_s=200.0),
        replace(SLOW, to_congested=0.3),
        replace(SLOW, explained=True),
    ],
    ids=[
        "no traffic",
        "full",
        "many lookups",
        "a slow link",
        "paused by the network",
        "slowed down by congestion control",
        "held back by its receivers",
        "a known symptom",
    ],
)
def test_what_explains_a_low_rate_makes_no_finding(near: Minute) -> None:
    assert play({}, [near] * 8) == []


@pytest.mark.parametrize(
    "missing",
    [
        {"q_l": None},
        {"q_r": None},
        {"sent_gbps": None},
        {"waited_ticks_per_s": None},
        {"notified_per_s": None},
        {"identity": Identity("unheard of")},
    ],
)
def test_what_is_not_measured_neither_raises_nor_clears(missing: dict[str, Any]) -> None:
    unknown = replace(SLOW, **missing)
    assert judge(unknown) is None
    assert play({}, [unknown] * 8) == []
    lives: Lives = {}
    play(lives, [SLOW] * 5)
    assert play(lives, [unknown] * 8, first=6) == []
    assert len(lives) == 1


def test_more_than_the_profile_allows_says_that_the_profile_is_wrong() -> None:
    found = play({}, [replace(SLOW, sent_gbps=170.0, waited_ticks_per_s=0.0)] * 5)[-1]
    assert "the profile does not match this RNIC" in found["summary"]
    assert "calibrate" in found["explanation"]
    assert found["remedies"] == []


def test_a_finding_ends_after_minutes_as_expected_and_not_after_one() -> None:
    lives: Lives = {}
    fine = replace(SLOW, sent_gbps=118.0)
    raised = play(lives, [SLOW] * 5)[0]
    assert {f["state"] for f in play(lives, [fine, fine, SLOW, fine, fine], first=6)} == {"active"}
    [ended] = play(lives, [fine], first=11)
    assert (ended["state"], ended["finding_id"], lives) == ("cleared", raised["finding_id"], {})


def test_minutes_without_samples_do_not_count() -> None:
    lives: Lives = {}
    play(lives, [SLOW] * 4)
    assert play(lives, [SLOW] * 4, first=8) == []


def test_a_finding_whose_rnic_is_not_measured_any_more_ends_after_half_an_hour() -> None:
    lives: Lives = {}
    play(lives, [SLOW] * 5)
    assert step(lives, [], 34 * MINUTE_MS) == []
    [ended] = step(lives, [], 35 * MINUTE_MS)
    assert ended["state"] == "cleared"


def test_a_finding_of_a_process_before_goes_on() -> None:
    raised = play({}, [SLOW] * 5)[0]
    subject = {"host": SLOW.host, "pci": SLOW.pci, "rack": SLOW.rack}
    lives: Lives = {SLOW.key: Life(subject, CX6, "below", 0, 5 * MINUTE_MS, started_ms=0)}
    assert play(lives, [SLOW], first=6)[0]["finding_id"] == raised["finding_id"]


def test_expected_is_what_was_promoted_for_the_card_s_own_firmware() -> None:
    slower = profiles()["CX-4"].performance
    assert bandwidth_gbps(slower, 10, 5) < 60.0
    promoted.use([Promotion("CX-6", "", CX6.fw_ver, slower, {}, "version 1")])
    judged = judge(SLOW)
    assert judged is not None
    assert judged.side == "above"
    other = judge(replace(SLOW, identity=replace(CX6, fw_ver="20.41.1000")))
    assert other is not None
    assert other.side == "below"


RULE = residual_rule()
EXPECTED = predict(profiles()["CX-6"].performance, 10.0, 5.0).bandwidth_gbps
MUCH_LESS = min(EXPECTED.lower, EXPECTED.value * (1.0 - RULE.share))
MUCH_MORE = max(EXPECTED.upper, EXPECTED.value * (1.0 + RULE.share))


@pytest.mark.parametrize(
    ("change", "side"),
    [
        ({"sent_gbps": MUCH_LESS * 0.999}, "below"),
        ({"sent_gbps": MUCH_LESS}, None),
        ({"sent_gbps": MUCH_MORE}, None),
        ({"sent_gbps": MUCH_MORE * 1.001}, "above"),
        ({"sent_gbps": MUCH_MORE * 1.001, "waited_ticks_per_s": None}, "above"),
        ({"waited_ticks_per_s": RULE.waited_ticks_per_s}, "below"),
        ({"waited_ticks_per_s": RULE.waited_ticks_per_s * 0.999}, None),
        ({"paused_per_s": RULE.paused_per_s * 0.999}, "below"),
        ({"paused_per_s": RULE.paused_per_s}, None),
        ({"notified_per_s": RULE.notified_per_s * 0.999}, "below"),
        ({"notified_per_s": RULE.notified_per_s}, None),
        ({"to_congested": RULE.share_to_congested * 0.999}, "below"),
        ({"to_congested": RULE.share_to_congested}, None),
        ({"link_gbps": None}, "below"),
        ({"link_gbps": 60.0}, None),  # the link carries no more
        ({"link_gbps": 50.0, "sent_gbps": 49.0}, None),
    ],
)
def test_a_port_differs_from_what_is_expected_beyond_the_interval_and_the_share(change: dict[str, Any], side: str | None) -> None:
    judged = judge(replace(SLOW, **change))
    assert judged is not None
    assert judged.side == side
    bound = {"link_gbps": 200.0, **change}["link_gbps"] or 1e9
    assert judged.expected == (min(EXPECTED.value, bound), min(EXPECTED.lower, bound), EXPECTED.upper)


def test_a_gap_of_two_minutes_does_not_end_a_run_of_minutes_and_one_of_three_does() -> None:
    for gap, raised in ((2, True), (3, False)):
        lives: Lives = {}
        play(lives, [SLOW] * 2)
        assert bool(play(lives, [SLOW] * 3, first=2 + gap)) is raised
        assert lives[SLOW.key].since_ms == (0 if raised else (1 + gap) * MINUTE_MS)


def test_a_known_symptom_ends_a_run_of_minutes_but_no_finding() -> None:
    explained = replace(SLOW, explained=True)
    lives: Lives = {}
    play(lives, [SLOW] * 4)
    play(lives, [explained], first=5)
    assert lives == {}
    play(lives, [SLOW] * 5)
    assert {found["state"] for found in play(lives, [explained] * 8, first=6)} == {"active"}


def test_a_difference_to_the_other_side_begins_again_unless_it_is_a_finding() -> None:
    more = replace(SLOW, sent_gbps=170.0)
    lives: Lives = {}
    play(lives, [SLOW] * 4)
    play(lives, [more], first=5)
    assert (lives[SLOW.key].side, lives[SLOW.key].count, lives[SLOW.key].since_ms) == ("above", 1, 4 * MINUTE_MS)
    lives = {}
    play(lives, [SLOW] * 5)
    assert [found["state"] for found in play(lives, [more] * 3, first=6)] == ["active", "active", "cleared"]


def test_a_low_rate_says_for_how_long_and_what_the_port_waited_for() -> None:
    found = play({}, [SLOW] * 7)[-1]
    assert "for 7 minutes" in found["summary"]
    by_signal = {each["signal"]: each for each in found["evidence"]}
    assert (by_signal["tx_gbps"]["value"], by_signal["q_egress"]["value"], by_signal["q_ingress"]["value"]) == (60.0, 10.0, 5.0)
    assert by_signal["tx_gbps"]["expected"] == f"{EXPECTED.lower:.0f} to {EXPECTED.upper:.0f} Gbit/s"
    assert (by_signal["tx_gbps"]["from"], by_signal["tx_gbps"]["to"]) == ("1970-01-01T00:06:00.000Z", "1970-01-01T00:07:00.000Z")
    assert found["at"] == "1970-01-01T00:07:00.000Z"


def test_a_port_with_data_waiting_that_sends_nothing_at_all_says_so() -> None:
    found = play({}, [replace(SLOW, sent_gbps=0.0)] * 5)[-1]
    assert "sends 0 Gbit/s instead of the predicted 121 Gbit/s (-100%)" in found["summary"]
    assert found["evidence"][0]["value"] == 0.0
