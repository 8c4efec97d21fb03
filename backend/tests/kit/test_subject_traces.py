"""One incident in one trace, from its finding to the receiver of its webhook, and its remedy from the request to the proof.

The spans are those that a receiver of OTLP gets from a server that runs, and the trace is found by the incident's id alone.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from wallwatch_backend.kit.subject_traces import ROOT, span_id
from wallwatch_testing.local_http import LocalHttp, QuietHandler
from wallwatch_testing.otlp import TraceReceiver, values

PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def traces() -> Iterator[TraceReceiver]:
    receiver = TraceReceiver()
    yield receiver
    receiver.stop()


@pytest.fixture(scope="module")
def backend_settings(traces: TraceReceiver) -> dict[str, object]:
    return {"traces_endpoint": traces.url, "webhook_retry_base_s": 0.2, "remedy_watch_s": 0.1}


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[str | None]]]:
    """Address of a receiver that refuses its first request, and the header `traceparent` of each."""
    headers: list[str | None] = []

    class Handler(QuietHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            headers.append(self.headers.get("traceparent"))
            self.send_response(503 if len(headers) == 1 else 204)
            self.end_headers()

    server = LocalHttp(Handler)
    yield f"{server.url}/hook?key=of-the-receiver", headers
    server.stop()


@pytest.fixture
def webhook(admin: httpx.Client, receiver: tuple[str, list[str | None]]) -> Iterator[Callable[..., str]]:
    """A function that lets the receiver hear of a host; it returns the webhook's path."""
    paths = []

    def subscribe(host: str, *events: str) -> str:
        body = {"name": "w", "url": receiver[0], "events": list(events), "matchers": [{"name": "host", "value": host}]}
        made = admin.post("/api/v1/webhooks", json=body)
        assert made.status_code == 201, made.text
        paths.append(f"/api/v1/webhooks/{made.json()['id']}")
        return paths[-1]

    yield subscribe
    for path in paths:
        admin.delete(path)


def trace_of(traces: TraceReceiver, subject: UUID) -> list[Span]:
    return sorted((span for span in traces.spans() if span.trace_id == subject.bytes), key=lambda span: span.start_time_unix_nano)


def named(spans: list[Span], name: str) -> list[Span]:
    return [span for span in spans if span.name == name]


