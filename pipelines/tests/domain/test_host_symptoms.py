"""S2, S3, S7 and S8 from a host's events and samples: positive, near miss, missing data."""

from collections.abc import Iterator

import pytest

from wallwatch.domain.symptoms.host_stage import Message
from wallwatch_testing.stories import PCI, at_ns, datapath, detect, event, healthy, of, offload, port, second_of

STACK = {"driver": "mlx5_core", "function": "cmd_exec"}
TIMEOUT = {"command": "SET_FLOW_TABLE_ENTRY", "pattern": "mlx5-command-timeout"}


def stalled(at: int = 100, pause: int = 45) -> Iterator[Message]:
    """A burst of insertions, a command that times out, a lockup, and no samples meanwhile."""
    yield from healthy(range(0, at - 10, 10))
    yield from (port(at - 10), offload(at - 10, {"flow_insertions_per_s": 1100.0}), datapath(at - 10))
    yield event(at, "command_timeout", **TIMEOUT)
    yield event(at + 26, "soft_lockup", pci="", **STACK)
    yield from healthy(range(at + pause, at + pause + 200, 10))


class TestS2:
    def test_a_lockup_in_the_driver_after_a_time_out_is_s2_of_c2(self) -> None:
        found = of(detect(stalled()), "S2")
        first = found[0]
        assert (first["pci"], first["blast_radius"], first["severity"]) == (PCI, "host", "critical")
        assert second_of(first, "started_at") == 100
        assert first["hypotheses"][0]["cause"] == "C2"
        assert found[-1]["state"] == "cleared"
        assert len({f["finding_id"] for f in found}) == 1

    def test_time_outs_that_the_driver_handles_are_not_s2(self) -> None:
        def story() -> Iterator[Message]:
            for second in range(0, 300, 10):
                yield from healthy([second])
                if 100 <= second < 140:
                    yield event(second + 1, "command_timeout", **TIMEOUT)

        assert of(detect(story()), "S2") == []

    def test_a_lockup_elsewhere_in_the_kernel_is_not_s2(self) -> None:
        story = [*healthy(range(0, 100, 10)), event(100, "soft_lockup", pci=""), *healthy(range(110, 200, 10))]
        assert of(detect(story), "S2") == []

    def test_a_standstill_after_time_outs_is_s2_although_the_log_of_the_lockup_is_lost(self) -> None:
        story = [m for m in stalled() if m.tags.get("kind") != "soft_lockup"]
        assert of(detect(story), "S2")[0]["hypotheses"][0]["cause"] == "C2"

    def test_a_pause_of_the_collector_alone_is_not_s2(self) -> None:
        assert detect([*healthy(range(0, 100, 10)), *healthy(range(160, 300, 10))]) == []

    def test_a_boot_pauses_the_samples_and_is_not_s2(self) -> None:
        before, after = healthy(range(0, 100, 10)), healthy(range(160, 300, 10))
        story = [*before, event(95, "command_timeout", **TIMEOUT), event(150, "host_booted", pci="", shutdown="orderly"), *after]
        assert of(detect(story), "S2") == []

    def test_with_a_full_encapsulation_buffer_the_cause_is_c8(self) -> None:
        def story() -> Iterator[Message]:
            for message in stalled():
                if message.measurement == "rnic_offload" and message.fields["flow_insertions_per_s"] > 1000:
                    yield offload(90, {"encap_contexts": 9999, "flow_insertions_per_s": 800.0})
                    yield event(96, "device_health", pattern="mlx5-health-miss")
                else:
                    yield message

        found = detect(story())
        assert of(found, "S2")[0]["hypotheses"][0]["cause"] == "C8"
        assert of(found, "S8")[0]["hypotheses"][0]["cause"] == "C8"


OTHER = "0000:af:00.0"
"""A second RNIC, an earlier model."""
CX5 = {"pci_id": "15b3:1017", "driver": "mlx5_core", "fw_ver": "16.35.1012"}


