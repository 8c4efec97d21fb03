"""S1 and S6 on made-up sample sequences: positive, near miss, missing data; hysteresis, order, replay."""

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.symptoms.finding_messages import finding_id
from wallwatch.domain.symptoms.host_stage import HOST, Message, step
from wallwatch_testing.stage_states import plain, read_again
from wallwatch_testing.stories import CX6, OFFLOAD, PCI, at_ns, datapath, detect, of, port, second_of, without
from wallwatch_testing.stories import HOST as NAME

HEALTHY = dict(OFFLOAD)
S1 = {
    **HEALTHY,
    "flows_offloaded": 7300,
    "flow_insertions_per_s": 40.0,
    "reoffloads_per_s": 36.0,
    "reoffload_ratio": 0.9,
    "stale_reoffload_share": 0.9,
    "counter_gap_p95_s": 11.0,
    "flows_overdue": 900,
}
S6 = {**HEALTHY, "q_egress": 35.0, "q_ingress": 2.0}
Fields = dict[str, Any]
Script = Callable[[int], Fields | None]


def sample(second: float, fields: Fields) -> Message:
    return Message("rnic_offload", {"host": NAME, "pci": PCI, "rack": "r1"}, at_ns(second), fields)


def messages(script: Script, seconds: int, every: int, model: str | None, misses: float | None) -> Iterator[Message]:
    yield port(-1, tags=CX6 if model else {})
    for second in range(0, seconds, every):
        if misses is not None:
            yield datapath(second, {"lookups_missed": int(second * misses)})
        fields = script(second)
        if fields is not None:
            yield sample(second, fields)


def play(script: Script, seconds: int, every: int = 1, model: str | None = "CX-6", misses: float | None = None) -> list[dict[str, Any]]:
    """Findings of one RNIC whose sample at each second is what the script says; None sends no sample."""
    return detect(messages(script, seconds, every, model, misses))


def switch(before: Fields, after: Fields, at: int) -> Script:
    return lambda second: before if second < at else after


seconds_of = second_of


