"""The finding I/1: three broken seconds in a minute raise it, five quiet minutes clear it, and a repeat changes nothing."""

from typing import Any

import orjson
import pytest

from wallwatch.domain.catalogue.isolation import isolation_rule, parse_rule
from wallwatch.domain.catalogue.load import remedies
from wallwatch.domain.hypotheses.versions import Identity
from wallwatch.domain.symptoms.decode_finding import decode_finding
from wallwatch.domain.symptoms.isolation import Broken, Life, Sufferer, Taker, forget, step, suggested_guarantee, suggested_limit
from wallwatch.domain.telemetry.registry import RegistryError

T0 = 1_790_000_000_000
TAKER = Taker(3, "b/bulk", 0.62, 0.2, 400.0, 8_100.0, 100.0)


def life() -> Life:
    return Life({"host": "h1", "pci": "0000:3b:00.0", "rack": "r1"}, Identity("CX-6"))


def broken(second: int, seconds: float = 1.0, aggressors: tuple[Taker, ...] = (TAKER,)) -> Broken:
    victims = (Sufferer(0, "a/web", "p99 5,000 µs, promised 200 µs"), Sufferer(1, "", "lost 3%"))
    return Broken(T0 + second * 1000, seconds, "ingress packet rate", victims, aggressors, 1.6, 2_000_000.0)


def played(one: Life, seconds: int, bad: set[int]) -> list[dict[str, Any]]:
    return [finding for second in range(seconds) for finding in step(one, T0 + second * 1000, broken(second) if second in bad else None)]


@pytest.mark.parametrize(("bad", "raised"), [({10, 11}, None), ({10, 11, 12}, 12), ({10, 40, 69}, 69), ({10, 40, 70}, None)])
def test_three_broken_seconds_within_a_minute_raise_it(bad: set[int], raised: int | None) -> None:
    found = played(life(), 100, bad)
    assert len(found) == (raised is not None)
    if raised is not None:
        assert found[0]["state"] == "active"
        assert found[0]["rule"] == "I/1"
        assert decode_finding(orjson.dumps(found[0]))["symptom"] == "isolation"


def test_one_estimated_interval_of_ten_seconds_raises_it() -> None:
    assert [f["state"] for f in step(life(), T0, broken(0, 10.0))] == ["active"]


def test_five_minutes_without_a_broken_second_clear_it_and_less_does_not() -> None:
    one = life()
    assert [f["state"] for f in played(one, 10 + 299 + 3, {10, 11, 12})] == ["active"]
    cleared = step(one, T0 + 312_000, None)
    assert [f["state"] for f in cleared] == ["cleared"]
    assert one.idle


def test_an_active_finding_is_repeated_at_most_every_fifteen_seconds_under_one_id() -> None:
    found = played(life(), 60, set(range(10, 60)))
    assert [f["state"] for f in found] == ["active"] * 4
    assert len({f["finding_id"] for f in found}) == 1


def test_seconds_that_are_read_again_after_a_restart_count_once() -> None:
    one = life()
    one.started_ms, one.known_ms, one.total_s = T0, T0 + 40_000, 30.0  # as resumed from the store
    for second in range(20, 61):
        step(one, T0 + second * 1000, broken(second))
    assert one.total_s == 30.0 + 20.0


BACK = -7_200
"""Seconds by which a host's clock is set back."""


def test_after_a_clock_was_set_far_back_five_quiet_minutes_clear_it_as_always() -> None:
    one = life()
    assert len(played(one, 20, {10, 11, 12})) == 1
    quiet = [second for second in range(20, 400) if step(one, T0 + (second + BACK) * 1000, None)]
    assert quiet == [313]  # the last broken second was 12, and the step itself counts as none
    assert one.idle


def test_broken_seconds_after_a_clock_was_set_far_back_count_and_the_finding_goes_on_without_going_back_itself() -> None:
    one = life()
    [active] = played(one, 20, {10, 11, 12})
    found = [f for second in range(20, 60) for f in step(one, T0 + (second + BACK) * 1000, broken(second + BACK))]
    assert one.total_s == 3.0 + 40.0
    assert [(f["state"], f["finding_id"]) for f in found] == [("active", active["finding_id"])] * len(found)
    assert found
    assert all(f["at"] > active["at"] for f in found)
    cleared = [f for second in range(60, 500) for f in step(one, T0 + (second + BACK) * 1000, None)]
    assert [f["state"] for f in cleared] == ["cleared"]
    assert decode_finding(orjson.dumps(cleared[0]))["finding_id"] == decode_finding(orjson.dumps(active))["finding_id"]
    assert cleared[0]["at"] >= found[-1]["at"]


def test_seconds_of_before_a_clock_was_set_back_do_not_stay_in_the_minute() -> None:
    one = life()
    played(one, 20, {18, 19})
    after = range(20, 100)
    bad = {98, 99}
    assert [f for n in after for f in step(one, T0 + (n + BACK) * 1000, broken(n + BACK) if n in bad else None)] == []
    assert len(one.recent) == 2


def test_an_rnic_whose_clock_is_behind_is_not_taken_for_a_silent_one() -> None:
    one = life()
    for second in range(20):
        step(one, T0 + (second + BACK) * 1000, broken(second + BACK), fleet_ms=T0 + second * 1000)
    assert forget(one, T0 + 20_000) == []
    assert [f["state"] for f in forget(one, T0 + 19_000 + 1_800_000)] == ["cleared"]