class TestS2OfAHostWithSeveralRnics:
    def story(self, *events: Message) -> list[Message]:
        """A lockup that names no RNIC, at 126, after a burst of insertions on one of two RNICs."""
        story = []
        for second in [*range(0, 101, 10), *range(150, 500, 10)]:
            insertions = {"flow_insertions_per_s": 1100.0} if second == 100 else {}
            story += [port(second), offload(second), datapath(second)]
            story += [port(second, pci=OTHER, tags=CX5), offload(second, insertions, pci=OTHER)]
        story += [event(126, "soft_lockup", pci="", **STACK), *events]
        return sorted(story, key=lambda m: m.at_ns)

    def test_the_first_time_out_that_names_an_rnic_gives_the_finding_its_address_model_and_evidence(self) -> None:
        found = of(detect(self.story(event(160, "command_timeout", pci=OTHER, **TIMEOUT))), "S2")
        nameless, named = found[0], next(f for f in found if f["pci"])
        assert (nameless["pci"], nameless["model"]) == ("", "")
        assert (named["pci"], named["model"], named["fw_ver"], second_of(named)) == (OTHER, "CX-5", "16.35.1012", 160)
        assert {r["params"]["pci"] for r in named["remedies"]} == {OTHER}
        assert next(e["value"] for e in named["evidence"] if e["signal"] == "insertions_wall_share") == 1.1
        assert "insertions_wall_share" in {e["signal"] for e in named["hypotheses"][0]["evidence_for"]}
        assert [f["pci"] for f in found if f["at"] >= named["at"]] == [OTHER] * len([f for f in found if f["at"] >= named["at"]])

    def test_it_stays_one_finding_which_ends_once(self) -> None:
        found = of(detect(self.story(event(160, "command_timeout", pci=OTHER, **TIMEOUT))), "S2")
        assert len({f["finding_id"] for f in found}) == 1
        assert [f["state"] for f in found].count("cleared") == 1
        assert (found[-1]["state"], found[-1]["pci"]) == ("cleared", OTHER)

    def test_a_finding_that_names_an_rnic_keeps_it(self) -> None:
        late = [event(160 + n, "command_timeout", pci=PCI, **TIMEOUT) for n in range(5)]
        found = of(detect(self.story(event(120, "command_timeout", pci=OTHER, **TIMEOUT), *late)), "S2")
        assert {f["pci"] for f in found} == {OTHER}

    def test_without_a_name_it_stays_a_finding_of_the_host(self) -> None:
        assert {f["pci"] for f in of(detect(self.story()), "S2")} == {""}


OOPS = {"driver": "mlx5_core", "operation": "flow_creation", "origin": "pstore"}


class TestS3:
    def crash(self, shutdown: str = "none", **oops: str) -> list[Message]:
        story = [*healthy(range(0, 100, 10)), event(105, "host_booted", pci="", shutdown=shutdown)]
        if oops:
            story.append(event(98, "kernel_oops", pci="", **oops))  # as of the crash, reported after the boot
        return [*story, *healthy(range(140, 500, 10))]

    def test_a_crash_while_a_flow_was_created_is_s3_of_c3_and_ends(self) -> None:
        found = of(detect(self.crash(**OOPS)), "S3")
        assert (found[0]["hypotheses"][0]["cause"], found[0]["blast_radius"], found[0]["pci"]) == ("C3", "host", "")
        assert second_of(found[0], "started_at") == 98
        assert found[-1]["state"] == "cleared"

    def test_refused_entries_before_a_boot_without_a_shutdown_are_s3_and_name_the_rnic(self) -> None:
        story = self.crash()
        story.insert(30, event(97, "command_failed", command="SET_FLOW_TABLE_ENTRY"))
        found = of(detect(story), "S3")
        assert found[0]["pci"] == PCI
        assert found[0]["model"] == "CX-6"

    def test_an_operators_reboot_is_not_s3(self) -> None:
        story = self.crash("orderly")
        story.insert(30, event(97, "command_failed", command="SET_FLOW_TABLE_ENTRY"))
        story.insert(31, event(98, "host_shutdown", pci=""))
        assert of(detect(story), "S3") == []

    def test_a_crash_elsewhere_in_the_kernel_is_not_s3(self) -> None:
        assert of(detect(self.crash(driver="nvme")), "S3") == []

    def test_refused_entries_that_the_driver_reports_are_not_s3(self) -> None:
        story = [*healthy(range(0, 100, 10)), event(97, "command_failed", command="SET_FLOW_TABLE_ENTRY"), *healthy(range(100, 300, 10))]
        assert detect(story) == []