class TestS1:
    def test_flows_that_come_back_while_the_population_is_steady_are_s1(self) -> None:
        first = of(play(lambda _: S1, 90), "S1")[0]
        assert first["state"] == "active"
        assert first["severity"] == "critical"
        assert first["blast_radius"] == "flows"
        assert first["remedies"][0] == {
            "action": "tune-revalidator",
            "params": {"max_idle_ms": 60_000},
            "why": first["remedies"][0]["why"],
            "derivations": {"max_idle_ms": "at least 60,000 ms, six times the default"},
        }
        assert {e["signal"] for e in first["evidence"]} >= {"reoffload_ratio", "reoffloads_per_s", "population_drop", "flows_wall_share"}

    @pytest.mark.parametrize(
        ("firmware", "sentence"),
        [
            ("20.41.999", "An upgrade removes this cause; installed: firmware 20.41.999 (fixed from 20.41.1000 on)."),
            ("20.41.1000", "The installed firmware 20.41.1000 (fixed from 20.41.1000 on) should not have this cause, so verify it."),
        ],
    )
    def test_its_explanation_says_what_an_upgrade_would_change(self, firmware: str, sentence: str) -> None:
        samples = (sample(second, S1) for second in range(20))
        found = of(detect([port(-1, tags={**CX6, "fw_ver": firmware}), *samples]), "S1")
        assert sentence in found[0]["explanation"]

    def test_it_is_found_at_a_sampling_interval_of_10_s_too(self) -> None:
        assert of(play(lambda _: S1, 120, every=10), "S1")

    def test_legitimate_churn_of_new_flows_is_not_s1(self) -> None:
        churn = {
            **HEALTHY,
            "flows_offloaded": 7300,
            "flow_insertions_per_s": 400.0,
            "flow_deletions_per_s": 398.0,
            "reoffload_ratio": 0.01,
            "reoffloads_per_s": 4.0,
        }
        assert play(lambda _: churn, 120) == []

    @pytest.mark.parametrize(
        ("fields", "is_s1"),
        [
            ({"flows": 7_800, "flow_limit": 7_500}, False),
            ({"flows": 7_200, "flow_limit": 7_500}, True),
            ({"flows": 7_200}, True),
        ],
    )
    def test_a_switch_above_its_flow_limit_deletes_flows_itself_which_is_not_s1(self, fields: dict[str, int], is_s1: bool) -> None:
        messages = (message for second in range(90) for message in (datapath(second, fields), sample(second, S1)))
        assert bool(of(detect(messages), "S1")) == is_s1

    def test_upcalls_that_the_flow_limit_refused_explain_returns_for_a_minute(self) -> None:
        def refused(second: int) -> dict[str, int]:
            return {"upcall_flow_limit_hit": 5 if second < 20 else 6}

        messages = (
            message
            for second in range(120)
            for message in (datapath(second, refused(second)), sample(second, S1 if second >= 20 else HEALTHY))
        )
        assert second_of(of(detect(messages), "S1")[0]) == pytest.approx(80, abs=5)

    def test_one_flow_that_came_back_once_is_not_s1(self) -> None:
        lonely = {**HEALTHY, "flow_insertions_per_s": 0.05, "reoffloads_per_s": 0.05, "reoffload_ratio": 1.0}
        assert play(lambda _: lonely, 120) == []

    def test_flows_that_come_back_while_others_join_them_are_s1_at_once(self) -> None:
        def growing(second: int) -> Fields:
            return {**(HEALTHY if second < 60 else S1), "flows_offloaded": min(3000 + 100 * max(second - 55, 0), 9000)}

        assert 60 < seconds_of(of(play(growing, 200, every=10), "S1")[0]) <= 80

    def test_a_table_that_was_emptied_at_once_and_fills_again_is_not_s1(self) -> None:
        def emptied(second: int) -> Fields:
            flows = 8000 if second < 60 else min(200 + 400 * (second - 60), 8000)
            return {**(S1 if 60 <= second < 85 else HEALTHY), "flows_offloaded": flows}

        assert of(play(emptied, 200), "S1") == []

    def test_flows_that_rest_for_about_max_idle_are_not_s1(self) -> None:
        # The collector knows flows at rest by how soon they return.
        resting = {**S1, "reoffload_ratio": 0.05, "flow_deletions_per_s": 40.0, "counter_gap_p95_s": 7.6, "flows_overdue": 0}
        assert of(play(lambda _: resting, 200, every=10), "S1") == []

    def test_flows_of_a_small_table_that_leave_while_counters_are_in_time_are_s1(self) -> None:
        lost = {**S1, "flows_offloaded": 700, "counter_gap_p95_s": 1.0, "stale_reoffload_share": 0.0, "flows_overdue": 0}
        assert of(play(lambda _: lost, 200, every=10), "S1")

    def test_a_missing_ratio_never_raises(self) -> None:
        assert of(play(lambda _: without(S1, "reoffload_ratio"), 120), "S1") == []

    def test_samples_that_stop_measuring_neither_clear_nor_repeat_as_healthy(self) -> None:
        blind = without(S1, "reoffload_ratio", "reoffloads_per_s")
        found = of(play(switch(S1, blind, 80), 400), "S1")
        assert {f["state"] for f in found} == {"active"}
        assert seconds_of(found[-1]) > 350

    def test_it_clears_when_the_flows_stay(self) -> None:
        found = of(play(switch(S1, HEALTHY, 80), 200), "S1")
        assert [f["state"] for f in found][-1] == "cleared"
        assert found[-1]["remedies"] == []
        assert 95 <= seconds_of(found[-1]) <= 130

    def test_it_clears_when_nothing_is_inserted_any_more_and_the_ratio_has_no_value(self) -> None:
        quiet = {**without(HEALTHY, "reoffload_ratio"), "flow_insertions_per_s": 0.0, "reoffloads_per_s": 0.0}
        assert of(play(switch(S1, quiet, 80), 200), "S1")[-1]["state"] == "cleared"

    def test_a_dip_shorter_than_the_hysteresis_does_not_clear(self) -> None:
        def dip(second: int) -> Fields:
            return HEALTHY if 80 <= second < 98 else S1

        assert {f["state"] for f in of(play(dip, 200), "S1")} == {"active"}

    def test_a_silence_longer_than_the_window_does_not_count_as_time_of_health(self) -> None:
        def silent(second: int) -> Fields | None:
            return S1 if second < 80 else None if second < 300 else HEALTHY

        found = of(play(silent, 400), "S1")
        assert found[-1]["state"] == "cleared"
        assert seconds_of(found[-1]) >= 318

    def test_an_unknown_model_is_measured_by_a_generic_profile_and_the_finding_says_so(self) -> None:
        found = of(play(lambda _: S1, 90, model=None), "S1")
        assert found[0]["model"] == ""
        assert "not in the catalogue" in found[0]["explanation"]
        assert "not in the catalogue" not in of(play(lambda _: S1, 90), "S1")[0]["explanation"]

    def test_someone_who_raises_max_idle_does_not_change_what_the_cause_was(self) -> None:
        # The counters are as late as before, but now they move well within the idle time: by itself, that would contradict C5.
        acted = {**S1, "max_idle_ms": 60_000, "reoffload_ratio": 0.5, "reoffloads_per_s": 5.0}
        found = of(play(switch(S1, acted, 60), 120), "S1")
        assert [f["hypotheses"][0]["cause"] for f in found] == ["C5"] * len(found)
        assert found[-1]["hypotheses"][0]["posterior"] == found[0]["hypotheses"][0]["posterior"]

    def test_counters_that_move_in_time_support_c1(self) -> None:
        in_time = {**S1, "stale_reoffload_share": 0.02, "flows_overdue": 0}
        assert of(play(lambda _: in_time, 60), "S1")[0]["hypotheses"][0]["cause"] == "C1"

    def test_signals_that_are_not_measured_any_more_make_the_finding_stale(self) -> None:
        blind = without(S1, "reoffload_ratio", "reoffloads_per_s")
        found = of(play(switch(S1, blind, 80), 200), "S1")
        assert "stale" in found[-1]["summary"]
        assert "stale" not in found[0]["summary"]
        assert found[-1]["hypotheses"][0]["cause"] == "C5"

    def test_an_active_finding_repeats_every_15_s_with_one_id(self) -> None:
        found = of(play(lambda _: S1, 150), "S1")
        times = [seconds_of(f) for f in found]
        assert {b - a for a, b in pairwise(times)} == {15}
        assert {f["finding_id"] for f in found} == {str(finding_id("host01", "0000:3b:00.0", "S1", found[0]["started_at"]))}

    def test_datapath_misses_are_evidence_where_they_are_known(self) -> None:
        assert "datapath_misses_per_s" in {e["signal"] for e in of(play(lambda _: S1, 90, misses=40.0), "S1")[0]["evidence"]}
        assert "datapath_misses_per_s" not in {e["signal"] for e in of(play(lambda _: S1, 90), "S1")[0]["evidence"]}

    def test_a_quarter_of_the_insertions_coming_back_is_enough_as_flows_swing_around_their_mean(self) -> None:
        def swinging(second: int) -> Fields:
            return {**S1, "reoffload_ratio": 0.15 + 0.1 * (second % 20 < 10), "flows_offloaded": 4000 + 400 * (second % 12)}

        assert of(play(swinging, 120), "S1")

    def test_a_finding_that_was_critical_stays_critical_to_its_end(self) -> None:
        milder = {**S1, "flows_offloaded": 5000, "reoffload_ratio": 0.15}
        found = of(play(lambda s: S1 if s < 60 else milder if s < 120 else HEALTHY, 240), "S1")
        assert found[-1]["state"] == "cleared"
        assert {f["severity"] for f in found} == {"critical"}

    def test_a_finding_becomes_critical_when_it_gets_worse(self) -> None:
        milder = {**S1, "flows_offloaded": 5000, "reoffload_ratio": 0.15}
        severities = [f["severity"] for f in of(play(switch(milder, S1, 90), 200), "S1")]
        assert severities[0] == "warning"
        assert severities[-1] == "critical"


