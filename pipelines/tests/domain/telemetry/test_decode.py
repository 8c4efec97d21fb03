"""Messages as they come from Kafka, good and bad."""

import json
from typing import Any

import pytest

from wallwatch.domain.symptoms.decode_finding import decode_finding
from wallwatch.domain.telemetry.decode import Refused, decode
from wallwatch.domain.telemetry.registry import measurements

OFFLOAD = measurements()["rnic_offload"]
VF = measurements()["rnic_vf"]
NOW_NS = 1_790_000_000_000_000_000
GOOD: dict[str, Any] = {
    "name": "rnic_offload",
    "timestamp": NOW_NS,
    "tags": {"host": "h1", "pci": "0000:3B:00.0", "rack": "r1"},
    "fields": {"flows_offloaded": 3},
}
FINDING: dict[str, Any] = {
    "finding_id": "c13b6818-4c73-5c9d-ad01-a042f2e88943", "host": "h1", "pci": "0000:3b:00.0", "rack": "", "symptom": "S1",
    "state": "active",
    "started_at": "2026-09-21T14:13:20.000Z", "at": "2026-09-21T14:13:40Z", "severity": "warning", "blast_radius": "flows", "rule": "S1/1",
    "title": "t", "summary": "s", "evidence": [], "hypotheses": [], "remedies": [],
}  # fmt: skip


def test_a_good_message_gives_its_tags_time_and_fields() -> None:
    tags, at_ns, fields = decode(json.dumps(GOOD).encode(), OFFLOAD, NOW_NS)
    assert (tags["pci"], at_ns, fields) == ("0000:3b:00.0", NOW_NS, {"flows_offloaded": 3})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "empty"),
        (b"", "not_json"),
        (b'{"name": "rnic_off', "not_json"),
        (b"\xff\xfe", "not_json"),
        (b"[1, 2]", "not_an_object"),
        (b"null", "not_an_object"),
        (json.dumps({**GOOD, "tags": {**GOOD["tags"], "rack": "a\0b"}}).encode(), "nul_character"),
    ],
)
def test_what_is_no_json_object_is_refused(value: bytes | None, reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        decode(value, OFFLOAD, NOW_NS)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "rnic"}, "wrong_measurement"),
        ({"name": "nonsense"}, "wrong_measurement"),
        ({"name": None}, "wrong_measurement"),
        ({"tags": {"host": "h1"}}, "missing_tag"),
        ({"tags": {"host": "", "pci": "x"}}, "missing_tag"),
        ({"tags": {"host": "h1", "pci": "x", "rack": 4}}, "wrong_type"),
        ({"tags": {"host": ["h"], "pci": "x"}}, "wrong_type"),
        ({"tags": None}, "wrong_type"),
        ({"fields": [1]}, "wrong_type"),
        ({"timestamp": NOW_NS // 1000}, "bad_timestamp"),
        ({"timestamp": NOW_NS + 1}, "bad_timestamp"),
        ({"timestamp": 0}, "bad_timestamp"),
        ({"timestamp": float(NOW_NS)}, "bad_timestamp"),
        ({"timestamp": "now"}, "bad_timestamp"),
        ({"timestamp": True}, "bad_timestamp"),
    ],
)
def test_a_wrong_envelope_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        decode(json.dumps({**GOOD, **change}).encode(), OFFLOAD, NOW_NS)
    assert refusal.value.reason == reason


def test_a_good_finding_is_read() -> None:
    assert decode_finding(json.dumps(FINDING).encode())["symptom"] == "S1"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"host": ""}, "missing_field"),
        ({"evidence": None}, "missing_field"),
        ({"state": "over"}, "out_of_range"),
        ({"at": "yesterday"}, "bad_timestamp"),
        ({"at": "2026-09-21T14:13:40"}, "bad_timestamp"),
        ({"finding_id": "7"}, "wrong_type"),
    ],
)
def test_a_bad_finding_is_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        decode_finding(json.dumps({**FINDING, **change}).encode())
    assert refusal.value.reason == reason


def virtual_function(number: str) -> bytes:
    return json.dumps({**GOOD, "name": "rnic_vf", "tags": {**GOOD["tags"], "vf": number}, "fields": {"tx_bytes": 1}}).encode()


@pytest.mark.parametrize("number", ["0", "7", "65535"])
def test_a_virtual_function_has_a_number(number: str) -> None:
    assert decode(virtual_function(number), VF, NOW_NS).tags["vf"] == number


@pytest.mark.parametrize(
    ("number", "reason"), [("", "missing_tag"), *((wrong, "bad_identity") for wrong in ("first", "-1", "65536", "٣", "007"))]
)
def test_a_virtual_function_without_a_number_is_refused(number: str, reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        decode(virtual_function(number), VF, NOW_NS)
    assert refusal.value.reason == reason


POLICY = measurements()["policy_state"]
STATE: dict[str, Any] = {
    "name": "policy_state",
    "timestamp": NOW_NS,
    "tags": {"host": "", "policy": "address-one-container"},
    "fields": {"subjects": 3},
}


def test_the_server_reports_all_hosts_under_an_empty_name() -> None:
    assert decode(json.dumps(STATE).encode(), POLICY, NOW_NS).tags["host"] == ""


@pytest.mark.parametrize("tags", [{"policy": "p"}, {"host": "h1"}, {"host": "h1", "policy": ""}])
def test_a_policys_state_without_host_or_policy_is_refused(tags: dict[str, str]) -> None:
    with pytest.raises(Refused) as refusal:
        decode(json.dumps({**STATE, "tags": tags}).encode(), POLICY, NOW_NS)
    assert refusal.value.reason == "missing_tag"


@pytest.mark.parametrize("value", [None, "", 7, ["x"], {"x": 1}, True])
@pytest.mark.parametrize(
    "name", ["finding_id", "host", "symptom", "state", "started_at", "at", "severity", "blast_radius", "rule", "title", "summary"]
)
def test_each_text_of_a_finding_is_there_and_is_text(name: str, value: object) -> None:
    with pytest.raises(Refused, match=f"the finding's '{name}' is missing or is not text") as refusal:
        decode_finding(json.dumps({**FINDING, name: value}).encode())
    assert refusal.value.reason == "missing_field"


@pytest.mark.parametrize("name", ["pci", "rack", "explanation", "model", "driver", "fw_ver"])
def test_a_text_that_may_be_empty_is_empty_where_it_is_absent_and_never_a_number(name: str) -> None:
    without = {key: value for key, value in FINDING.items() if key != name}
    assert decode_finding(json.dumps(without).encode())[name] == ""
    assert decode_finding(json.dumps({**FINDING, name: ""}).encode())[name] == ""
    wrong: tuple[object, ...] = (7, None, [])
    for value in wrong:
        with pytest.raises(Refused, match=f"the finding's '{name}' is not text") as refusal:
            decode_finding(json.dumps({**FINDING, name: value}).encode())
        assert refusal.value.reason == "wrong_type"


@pytest.mark.parametrize("name", ["evidence", "hypotheses", "remedies"])
@pytest.mark.parametrize("value", [None, "x", {}, 7])
def test_each_list_of_a_finding_is_there_and_is_a_list(name: str, value: object) -> None:
    with pytest.raises(Refused, match=f"the finding's '{name}' is missing or is not a list"):
        decode_finding(json.dumps({**FINDING, name: value}).encode())


@pytest.mark.parametrize("state", ["active", "cleared"])
def test_a_finding_is_active_or_cleared(state: str) -> None:
    assert decode_finding(json.dumps({**FINDING, "state": state}).encode())["state"] == state
