"""S4, S5 and unexplained issues: positive, near miss, missing data."""

from collections.abc import Iterator
from typing import Any

import pytest

from wallwatch.domain.symptoms import host
from wallwatch.domain.symptoms.host_stage import Message
from wallwatch_testing.stories import PCI, at_ns, churn, datapath, detect, of, offload, port, second_of, without


class TestS4:
    def test_sweeps_that_last_for_their_deletions_are_s4_of_c4(self) -> None:
        # 220 deletions per second of 2 ms each, in sweeps that follow each other every half second, on top of 13,500 flows of 12 us.
        found = of(detect(churn(162 + 110 * 2.0)), "S4")
        assert found[0]["hypotheses"][0]["cause"] == "C4"
        assert second_of(found[0]) <= 120
        last = {e["signal"]: e["value"] for e in found[-1]["evidence"]}
        assert last["deletion_share"] == pytest.approx(10, rel=0.1)
        assert last["deletion_load"] == pytest.approx(0.44, rel=0.1)

    @staticmethod
    def under_way(ms_per_flow: float, deletions_per_s: float) -> Iterator[Message]:
        """A host that has been in one sweep since before its first sample: the only time per flow that anyone sees."""
        for second in range(0, 60, 10):
            yield port(second)
            yield datapath(second, {"dump_duration_ms": ms_per_flow * 6700, "flows": 6700})
            yield offload(second, {"flows_offloaded": 6700, "flow_deletions_per_s": deletions_per_s, "flows_overdue": 1100})

    def test_a_sweep_that_deletes_for_minutes_before_the_first_sample_is_no_measure_of_itself(self) -> None:
        # 7,500 deletions of 16 ms in one sweep of 6,700 flows.
        found = of(detect(self.under_way(18.0, 62.0)), "S4")
        assert second_of(found[0]) <= 20
        last = {e["signal"]: e["value"] for e in found[-1]["evidence"]}
        assert last["deletion_load"] == pytest.approx(17 / 18, rel=0.05)

    def test_a_sweep_of_up_to_a_millisecond_per_flow_may_be_that_of_a_switch_short_of_cpu(self) -> None:
        assert of(detect(self.under_way(1.0, 62.0)), "S4") == []

    def test_as_many_deletions_that_are_quick_are_not_s4(self) -> None:
        assert detect(churn(162 + 110 * 0.3)) == []

    def test_slow_deletions_that_leave_most_of_the_time_to_others_are_not_s4(self) -> None:
        # 35 per second of 2 ms take 7% of the time.
        assert of(detect(churn(162 + 17.5 * 2.0, flow_deletions_per_s=35.0)), "S4") == []

    def test_a_few_deletions_that_take_all_of_the_time_are_s4_once_stale_entries_pile_up(self) -> None:
        few = {"flow_deletions_per_s": 20.0, "flow_insertions_per_s": 20.0}
        assert of(detect(churn(162 + 1500.0, **few)), "S4") == [], "a switch without CPU time sweeps as slowly"
        assert of(detect(churn(162 + 1500.0, **few, flows_overdue=2000)), "S4")

    def test_two_rnics_share_the_time_of_the_sweeps_by_their_deletions_and_tables(self) -> None:
        def both() -> Iterator[Message]:
            for message in churn(162 + 110 * 2.0):
                yield message
                if message.measurement == "rnic_offload":
                    tags = {**message.tags, "pci": "0000:af:00.0"}
                    small = {"flows_offloaded": 400, "flow_deletions_per_s": 200.0, "flow_insertions_per_s": 200.0}
                    yield message._replace(
                        tags=tags, fields={**message.fields, **(small if "flow_deletions_per_s" in message.fields else {})}
                    )

        assert {f["pci"] for f in of(detect(both()), "S4")} == {"0000:3b:00.0"}

    def test_the_deletions_of_a_table_that_is_emptied_searched_it_while_it_was_larger(self) -> None:
        def load_of_the_other(emptied: float) -> float | None:
            known = host.new()
            for second, flows in ((0, 10_000.0), (10, emptied)):
                host.take_datapath(known, "system@ovs-system", second * 1000, {"dump_duration_ms": 100.0 + 30 * second, "flows": 5_000})
                host.note_deletions(known, "0000:af:00.0", second * 1000, 100.0, flows)
                host.note_deletions(known, PCI, second * 1000, 100.0, 10_000.0)
            return host.deletion_load(known, PCI, 10_000)

        half, emptied = load_of_the_other(10_000.0), load_of_the_other(0.0)
        assert half is not None
        assert emptied == pytest.approx(half / (1 / 2) * (10 / 15))  # 5,000 flows were searched there on average, 10,000 here

    @pytest.mark.parametrize("datapath_first", [True, False])
    def test_a_burst_that_is_over_leaves_no_deletions_that_nobody_saw(self, datapath_first: bool) -> None:
        def unseen(seen: dict[int, float], counted: dict[int, int]) -> float:
            known, total, found = host.new(), 0, 1.0
            for second in seen:
                total += counted[second] * 10

                def of_the_switch(at_ms: int = second * 1000, deleted: int = total) -> None:
                    host.take_datapath(known, "system@ovs-system", at_ms, {"dpif_flow_del": deleted, "dump_duration_ms": 9, "flows": 100})

                if datapath_first:
                    of_the_switch()
                for pci, share in ((PCI, 0.75), ("0000:af:00.0", 0.25)):
                    host.note_deletions(known, pci, second * 1000 + 100, seen[second] * share, 1000.0)
                found = host.unseen_deletions(known, second * 1000 + 100)
                if not datapath_first:
                    of_the_switch()
            return found

        burst = {10: 40, 20: 40, 30: 400, 40: 40}
        assert unseen({second: float(rate) for second, rate in burst.items()}, burst) == 1.0
        assert unseen(dict.fromkeys(burst, 40.0), dict.fromkeys(burst, 100)) == 2.5

    @pytest.mark.parametrize(("inserted_per_s", "factor"), [(100, 2.5), (60, 1.5), (40, 1.0), (10, 1.0), (None, 2.5)])
    def test_no_more_deletions_are_unseen_than_insertions_are(self, inserted_per_s: int | None, factor: float) -> None:
        # The switch deletes 100 flows a second, 40 of them on RNICs: the others came back unseen, or only software had them.
        known, found = host.new(), 1.0
        for second in (10, 20, 30, 40):
            fields = {"dpif_flow_del": 100 * second, "dump_duration_ms": 9, "flows": 100}
            host.take_datapath(
                known,
                "system@ovs-system",
                second * 1000,
                fields if inserted_per_s is None else {**fields, "dpif_flow_put": inserted_per_s * second},
            )
            for pci in (PCI, "0000:af:00.0"):
                host.note_deletions(known, pci, second * 1000, 20.0, 1000.0, 20.0)
            found = host.unseen_deletions(known, second * 1000)
        assert found == factor

    def test_one_long_sweep_among_short_ones_is_not_s4(self) -> None:
        def once() -> Iterator[Message]:
            for message in churn(162 + 110 * 0.3):
                long = message.measurement == "ovs_datapath" and message.at_ns == at_ns(150)
                yield message._replace(fields={**message.fields, "dump_duration_ms": 600.0}) if long else message

        assert of(detect(once()), "S4") == []

    def test_sweeps_that_were_looked_at_between_two_samples_count_and_not_the_last_one_alone(self) -> None:
        def found_for(mean: float, last: float) -> list[dict[str, Any]]:
            looks = {"dump_duration_mean_ms": mean, "dump_duration_max_ms": max(mean, last), "dump_duration_ms": last}
            messages = (
                m._replace(fields={**m.fields, **looks}) if m.measurement == "ovs_datapath" and m.at_ns >= at_ns(100) else m
                for m in churn(0)
            )
            return of(detect(messages), "S4")

        assert found_for(mean=162 + 110 * 2.0, last=162)
        assert found_for(mean=162 + 110 * 0.3, last=162 + 110 * 2.0) == []

    def test_the_end_of_a_job_is_not_s4(self) -> None:
        assert detect(churn(162 + 110 * 2.0, flows_offloaded=1500)) == []

    def test_without_the_time_of_sweeps_it_is_neither_raised_nor_cleared(self) -> None:
        blind = [m._replace(fields=without(m.fields, "dump_duration_ms")) if m.measurement == "ovs_datapath" else m for m in churn(400)]
        assert detect(blind) == []

    def test_an_rnic_that_has_always_been_slow_is_measured_by_itself(self) -> None:
        def slow() -> Iterator[Message]:
            for second in range(0, 100, 10):
                yield datapath(second, {"dump_duration_ms": 36.0, "flows": 3000})
                yield offload(second)
            for second in range(100, 200, 10):  # 1 ms each in a small table
                yield datapath(second, {"dump_duration_ms": 36 + 110 * 1.0, "flows": 3000})
                yield offload(second, {"flow_deletions_per_s": 220.0, "flow_insertions_per_s": 220.0})
            yield from (m for m in churn(162 + 110 * 2.0, range(200, 300, 10)) if m.at_ns >= at_ns(200))

        assert of(detect(slow()), "S4") == []


