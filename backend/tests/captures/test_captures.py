"""Uploading, analysing, showing, attaching and deleting captures."""

import gzip
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.roce_frames import Conversation, pcap

CAPTURES = "/api/v1/captures"


def lossy() -> bytes:
    talk = Conversation(100)
    for number in (0, 1, 3, 4):
        talk.data(number)
    talk.nack(2)
    for number in (2, 3, 4, 5):
        talk.data(number, after_ns=4000)
    talk.answer(5)
    return pcap(talk.frames)


def upload(client: httpx.Client, content: bytes, **query: Any) -> httpx.Response:
    return client.post(CAPTURES, params={"name": "a.pcap", **query}, content=content)


def ended(client: httpx.Client, capture_id: str) -> dict[str, Any]:
    for _ in range(600):
        shown: dict[str, Any] = client.get(f"{CAPTURES}/{capture_id}").json()
        if shown["state"] in ("done", "failed"):
            return shown
        time.sleep(0.2)
    raise AssertionError(shown)


def test_a_capture_is_uploaded_analysed_and_shown(operator: httpx.Client, viewer: httpx.Client) -> None:
    answer = upload(operator, gzip.compress(lossy()), rtt_us=2)
    assert answer.status_code == 201, answer.text
    assert answer.json()["state"] == "queued"
    shown = ended(viewer, answer.json()["id"])
    assert (shown["state"], shown["problem"], shown["progress"]) == ("done", None, 1)
    assert (shown["summary"]["retransmissions"], shown["summary"]["conforms"]) == (1, True)
    analysis = shown["analysis"]
    assert [(row["psn"], row["kind"], row["frame_nack"]) for row in analysis["retransmissions"]] == [(102, "nack", 5)]
    assert analysis["half_rtt"] == {
        "rtt_ns": 2000, "source": "given", "corrected": [{"frame_retransmission": 6, "nack_generation_ns": 2000, "nack_reaction_ns": 3000}]
    }  # fmt: skip
    (label,) = shown["series"]
    series = viewer.get(f"{CAPTURES}/{shown['id']}/series/{label['place']}").json()
    assert len(series["points"]) == 8
    assert [psn for _, psn in series["nacks"]] == [102]
    assert [(psn, kind) for _, psn, kind in series["resent"]] == [(102, "nack")]
    assert viewer.get(CAPTURES).json()["items"][0]["id"] == shown["id"]
    download = viewer.get(f"{CAPTURES}/{shown['id']}/analysis")
    assert download.json()["retransmissions"] == analysis["retransmissions"]
    assert "attachment" in download.headers["content-disposition"]
    assert viewer.get(f"{CAPTURES}/{shown['id']}/series/99").json()["code"] == "not_found"


def test_latencies_are_compared_with_published_ones(operator: httpx.Client) -> None:
    shown = ended(operator, upload(operator, lossy()).json()["id"])
    models = {model["id"]: model for model in operator.get(f"{CAPTURES}/models").json()["items"]}
    assert models["e810"]["read"]["nack_generation_us"] == [83000, 83000]
    found = operator.get(f"{CAPTURES}/{shown['id']}/verdicts", params={"model": "cx4-lx"}).json()["items"]
    assert [(row["generation"], row["reaction"]) for row in found] == [("unknown", "faster")]
    assert operator.get(f"{CAPTURES}/{shown['id']}/verdicts", params={"model": "cx9"}).json()["code"] == "transport_model_unknown"


def test_a_damaged_capture_fails_in_words(operator: httpx.Client) -> None:
    shown = ended(operator, upload(operator, b"\xd4\xc3\xb2\xa1short").json()["id"])
    assert (shown["state"], shown["summary"], shown["analysis"]) == ("failed", None, None)
    assert "ends inside pcap's file header" in shown["problem"]
    incident = {"incident_id": str(uuid4())}
    assert operator.post(f"{CAPTURES}/{shown['id']}/attach", json=incident).json()["code"] == "capture_not_analysed"