class TestS7:
    def lost(self, unbinds: int, degraded: bool = True) -> list[Message]:
        narrow = {"pci_link_width": 8, "pci_link_speed_gts": 8.0} if degraded else {}
        story = list(healthy(range(0, 100, 10)))
        story += [event(95 + i / 10, "cni_del", device=f"0000:3b:00.{i + 2}") for i in range(unbinds)]
        story += [event(98, "pcie_link_down")]
        return [*story, *(m for s in range(110, 400, 10) for m in (port(s, narrow), offload(s), datapath(s)))]

    def test_a_link_that_is_lost_after_unbinds_is_s7_of_c7_and_stays_while_it_is_narrow(self) -> None:
        found = of(detect(self.lost(5)), "S7")
        assert (found[0]["hypotheses"][0]["cause"], found[0]["blast_radius"]) == ("C7", "host")
        assert second_of(found[0]) == 98
        assert {f["state"] for f in found} == {"active"}
        assert "25% of its bandwidth" in found[-1]["summary"]

    def test_it_ends_when_the_link_is_whole_again(self) -> None:
        assert of(detect(self.lost(5, degraded=False)), "S7")[-1]["state"] == "cleared"

    def test_a_link_that_is_not_read_any_more_is_not_healthy(self) -> None:
        story = [*self.lost(5)[:45], *(offload(s) for s in range(200, 600, 10))]
        blind = [port(s, {"pci_link_width": None, "pci_link_speed_gts": None}) for s in range(200, 600, 10)]
        assert {f["state"] for f in of(detect([*story, *blind]), "S7")} == {"active"}

    def test_virtual_functions_that_are_released_without_harm_are_not_s7(self) -> None:
        story = [m for m in self.lost(14, degraded=False) if m.tags.get("kind") != "pcie_link_down"]
        assert detect(story) == []

    def test_a_link_that_the_kernel_sees_go_seconds_after_a_boot_is_s7_and_one_that_is_only_narrow_is_not(self) -> None:
        booted = [*healthy(range(0, 90, 10)), event(91, "host_booted", pci="", shutdown="orderly")]
        lost = [m for m in self.lost(5) if m.at_ns > booted[-1].at_ns]
        assert second_of(of(detect([*booted, *lost]), "S7")[0]) == 98
        narrow = [m for m in lost if m.tags.get("kind") != "pcie_link_down" and m.at_ns < at_ns(150)]
        assert of(detect([*booted, *narrow]), "S7") == []

    def test_a_link_that_is_lost_without_an_unbind_is_not_s7(self) -> None:
        assert of(detect(self.lost(0)), "S7") == []

    def test_a_card_that_has_always_been_in_a_narrow_slot_is_not_s7(self) -> None:
        narrow = {"pci_link_width": 8, "pci_max_link_width": 16}
        story = [m for s in range(0, 300, 10) for m in (port(s, narrow), event(s + 1, "cni_del"))]
        assert detect(story) == []


TAKEN = "12 virtual functions vanished: " + ", ".join(f"{n} (0000:3b:00.{n + 2:x} mlx5_core)" for n in range(12)) + "."
"""As the collector reports `echo 0 > sriov_numvfs`."""


class TestFunctionsThatAreRemoved:
    def story(self, *events: Message, degraded: bool = False) -> list[Message]:
        narrow = {"pci_link_width": 8, "pci_link_speed_gts": 8.0} if degraded else {}
        story = [*healthy(range(0, 100, 10)), *(m for s in range(110, 300, 10) for m in (port(s, narrow), offload(s), datapath(s)))]
        return sorted([*story, *events], key=lambda m: m.at_ns)

    def lost(self, second: float) -> list[Message]:
        return [event(second, "pcie_link_down"), event(second + 0.1, "pcie_link_down"), event(second + 0.1, "pcie_error", severity="fatal")]

    def test_a_link_that_is_lost_after_functions_were_removed_is_s7_of_c7(self) -> None:
        found = detect(self.story(event(96, "vf_vanished", detail=TAKEN), *self.lost(98)))
        first = of(found, "S7")[0]
        assert second_of(first) == 98
        assert first["hypotheses"][0]["cause"] == "C7"
        assert {e["signal"] for e in first["hypotheses"][0]["evidence_for"]} == {"vf_unbinds", "pcie_losses"}
        assert next(e["value"] for e in first["evidence"] if e["signal"] == "vf_unbinds") == 12
        assert of(found, "S7")[-1]["state"] == "cleared"
        assert of(found, "unexplained") == []

    def test_functions_that_vanish_with_their_link_are_no_reason_for_it(self) -> None:
        for degraded in (False, True):
            found = detect(self.story(*self.lost(98), event(100, "vf_vanished", detail=TAKEN), *self.lost(103), degraded=degraded))
            assert of(found, "S7") == []
            assert of(found, "unexplained")

    def test_the_order_in_time_counts_and_not_the_order_in_which_events_come(self) -> None:
        vanished = event(100, "vf_vanished", detail=TAKEN)
        story = [m for m in self.story(*self.lost(98)) if m.at_ns < at_ns(98)]
        assert of(detect([*story, vanished, *self.lost(98)]), "S7") == []

    def test_functions_that_are_removed_without_harm_are_not_s7(self) -> None:
        assert detect(self.story(event(96, "vf_vanished", detail=TAKEN))) == []

    def test_an_rnic_that_is_taken_out_with_its_functions_is_neither_s7_nor_unexplained(self) -> None:
        story = self.story(event(95, "vf_vanished", detail=TAKEN), event(96, "device_vanished"), *self.lost(98))
        assert detect(m for m in story if m.at_ns <= at_ns(99) or m.tags.get("pci") != PCI) == []

    def test_an_rnic_that_vanishes_because_its_link_was_lost_after_removed_functions_is_s7(self) -> None:
        assert of(detect(self.story(event(95, "vf_vanished", detail=TAKEN), *self.lost(98), event(99, "device_vanished"))), "S7")

    def test_functions_removed_from_another_rnic_are_no_reason(self) -> None:
        assert of(detect(self.story(event(96, "vf_vanished", pci=OTHER, detail=TAKEN), *self.lost(98))), "S7") == []


