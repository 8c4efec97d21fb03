"""Agents: enrolment and what is shown of them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from orjson import loads
from psycopg.sql import SQL, Identifier

from wallwatch_backend.kit import changes
from wallwatch_backend.kit.paging import encode_cursor


def enrol(client: httpx.Client, token: str, host: str) -> httpx.Response:
    return client.post("/api/v1/agents/enrol", json={"token": token, "host": host, "version": "1.0.0", "instance_uid": str(uuid4())})


def token_for(admin: httpx.Client, host: str | None = None) -> str:
    answer = admin.post("/api/v1/agents/enrolment-tokens", json={"host": host})
    assert answer.status_code == 201
    return str(answer.json()["token"])


def agent_of(client: httpx.Client, host: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/api/v1/agents", params={"host": host}).json()["items"][0]
    return found


def test_a_token_enrols_one_host_once(admin: httpx.Client, anonymous: httpx.Client) -> None:
    token = token_for(admin)
    first = enrol(anonymous, token, "once1")
    assert first.status_code == 201
    assert first.json()["opamp_url"].startswith("ws://127.0.0.1:")
    assert first.json()["opamp_url"].endswith("/v1/opamp")
    assert first.json()["command_keys"][0]["alg"] == "EdDSA"
    again = enrol(anonymous, token, "once2")
    assert again.status_code == 401
    assert again.json()["code"] == "bad_enrolment_token"


def test_a_token_for_a_host_works_for_no_other(admin: httpx.Client, anonymous: httpx.Client) -> None:
    token = token_for(admin, "bound")
    assert enrol(anonymous, token, "other").status_code == 401
    assert enrol(anonymous, token, "bound").status_code == 201


def test_an_expired_token_does_not_work(admin: httpx.Client, anonymous: httpx.Client, backend: Any) -> None:
    token = token_for(admin)
    with backend.connect() as connection:
        connection.execute("UPDATE enrolment_token SET expires_at = now() - interval '1 second'")
    assert enrol(anonymous, token, "expired").status_code == 401


def test_only_a_token_for_the_host_replaces_its_agent(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, "taken") as older:
        eventually(lambda: agent_of(admin, "taken")["connected"])
        assert enrol(anonymous, token_for(admin), "taken").json()["code"] == "host_enrolled"
        assert agent_of(admin, "taken")["connected"] is True
        before = agent_of(admin, "taken")["id"]
        assert enrol(anonymous, token_for(admin, "taken"), "taken").json()["agent_id"] == before
        eventually(lambda: not agent_of(admin, "taken")["connected"])
        older._thread.join(60)
        assert not older._thread.is_alive(), "the credentials of its connection are no longer valid"


@pytest.mark.parametrize("enrolments", [1, 2])
def test_a_late_notification_of_an_enrolment_does_not_end_the_connection_that_followed_it(
    admin: httpx.Client,
    operator: httpx.Client,
    anonymous: httpx.Client,
    fake_agents: Any,
    host: str,
    eventually: Any,
    backend: Any,
    enrolments: int,
) -> None:
    with backend.connect() as connection:
        connection.execute(SQL("LISTEN {}").format(Identifier(changes.CHANNEL)))
        for _ in range(enrolments):
            agent = fake_agents.enrol(admin, anonymous, host)
        id = agent.credentials["agent_id"]
        payloads: list[str] = []
        for note in connection.notifies(timeout=60):
            if {"id": id, "state": "enrolled"}.items() <= loads(note.payload).items():
                payloads.append(note.payload)
            if len(payloads) == enrolments:
                break
        assert len(payloads) == enrolments
        with agent:
            eventually(lambda: agent_of(admin, host)["healthy"])
            for payload in payloads:
                connection.execute("SELECT pg_notify(%s, %s)", [changes.CHANNEL, payload])
            order = {"action": "tune-revalidator", "host": host, "params": {"max_idle_ms": 60000}, "mode": "dry_run"}
            remedy = operator.post("/api/v1/remedies", json=order).json()["id"]  # its notification comes after these
            eventually(lambda: operator.get(f"/api/v1/remedies/{remedy}").json()["state"] == "planned", timeout_s=120)
            assert agent_of(admin, host)["connected"] is True


def test_an_agent_has_its_connection_version_and_health(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, "shown") as agent:
        eventually(lambda: agent_of(admin, "shown")["healthy"])
        assert agent_of(admin, "shown")["version"] == "1.2.4"
        agent.say_hello(healthy=False, error="OVSDB socket is gone")
        eventually(lambda: agent_of(admin, "shown")["healthy"] is False)
        assert agent_of(admin, "shown")["health_error"] == "OVSDB socket is gone"
        assert [a["host"] for a in admin.get("/api/v1/agents", params={"connected": True}).json()["items"]] == ["shown"]
    eventually(lambda: not agent_of(admin, "shown")["connected"])
    seen = datetime.fromisoformat(agent_of(admin, "shown")["last_seen_at"])
    assert (datetime.now(UTC) - seen).total_seconds() < 90


def test_an_agent_whose_reports_were_lost_reports_its_full_state(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, "gap") as agent:
        eventually(lambda: agent.replies)
        assert agent.replies[0].flags == 0
        agent._sequence += 5
        agent.say_hello()
        eventually(lambda: agent.replies[-1].flags == 1)


def test_a_second_connection_of_a_host_takes_over(admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any) -> None:
    with fake_agents.enrol(admin, anonymous, "double") as first:
        eventually(lambda: agent_of(admin, "double")["healthy"])
        with fake_agents(first.credentials, "double") as second:
            eventually(lambda: second.replies)
            first._thread.join(60)
            assert not first._thread.is_alive(), "the older connection is closed"
            assert agent_of(admin, "double")["connected"] is True


def test_a_removed_agent_is_disconnected_and_stays_out(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, "removed") as agent:
        eventually(lambda: agent_of(admin, "removed")["connected"])
        assert admin.delete(f"/api/v1/agents/{agent.credentials['agent_id']}").status_code == 204
        agent._thread.join(60)
        assert not agent._thread.is_alive()
    assert admin.get("/api/v1/agents", params={"host": "removed"}).json()["items"] == []
    assert admin.delete(f"/api/v1/agents/{agent.credentials['agent_id']}").status_code == 404


def test_enrolments_are_audited(admin: httpx.Client, anonymous: httpx.Client) -> None:
    enrol(anonymous, "wwe_wrong", "audited")
    entry = admin.get("/api/v1/audit", params={"action": "agent.enrol"}).json()["items"][0]
    assert (entry["actor"], entry["outcome"], entry["detail"]["reason"]) == ("agent:audited", "refused", "bad_enrolment_token")


def put_certificate(backend: Any, host: str, issued: str, ends: str, *, revoked: bool = False) -> None:
    """Give an agent a certificate; times are intervals from now on."""
    with backend.connect() as connection:
        connection.execute(
            """INSERT INTO agent_certificate (fingerprint, serial, agent_id, authority, issued_at, not_after, revoked_at)
            SELECT %s, '1', id, 'a', now() + %s::interval, now() + %s::interval, CASE WHEN %s THEN now() END FROM agent WHERE host = %s""",
            [uuid4().hex, issued, ends, revoked, host],
        )


def test_an_agent_has_the_expiry_of_its_newest_certificate(admin: httpx.Client, anonymous: httpx.Client, backend: Any) -> None:
    enrol(anonymous, token_for(admin), "certified")
    assert agent_of(admin, "certified")["certificate"] is None, "it shows a secret"
    put_certificate(backend, "certified", "-6 days", "2 days")
    put_certificate(backend, "certified", "-1 hour", "8 days", revoked=True)
    shown = {name: datetime.fromisoformat(at) for name, at in agent_of(admin, "certified")["certificate"].items()}
    assert shown["late_at"] - shown["renews_at"] == shown["expires_at"] - shown["late_at"] == timedelta(days=2)
    assert timedelta(days=1) < shown["expires_at"] - datetime.now(UTC) <= timedelta(days=2)


def test_agents_are_listed_by_the_expiry_of_their_certificates(admin: httpx.Client, anonymous: httpx.Client, backend: Any) -> None:
    for host, ends in (("ends-c", "3 days"), ("ends-b", None), ("ends-a", "9 days"), ("ends-d", "-1 day")):
        enrol(anonymous, token_for(admin), host)
        if ends is not None:
            put_certificate(backend, host, "-5 days", ends)
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = admin.get("/api/v1/agents", params={"sort": "certificate", "limit": 1, **({"cursor": cursor} if cursor else {})}).json()
        found += [item["host"] for item in page["items"] if item["host"].startswith("ends-")]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == ["ends-d", "ends-c", "ends-a", "ends-b"]
    by_host = admin.get("/api/v1/agents", params={"limit": 1}).json()["next_cursor"]
    for cursor in (by_host, encode_cursor("2026-W47-6", "a"), encode_cursor("0001-01-01T00:00:00+23:59", "a"), encode_cursor("soon", "a")):
        refused = admin.get("/api/v1/agents", params={"sort": "certificate", "cursor": cursor})
        assert (refused.status_code, refused.json()["code"]) == (422, "bad_cursor")
