"""Side effects of remedies: stored and shown, without notifications while the remedy runs and settles, and raised if they last."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from psycopg.types.json import Json

PCI, OTHER = "0000:3b:00.0", "0000:5e:00.0"
SETTLES = 80
"""Of the remedy below (s), by the catalogue."""
ORDER = {"action": "stop-port-offload", "pci": PCI, "params": {"vf": 0}, "mode": "apply"}


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "remedy_watch_s": 0.1,
        "remedy_approval_risk": "never",
        "remedy_always_hosts": 10,
        "remedy_max_racks": 100,
        "command_ttl_s": 600,
    }


@pytest.fixture
def host() -> str:
    """A host that no other test has."""
    return f"host-{uuid4().hex[:8]}"


@pytest.fixture
def agent(fake_agents: Any, admin: httpx.Client, anonymous: httpx.Client, host: str) -> Iterator[Any]:
    """An agent that takes commands and has not run them yet."""
    with fake_agents.enrol(admin, anonymous, host, answer=lambda command: None) as made:
        yield made


def ago(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)


def done(command: dict[str, Any], state: str = "done") -> dict[str, Any]:
    ids = {name: command[name] for name in ("command_id", "remedy_id")}
    return {**ids, "state": state, "operations": [], "finished_at": datetime.now(UTC).isoformat()}


@pytest.fixture
def runs(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> Callable[..., dict[str, Any]]:
    """A function that orders the remedy, and returns it when its agent has the command."""

    def order(**more: Any) -> dict[str, Any]:
        before = len(agent.commands)
        answer = operator.post("/api/v1/remedies", json={**ORDER, "host": host, **more})
        assert answer.status_code == 201, answer.text
        eventually(lambda: len(agent.commands) > before)
        made: dict[str, Any] = answer.json()
        return made

    return order


@pytest.fixture
def ran(backend: Any, host: str) -> Callable[..., str]:
    """A function that stores a remedy that ran between two times, given in seconds ago, and returns its id."""

    def write(began: float, ended: float, state: str = "done", operation: str = "apply", action: str = "stop-port-offload") -> str:
        remedy_id = str(uuid4())
        with backend.connect() as connection:
            connection.execute(
                "INSERT INTO remedy (id, action, host, pci, params, mode, state, requested_by, created_at, updated_at, operations, "
                "request_hash) VALUES (%s, %s, %s, %s, '{}', 'apply', 'confirmed', 'ada', now(), now(), '[]', '')",
                [remedy_id, action, host, PCI],
            )
            connection.execute(
                "INSERT INTO remedy_command (id, remedy_id, host, operation, state, jws, issued_at, expires_at, sent_at, finished_at)"
                " VALUES (%s, %s, %s, %s, %s, '', %s, %s, %s, %s)",
                [str(uuid4()), remedy_id, host, operation, state, ago(began), ago(began), ago(began), ago(ended)],
            )
        return remedy_id

    return write


@pytest.fixture
def notified(admin: httpx.Client, operator: httpx.Client, host: str) -> Callable[[], list[str]]:
    """A function that returns the events that a webhook got about the host, oldest first."""
    body = {"name": host, "url": "http://127.0.0.1:9/", "matchers": [{"name": "host", "op": "=", "value": host}], "group_wait_s": 0}
    made = admin.post("/api/v1/webhooks", json=body).json()
    return lambda: [one["event"] for one in operator.get(f"/api/v1/webhooks/{made['id']}/deliveries").json()["items"]][::-1]


@pytest.fixture
def incidents(operator: httpx.Client, host: str) -> Callable[..., list[dict[str, Any]]]:
    """A function that returns the incidents of the host, oldest first."""

    def read(**chosen: Any) -> list[dict[str, Any]]:
        items = operator.get("/api/v1/incidents", params={"host": host, "order": "asc", **chosen}).json()["items"]
        return [operator.get(f"/api/v1/incidents/{one['id']}").json() for one in items]

    return read


def kinds(incident: dict[str, Any]) -> list[str]:
    return [entry["kind"] for entry in incident["timeline"]]


def test_a_finding_that_starts_while_a_remedy_runs_is_shown_with_it_and_sends_nothing(
    operator: httpx.Client,
    admin: httpx.Client,
    agent: Any,
    host: str,
    runs: Any,
    findings: Any,
    incidents: Any,
    notified: Any,
    eventually: Any,
) -> None:
    rule = {"name": host, "action": "pace-vf-unbinding", "params": {"interval_ms": 500}, "cooldown_s": 60}
    rule["matchers"] = [{"name": "host", "op": "=", "value": host}, {"name": "symptom", "op": "=~", "value": "S1|S6"}]
    made = admin.post("/api/v1/automation-rules", json=rule).json()
    admin.post(f"/api/v1/automation-rules/{made['id']}/enable")
    remedy = runs()
    s1 = {"host": host, "started": datetime.now(UTC), "severity": "critical"}
    findings.send(findings.finding("S1", **s1), host)
    (incident,) = eventually(incidents)
    assert (incident["state"], incident["inhibited_by"], incident["suppressed_by"]) == ("suppressed", remedy["id"], None)
    assert (incident["active"], incident["severity"]) == (True, "critical"), "it is shown as it is"
    (finding,) = incident["findings"]
    assert (finding["inhibited"], finding["inhibited_by"]) == (True, remedy["id"])
    assert kinds(incident) == ["opened", "inhibited"]
    assert incident["timeline"][1]["text"] == (
        'Inhibited: S1 started while the remedy "Disable hardware offload for a VF port" ran or settled here, and is likely a side effect'
        " of it. It sends no notifications and triggers no rule unless it outlasts the remedy by 80 s."
    )
    assert incident["timeline"][1]["data"]["remedy_id"] == remedy["id"]
    (audited,) = admin.get("/api/v1/audit", params={"action": "incident.inhibit"}).json()["items"][:1]
    assert (audited["target"], audited["detail"]["remedy_id"]) == (f"{host} {PCI}", remedy["id"])
    shown = operator.get(f"/api/v1/remedies/{remedy['id']}").json()["inhibited"]
    assert [(one["symptom"], one["incident_id"], one["inhibited"]) for one in shown] == [("S1", incident["id"], True)]
    assert [one["id"] for one in incidents(inhibited_by=remedy["id"])] == [incident["id"]]

    # The same on another RNIC, and what the remedy cannot do, is no side effect; the rule acts there, so it has run.
    findings.send(findings.finding("S6", host=host, started=datetime.now(UTC), hypotheses=[]), host)
    eventually(lambda: operator.get(f"/api/v1/automation-rules/{made['id']}/runs").json()["items"])
    findings.send(findings.finding("S1", host=host, pci=OTHER, started=datetime.now(UTC), hypotheses=[]), host)
    eventually(lambda: len(notified()) == 2)
    assert [(one["symptom"], one["pci"], one["state"]) for one in incidents()[1:]] == [("S6", PCI, "open"), ("S1", OTHER, "open")]
    ran_for = [run["incident_id"] for run in operator.get(f"/api/v1/automation-rules/{made['id']}/runs").json()["items"]]
    assert incident["id"] not in ran_for

    agent.send_result(done(agent.commands[0]))
    findings.send(findings.finding("S1", **s1, after_s=30, state="cleared", hypotheses=[]), host)
    over = eventually(lambda: (one := incidents()[0])["active"] is False and one)
    assert (over["state"], over["inhibited_by"]) == ("suppressed", remedy["id"])
    assert notified() == ["incident.opened", "incident.opened"]
    assert operator.get(f"/api/v1/incidents/{over['id']}").json()["findings"][0]["inhibited"] is True
    admin.delete(f"/api/v1/automation-rules/{made['id']}")


@pytest.mark.parametrize("state", ["done", "failed", "expired"])
@pytest.mark.parametrize("operation", ["apply", "undo"])
def test_what_outlasts_a_remedy_however_it_ended_is_raised_with_its_true_beginning(
    ran: Any, apply_findings: Any, findings: Any, incidents: Any, notified: Any, host: str, eventually: Any, state: str, operation: str
) -> None:
    remedy_id = ran(200, SETTLES + 20, state, operation)
    lasting = {"host": host, "started": ago(190)}
    apply_findings(findings.finding("S1", **lasting, after_s=3))
    (incident,) = incidents()
    assert (incident["state"], incident["inhibited_by"]) == ("suppressed", remedy_id)
    apply_findings(findings.finding("S1", **lasting, after_s=185))
    raised = eventually(lambda: (one := incidents()[0])["state"] == "open" and one)
    assert (raised["inhibited_by"], raised["suppressed_by"]) == (None, None)
    assert datetime.fromisoformat(raised["opened_at"]) == lasting["started"]
    assert kinds(raised) == ["opened", "inhibited", "uninhibited"]
    assert (raised["findings"][0]["inhibited"], raised["findings"][0]["inhibited_by"]) == (False, remedy_id)
    assert eventually(notified) == ["incident.opened"]
    apply_findings(findings.finding("S1", **lasting, after_s=3), findings.finding("S1", **lasting, after_s=188))
    assert [kinds(one) for one in incidents()] == [kinds(raised)], "a replay inhibits nothing again"


@pytest.mark.parametrize("state", ["refused", "queued"])
def test_a_command_that_did_nothing_inhibits_nothing(
    ran: Any, backend: Any, apply_findings: Any, findings: Any, incidents: Any, host: str, state: str
) -> None:
    ran(200, 10, state)
    if state == "queued":
        with backend.connect() as connection:
            connection.execute("UPDATE remedy_command SET sent_at = NULL, finished_at = NULL WHERE host = %s", [host])
    apply_findings(findings.finding("S1", host=host, started=ago(100), after_s=3))
    assert [one["state"] for one in incidents()] == ["open"]


def test_a_dry_run_and_a_remedy_that_stirs_nothing_up_inhibit_nothing(
    ran: Any, apply_findings: Any, findings: Any, incidents: Any, host: str
) -> None:
    ran(200, 10, operation="dry_run")
    ran(200, 10, action="tune-revalidator")
    apply_findings(findings.finding("S1", host=host, started=ago(100), after_s=3))
    assert [one["state"] for one in incidents()] == ["open"]


def test_what_was_there_before_is_unchanged_and_supports_what_the_remedy_adds(
    runs: Any, agent: Any, apply_findings: Any, findings: Any, incidents: Any, notified: Any, host: str, eventually: Any
) -> None:
    before = {"host": host, "started": ago(60)}
    apply_findings(findings.finding("S4", **before, after_s=3))
    runs()
    apply_findings(
        findings.finding("S4", **before, after_s=61), findings.finding("S1", host=host, started=datetime.now(UTC), severity="critical")
    )
    (incident,) = incidents()
    assert (incident["state"], incident["inhibited_by"], incident["symptom"], incident["severity"]) == ("open", None, "S4", "warning")
    assert {one["symptom"]: one["inhibited"] for one in incident["findings"]} == {"S4": False, "S1": True}
    apply_findings(findings.finding("S4", **before, after_s=62, state="cleared", hypotheses=[]))
    (incident,) = incidents()
    assert (incident["state"], incident["symptom"], incident["active"]) == ("open", "S4", True)
    assert eventually(notified) == ["incident.opened"]


def test_reopening_an_inhibited_incident_lets_it_count(
    operator: httpx.Client, ran: Any, apply_findings: Any, findings: Any, incidents: Any, host: str
) -> None:
    ran(200, 10)
    apply_findings(findings.finding("S1", host=host, started=ago(190), after_s=3))
    path = f"/api/v1/incidents/{incidents()[0]['id']}"
    assert operator.post(f"{path}/resolve").json()["inhibited_by"] is not None
    reopened = operator.post(f"{path}/reopen").json()
    assert (reopened["state"], reopened["inhibited_by"], reopened["findings"][0]["inhibited"]) == ("reopened", None, False)


def test_a_silence_and_a_remedy_each_hold_back_for_themselves(
    operator: httpx.Client, ran: Any, apply_findings: Any, findings: Any, incidents: Any, host: str
) -> None:
    remedy_id = ran(200, 10)
    matchers = [{"name": "host", "op": "=", "value": host}]
    silence = operator.post("/api/v1/silences", json={"matchers": matchers, "ends_at": ago(-600).isoformat(), "reason": "Repair"}).json()
    apply_findings(findings.finding("S1", host=host, started=ago(190), after_s=3))
    (incident,) = incidents()
    assert (incident["suppressed_by"], incident["inhibited_by"]) == (silence["id"], remedy_id)
    operator.delete(f"/api/v1/silences/{silence['id']}")
    (incident,) = incidents()
    assert (incident["state"], incident["suppressed_by"], incident["inhibited_by"]) == ("suppressed", None, remedy_id)
    assert kinds(incident) == ["opened", "silenced", "inhibited", "unsilenced"]


def test_a_rollout_is_not_stopped_by_its_own_side_effects_and_waits_until_they_clear(
    operator: httpx.Client,
    fake_agents: Any,
    admin: httpx.Client,
    anonymous: httpx.Client,
    apply_findings: Any,
    findings: Any,
    eventually: Any,
) -> None:
    stirred = {}

    def stir(command: dict[str, Any]) -> dict[str, Any]:
        stirred.setdefault(command["host"], datetime.now(UTC))
        if len(stirred) == 1:
            apply_findings(findings.finding("S1", host=command["host"], started=stirred[command["host"]]))
        return done(command)

    with ExitStack() as stack:
        agents = [stack.enter_context(fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}", answer=stir)) for _ in range(2)]
        targets = [{"host": agent.host, "pci": PCI} for agent in agents]
        body = {"action": ORDER["action"], "params": ORDER["params"], "targets": targets, "canary": 1, "reason": "contexts are full"}
        path = f"/api/v1/rollouts/{operator.post('/api/v1/rollouts', json=body).json()['id']}"
        eventually(lambda: operator.get(path).json()["confirmed"] == 1)
        assert (operator.get(path).json()["state"], agents[1].commands) == ("running", []), "the wave is done, and the next one waits"
        apply_findings(
            findings.finding("S1", host=agents[0].host, started=stirred[agents[0].host], after_s=30, state="cleared", hypotheses=[])
        )
        assert eventually(lambda: (one := operator.get(path).json())["state"] != "running" and one)["state"] == "confirmed"


def test_violations_of_flow_policies_during_a_remedy_are_shown_with_it_and_not_counted(
    operator: httpx.Client, backend: Any, ran: Any, host: str
) -> None:
    def violated(policy: str, *times: float, pci: str = PCI, **more: int) -> None:
        other = Json({"policy": policy, "revision": "x", "subject": "flow ufid:1", "severity": "warning", **more})
        with backend.connect() as connection:
            insert = "INSERT INTO host (host) VALUES (%s) ON CONFLICT (host) DO UPDATE SET host = excluded.host RETURNING host_id"
            (host_id,) = connection.execute(insert, [host]).fetchone()
            for seconds in times:
                row = [ago(seconds), host_id, pci, other]
                connection.execute("INSERT INTO event (time, host_id, pci, kind, other) VALUES (%s, %s, %s, 'policy_violated', %s)", row)

    remedy_id = ran(200, 150)
    ran(190, 160)  # what two remedies may have done is counted once
    violated("flow-kept-while-used", 300, 195, 100, 30)
    violated("flow-kept-while-used", 180, pci=OTHER)
    violated("flow-kept-while-used", 170, pci="", left_out=500)  # the rest of a flood, of the host
    violated("rnic-heartbeat", 180)
    path = "/api/v1/policies/flow-kept-while-used"
    found = operator.get(f"{path}/violations", params={"host": host, "pci": PCI}).json()["items"]
    assert [one["inhibited_by"] is not None for one in found] == [False, True, True, False], "newest first"
    assert operator.get(f"{path}/violations/{found[2]['id']}").json()["inhibited_by"] == remedy_id
    policy = operator.get(path).json()
    assert (policy["violations_24h"], policy["inhibited_24h"], policy["state"]) == (3, 502, "violated")
    heartbeat = operator.get("/api/v1/policies/rnic-heartbeat").json()
    assert (heartbeat["violations_24h"], heartbeat["inhibited_24h"]) == (1, 0), "no remedy violates it"