class TestALinkThatGoesDownWithoutAReason:
    def story(self, *events: Message, back: int = 110) -> list[Message]:
        story = [*healthy(range(0, 100, 10)), *(datapath(s) for s in range(100, 400, 10))]
        story += [m for s in range(back, 400, 10) for m in (port(s), offload(s))]
        return sorted([*story, event(98, "pcie_link_down"), *events], key=lambda m: m.at_ns)

    def test_it_is_unexplained_and_ends(self) -> None:
        found = of(detect(self.story()), "unexplained")
        first = found[0]
        assert (first["rule"], first["pci"], first["severity"], first["model"]) == ("U/3", PCI, "critical", "CX-6")
        assert (second_of(first, "started_at"), first["hypotheses"]) == (98, [])
        assert second_of(first) <= 120
        assert "PCIe link" in first["title"]
        assert first["remedies"][0]["params"]["pci"] == PCI
        assert found[-1]["state"] == "cleared"
        assert len({f["finding_id"] for f in found}) == 1

    def test_an_rnic_that_does_not_come_back_stays_unexplained(self) -> None:
        found = of(detect(self.story(back=1000)), "unexplained")
        assert {f["state"] for f in found} == {"active"}
        assert second_of(found[0]) <= 120

    def test_a_release_that_is_reported_after_the_loss_is_s7_and_leaves_nothing_unexplained(self) -> None:
        found = detect(self.story(event(103, "cni_del", device="0000:3b:00.2")))
        assert {f["symptom"] for f in found} == {"S7"}

    def test_a_shutdown_a_boot_and_an_rnic_that_was_taken_out_explain_it(self) -> None:
        for before in (
            event(60, "host_shutdown", pci=""),
            event(80, "host_booted", pci="", shutdown="orderly"),
            event(97, "device_vanished"),
        ):
            assert of(detect(self.story(before)), "unexplained") == []

    def test_an_rnic_that_vanishes_because_of_its_link_is_not_taken_out(self) -> None:
        assert of(detect(self.story(event(99, "device_vanished"), back=1000)), "unexplained")


def frozen(second: int, **fields: object) -> Message:
    return port(second, {"port_xmit_data": 7, "port_rcv_data": 7, "tx_gbps": 0.0, "rx_gbps": 0.0, **fields})


