"""The ticket connectors in docs/examples, run as programs against the real backend and stubs of the two ticket systems."""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest

from wallwatch_local.paths import REPOSITORY
from wallwatch_testing.local_http import LocalHttp, QuietHandler

EXAMPLES = REPOSITORY / "docs" / "examples" / "tickets"
Answer = tuple[int, Any]


class Stub:
    """An HTTP server with tickets in memory; `answer` is what one system does, and refuses what that system refuses."""

    kind = ""
    authorization = ""

    def __init__(self) -> None:
        self.tickets: dict[str, dict[str, Any]] = {}
        self.writes: list[tuple[str, str]] = []
        self.down = False
        stub = self

        class Handler(QuietHandler):
            def _do(self) -> None:
                parts = urlsplit(self.path)
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                status, body = 503, {"error": "down"}
                if self.headers["authorization"] != stub.authorization:
                    status, body = 401, {"error": "who are you"}
                elif not stub.down:
                    status, body = stub.answer(self.command, parts.path, query, json.loads(raw) if raw else None)
                if self.command != "GET" and status < 300:
                    stub.writes.append((self.command, parts.path))
                out = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            do_GET = do_POST = do_PUT = do_PATCH = _do

        self._server = LocalHttp(Handler)
        self.url = self._server.url

    def stop(self) -> None:
        self._server.stop()

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        raise NotImplementedError

    def of(self, incident_id: str) -> list[dict[str, Any]]:
        """Tickets of an incident, as `title`, `critical`, `ended`."""
        raise NotImplementedError

    @property
    def environment(self) -> dict[str, str]:
        raise NotImplementedError


class JiraStub(Stub):
    """The requests of Jira's REST API that the connector sends."""

    kind = "jira"
    authorization = "Bearer jira-token"
    CATEGORIES: ClassVar = {"Open": "new", "In Progress": "indeterminate", "Done": "done"}

    def _status(self, name: str) -> dict[str, Any]:
        return {"name": name, "statusCategory": {"key": self.CATEGORIES[name]}}

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        if (method, path) == ("GET", "/rest/api/2/search"):
            label = re.fullmatch(r'project = "OPS" AND labels = "(wallwatch-[0-9a-f-]+)"', query["jql"])
            assert label is not None
            return 200, {"issues": [{"key": key} for key, fields in self.tickets.items() if label[1] in fields["labels"]][:1]}
        if (method, path) == ("POST", "/rest/api/2/issue"):
            fields = body["fields"]
            if set(fields) != {"project", "issuetype", "labels", "summary", "description", "priority"}:
                return 400, {"errorMessages": ["a field is missing or cannot be set"]}
            key = f"OPS-{len(self.tickets) + 1}"
            self.tickets[key] = {**fields, "priority": {"id": "1", **fields["priority"]}, "status": self._status("Open")}
            return 201, {"key": key}
        found = re.fullmatch(r"/rest/api/2/issue/(OPS-\d+)(/transitions)?", path)
        if found is None or found[1] not in self.tickets:
            return 404, {"errorMessages": ["Issue does not exist"]}
        fields = self.tickets[found[1]]
        if found[2]:
            if method == "GET":
                return 200, {"transitions": [{"id": name, "to": self._status(name)} for name in self.CATEGORIES]}
            fields["status"] = self._status(body["transition"]["id"])
            return 204, None
        if method == "PUT":
            fields.update(body["fields"])
            return 204, None
        return 200, {"key": found[1], "fields": fields}

    def of(self, incident_id: str) -> list[dict[str, Any]]:
        return [
            {"title": f["summary"], "critical": f["priority"]["name"] == "Highest", "ended": f["status"]["name"] == "Done", "key": key}
            for key, f in self.tickets.items()
            if f"wallwatch-{incident_id}" in f["labels"]
        ]

    @property
    def environment(self) -> dict[str, str]:
        return {"JIRA_URL": self.url, "JIRA_TOKEN": "jira-token", "JIRA_PROJECT": "OPS"}


