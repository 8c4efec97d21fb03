"""Signals of one sample, at the edges of what is known: numbers worked out by hand."""

from typing import Any

import pytest

from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us
from wallwatch.domain.symptoms import baseline, signals
from wallwatch.domain.symptoms.rnic_state import RnicState
from wallwatch.domain.symptoms.signals import FULL
from wallwatch.domain.symptoms.watched_counters import WAITS, trouble_counters

CX6 = profiles()["CX-6"]
AT = 1_000_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0), (0.0, 0.0), (7, 7.0), (2.5, 2.5), (2**63 - 1, float(2**63 - 1)), (2**63, None), (-1, None), (-0.5, None),
        (float("nan"), None), (float("inf"), None), (True, None), (False, None), ("7", None), (None, None),
    ],
)  # fmt: skip
def test_a_measured_number_is_neither_negative_nor_text_nor_a_flag(value: object, expected: float | None) -> None:
    assert signals.number(value) == expected


def offload(fields: dict[str, Any], state: RnicState | None = None, misses: float | None = None) -> dict[str, float]:
    return signals.of_offload(fields, RnicState() if state is None else state, CX6, misses)[0]


def carrying(sent: float, received: float, waits: bool | None) -> RnicState:
    state = RnicState()
    state.sent_gbps, state.received_gbps, state.waits = sent, received, waits
    return state


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"flow_insertions_per_s": 0, "reoffloads_per_s": 0}, 0.0),
        ({"flow_insertions_per_s": 1, "reoffloads_per_s": 0}, None),
        ({"flow_insertions_per_s": 0, "reoffloads_per_s": 1}, None),
        ({"flow_insertions_per_s": 0}, None),
        ({"reoffloads_per_s": 0}, None),
        ({"flow_insertions_per_s": 0, "reoffloads_per_s": 0, "reoffload_ratio": 0.5}, 0.5),
    ],
)
def test_where_nothing_was_inserted_nothing_was_offloaded_again(fields: dict[str, Any], expected: float | None) -> None:
    assert offload(fields).get("reoffload_ratio") == expected


@pytest.mark.parametrize(
    ("packets", "software", "expected"),
    [(100, 25, 0.25), (100, 0, 0.0), (100, 150, 1.0), (0, 0, 0.0), (0, 5, None), (None, 0, None), (100, None, None)],
)
def test_the_share_of_packets_in_software(packets: int | None, software: int | None, expected: float | None) -> None:
    assert offload({"packets_per_s": packets, "software_packets_per_s": software}).get("software_share") == expected


@pytest.mark.parametrize(
    ("flows", "overdue", "expected"), [(200, 50, 0.25), (200, 300, 1.0), (200, 0, 0.0), (1, 1, 1.0), (0, 5, None), (200, None, None)]
)
def test_the_share_of_flows_that_are_overdue(flows: int, overdue: int | None, expected: float | None) -> None:
    assert offload({"flows_offloaded": flows, "flows_overdue": overdue}).get("overdue_share") == expected


def test_shares_of_walls_are_those_of_the_profile() -> None:
    found = offload({"flows_offloaded": 3500, "flow_insertions_per_s": 10, "encap_contexts": 0}, misses=7.0)
    assert found["flows_wall_share"] == 3500 / CX6.limits["offloaded_flows"].value == 0.5
    assert found["insertions_wall_share"] == 10 / CX6.limits["flow_insertions"].value
    assert found["encap_wall_share"] == 0.0
    assert found["datapath_misses_per_s"] == 7.0
    assert "datapath_misses_per_s" not in offload({"flows_offloaded": 3500})
    assert offload({}, misses=0.0) == {"datapath_misses_per_s": 0.0}


Q_OUT, Q_IN = 30.0, 20.0
FREE = bandwidth_gbps(CX6.performance, 0.0, 0.0)
BOTH_CHAINS = bandwidth_gbps(CX6.performance, Q_OUT, Q_IN)
OWN_CHAIN = min(bandwidth_gbps(CX6.performance, Q_OUT, 0.0), bandwidth_gbps(CX6.performance, 0.0, Q_IN))


def test_the_latency_of_lookups_is_that_of_the_worse_direction() -> None:
    free = latency_us(CX6.performance, 0.0, 0.0)
    outward, inward = latency_us(CX6.performance, 40.0, 0.0) / free, latency_us(CX6.performance, 0.0, 40.0) / free
    assert offload({"q_egress": 40, "q_ingress": 0})["latency_share"] == pytest.approx(outward)
    assert offload({"q_egress": 0, "q_ingress": 40})["latency_share"] == pytest.approx(inward)
    assert offload({"q_egress": 40, "q_ingress": 40})["latency_share"] == pytest.approx(max(outward, inward))
    assert offload({"q_egress": 0, "q_ingress": 0})["latency_share"] == 1.0
    for incomplete in ({"q_egress": 40}, {"q_ingress": 40}):
        assert not {"latency_share", "bandwidth_share", "bandwidth_lost"} & offload(incomplete).keys()