class TestS8:
    def stopped(self, *more: Message, contexts: int = 100, overdue: int = 0, **fields: object) -> list[Message]:
        story = list(healthy(range(0, 90, 10)))
        story += [port(90), offload(90, {"encap_contexts": contexts}), *more]
        state = {"encap_contexts": contexts, "flows_overdue": overdue}
        return story + [m for s in range(100, 160, 10) for m in (frozen(s, **fields), offload(s, state))]

    def test_a_device_that_its_driver_finds_dead_is_s8_at_once(self) -> None:
        story = [*self.stopped(event(96, "device_health", pattern="mlx5-health-miss"), contexts=9999), *healthy(range(160, 300, 10))]
        found = of(detect(story), "S8")
        assert second_of(found[0]) == 96
        assert found[0]["hypotheses"][0]["cause"] == "C8"
        assert found[-1]["state"] == "cleared"

    def test_queues_that_stop_sending_with_a_full_buffer_are_s8_where_no_health_counter_shows_it(self) -> None:
        hang = event(96, "tx_timeout", pattern="ice-transmit")
        found = of(detect(self.stopped(hang, contexts=9999)), "S8")
        assert second_of(found[0]) == 96
        assert found[0]["hypotheses"][0]["cause"] == "C8"

    def test_a_queue_that_stopped_once_on_a_card_with_room_is_not_s8(self) -> None:
        hang = event(96, "tx_timeout", pattern="ice-transmit")
        assert of(detect([*healthy(range(0, 100, 10)), hang, *healthy(range(100, 200, 10))]), "S8") == []

    def test_a_pause_of_all_traffic_with_a_full_buffer_is_not_s8_while_nothing_waits_and_the_driver_says_nothing(self) -> None:
        assert detect(self.stopped(contexts=9700)) == []
        assert detect(self.stopped(contexts=9999)) == []

    def test_a_full_buffer_and_commands_that_time_out_are_s8(self) -> None:
        assert of(detect(self.stopped(event(96, "command_timeout", **TIMEOUT), contexts=9700)), "S8")[0]["hypotheses"][0]["cause"] == "C8"

    def test_a_full_buffer_and_flows_that_cannot_be_deleted_are_s8_without_a_kernel_log(self) -> None:
        assert of(detect(self.stopped(contexts=9700, overdue=1600)), "S8")[0]["hypotheses"][0]["cause"] == "C8"

    def test_without_a_kernel_log_a_port_that_stands_still_with_work_that_waits_is_s8(self) -> None:
        story = [*healthy(range(0, 100, 10)), *(m for s in range(100, 160, 10) for m in (offload(s, {"flows_overdue": 2500}), frozen(s)))]
        assert of(detect(story), "S8")

    def test_a_job_that_pauses_is_not_s8(self) -> None:
        assert detect(self.stopped()) == []

    def test_a_port_that_was_disabled_on_purpose_opens_nothing(self) -> None:
        story = self.stopped(event(91, "port_disabled"), contexts=9999, admin_state="down", port_state="DOWN")
        assert detect(story) == []

    def test_a_warm_card_is_not_s8(self) -> None:
        assert (
            detect([*healthy(range(0, 100, 10)), event(96, "device_health", pattern="mlx5-temperature"), *healthy(range(100, 200, 10))])
            == []
        )

    def test_the_table_that_a_reset_empties_is_not_s1(self) -> None:
        story = self.stopped(event(96, "device_health", pattern="mlx5-health-miss"), contexts=9999)
        back = {"flow_insertions_per_s": 400.0, "reoffloads_per_s": 390.0, "reoffload_ratio": 0.96, "flow_deletions_per_s": 300.0}
        for second in range(160, 230, 10):
            story += [port(second), offload(second, back), datapath(second)]
        assert of(detect(story), "S1") == []


class TestWhichEventsMakeAStall:
    """S2: something of the driver, and a standstill; no announced shutdown explains it."""

    @pytest.mark.parametrize(
        ("of_the_driver", "standstill", "shutdown_s", "raised"),
        [
            ("command_timeout", "soft_lockup", None, True),  # the lockup's stack need not show the driver
            ("command_timeout", None, None, False),
            (None, "soft_lockup", None, False),
            ("command_timeout", "soft_lockup", 99, False),
            ("command_timeout", "soft_lockup", -15, True),  # longer ago than two minutes
        ],
    )
    def test_a_timeout_of_the_driver_with_any_lockup_is_s2_unless_the_host_shuts_down(
        self, of_the_driver: str | None, standstill: str | None, shutdown_s: int | None, raised: bool
    ) -> None:
        story = [*healthy(range(-20, 101, 10))]
        for second, kind, pci in ((shutdown_s, "host_shutdown", ""), (105, of_the_driver, PCI), (106, standstill, "")):
            if second is not None and kind is not None:
                story.append(event(second, kind, pci=pci))
        found = of(detect(sorted(story, key=lambda message: message.at_ns)), "S2")
        assert bool(found) is raised


@pytest.mark.parametrize("shutdown_s", [None, 99, -15])
def test_a_crash_while_a_flow_was_created_is_s3_also_soon_after_a_reboot_on_purpose(shutdown_s: int | None) -> None:
    story = [*healthy(range(-30, 101, 10)), event(101, "kernel_oops", pci="", operation="flow_creation")]
    if shutdown_s is not None:
        story += [event(shutdown_s, "host_shutdown", pci=""), event(shutdown_s + 1, "host_booted", pci="", shutdown="orderly")]
    assert of(detect(sorted(story, key=lambda message: message.at_ns)), "S3")