class ServiceNowStub(Stub):
    """The requests of ServiceNow's Table API that the connector sends."""

    kind = "servicenow"
    authorization = "Basic " + base64.b64encode(b"wallwatch:secret").decode()

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        if path == "/api/now/table/incident":
            if method == "GET":
                wanted = query["sysparm_query"].removeprefix("correlation_id=")
                return 200, {"result": [{"sys_id": key} for key, r in self.tickets.items() if r["correlation_id"] == wanted][:1]}
            key = uuid4().hex
            self.tickets[key] = body
            return 201, {"result": {"sys_id": key, **body}}
        key = path.removeprefix("/api/now/table/incident/")
        if key not in self.tickets:
            return 404, {"error": {"message": "No Record found"}}
        if method == "PATCH":
            if body.get("state") == "6" and not (body.get("close_code") and body.get("close_notes")):
                return 403, {"error": {"message": "close_code and close_notes are mandatory"}}
            self.tickets[key] |= body
        return 200, {"result": {"sys_id": key, **self.tickets[key]}}

    def of(self, incident_id: str) -> list[dict[str, Any]]:
        return [
            {"title": r["short_description"], "critical": r["impact"] == "1", "ended": r["state"] == "6", "key": key}
            for key, r in self.tickets.items()
            if r["correlation_id"] == incident_id
        ]

    @property
    def environment(self) -> dict[str, str]:
        return {"SERVICENOW_URL": self.url, "SERVICENOW_USER": "wallwatch", "SERVICENOW_PASSWORD": "secret"}


