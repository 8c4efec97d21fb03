"""Captures of simulated RNICs, a program written apart from the analyser: what the simulation did is what the analysis finds."""

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wallwatch.domain.transport.analysis import Options, analyse
from wallwatch.domain.transport.containers import read_frames
from wallwatch.domain.transport.frames import ReadReport
from wallwatch.domain.transport.results import Analysis
from wallwatch_local.paths import binary

MODELS = ("cx4-lx", "cx5", "cx6-dx", "e810")
SCOPES = {"cx4-lx": "per_destination", "cx5": "per_port", "cx6-dx": "per_port", "e810": "per_qp"}
INTERVALS_NS = {"cx4-lx": 4_000, "cx5": 4_000, "cx6-dx": 4_000, "e810": 50_000}


class Simulator:
    """One process of the simulation; a test per line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        command = [binary("fleetsim"), "transport", "--capture-dir", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, intent: dict[str, Any], seed: int, *, behind: bool = False) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        request = {"intent": intent, "seed": seed, "capture": f"{seed}.pcap", "behind": behind}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert answer["status"] == "ok", answer
        return answer

    def close(self) -> None:
        with self._process:  # closes both pipes; the end of its input ends the process
            pass


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    running = Simulator(tmp_path_factory.mktemp("captures"))
    yield running
    running.close()


def host(model: str, addresses: int, *, adaptive: bool = False) -> dict[str, Any]:
    return {
        "nic": {"type": model, "ip-list": [f"10.0.0.{n}/24" for n in range(addresses, addresses + 3)]},
        "roce-parameters": {"dcqcn-np-enable": True, "adaptive-retrans": adaptive, "slow-restart": True},
    }


def intent(model: str, **traffic: Any) -> dict[str, Any]:
    adaptive = bool(traffic.pop("adaptive", False))
    peer = traffic.pop("peer", model)
    settings = {
        "num-qps": 1, "rdma-verb": "write", "num-msgs-per-qp": 4, "mtu": 1024, "message-size": 10240, "multi-gid": True, "tx-depth": 1,
        "min-retransmit-timeout": 14, "max-retransmit-retry": 7,
    }  # fmt: skip
    given = {name.replace("_", "-"): value for name, value in traffic.items()}
    return {
        "requester": host(model, 1, adaptive=adaptive),
        "responder": host(peer, 101, adaptive=adaptive),
        "traffic": settings | given,
    }


def analysed(path: str, options: Options) -> Analysis:
    report = ReadReport()
    with Path(path).open("rb") as file:
        return analyse(read_frames(file, report), report, options)


def found(result: Analysis) -> list[dict[str, Any]]:
    return [vars(row) for row in result.retransmissions]


def random_intent(seed: int) -> dict[str, Any]:
    chooser = random.Random(seed)
    connections, messages, packets = chooser.randrange(1, 7), chooser.randrange(1, 6), chooser.choice((1, 3, 10, 40))
    total = messages * packets
    events = {
        (chooser.randrange(connections), chooser.randrange(total), chooser.choice((1, 1, 1, 2, 3))): chooser.choice(
            ("drop", "drop", "corrupt", "ecn")
        )
        for _ in range(chooser.randrange(0, 12))
    }
    return intent(
        chooser.choice(MODELS),
        num_qps=connections,
        num_msgs_per_qp=messages,
        message_size=1024 * packets - chooser.randrange(0, 500),
        rdma_verb=chooser.choice(("write", "send", "read")),
        tx_depth=chooser.choice((1, 2, 4)),
        adaptive=chooser.random() < 0.5,
        data_pkt_events=[{"qpn": qpn, "psn": psn, "iter": turn, "type": kind} for (qpn, psn, turn), kind in events.items()],
    )


@pytest.mark.parametrize("seed", range(100))
def test_of_a_hundred_random_tests_the_analysis_is_the_truth(simulator: Simulator, seed: int) -> None:
    answer = simulator.run(random_intent(seed), seed)
    result = analysed(answer["capture"], Options(mirrored=True))
    assert found(result) == answer["retransmissions"]
    assert result.violations == []
    assert result.mirror is not None
    assert result.mirror["complete"] is True
    assert (result.frames, result.roce, result.bad_icrc_frames) == (answer["frames"], answer["frames"], [])
    assert sum(point.cnps for point in result.notification_points) == answer["cnps"]
    assert result.unpaired_directions == 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("verb", ["write", "read"])
def test_behind_the_switch_the_lost_packet_is_missing_and_the_damaged_one_is_named(simulator: Simulator, model: str, verb: str) -> None:
    events = [{"qpn": 0, "psn": 4, "type": "drop", "iter": 1}, {"qpn": 1, "psn": 15, "type": "corrupt", "iter": 1}]
    answer = simulator.run(intent(model, num_qps=2, rdma_verb=verb, mtu=256, message_size=2560, data_pkt_events=events), 7, behind=True)
    result = analysed(answer["capture"], Options())
    assert found(result) == answer["retransmissions"]
    assert [row["kind"] for row in answer["retransmissions"]] == ["nack", "nack"]
    assert result.violations == []


@pytest.mark.parametrize("model", MODELS)
def test_the_scope_and_interval_of_each_models_limiter_are_found(simulator: Simulator, model: str) -> None:
    marked = [{"qpn": qpn, "psn": psn, "type": "ecn", "iter": 1} for qpn in range(6) for psn in range(400)]
    test = intent(model, num_qps=6, num_msgs_per_qp=1, message_size=1024 * 400, data_pkt_events=marked)
    # One receiver, three senders with two connections each: the scopes differ.
    test["responder"]["nic"]["ip-list"] = ["10.0.0.101/24"]
    (point,) = analysed(simulator.run(test, 5)["capture"], Options(mirrored=True)).notification_points
    assert point.mode == SCOPES[model]
    assert point.min_interval_ns is not None
    assert -100 <= point.min_interval_ns - INTERVALS_NS[model] <= 700, "a gap between marks, and the queue at the port"


def test_adaptive_retransmission_waits_less_than_the_specification_allows(simulator: Simulator) -> None:
    dropped = [{"qpn": 0, "psn": 9, "type": "drop", "iter": n} for n in range(1, 6)]
    for adaptive in (True, False):
        answer = simulator.run(intent("cx6-dx", num_msgs_per_qp=1, adaptive=adaptive, data_pkt_events=dropped), 3)
        (row,) = analysed(answer["capture"], Options(mirrored=True)).timeouts
        waits_ms = [round(wait / 1e6, 1) for wait in row.intervals_ns]
        assert waits_ms == ([5.6, 4.1, 8.4, 16.7, 25.1] if adaptive else [67.1] * 5)
        assert row.below_minimum is adaptive


def test_counters_of_two_models_stand_still_although_the_capture_shows_what_they_count(simulator: Simulator) -> None:
    marked = [{"qpn": 0, "psn": psn, "type": "ecn", "iter": 1} for psn in range(0, 40, 4)]
    e810 = simulator.run(intent("e810", data_pkt_events=marked), 1)
    assert e810["cnps"] > 0
    assert (e810["responder_counters"]["cnpSent"], e810["requester_counters"]["cnpHandled"]) == (0, e810["cnps"])
    lost = [{"qpn": 0, "psn": 5, "type": "drop", "iter": 1}]
    for model, counted in (("cx4-lx", 0), ("cx5", 1)):
        answer = simulator.run(intent(model, rdma_verb="read", data_pkt_events=lost), 1)
        assert len(answer["retransmissions"]) == 1
        assert answer["requester_counters"]["implied_nak_seq_err"] == counted


@pytest.mark.parametrize(("lossy", "stalls"), [(8, False), (11, False), (12, True), (16, True)])
def test_from_twelve_lossy_reads_on_innocent_connections_stall_on_a_connectx_4(simulator: Simulator, lossy: int, stalls: bool) -> None:
    events = [{"qpn": qpn, "psn": 4, "type": "drop", "iter": 1} for qpn in range(lossy)]
    answer = simulator.run(
        intent("cx4-lx", num_qps=36, num_msgs_per_qp=10, message_size=20480, rdma_verb="read", data_pkt_events=events), 2
    )
    slowest_us = max(max(times) for times in answer["message_completion_us"][lossy:])
    assert (answer["requester_counters"]["rx_discards_phy"] > 0) is stalls
    assert (slowest_us > 10_000) is stalls


@pytest.mark.parametrize(
    ("sender", "connections", "discards"), [("e810", 15, False), ("e810", 16, True), ("cx5", 16, False), ("cx5", 32, False)]
)
def test_from_sixteen_new_connections_without_migreq_on_a_connectx_5_discards(
    simulator: Simulator, sender: str, connections: int, discards: bool
) -> None:
    answer = simulator.run(
        intent(sender, peer="cx5", num_qps=connections, num_msgs_per_qp=5, message_size=102_400, rdma_verb="send", adaptive=False), 4
    )
    assert (answer["responder_counters"]["rx_discards_phy"] > 0) is discards
    result = analysed(answer["capture"], Options(mirrored=True))
    assert bool(result.migreq_zero_qpns) is (sender == "e810")