class TestS6:
    def test_deep_traffic_with_a_clean_offload_state_is_s6(self) -> None:
        first = of(play(lambda _: S6, 90), "S6")[0]
        assert first["severity"] == "warning"
        assert next(e["value"] for e in first["evidence"] if e["signal"] == "bandwidth_share") == pytest.approx(0.49, abs=0.01)
        assert "49%" in first["summary"]

    def test_very_deep_traffic_is_critical(self) -> None:
        assert of(play(lambda _: {**S6, "q_egress": 70.0}, 90), "S6")[0]["severity"] == "critical"

    def test_many_masks_with_little_traffic_behind_them_are_not_s6(self) -> None:
        assert play(lambda _: {**HEALTHY, "masks_egress": 200, "q_egress": 2.0}, 120) == []

    def test_a_port_that_is_as_full_as_the_lookups_allow_is_s6(self) -> None:
        def full(gbps: float) -> list[dict[str, Any]]:
            deep = {**HEALTHY, "q_egress": 25.0, "q_ingress": 1.0}  # predicted: 99 of 158 Gbit/s, at 1.4 times the latency
            samples = (m for s in range(0, 120, 10) for m in (port(s, gbps=gbps), sample(s, deep)))
            return of(detect(samples), "S6")

        assert full(95.0)
        assert full(30.0) == []

    def test_a_port_that_carries_little_more_than_two_long_chains_leave_is_s6_only_while_its_senders_wait(self) -> None:
        def carries(waits: int) -> list[dict[str, Any]]:
            both = {
                **HEALTHY,
                "q_egress": 17.0,
                "q_ingress": 17.0,
            }  # predicted: half of the bandwidth, if the other ends are as deep
            ports = (port(s, {"port_xmit_wait": waits * s, "np_cnp_sent": 7}, gbps=78.0) for s in range(0, 120, 10))
            return of(detect(m for one, s in zip(ports, range(0, 120, 10), strict=True) for m in (one, sample(s, both))), "S6")

        assert carries(1000)
        assert carries(0) == []

    def test_a_port_that_carries_what_its_own_chain_leaves_is_s6_though_nobody_waits(self) -> None:
        def silent(gbps: float) -> list[dict[str, Any]]:
            deep = {**HEALTHY, "q_egress": 25.0, "q_ingress": 1.0}  # its own egress chain leaves 102 of 158 Gbit/s, whatever the peers do
            ports = (port(s, {"port_xmit_wait": 5, "np_cnp_sent": 7}, gbps=gbps) for s in range(0, 120, 10))
            return of(detect(m for one, s in zip(ports, range(0, 120, 10), strict=True) for m in (one, sample(s, deep))), "S6")

        assert silent(88.0)
        assert silent(85.0) == []

    def test_a_port_with_no_sign_of_waiting_is_normal_at_all_that_two_long_chains_would_leave(self) -> None:
        """Decision 0012: at 98 % of it, since nothing shows that the other ends' chains are long."""
        both = {**HEALTHY, "q_egress": 17.0, "q_ingress": 17.0}
        ports = (port(s, {"port_xmit_wait": 5, "np_cnp_sent": 7}, gbps=0.98 * 80.1) for s in range(0, 120, 10))
        assert of(detect(m for one, s in zip(ports, range(0, 120, 10), strict=True) for m in (one, sample(s, both))), "S6") == []

    def test_flows_that_rest_for_longer_than_max_idle_are_no_s1(self) -> None:
        resting = {**S1, "flows_offloaded": 800, "flow_deletions_per_s": 40.0, "reoffload_ratio": 0.0, "flows_overdue": 0}
        assert play(lambda _: resting, 120, every=10) == []

    def test_deep_masks_without_traffic_are_not_s6(self) -> None:
        assert play(lambda _: {**S6, "packets_per_s": 3.0}, 120) == []

    def test_slow_flows_while_flows_are_re_offloaded_are_s1_and_not_s6(self) -> None:
        assert {f["symptom"] for f in play(lambda _: {**S1, "q_egress": 35.0, "q_ingress": 2.0}, 120)} == {"S1"}

    def test_packets_in_software_distinguish_it_from_s5(self) -> None:
        assert {f["symptom"] for f in play(lambda _: {**S6, "software_packets_per_s": 2e4}, 120)} == {"S5"}

    def test_an_unknown_model_is_predicted_by_a_typical_one(self) -> None:
        assert "not in the catalogue" in of(play(lambda _: S6, 120, model=None), "S6")[0]["explanation"]

    @pytest.mark.parametrize("name", ["q_egress", "q_ingress", "software_packets_per_s", "reoffload_ratio"])
    def test_a_missing_signal_never_raises(self, name: str) -> None:
        assert of(play(lambda _: without(S6, name), 120), "S6") == []

    def test_it_stays_while_q_cannot_be_measured(self) -> None:
        found = of(play(switch(S6, without(S6, "q_egress"), 80), 300), "S6")
        assert {f["state"] for f in found} == {"active"}

    def test_it_clears_when_the_chain_is_short_again(self) -> None:
        assert of(play(switch(S6, HEALTHY, 80), 240), "S6")[-1]["state"] == "cleared"

    def test_between_the_thresholds_it_stays_what_it_was(self) -> None:
        between = {**HEALTHY, "q_egress": 22.0, "q_ingress": 1.0}  # predicted latency 1.38 times the head's
        assert of(play(lambda _: between, 120), "S6") == []
        assert {f["state"] for f in of(play(switch(S6, between, 80), 240), "S6")} == {"active"}