@pytest.mark.parametrize(
    ("content", "query", "status", "code"),
    [
        (b"PK\x03\x04 no capture", {}, 422, "not_a_capture"),
        (b"", {}, 422, "not_a_capture"),
        (b"\xd4\xc3\xb2\xa1", {"roce_port": "70000"}, 422, "capture_option_invalid"),
        (b"\xd4\xc3\xb2\xa1", {"qp": "10.0.0.1:1"}, 422, "capture_option_invalid"),
        (b"\xd4\xc3\xb2\xa1", {"events": "other"}, 422, "invalid_input"),
        (b"\xd4\xc3\xb2\xa1", {"qp": "1" * 150}, 422, "invalid_input"),
        (b"\xd4\xc3\xb2\xa1", {"rtt_us": "nan"}, 422, "invalid_input"),
        (b"\xd4\xc3\xb2\xa1", {"name": ""}, 422, "invalid_input"),
    ],
)
def test_what_cannot_be_analysed_is_refused(operator: httpx.Client, content: bytes, query: dict[str, str], status: int, code: str) -> None:
    answer = upload(operator, content, **query)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


def test_a_file_that_is_too_large_is_refused_by_its_length_and_while_it_arrives(operator: httpx.Client, replica: Any) -> None:
    small = replica(capture_max_bytes=1_000_000)
    with httpx.Client(base_url=small, cookies=operator.cookies, headers=operator.headers, timeout=120) as client:
        known = client.post(CAPTURES, params={"name": "x"}, content=b"\xd4\xc3\xb2\xa1" + bytes(1_000_000))
        assert (known.status_code, known.json()["code"]) == (413, "capture_too_large")

        def pieces() -> Iterator[bytes]:
            yield b"\xd4\xc3\xb2\xa1"
            for _ in range(40):
                yield bytes(50_000)

        assert client.post(CAPTURES, params={"name": "x"}, content=pieces()).json()["code"] == "capture_too_large"
        assert upload(client, lossy()).status_code == 201, "nothing of the refused files is left"


def test_an_analysis_that_needs_too_much_memory_is_ended_and_the_server_lives(operator: httpx.Client, replica: Any) -> None:
    hurried = replica(capture_memory_mb=64)
    with httpx.Client(base_url=hurried, cookies=operator.cookies, headers=operator.headers, timeout=120) as client:
        shown = ended(client, upload(client, lossy()).json()["id"])
        assert shown["state"] == "failed"
        assert "memory" in shown["problem"]


@pytest.fixture
def incident(operator: httpx.Client, findings: Any, eventually: Any) -> str:
    host = f"capture-{uuid4().hex[:6]}"
    findings.send(findings.finding(host=host, started=datetime.now(UTC)))
    found = eventually(lambda: operator.get("/api/v1/incidents", params={"host": host}).json()["items"])
    return str(found[0]["id"])


def test_a_capture_becomes_part_of_an_incident_and_is_deleted(operator: httpx.Client, incident: str) -> None:
    shown = ended(operator, upload(operator, lossy()).json()["id"])
    attached = operator.post(f"{CAPTURES}/{shown['id']}/attach", json={"incident_id": incident})
    assert attached.status_code == 201, attached.text
    assert "1 retransmission (0 by timeout)" in attached.json()["text"]
    entry = operator.get(f"/api/v1/incidents/{incident}").json()["timeline"][-1]
    assert (entry["kind"], entry["data"]) == ("capture", {"capture_id": shown["id"]})
    assert operator.delete(f"{CAPTURES}/{shown['id']}").status_code == 204
    assert operator.get(f"{CAPTURES}/{shown['id']}").json()["code"] == "not_found"


def test_the_audit_log_says_who_uploaded_what(operator: httpx.Client, admin: httpx.Client) -> None:
    name = f"{uuid4()}.pcap"
    shown = ended(operator, upload(operator, lossy(), name=name).json()["id"])
    operator.delete(f"{CAPTURES}/{shown['id']}")
    entries = [row for row in admin.get("/api/v1/audit", params={"limit": 50}).json()["items"] if row["target"] == name]
    assert [row["action"] for row in reversed(entries)] == ["capture.upload", "capture.done", "capture.delete"]
