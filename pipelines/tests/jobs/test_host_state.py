"""What the job `classify` keeps of a host comes back as it was written, whoever wrote it."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from wallwatch.domain.symptoms.host_stage import step
from wallwatch.jobs.host_state import HostState, HostStates, packed, unpacked
from wallwatch_testing.stories import datapath, detect, event, offload, port

PART = {"newest": 1_700_000_000_000, "fine": [[340_000_000, [1.5, None, 7]]], "symptoms": {"S1": {"phase": "active"}}}
HOST01, HOST02 = b"host01", b"host02"


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
    states.of(0, HOST01)["0000:3b:00.0"] = PART
    entries = {(host, name): raw for host, name, raw in states.take_unsaved(0)}
    assert restored(entries).of(0, HOST01).get("0000:3b:00.0") == PART


def test_only_what_was_assigned_is_written_and_only_once() -> None:
    states = restored({(HOST01, "host"): packed({"late": 1}), (HOST01, "0000:3b:00.0"): packed(PART)})
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
    assert unpacked(orjson.dumps(PART)) == PART == unpacked(packed(PART))
    assert restored({(HOST01, "host"): orjson.dumps({"late": 1})}).of(0, HOST01).get("host") == {"late": 1}


def test_what_another_process_wrote_meanwhile_is_not_hidden_by_what_was_decoded_here() -> None:
    states = HostStates()
    states.of(0, HOST01)["host"] = {"late": 1}
    states.of(0, HOST01)["0000:3b:00.0"] = PART
    saved(states)
    states.at_rest(0, HOST01).restore("host", packed({"late": 2}))  # the partition was elsewhere, and came back with its changelog
    states.at_rest(0, HOST01).restore("0000:3b:00.0", None)
    assert states.of(0, HOST01).get("host") == {"late": 2}
    assert states.of(0, HOST01).get("0000:3b:00.0") is None


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