@pytest.mark.parametrize(
    ("carried", "waits", "full"),
    [
        (FULL * BOTH_CHAINS, True, True),
        (FULL * BOTH_CHAINS * 0.999, True, False),
        (FULL * BOTH_CHAINS, None, True),  # no counter of waiting senders is measured
        (FULL * OWN_CHAIN, False, True),
        (FULL * OWN_CHAIN * 0.999, False, False),
    ],
)
def test_bandwidth_is_lost_on_a_port_that_carries_what_the_model_leaves_it(carried: float, waits: bool | None, full: bool) -> None:
    """The port carries less in the other direction."""
    assert FREE > OWN_CHAIN > BOTH_CHAINS
    for gbps in ([carried, carried / 2], [carried / 2, carried]):
        found = offload({"q_egress": Q_OUT, "q_ingress": Q_IN}, carrying(*gbps, waits))
        left = max(found["bandwidth_share"], carried / FREE)
        assert found["bandwidth_lost"] == (pytest.approx(1.0 - left) if full else 0.0)


def test_bandwidth_that_a_port_carries_is_not_lost() -> None:
    assert offload({"q_egress": Q_OUT, "q_ingress": Q_IN}, carrying(FREE * 1.1, 0.0, True))["bandwidth_lost"] == 0.0
    nearly = offload({"q_egress": Q_OUT, "q_ingress": Q_IN}, carrying(FREE * 0.9, 0.0, True))
    assert nearly["bandwidth_lost"] == pytest.approx(0.1)
    assert "bandwidth_lost" not in offload({"q_egress": Q_OUT, "q_ingress": Q_IN})


@pytest.mark.parametrize(("shown", "usual"), [(None, 0.2), (0.1, 0.2), (0.2, 0.2), (0.5, 0.5), (1.0, 1.0), (1.5, 1.0)])
def test_a_deletion_usually_takes_what_the_rnic_has_shown_up_to_five_times_the_profile(shown: float | None, usual: float) -> None:
    state = RnicState()
    if shown is not None:
        state.least = {}
        baseline.least(state.least, "deletion_ms", shown, AT)
    assert signals.usual_deletion_ms(state, CX6) == pytest.approx(usual)


def samples(*each: tuple[int, dict[str, Any]]) -> tuple[list[dict[str, float]], RnicState]:
    """Signals of `rnic` samples at these seconds, and what is kept after them."""
    state = RnicState()
    return [signals.of_rnic(fields, state, AT + second * 1000) for second, fields in each], state


@pytest.mark.parametrize("out_into", [("port_xmit_data", "port_rcv_data"), ("tx_bytes", "rx_bytes")])
def test_a_port_is_frozen_since_both_its_counters_stood_still(out_into: tuple[str, str]) -> None:
    def data(sent: object, received: object) -> dict[str, Any]:
        return dict(zip(out_into, (sent, received), strict=True))

    found, _ = samples((0, data(5, 7)), (10, data(5, 7)), (25, data(5, 7)), (30, data(6, 7)), (40, data(6, 8)), (50, data(6, 8)))
    assert [one.get("port_frozen_s") for one in found] == [None, 10.0, 25.0, 0.0, 0.0, 10.0]
    for missing in (data(5, None), data(None, 7), data(5.0, 7), data(5, 7.0), data(True, 7), data(5, False)):
        assert samples((0, missing), (10, missing))[0][1].get("port_frozen_s") is None


def test_data_counters_of_the_port_come_before_those_of_the_interface() -> None:
    moving = {"port_xmit_data": 1, "port_rcv_data": 1, "tx_bytes": 1, "rx_bytes": 1}
    found, _ = samples((0, moving), (10, moving | {"tx_bytes": 9, "rx_bytes": 9}))
    assert found[1]["port_frozen_s"] == 10.0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [({"admin_state": "down"}, 1.0), ({"admin_state": "up"}, 0.0), ({"admin_state": None}, None), ({"admin_state": 1}, None), ({}, None)],
)
def test_a_port_is_off_where_somebody_switched_it_off(fields: dict[str, Any], expected: float | None) -> None:
    assert samples((0, fields))[0][0].get("port_off") == expected


