"""What the job `classify` keeps of a host comes back as it was written, whoever wrote it."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from wallwatch.domain.symptoms.host_stage import step
from wallwatch.domain.symptoms.rnic_state import RnicState, from_plain
from wallwatch.domain.symptoms.signal_places import places
from wallwatch.jobs.host_state import HostState, HostStates, packed, unpacked
from wallwatch_testing.stories import PCI, datapath, detect, event, offload, port

HOST01, HOST02 = b"host01", b"host02"


def an_rnic() -> RnicState:
    """With something of each kind of attribute."""
    state: Any = None
    for second in range(0, 90, 5):
        state, _ = step(
            state,
            port(
                second,
                {
                    "pci_link_speed_gts": 16.0,
                    "pci_link_width": 16,
                    "out_of_sequence": second,
                    "np_cnp_sent": second,
                    "port_xmit_data": second,
                },
            ),
        )
        state, _ = step(state, offload(second, {"q_egress": 3.0, "q_ingress": 2.0, "flow_deletions_per_s": 40.0}))
    found: RnicState = state[PCI]
    found.symptoms, found.ended = {"S1": {"phase": "active"}}, {"S2": 1_700_000_000_000}
    found.qps_at, found.qps, found.down = 1_700_000_000_000, 7, 1_700_000_000_000
    found.back, found.behind = [1, 1_600_000_000_000], {"rnic": [1, 2, 1]}
    found.least, found.engine = {"deletion_ms": [1_700_000_000_000, 0.2]}, {"pairs": {}, "totals": {}, "shown": 1_700_000_000_000}
    found.transport, found.ets, found.np = {"form": 1, "rows": []}, [[0.5, [0, 1]], [0.5, [2]]], [1, 6]
    return found


PART = an_rnic().plain()


def saved(states: HostStates, partition: int = 0) -> dict[tuple[bytes, str], Any]:
    """What a checkpoint writes."""
    return {(host, name): unpacked(raw) for host, name, raw in states.take_unsaved(partition)}


def restored(entries: Mapping[tuple[bytes, str], bytes]) -> HostStates:
    """A process that starts with what others wrote."""
    states = HostStates()
    for (host, name), raw in entries.items():
        states.at_rest(0, host).restore(name, raw)
    return states


def test_a_part_comes_back_as_it_was_written() -> None:
    states = HostStates()
    states.of(0, HOST01)[PCI] = an_rnic()
    entries = {(host, name): raw for host, name, raw in states.take_unsaved(0)}
    assert restored(entries).of(0, HOST01)[PCI].plain() == PART
    everything = {"counters", "gbps", "moved", "mean", "most", "signs", "waits", "parts", "ended", "qps", "down", "back", "behind", "least"}
    assert everything | {"engine", "transport", "ets", "np"} <= PART.keys()


@pytest.mark.parametrize("count", [2**63, -1, 2**64 - 1])
def test_a_counter_of_a_size_that_none_has_is_missing(count: int) -> None:
    """A version before has kept it."""
    found = from_plain({**PART, "counters": {**PART["counters"], "np_cnp_sent": count}}).plain()
    assert "np_cnp_sent" not in found["counters"]
    assert {**found["counters"], "np_cnp_sent": 85} == PART["counters"]


def test_signals_that_are_no_longer_remembered_do_not_hide_others() -> None:
    """A version before remembered others that were measured."""
    found = from_plain({**PART, "ever": {"live_reoffloads_per_s": 1, "reoffload_ratio": 1, "pcie_share": 1}})
    assert found.ever == {"pcie_share"}
    assert found.ever is from_plain({**PART, "ever": {"pcie_share": 1}}).ever


def test_a_state_without_a_sample_comes_back_too() -> None:
    assert from_plain(unpacked(packed(RnicState().plain()))).plain() == RnicState().plain()


def test_a_part_that_is_only_read_is_not_written() -> None:
    states = restored({(HOST01, PCI): packed(PART)})
    assert states.of(0, HOST01)[PCI].plain() == PART
    assert set(states.of(0, HOST01)) == {PCI}
    assert saved(states) == {}


def test_only_what_was_assigned_is_written_and_only_once() -> None:
    states = restored({(HOST01, "host"): packed({"late": 1}), (HOST01, PCI): packed(PART)})
    assert states.of(0, HOST01).get("host") == {"late": 1}
    assert saved(states) == {}
    states.of(0, HOST01)["host"] = {"late": 2}
    assert saved(states) == {(HOST01, "host"): {"late": 2}}
    assert saved(states) == {}


def test_a_part_that_is_changed_between_checkpoints_is_written_as_it_is_at_the_second() -> None:
    states = HostStates()
    for late in (1, 2):
        for more in (0, 10):
            part = states.of(0, HOST01).get("host", {})
            part["late"] = late + more
            states.of(0, HOST01)["host"] = part
        assert saved(states) == {(HOST01, "host"): {"late": late + 10}}


def test_the_state_of_a_version_that_wrote_json_is_read() -> None:
    as_lists = {
        "newest": 1_700_000_000_000,
        "at": {},
        "fine": [],
        "coarse": [],
        "form": places().as_lists,
        "symptoms": {},
        "id": {},
        "ever": {},
    }
    assert unpacked(orjson.dumps(as_lists)) == as_lists == unpacked(packed(as_lists))
    assert restored({(HOST01, PCI): orjson.dumps(as_lists)}).of(0, HOST01)[PCI].newest == 1_700_000_000_000
    assert restored({(HOST01, "host"): orjson.dumps({"late": 1})}).of(0, HOST01).get("host") == {"late": 1}


def test_what_another_process_wrote_meanwhile_is_not_hidden_by_what_was_decoded_here() -> None:
    states = HostStates()
    states.of(0, HOST01)["host"] = {"late": 1}
    states.of(0, HOST01)[PCI] = an_rnic()
    saved(states)
    states.at_rest(0, HOST01).restore("host", packed({"late": 2}))  # the partition was elsewhere, and came back with its changelog
    states.at_rest(0, HOST01).restore(PCI, None)
    assert states.of(0, HOST01).get("host") == {"late": 2}
    assert states.of(0, HOST01).get(PCI) is None


def test_hosts_and_partitions_do_not_share_parts_that_look_alike() -> None:
    states = HostStates()
    for partition, host in ((0, HOST01), (0, HOST02), (1, HOST01)):
        states.of(partition, host)["host"] = {"late": 0}
    states.of(0, HOST01).get("host")["late"] = 5
    assert states.of(0, HOST02).get("host") == states.of(1, HOST01).get("host") == {"late": 0}
    states.drop(0)
    assert states.partitions == {1}
    assert saved(states, 0) == {}
    assert saved(states, 1) == {(HOST01, "host"): {"late": 0}}
    assert states.of(0, HOST01).get("host") is None


def test_hosts_that_were_not_used_for_long_are_encoded_and_lose_nothing() -> None:
    states = HostStates(most_decoded=2)
    hosts = [b"a", b"b", b"c"]
    for host in hosts:
        states.of(0, host)["host"] = {"name": host.decode()}
    first: HostState = states.at_rest(0, b"a")
    part = first.get("host")
    assert first.get("host") is part  # decoded again, and kept
    states.of(0, b"a")
    states.of(0, b"b"), states.of(0, b"c")
    assert first.get("host") is not part
    assert saved(states) == {(host, "host"): {"name": host.decode()} for host in hosts}


STORY = [
    message
    for second in range(0, 240, 5)
    for message in (
        port(second),
        datapath(second),
        offload(second, {"flows_offloaded": 7300, "flow_insertions_per_s": 40.0, "reoffloads_per_s": 36.0, "reoffload_ratio": 0.9})
        if 60 <= second < 120
        else offload(second),
        *([event(second, "command_timeout"), event(second, "soft_lockup", driver="mlx5_core")] if second == 150 else []),
    )
]


@pytest.mark.parametrize("lost", [0, 1, 7])
@pytest.mark.parametrize("most_decoded", [1, 256])
def test_a_partition_that_goes_from_process_to_process_loses_nothing_and_repeats_only_itself(lost: int, most_decoded: int) -> None:
    """Each process has a checkpoint after 20 messages; those after it are lost with the process, and the next one reads them again."""
    entries: dict[tuple[bytes, str], bytes] = {}
    at, found = 0, []
    while at < len(STORY):
        states = HostStates(most_decoded)
        for (host, name), raw in entries.items():
            states.at_rest(0, host).restore(name, raw)
        for number, message in enumerate(STORY[at : at + 20 + lost]):
            states.of(0, HOST02)["host"] = {"late": 0}  # with room for one host, each message encodes the other
            _, findings = step(states.of(0, HOST01), message)
            found += findings
            if number == 19:
                entries |= {(host, name): raw for host, name, raw in states.take_unsaved(0)}
        at += 20

    def unique(findings: list[dict[str, Any]]) -> list[bytes]:
        return list(dict.fromkeys(orjson.dumps(one, option=orjson.OPT_SORT_KEYS) for one in findings))

    once = detect(STORY)
    assert {f["symptom"] for f in once} == {"S1", "S2"}
    assert unique(found) == unique(once)
    assert lost > 0 or found == once