class GitHubStub(Stub):
    """The requests of GitHub's REST API that the connector sends."""

    kind = "github"
    authorization = "Bearer github-token"
    ISSUES = "/api/v3/repos/acme/fabric/issues"

    def answer(self, method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        if path == self.ISSUES:
            if method == "GET":
                assert query["state"] == "all", "closed issues count too"
                return 200, [self._shown(key) for key, issue in self.tickets.items() if query["labels"] in issue["labels"]][:1]
            if set(body) != {"title", "body", "labels"} or any(len(label) > 50 for label in body["labels"]):
                return 422, {"message": "Validation Failed"}
            key = str(len(self.tickets) + 1)
            self.tickets[key] = {**body, "state": "open"}
            return 201, self._shown(key)
        key = path.removeprefix(f"{self.ISSUES}/")
        if key not in self.tickets:
            return 410, {"message": "This issue was deleted"}
        if method == "PATCH":
            self.tickets[key] |= body
        return 200, self._shown(key)

    def _shown(self, key: str) -> dict[str, Any]:
        issue = self.tickets[key]
        return {**issue, "number": int(key), "labels": [{"name": label} for label in issue["labels"]]}

    def of(self, incident_id: str) -> list[dict[str, Any]]:
        return [
            {"title": issue["title"], "critical": "critical" in issue["labels"], "ended": issue["state"] == "closed", "key": key}
            for key, issue in self.tickets.items()
            if f"wallwatch-{incident_id}" in issue["labels"]
        ]

    @property
    def environment(self) -> dict[str, str]:
        return {"GITHUB_API_URL": f"{self.url}/api/v3", "GITHUB_TOKEN": "github-token", "GITHUB_REPOSITORY": "acme/fabric"}


@pytest.fixture(params=[JiraStub, ServiceNowStub, GitHubStub], ids=lambda kind: kind.kind)
def stub(request: pytest.FixtureRequest) -> Iterator[Stub]:
    stub: Stub = request.param()
    yield stub
    stub.stop()


@pytest.fixture(scope="module")
def token(admin: httpx.Client) -> str:
    return str(admin.post("/api/v1/tokens", json={"name": "tickets", "role": "operator"}).json()["token"])


class Connector:
    """Runs the program of one system once."""

    def __init__(self, stub: Stub, url: str, token: str, folder: Path) -> None:
        self._stub, self._folder = stub, folder
        self._environment = {"PATH": os.environ["PATH"], "WALLWATCH_URL": url, "WALLWATCH_TOKEN": token, **stub.environment}

    def run(self, expected: int = 0) -> str:
        command = [sys.executable, str(EXAMPLES / f"{self._stub.kind}.py"), "--once", "--position", str(self._folder / "position.json")]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def connector(stub: Stub, backend: Any, token: str, tmp_path: Path) -> Connector:
    return Connector(stub, backend.url, token, tmp_path)


@pytest.fixture
def incident(operator: httpx.Client, findings: Any, eventually: Any) -> dict[str, Any]:
    host = f"ticket-{uuid4().hex[:6]}"
    findings.send(findings.finding(host=host, started=datetime.now(UTC)))
    found = eventually(lambda: operator.get("/api/v1/incidents", params={"host": host}).json()["items"])
    one: dict[str, Any] = found[0]
    return one


def refs(client: httpx.Client, incident: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"/api/v1/incidents/{incident['id']}").json()["external_refs"]
    return found


def test_an_incident_gets_one_ticket_and_its_link(
    stub: Stub, connector: Connector, incident: dict[str, Any], operator: httpx.Client
) -> None:
    assert "created" in connector.run()
    [ticket] = stub.of(incident["id"])
    assert (ticket["critical"], ticket["ended"]) == (False, False)
    assert ticket["title"].startswith("S1 Repetitive flow re-offloading: ")
    [ref] = refs(operator, incident)
    assert (ref["system"], ref["key"]) == (stub.kind, ticket["key"])
    assert ref["url"].startswith(stub.url)
    # The link itself was a change; from then on there is nothing to do.
    writes = list(stub.writes)
    connector.run()
    assert connector.run() == ""
    assert stub.writes == writes


def test_a_connector_that_died_before_writing_the_link_opens_no_second_ticket(
    stub: Stub, connector: Connector, incident: dict[str, Any], operator: httpx.Client
) -> None:
    connector.run()
    assert operator.patch(f"/api/v1/incidents/{incident['id']}", json={"external_refs": []}).status_code == 200
    connector.run()
    [ticket] = stub.of(incident["id"])
    assert [ref["key"] for ref in refs(operator, incident)] == [ticket["key"]]


def test_the_links_of_other_systems_are_kept(stub: Stub, connector: Connector, incident: dict[str, Any], operator: httpx.Client) -> None:
    other = {"system": "pager", "key": "P-1", "url": None}
    operator.patch(f"/api/v1/incidents/{incident['id']}", json={"external_refs": [other]})
    connector.run()
    assert refs(operator, incident)[0] == other
    assert len(refs(operator, incident)) == 2


def test_a_ticket_follows_severity_end_and_return(
    stub: Stub, connector: Connector, incident: dict[str, Any], operator: httpx.Client, findings: Any, eventually: Any
) -> None:
    connector.run()
    started = datetime.fromisoformat(incident["opened_at"])
    path = f"/api/v1/incidents/{incident['id']}"
    findings.send(findings.finding(host=incident["host"], started=started, after_s=20, severity="critical"))
    eventually(lambda: operator.get(path).json()["severity"] == "critical")
    connector.run()
    assert [(t["critical"], t["ended"]) for t in stub.of(incident["id"])] == [(True, False)]
    assert operator.post(f"{path}/resolve").status_code == 200
    connector.run()
    assert [t["ended"] for t in stub.of(incident["id"])] == [True]
    assert operator.post(f"{path}/reopen").status_code == 200
    connector.run()
    assert [t["ended"] for t in stub.of(incident["id"])] == [False]


def test_what_was_over_before_anyone_looked_gets_no_ticket(
    stub: Stub, connector: Connector, incident: dict[str, Any], operator: httpx.Client
) -> None:
    operator.post(f"/api/v1/incidents/{incident['id']}/resolve")
    assert f"{incident['id']} resolved: needs no ticket" in connector.run()
    assert stub.of(incident["id"]) == []


def test_while_the_ticket_system_is_down_nothing_is_lost(stub: Stub, connector: Connector, incident: dict[str, Any]) -> None:
    stub.down = True
    assert "503" in connector.run(expected=1)
    stub.down = False
    connector.run()
    assert len(stub.of(incident["id"])) == 1


def test_a_deleted_ticket_is_not_recreated(stub: Stub, connector: Connector, incident: dict[str, Any], operator: httpx.Client) -> None:
    connector.run()
    [ticket] = stub.of(incident["id"])
    del stub.tickets[ticket["key"]]
    operator.post(f"/api/v1/incidents/{incident['id']}/resolve")
    assert f"{ticket['key']} was deleted" in connector.run()
    assert stub.of(incident["id"]) == []


def test_one_refused_ticket_does_not_hold_up_the_others(
    stub: Stub, connector: Connector, incident: dict[str, Any], findings: Any, operator: httpx.Client, eventually: Any, monkeypatch: Any
) -> None:
    other = f"ticket-{uuid4().hex[:6]}"
    findings.send(findings.finding(host=other, started=datetime.now(UTC)))
    second = eventually(lambda: operator.get("/api/v1/incidents", params={"host": other}).json()["items"])[0]
    answer = stub.answer

    def refuses(method: str, path: str, query: dict[str, str], body: Any) -> Answer:
        if method == "POST" and incident["id"] in json.dumps(body):
            return 400, {"error": "customfield_10001 is required"}
        return answer(method, path, query, body)

    monkeypatch.setattr(stub, "answer", refuses)
    assert "customfield_10001 is required" in connector.run(expected=1)
    assert stub.of(incident["id"]) == []
    assert len(stub.of(second["id"])) == 1