class TestS5:
    def story(self, at_most: int = 200, **fields: Any) -> Iterator[Message]:
        for second in range(0, at_most, 10):
            yield offload(second, fields if second >= 60 else {})

    def test_packets_of_offloaded_flows_in_software_are_s5_of_c5(self) -> None:
        found = of(detect(self.story(software_packets_per_s=5000.0, counter_gap_p95_s=35.0)), "S5")
        assert second_of(found[0]) == 60
        assert found[0]["hypotheses"][0]["cause"] == "C5"
        assert "5000 packets/s" in found[-1]["summary"]

    def test_a_few_packets_that_are_on_their_way_are_not_s5(self) -> None:
        assert detect(self.story(software_packets_per_s=150.0)) == []

    def test_flows_that_only_software_has_are_not_s5(self) -> None:
        assert detect(self.story(flows_software=9000, flows_tc_software=9000)) == []

    def test_flows_of_a_port_that_comes_back_are_not_s5_but_those_of_one_that_is_back_for_long_are(self) -> None:
        def port_until(up: int) -> list[Message]:
            states = [port(second, {"port_state": "ACTIVE" if second >= up else "DOWN"}) for second in range(0, 200, 10)]
            return sorted([*states, *self.story(software_packets_per_s=5000.0)], key=lambda message: message.at_ns)

        assert of(detect(port_until(190)), "S5") == []
        assert second_of(of(detect(port_until(60)), "S5")[0]) == 110

    def test_it_comes_and_goes_in_one_finding(self) -> None:
        def intermittent() -> Iterator[Message]:
            for second in range(0, 300, 10):
                yield offload(second, {"software_packets_per_s": 5000.0 if second % 30 == 0 else 0.0})

        assert len({f["finding_id"] for f in of(detect(intermittent()), "S5")}) == 1

    def test_a_missing_counter_of_software_neither_raises_nor_clears(self) -> None:
        sick = list(self.story(software_packets_per_s=5000.0))
        blind = [m._replace(fields=without(m.fields, "software_packets_per_s")) for m in self.story(600) if m.at_ns > sick[-1].at_ns]
        assert {f["state"] for f in of(detect([*sick, *blind]), "S5")} == {"active"}


