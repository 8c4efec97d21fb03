"""Descriptions of transport tests: what they mean, and what is refused."""

import copy
from typing import Any

import pytest

from wallwatch.domain.transport.entries import entries, iterations, parse_connections
from wallwatch.domain.transport.intents import IntentError, parse_intent

HOST = {"nic": {"type": "cx4", "ip-list": ["10.0.0.2/24", "10.0.0.12/24"], "if-name": "enp4s0"}, "workspace": "anywhere"}
LISTING_2: dict[str, Any] = {
    "requester": HOST,
    "responder": HOST,
    "traffic": {
        "num-connections": 2,
        "rdma-verb": "write",
        "num-msgs-per-qp": 10,
        "mtu": 1024,
        "message-size": 10240,
        "multi-gid": True,
        "barrier-sync": True,
        "tx-depth": 1,
        "min-retransmit-timeout": 14,
        "max-retransmit-retry": 7,
        "data-pkt-events": [
            {"qpn": 1, "psn": 4, "type": "ecn", "iter": 1},
            {"qpn": 2, "psn": 5, "type": "drop", "iter": 1},
            {"qpn": 2, "psn": 5, "type": "drop", "iter": 2},
        ],
    },
}
FIGURE_2 = [
    {"requester": {"ip": "10.0.0.1", "qpn": 0xFE, "psn": 1001}, "responder": {"ip": "10.0.0.2", "qpn": 0xEA, "psn": 3002}},
    {"requester": {"ip": "10.0.0.11", "qpn": 0x10, "psn": 0xFFFFFE}, "responder": {"ip": "10.0.0.12", "qpn": 0x20, "psn": 7}},
]


def changed(**traffic: Any) -> dict[str, Any]:
    raw = copy.deepcopy(LISTING_2)
    raw["traffic"] |= {name.replace("_", "-"): value for name, value in traffic.items()}
    raw["traffic"] = {name: value for name, value in raw["traffic"].items() if value is not None}
    return raw


def planned(raw: dict[str, Any]) -> list[str]:
    return [str(entry) for entry in entries(parse_intent(raw), parse_connections(FIGURE_2))]


def test_the_papers_listing_becomes_three_entries_and_its_figure_2_is_the_first() -> None:
    assert planned(LISTING_2) == [
        "10.0.0.1 -> 10.0.0.2, QPN 0xea, PSN 1004: ecn",
        "10.0.0.11 -> 10.0.0.12, QPN 0x20, PSN 2: drop",
        "10.0.0.11 -> 10.0.0.12, QPN 0x20, PSN 2, ITER 2: drop",
    ]


def test_the_published_program_counts_from_0() -> None:
    raw = changed(num_connections=None, num_qps=2, data_pkt_events=[{"qpn": 0, "psn": 3, "type": "ecn"}])
    assert planned(raw) == ["10.0.0.1 -> 10.0.0.2, QPN 0xea, PSN 1004: ecn"]


def test_responses_of_read_come_back_with_the_requests_psns() -> None:
    raw = changed(rdma_verb="read", data_pkt_events=[{"qpn": 1, "psn": 1, "type": "corrupt"}])
    assert planned(raw) == ["10.0.0.2 -> 10.0.0.1, QPN 0xfe, PSN 1001: corrupt"]


def test_iterations_of_figure_3() -> None:
    assert iterations(1, [1, 2, 3, 4, 2, 3, 4, 3, 4]) == [1, 1, 1, 1, 2, 2, 2, 3, 3]
    assert iterations(0xFFFFFF, [0xFFFFFF, 0, 1, 0xFFFFFF, 0]) == [1, 1, 1, 2, 2]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ([], "must be a mapping"),
        ({"traffic": {}}, "requester: field required"),
        (changed(num_qps=2), "exactly one of num-connections"),
        (changed(num_connections=None), "exactly one of num-connections"),
        (changed(mtu=1500), "mtu 1500 must be one of 256"),
        (changed(rdma_verb="fly"), "traffic.rdma-verb"),
        (changed(colour="blue"), "traffic.colour: extra inputs"),
        (changed(data_pkt_events=[{"qpn": 0, "psn": 1, "type": "drop"}]), "qpn 0 is outside 1 to 2"),
        (changed(data_pkt_events=[{"qpn": 3, "psn": 1, "type": "drop"}]), "qpn 3 is outside 1 to 2"),
        (changed(data_pkt_events=[{"qpn": 1, "psn": 101, "type": "drop"}]), "psn 101 is outside 1 to 100"),
        (changed(data_pkt_events=[{"qpn": 1, "psn": 1, "type": "delay"}]), "traffic.data-pkt-events.0.type"),
        (changed(data_pkt_events=[{"qpn": 1, "psn": 1, "type": "ecn"}, {"qpn": 1, "psn": 1, "type": "drop"}]), "the same packet"),
        (changed(data_pkt_events=[{"qpn": 1, "psn": 1, "type": "ecn", "iter": 0}]), "traffic.data-pkt-events.0.iter"),
    ],
)
def test_what_cannot_be_run_is_refused_by_its_field(raw: Any, words: str) -> None:
    with pytest.raises(IntentError) as refused:
        parse_intent(raw)
    assert words in str(refused.value)


def test_an_event_on_a_connection_that_was_not_reported_is_refused() -> None:
    with pytest.raises(IntentError, match="qpn 2 has no connection; 1 were reported"):
        entries(parse_intent(LISTING_2), parse_connections(FIGURE_2[:1]))
    with pytest.raises(IntentError, match=r"connections\.0\.requester\.qpn"):
        parse_connections([{**FIGURE_2[0], "requester": {"ip": "10.0.0.1", "qpn": -1, "psn": 0}}])
