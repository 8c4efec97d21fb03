"""What the job `classify` keeps of a host comes back as it was written, whoever wrote it."""

import orjson

from wallwatch.jobs.parts import DecodedParts, Parts, packed, unpacked


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
    parts = Parts(store, DecodedParts(), "host01")
    parts["0000:3b:00.0"] = PART
    parts.save()
    assert Parts(store, DecodedParts(), "host01").get("0000:3b:00.0") == PART


def test_only_what_was_assigned_is_written() -> None:
    store = Store()
    store.entries["host"] = before = packed({"late": 1})
    parts = Parts(store, DecodedParts(), "host01")
    assert parts.get("host") == {"late": 1}
    parts.save()
    assert store.entries == {"host": before}


def test_the_state_of_a_version_that_wrote_json_is_read() -> None:
    assert unpacked(orjson.dumps(PART)) == PART == unpacked(packed(PART))


def test_what_another_process_wrote_meanwhile_is_not_hidden_by_what_was_decoded_here() -> None:
    store, decoded = Store(), DecodedParts()
    mine = Parts(store, decoded, "host01")
    mine["host"] = {"late": 1}
    mine.save()
    store.entries["host"] = packed({"late": 2})  # the partition was elsewhere, and came back with its changelog
    assert Parts(store, decoded, "host01").get("host") == {"late": 2}


def test_hosts_do_not_share_parts_that_look_alike() -> None:
    one, other, decoded = Store(), Store(), DecodedParts()
    for store, host in ((one, "host01"), (other, "host02")):
        parts = Parts(store, decoded, host)
        parts["host"] = {"late": 0}
        parts.save()
    Parts(one, decoded, "host01").get("host")["late"] = 5
    assert Parts(other, decoded, "host02").get("host") == {"late": 0}


def test_parts_that_were_not_used_for_long_are_forgotten_and_read_again() -> None:
    store, decoded = Store(), DecodedParts(most=2)
    for key in ("a", "b", "c"):
        parts = Parts(store, decoded, "host01")
        parts[key] = {"key": key}
        parts.save()
    assert len(decoded) == 2
    assert [Parts(store, decoded, "host01").get(key) for key in ("a", "b", "c")] == [{"key": "a"}, {"key": "b"}, {"key": "c"}]