def seconds(span: Span) -> float:
    return float(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9


def test_a_finding_its_incident_and_its_webhook_are_one_trace(
    traces: TraceReceiver, admin: httpx.Client, operator: httpx.Client, receiver: Any, webhook: Any, findings: Any, eventually: Any
) -> None:
    host, started = f"trace-{uuid4().hex[:8]}", datetime.now(UTC) - timedelta(seconds=60)
    path = webhook(host, "incident.opened", "incident.updated", "incident.resolved")
    findings.send(findings.finding(host=host, started=started, after_s=20))
    [incident] = eventually(lambda: operator.get("/api/v1/incidents", params={"host": host}).json()["items"])
    subject = UUID(incident["id"])
    eventually(lambda: len(named(trace_of(traces, subject), "send incident.opened")) == 2)
    spans = trace_of(traces, subject)
    root_id = span_id(subject, ROOT).to_bytes(8)
    [root] = [span for span in spans if not span.parent_span_id]
    assert (root.name, root.span_id, values(root)["wallwatch.host"]) == ("incident S1", root_id, host)
    [finding] = named(spans, "finding begins")
    parts = [span for span in spans if span.parent_span_id == finding.span_id]
    assert [span.name for span in parts] == ["symptom lasts until it is recognised", "host, Kafka and classify", "Kafka and grouping"]
    assert seconds(parts[0]) == pytest.approx(20)
    assert [later.start_time_unix_nano for later in parts[1:]] == [earlier.end_time_unix_nano for earlier in parts[:-1]]
    assert seconds(finding) == pytest.approx(sum(map(seconds, parts)))
    first, second = named(spans, "send incident.opened")
    assert [values(span)["http.response.status_code"] for span in (first, second)] == [503, 204]
    assert [span.status.code for span in (first, second)] == [Status.STATUS_CODE_ERROR, Status.STATUS_CODE_UNSET]
    assert {span.parent_span_id for span in (first, second, finding)} == {root_id}
    # A receiver that traces what it does goes on below the attempt that reached it.
    assert receiver[1] == [f"00-{subject.hex}-{span.span_id.hex()}-01" for span in (first, second)]
    assert "of-the-receiver" not in str(traces.requests)

    # What a person sends again is one more attempt, though attempts are counted again.
    [opened] = [each for each in admin.get(f"{path}/deliveries").json()["items"] if each["event"] == "incident.opened"]
    replayed = admin.post(f"{path}/deliveries/{opened['id']}/replay")
    assert replayed.is_success, replayed.text
    sent = eventually(lambda: (found := named(trace_of(traces, subject), "send incident.opened"))[2:] and found)
    assert len({span.span_id for span in sent}) == len(sent) == 3

    # What a person does points to the request.
    answer = operator.post(f"/api/v1/incidents/{subject}/acknowledge", headers={"traceparent": f"00-{uuid4().hex}-{'1' * 16}-01"})
    assert answer.is_success, answer.text
    [updated] = eventually(lambda: named(trace_of(traces, subject), "incident.updated"))
    [link] = updated.links
    [request] = eventually(lambda: [span for span in traces.spans() if span.span_id == link.span_id])
    assert request.name == "POST /api/v1/incidents/{incident_id}/acknowledge"


def test_a_remedy_is_a_trace_that_its_incident_points_to(
    traces: TraceReceiver, backend: Any, admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any,
    receiver: Any, webhook: Any, findings: Any, eventually: Any,
) -> None:  # fmt: skip
    agent = fake_agents.enrol(admin, anonymous, f"trace-{uuid4().hex[:8]}")
    agent.credentials["opamp_url"] = backend.url.replace("http", "ws") + "/v1/opamp"
    webhook(agent.host, "remedy.change_confirmed")
    findings.send(findings.finding(host=agent.host, started=datetime.now(UTC)))
    [incident] = eventually(lambda: operator.get("/api/v1/incidents", params={"host": agent.host}).json()["items"])
    with agent:
        body = {"action": "pace-vf-unbinding", "host": agent.host, "pci": PCI, "params": {"interval_ms": 500}, "mode": "apply"}
        ordered = operator.post("/api/v1/remedies", json={**body, "incident_id": incident["id"], "propose": True})
        assert ordered.status_code == 201, ordered.text
        remedy = UUID(ordered.json()["id"])
        assert admin.post(f"/api/v1/remedies/{remedy}/approve").is_success
        eventually(lambda: len(named(trace_of(traces, remedy), "send remedy.change_confirmed")) == 2)
        assert operator.post(f"/api/v1/remedies/{remedy}/undo").is_success
        eventually(lambda: named(trace_of(traces, remedy), "undo on the host"))
    spans = trace_of(traces, remedy)
    [root] = [span for span in spans if not span.parent_span_id]
    assert (root.name, values(root)["wallwatch.state"]) == ("remedy pace-vf-unbinding", "change_confirmed")
    steps = ["wait for approval", "wait for the agent", "apply on the host", "verify"]
    assert [span.name for span in spans if span.name in steps and span.end_time_unix_nano <= root.end_time_unix_nano] == steps
    assert all(span.parent_span_id == root.span_id for span in spans if span is not root)
    [step] = eventually(lambda: named(trace_of(traces, UUID(incident["id"])), "remedy pace-vf-unbinding"))
    assert [(link.trace_id, link.span_id) for link in step.links] == [(remedy.bytes, root.span_id)]
    assert [link.trace_id for link in root.links] == [UUID(incident["id"]).bytes]
    links = [link.span_id for name in ("remedy pending", "remedy approved") for link in named(spans, name)[0].links]

    def requests() -> list[str]:
        """Requests are sent apart from remedies, perhaps later."""
        names = {span.span_id: span.name for span in traces.spans()}
        return [names[link] for link in links if link in names]

    eventually(lambda: len(requests()) == len(links))
    assert requests() == ["POST /api/v1/remedies", "POST /api/v1/remedies/{remedy_id}/approve"]
