"""Telemetry keys: who may write in the name of a host."""

import json

import pytest

from wallwatch.domain.telemetry.decode import Refused, Sender, decode
from wallwatch.domain.telemetry.keys import PREFIX, BadSecret, Keys, format_secrets, key_of, parse_secrets, without_keys
from wallwatch.domain.telemetry.registry import measurements

NOW_NS = 1_790_000_000_000_000_000
FORMER, CURRENT, OTHER = b"f" * 32, b"c" * 32, b"o" * 32


def test_a_host_proves_its_own_name_only() -> None:
    keys = Keys([CURRENT])
    assert keys.proves("host01", key_of(CURRENT, "host01"))
    assert not keys.proves("host02", key_of(CURRENT, "host01"))
    assert not keys.proves("HOST01", key_of(CURRENT, "host01"))
    assert not keys.proves("host01", key_of(OTHER, "host01"))


@pytest.mark.parametrize("key", [None, "", 7, True, ["x"], PREFIX, "wwt1_" + "A" * 43, "é" * 48, "x" * 100_000])
def test_what_is_no_key_proves_nothing(key: object) -> None:
    assert not Keys([CURRENT]).proves("host01", key)


def test_while_a_rotation_lasts_both_secrets_count_and_then_only_the_new_one() -> None:
    during, after = Keys([CURRENT, FORMER]), Keys([CURRENT])
    for secret in (CURRENT, FORMER):
        assert during.proves("host01", key_of(secret, "host01"))
    assert during.of("host01") == key_of(CURRENT, "host01")
    assert not after.proves("host01", key_of(FORMER, "host01"))


def test_a_key_is_computed_once_per_pair_and_the_memory_is_bounded() -> None:
    keys = Keys([CURRENT], most=3)
    for _ in range(1000):
        assert keys.proves("host01", key_of(CURRENT, "host01"))
    assert keys.computed == 1
    for number in range(100):
        assert keys.proves(f"h{number}", key_of(CURRENT, f"h{number}"))
        assert not keys.proves(f"h{number}", "wwt1_guess"), "a guess neither counts nor replaces what is remembered"
    assert len(keys._right) <= 3


def test_a_secret_file_has_the_current_secret_first() -> None:
    assert parse_secrets("# comment\n" + format_secrets([CURRENT, FORMER])) == (CURRENT, FORMER)


@pytest.mark.parametrize("text", ["", "# only\n", "short\n", "c2hvcnQ\n", "!" * 44, format_secrets([CURRENT] * 3)])
def test_a_file_without_usable_secrets_is_refused_and_not_quoted(text: str) -> None:
    with pytest.raises(BadSecret) as refusal:
        parse_secrets(text)
    assert "short" not in str(refusal.value).replace("too short", "")
    assert "!!!" not in str(refusal.value)


def offload(host: str, key: str | None) -> bytes:
    tags = {"host": host, "pci": "0000:3b:00.0"} | ({} if key is None else {"telemetry_key": key})
    return json.dumps({"name": "rnic_offload", "timestamp": NOW_NS, "tags": tags, "fields": {}}).encode()


def test_a_proven_message_is_read_and_its_key_is_not_part_of_it() -> None:
    sender = Sender(b"host01", Keys([CURRENT]).proves)
    key = key_of(CURRENT, "host01")
    for who in (sender, None):
        assert decode(offload("host01", key), measurements()["rnic_offload"], NOW_NS, who).tags == {"host": "host01", "pci": "0000:3b:00.0"}


@pytest.mark.parametrize(
    ("record_key", "host", "key"),
    [
        (b"host02", "host02", key_of(CURRENT, "host01")),  # host01 claims to be host02
        (b"host02", "host01", key_of(CURRENT, "host01")),  # its own name, in the place of host02's state
        (b"host01", "host01", None),
        (None, "host01", key_of(CURRENT, "host01")),
        (b"host01", "host01", ""),
        (b"host01", "host01", key_of(OTHER, "host01")),
    ],
)
def test_what_comes_under_a_wrong_name_is_refused_without_the_key_in_the_reason(
    record_key: bytes | None, host: str, key: str | None
) -> None:
    with pytest.raises(Refused) as refusal:
        decode(offload(host, key), measurements()["rnic_offload"], NOW_NS, Sender(record_key, Keys([CURRENT]).proves))
    assert refusal.value.reason == "wrong_principal"
    assert PREFIX not in str(refusal.value)


def test_only_the_server_writes_in_the_name_of_no_host() -> None:
    def state(key: str) -> bytes:
        tags = {"host": "", "policy": "p", "telemetry_key": key}
        return json.dumps({"name": "policy_state", "timestamp": NOW_NS, "tags": tags, "fields": {}}).encode()

    sender = Sender(b"p", Keys([CURRENT]).proves)
    assert decode(state(key_of(CURRENT, "")), measurements()["policy_state"], NOW_NS, sender).tags["host"] == ""
    with pytest.raises(Refused):
        decode(state(key_of(CURRENT, "host01")), measurements()["policy_state"], NOW_NS, sender)


def test_keys_are_removed_from_what_is_stored() -> None:
    key = key_of(CURRENT, "host01").encode()
    torn = offload("host01", key.decode())[:-30] + b" " + key
    assert key not in without_keys(torn)
    assert without_keys(torn).count(b"wwt1_removed") == torn.count(b"wwt1_")