def test_a_healthy_rnic_has_no_findings() -> None:
    assert play(lambda _: HEALTHY, 300) == []


def test_an_empty_sample_is_survived() -> None:
    assert play(lambda _: {}, 60) == []


def test_the_same_samples_give_the_same_findings_byte_for_byte() -> None:
    def story(second: int) -> Fields:
        return S1 if second < 90 else HEALTHY if second < 180 else S6

    first, second = (json.dumps(play(story, 300, misses=3.0)) for _ in range(2))
    assert first == second
    assert '"cleared"' in first


def test_state_that_went_through_messagepack_goes_on_as_if_it_had_not() -> None:
    state: Any = None
    kept: Any = None
    for second in range(120):
        state, a = step(state, sample(second, S1))
        again = None if kept is None else read_again(msgspec.msgpack.decode(msgspec.msgpack.encode(plain(kept))))
        kept, b = step(again, sample(second, S1))
        assert a == b


def test_a_sample_older_than_the_window_is_counted_and_changes_nothing() -> None:
    state, _ = step(None, sample(100, HEALTHY))
    before = plain(state)[PCI]["fine"]
    state, findings = step(state, sample(30, S1))
    assert (state[HOST]["late"], findings) == (1, [])
    assert plain(state)[PCI]["fine"] == before


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_samples_that_come_a_few_seconds_out_of_order_give_the_same_verdicts(random: Any) -> None:
    order = sorted(range(120), key=lambda s: s + random.uniform(0, 4))
    found = detect(sample(second, S1 if second < 70 else HEALTHY) for second in order)
    assert {f["symptom"] for f in found} == {"S1"}
    assert found[-1]["state"] == "cleared"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.booleans(), min_size=120, max_size=120))
def test_samples_that_come_twice_change_nothing(twice: list[bool]) -> None:
    once = [sample(second, S1 if second < 70 else HEALTHY) for second in range(120)]
    repeated = [message for message, again in zip(once, twice, strict=True) for message in [message] * (1 + again)]
    assert detect(repeated) == detect(once)