def test_the_message_names_victims_aggressor_shares_mechanism_and_seconds() -> None:
    found = played(life(), 20, {10, 11, 12})[0]
    assert "VF 0 (a/web) and VF 1 suffer (packet rate): 3 broken seconds." in found["summary"]
    assert "VF 3 (b/bulk) takes 62% of what the RNIC can process, its fair share is 20%" in found["summary"]
    lines = {line["signal"]: line for line in found["evidence"]}
    assert lines["broken_s_per_min"]["value"] == 3.0
    assert lines["vf3_share"]["expected"] == "<= 20%"
    assert "p99 5,000 µs, promised 200 µs" in lines["vf_victims"]["text"]
    assert found["severity"] == "critical"


def test_the_limit_is_the_rate_of_the_fair_share_and_its_action_accepts_it() -> None:
    found = played(life(), 20, {10, 11, 12})[0]
    limit, cordon = found["remedies"]
    assert limit["action"] == "limit-vf-rate"
    assert limit["params"] == {"pci": "0000:3b:00.0", "vf": 3, "max_tx_mbps": round(8_100 * 0.2 / 0.62 * 0.9)}
    assert "8,100 Mbit/s x 20% / 62%, less 10%" in limit["derivations"]["max_tx_mbps"]
    assert "mostly receives" in limit["why"]
    for remedy in (limit, cordon):
        assert remedies()[remedy["action"]].problems(remedy["params"]) == {}


@pytest.mark.parametrize(
    ("taker", "value"),
    [
        (Taker(3, "", 0.9, 0.0001, 10.0, 100.0, 0.0), 10),  # the action's own minimum
        (Taker(3, "", 0.9, 0.3, 10.0, 900.0, 500.0), 500),  # what is promised to it
        (Taker(3, "", 0.2, 0.3, 10.0, 900.0, 0.0), 810),  # never raised above what it takes
    ],
)
def test_the_limit_keeps_to_what_the_action_accepts_and_what_is_promised(taker: Taker, value: int) -> None:
    limit = suggested_limit(taker, "ingress bandwidth")
    assert limit is not None
    assert limit.value == value


def test_a_victim_whose_minimum_is_not_set_on_the_rnic_is_offered_the_guarantee_after_the_limit() -> None:
    victims = (Sufferer(0, "a/web", "sends less than promised", 2_000.0, 500.0), Sufferer(1, "", "lost 3%", 1_000.0, 1_000.0))
    one = life()
    second = Broken(T0, 10.0, "ingress bandwidth", victims, (TAKER,), 1.6, 2_000_000.0)
    [found] = step(one, T0, second)
    assert [remedy["action"] for remedy in found["remedies"]] == ["limit-vf-rate", "guarantee-vf-rate", "cordon-rnic"]
    guarantee = found["remedies"][1]
    assert guarantee["params"] == {"pci": "0000:3b:00.0", "vf": 0, "min_tx_mbps": 2_000}
    assert guarantee["derivations"]["min_tx_mbps"] == "its SLO promises at least 2,000 Mbit/s, and the RNIC guarantees it only 500 Mbit/s"
    assert remedies()["guarantee-vf-rate"].problems(guarantee["params"]) == {}
    assert decode_finding(orjson.dumps(found))["symptom"] == "isolation"


@pytest.mark.parametrize(
    ("victim", "mechanism"),
    [
        (Sufferer(0, "", "", 2_000.0, 0.0), "ingress packet rate"),  # bandwidth is not what is short
        (Sufferer(0, "", "", 2_000.0, 0.0), None),
        (Sufferer(0, "", "", 2_000.0, 2_000.0), "ingress bandwidth"),  # set already
        (Sufferer(0, "", "", 2_000.0, None), "ingress bandwidth"),  # unknown what is set
        (Sufferer(0, "", "", 0.0, 0.0), "ingress bandwidth"),  # nothing is promised
        (Sufferer(0, "", "", 2_000.0, 0.0, 1_500.0), "ingress bandwidth"),  # the agent refuses it above the limit
    ],
)
def test_no_guarantee_is_offered_where_it_would_not_help(victim: Sufferer, mechanism: str | None) -> None:
    assert suggested_guarantee(victim, mechanism) is None


def test_without_a_known_aggressor_only_a_cordon_is_offered() -> None:
    one = life()
    found = [f for second in range(3) for f in step(one, T0 + second * 1000, broken(second, aggressors=()))]
    assert [remedy["action"] for remedy in found[0]["remedies"]] == ["cordon-rnic"]
    assert "could not be determined" in found[0]["summary"]


def test_a_finding_that_is_measured_no_more_is_ended_after_half_an_hour() -> None:
    one = life()
    played(one, 20, {10, 11, 12})
    assert forget(one, T0 + 1_800_000) == []
    assert [f["state"] for f in forget(one, T0 + 19_000 + 1_800_000)] == ["cleared"]


def test_a_threshold_without_its_reason_is_refused() -> None:
    raw: dict[str, Any] = {"rule": "I/1", "thresholds": {name: {"value": 1.0, "why": "x"} for name in isolation_rule().why}}
    assert parse_rule(raw).raise_s == 1.0
    raw["thresholds"]["raise_s"].pop("why")
    with pytest.raises(RegistryError, match=r"isolation\.yaml"):
        parse_rule(raw)
