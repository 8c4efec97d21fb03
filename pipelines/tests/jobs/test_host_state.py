"""What the job `classify` keeps of a host comes back as it was written, whoever wrote it."""

from typing import Any

import orjson
import pytest

from wallwatch.domain.symptoms.host_stage import step
from wallwatch.jobs.host_state import DecodedValues, HostState, packed, unpacked
from wallwatch_testing.stories import datapath, detect, event, offload, port


class Store:
    """Entries of one host."""

    def __init__(self) -> None:
        self.entries: dict[str, bytes] = {}

    def get_bytes(self, key: str) -> bytes | None:
        return self.entries.get(key)

    def set_bytes(self, key: str, value: bytes) -> None:
        self.entries[key] = value


PART = {"newest": 1_700_000_000_000, "fine": [[340_000_000, [1.5, None, 7]]], "symptoms": {"S1": {"phase": "active"}}}


def test_a_part_comes_back_as_it_was_written() -> None:
    store = Store()
    parts = HostState(store, DecodedValues(), "host01")
    parts["0000:3b:00.0"] = PART
    parts.save()
    assert HostState(store, DecodedValues(), "host01").get("0000:3b:00.0") == PART


def test_only_what_was_assigned_is_written() -> None:
    store = Store()
    store.entries["host"] = before = packed({"late": 1})
    parts = HostState(store, DecodedValues(), "host01")
    assert parts.get("host") == {"late": 1}
    parts.save()
    assert store.entries == {"host": before}


def test_the_state_of_a_version_that_wrote_json_is_read() -> None:
    assert unpacked(orjson.dumps(PART)) == PART == unpacked(packed(PART))


def test_what_another_process_wrote_meanwhile_is_not_hidden_by_what_was_decoded_here() -> None:
    store, decoded = Store(), DecodedValues()
    mine = HostState(store, decoded, "host01")
    mine["host"] = {"late": 1}
    mine.save()
    store.entries["host"] = packed({"late": 2})  # the partition was elsewhere, and came back with its changelog
    assert HostState(store, decoded, "host01").get("host") == {"late": 2}


def test_hosts_do_not_share_parts_that_look_alike() -> None:
    one, other, decoded = Store(), Store(), DecodedValues()
    for store, host in ((one, "host01"), (other, "host02")):
        parts = HostState(store, decoded, host)
        parts["host"] = {"late": 0}
        parts.save()
    HostState(one, decoded, "host01").get("host")["late"] = 5
    assert HostState(other, decoded, "host02").get("host") == {"late": 0}


def test_parts_that_were_not_used_for_long_are_forgotten_and_read_again() -> None:
    store, decoded = Store(), DecodedValues(most=2)
    for key in ("a", "b", "c"):
        parts = HostState(store, decoded, "host01")
        parts[key] = {"key": key}
        parts.save()
    assert len(decoded) == 2
    assert [HostState(store, decoded, "host01").get(key) for key in ("a", "b", "c")] == [{"key": "a"}, {"key": "b"}, {"key": "c"}]


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
def test_a_partition_that_goes_from_process_to_process_loses_nothing_and_repeats_only_itself(lost: int) -> None:
    """Each process has a checkpoint after 20 messages; those after it are lost with the process, and the next one reads them again."""
    store, at, found = Store(), 0, []
    processes = [DecodedValues(), DecodedValues()]  # a partition may come back to a process that remembers it
    while at < len(STORY):
        decoded = processes[at // 20 % 2]
        committed: dict[str, bytes] = {}
        for number, message in enumerate(STORY[at : at + 20 + lost]):
            parts = HostState(store, decoded, "host01")
            _, findings = step(parts, message)
            parts.save()
            found += findings
            if number == 19:
                committed = dict(store.entries)
        at += 20
        store.entries = committed or store.entries

    def unique(findings: list[dict[str, Any]]) -> list[bytes]:
        return list(dict.fromkeys(orjson.dumps(one, option=orjson.OPT_SORT_KEYS) for one in findings))

    once = detect(STORY)
    assert {f["symptom"] for f in once} == {"S1", "S2"}
    assert unique(found) == unique(once)
    assert lost > 0 or found == once