class TestUnexplained:
    def story(self, gbps: float, trouble: int, **fields: Any) -> Iterator[Message]:
        for second in range(0, 600, 10):
            bad = second >= 400
            losses = {"out_of_sequence": max(second - 390, 0) * trouble, **(fields if bad else {})}
            yield port(second, losses, gbps=gbps if bad else 8.0)
            yield offload(second, {"flows_offloaded": 3000})

    def test_losses_and_little_traffic_of_the_same_flows_are_an_unexplained_issue(self) -> None:
        found = of(detect(self.story(1.0, 500)), "unexplained")
        assert found[0]["remedies"][0]["action"] == "cordon-rnic"
        assert found[0]["hypotheses"] == []
        assert "no known symptom" in found[0]["explanation"]
        [trouble] = [each for each in found[0]["evidence"] if each["signal"] == "trouble_per_s"]
        assert trouble["text"].endswith(" Moved: Packets out of sequence (out_of_sequence) 100%.")

    def test_a_job_that_pauses_is_none(self) -> None:
        assert detect(self.story(0.5, 0)) == []

    def test_losses_at_full_speed_are_none(self) -> None:
        assert detect(self.story(8.0, 500)) == []

    def test_what_a_known_symptom_explains_is_none(self) -> None:
        def explained() -> Iterator[Message]:
            for message in self.story(1.0, 500):
                sick = {"software_packets_per_s": 9000.0} if message.measurement == "rnic_offload" else {}
                yield message._replace(fields={**message.fields, **sick})

        assert {f["symptom"] for f in detect(explained())} == {"S5"}

    def test_a_port_that_was_disabled_on_purpose_is_none(self) -> None:
        assert detect(self.story(0.0, 500, admin_state="down", port_state="DOWN")) == []


def test_every_signal_has_one_line_of_evidence_in_every_finding_and_one_kind_of_bound() -> None:
    def everything() -> Iterator[Message]:
        for second in range(0, 200, 5):
            sick = {"software_packets_per_s": 5000.0, "counter_gap_p95_s": 35.0, "q_egress": 30.0, "q_ingress": 30.0}
            yield offload(second, sick if second >= 60 else {})

    found = detect(everything())
    assert {one["symptom"] for one in found} >= {"S5"}
    for one in found:
        signals = [each["signal"] for each in one["evidence"]]
        assert sorted(set(signals)) == sorted(signals)
        assert all(each["expected"] and "test" not in each for each in one["evidence"])
        for cause in one["hypotheses"]:
            measured = [each for each in (*cause["evidence_for"], *cause["evidence_against"]) if each["signal"] != "policy_violations"]
            assert all(each["expected"] is None and each["test"] for each in measured)