def test_the_share_of_the_link_is_that_of_the_best_it_has_shown() -> None:
    wide, narrow = {"pci_link_speed_gts": 16.0, "pci_link_width": 16}, {"pci_link_speed_gts": 8.0, "pci_link_width": 8}
    assert [one.get("pcie_share") for one in samples((0, narrow), (1, wide), (2, narrow))[0]] == [1.0, 1.0, 0.25]
    assert "pcie_share" not in samples((0, {"pci_link_speed_gts": 16.0}))[0][0]
    assert "pcie_share" not in samples((0, {"pci_link_width": 16}))[0][0]
    assert "pcie_share" not in samples((0, {"pci_link_speed_gts": 0.0, "pci_link_width": 0}))[0][0]


def test_the_share_of_usual_traffic_needs_a_minute_of_it() -> None:
    def traffic(gbps: float) -> dict[str, Any]:
        return {"tx_gbps": gbps / 2, "rx_gbps": gbps / 2}

    found, state = samples((0, traffic(80.0)), (30, traffic(80.0)), (60, traffic(80.0)), (90, traffic(20.0)))
    assert [one["port_gbps"] for one in found] == [80.0, 80.0, 80.0, 20.0]
    assert [one.get("port_share") for one in found] == [None, None, None, pytest.approx(0.25)]
    assert (state.sent_gbps, state.received_gbps) == (10.0, 10.0)
    assert "port_share" not in samples(*((second, traffic(0.0)) for second in (0, 30, 60, 90)))[0][3]
    assert "port_gbps" not in samples((0, {"tx_gbps": 1.0}))[0][0]
    assert "port_gbps" not in samples((0, {"rx_gbps": 1.0}))[0][0]


TROUBLE = sorted(trouble_counters() - WAITS)[0]


def test_trouble_is_what_its_counters_grew_by_per_second() -> None:
    found, state = samples(
        (0, {TROUBLE: 100}), (10, {TROUBLE: 130}), (20, {TROUBLE: 130}), (30, {TROUBLE: 5}), (40, {TROUBLE: 25}), (50, {})
    )
    assert [one.get("trouble_per_s") for one in found] == [None, 3.0, 0.0, None, 2.0, None]
    assert state.trouble_parts == {TROUBLE: 20}
    assert samples((0, {TROUBLE: 1}), (0, {TROUBLE: 9}))[0][1].get("trouble_per_s") is None


def test_the_share_of_usual_trouble_counts_less_than_one_per_second_as_one() -> None:
    found, _ = samples((0, {TROUBLE: 0}), (30, {TROUBLE: 0}), (60, {TROUBLE: 0}), (90, {TROUBLE: 0}), (100, {TROUBLE: 40}))
    assert [one.get("trouble_share") for one in found] == [None, None, None, None, 4.0]
    found, _ = samples((0, {TROUBLE: 0}), (30, {TROUBLE: 60}), (60, {TROUBLE: 120}), (90, {TROUBLE: 180}), (100, {TROUBLE: 240}))
    assert [one.get("trouble_share") for one in found] == [None, None, None, None, 3.0]


@pytest.mark.parametrize(
    ("before", "after", "waits"),
    [
        ({"np_cnp_sent": 1}, {"np_cnp_sent": 1}, False),
        ({"np_cnp_sent": 1}, {"np_cnp_sent": 2}, True),
        ({"np_cnp_sent": 1, "port_xmit_wait": 1}, {"np_cnp_sent": 1, "port_xmit_wait": 3}, True),
        ({}, {}, None),
        ({TROUBLE: 1}, {TROUBLE: 5}, None),
    ],
)
def test_senders_wait_where_one_of_their_counters_moved(before: dict[str, Any], after: dict[str, Any], waits: bool | None) -> None:
    assert samples((0, before), (10, after))[1].waits is waits


@pytest.mark.parametrize(("counter", "signal"), [("aer_fatal", "aer_fatal_errors"), ("health_fw_fatal_errors", "firmware_fatal_errors")])
def test_fatal_errors_are_counted_since_the_last_time_that_their_driver_was_read(counter: str, signal: str) -> None:
    found, _ = samples((0, {counter: 1}), (10, {}), (20, {counter: 3}), (30, {counter: 3}), (40, {counter: 0}), (50, {counter: 1}))
    assert [one.get(signal) for one in found] == [None, None, 2.0, 0.0, None, 1.0]


@pytest.mark.parametrize(
    ("previous", "at_ms", "value", "rate"),
    [
        ((1000, 50), 3000, 60, 5.0), ((1000, 50), 3000, 50, 0.0), ((1000, 50), 3000, 49, None),
        ((1000, 50), 1000, 60, None), ((1000, 50), 1001, 60, 10_000.0), ((1000, 50), 999, 60, None), (None, 3000, 60, None),
    ],
)  # fmt: skip
def test_the_rate_of_a_counter_is_unknown_at_first_sight_after_a_reset_and_without_time_between(
    previous: tuple[int, int] | None, at_ms: int, value: int, rate: float | None
) -> None:
    assert signals.counter_rate(previous, at_ms, value) == rate
