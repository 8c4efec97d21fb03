"""What a token may do: never more than its owner now, and less by its scopes, hosts and racks."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from wallwatch_backend.cli.token import app as token_app

PCI = "0000:3b:00.0"


@pytest.fixture
def owner(admin: httpx.Client) -> dict[str, Any]:
    """A new operator."""
    body = {"username": f"owner-{uuid4().hex[:8]}", "password": "a long enough password", "role": "operator"}
    answer = admin.post("/api/v1/users", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def new_token(admin: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = admin.post("/api/v1/tokens", json={"name": f"robot-{uuid4().hex[:8]}", "role": "operator", **body})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def by(backend: Any, token: dict[str, Any]) -> httpx.Client:
    client: httpx.Client = backend.client(headers={"Authorization": f"Bearer {token['token']}"})
    return client


def listed(admin: httpx.Client, token: dict[str, Any]) -> dict[str, Any]:
    [found] = [each for each in admin.get("/api/v1/tokens", params={"limit": 200}).json()["items"] if each["id"] == token["id"]]
    return dict(found)


def test_a_token_dies_with_its_owner_s_account_and_can_make_nothing_meanwhile(
    backend: Any, admin: httpx.Client, owner: dict[str, Any]
) -> None:
    """The attack of the security review: an administrator's token outlives the administrator and creates a new one."""
    admin.patch(f"/api/v1/users/{owner['id']}", json={"role": "admin"})
    token = new_token(admin, role="admin", owner=owner["username"])
    with closing(by(backend, token)) as robot:
        assert robot.get("/api/v1/users").status_code == 200
        admin.patch(f"/api/v1/users/{owner['id']}", json={"disabled": True})
        new_admin = {"username": f"evil-{uuid4().hex[:6]}", "password": "a long enough password", "role": "admin"}
        assert robot.post("/api/v1/users", json=new_admin).status_code == 401
        assert robot.get("/api/v1/fleet").status_code == 401
        assert (listed(admin, token)["state"], listed(admin, token)["effective_role"]) == ("owner_disabled", None)
        admin.patch(f"/api/v1/users/{owner['id']}", json={"disabled": False})
        assert robot.get("/api/v1/fleet").status_code == 200
        with backend.connect() as connection:
            connection.execute("DELETE FROM user_account WHERE id = %s", [owner["id"]])
        assert robot.get("/api/v1/fleet").status_code == 401
        assert listed(admin, token)["state"] == "no_owner"


def test_a_token_has_at_most_its_owner_s_present_role(backend: Any, admin: httpx.Client, owner: dict[str, Any]) -> None:
    token = new_token(admin, owner=owner["username"])
    with closing(by(backend, token)) as robot:
        assert robot.get("/api/v1/session").json()["user"]["role"] == "operator"
        admin.patch(f"/api/v1/users/{owner['id']}", json={"role": "viewer"})
        assert robot.get("/api/v1/session").json()["user"]["role"] == "viewer"
        assert robot.post("/api/v1/silences/preview", json={"matchers": [{"name": "host", "value": "x"}]}).json()["code"] == "forbidden"
    assert listed(admin, token)["effective_role"] == "viewer"


def test_a_token_above_its_owner_or_of_nobody_is_not_created(admin: httpx.Client, owner: dict[str, Any]) -> None:
    above = admin.post("/api/v1/tokens", json={"name": "x", "role": "admin", "owner": owner["username"]})
    assert (above.status_code, above.json()["code"]) == (409, "above_owner")
    unknown = admin.post("/api/v1/tokens", json={"name": "x", "role": "viewer", "owner": "nobody-at-all"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "owner_unknown")
    everything = admin.post("/api/v1/tokens", json={"name": "x", "role": "viewer", "hosts": ["host01"]})
    assert everything.status_code == 422
    assert "leave it out" in everything.text


@pytest.mark.parametrize(
    ("scope", "method", "path", "body"),
    [
        ("read", "GET", "/api/v1/fleet", None),
        ("incidents", "POST", "/api/v1/silences/preview", {"matchers": [{"name": "host", "value": "x"}]}),
        ("remedies", "POST", "/api/v1/plans", {"host": "none", "pci": PCI}),
        ("lab", "POST", "/api/v1/lab/campaigns", {"device": "none"}),
        ("admin", "GET", "/api/v1/users", None),
    ],
)
def test_each_scope_opens_its_own_operations_and_no_others(
    backend: Any, admin: httpx.Client, scope: str, method: str, path: str, body: Any
) -> None:
    others = [each for each in ("read", "incidents", "remedies", "lab", "admin") if each != scope]
    with closing(by(backend, new_token(admin, role="admin", scopes=[scope]))) as with_it:
        answer = with_it.request(method, path, json=body)
        assert answer.status_code not in (401, 403), answer.text
        assert with_it.get("/api/v1/session").status_code == 200
    with closing(by(backend, new_token(admin, role="admin", scopes=others))) as without_it:
        answer = without_it.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), answer.text
        assert f"scope {scope}" in answer.json()["detail"]


def test_a_token_creates_none_with_scopes_that_it_lacks(backend: Any, admin: httpx.Client) -> None:
    with closing(by(backend, new_token(admin, role="admin", scopes=["admin"]))) as robot:
        refused = robot.post("/api/v1/tokens", json={"name": "x", "role": "operator", "scopes": ["remedies"]})
        assert (refused.status_code, refused.json()["code"]) == (409, "above_owner")
        created = robot.post("/api/v1/tokens", json={"name": "x", "role": "operator", "scopes": ["admin"]})
        assert (created.status_code, created.json()["owner"]) == (201, "admin")


@pytest.fixture
def hosts(backend: Any) -> Iterator[tuple[str, str]]:
    """Two hosts with an RNIC each; the first is in a rack of its own."""
    mine, other = (f"host-{uuid4().hex[:8]}" for _ in range(2))
    with backend.connect() as connection:
        for host, rack in ((mine, f"rack-of-{mine}"), (other, "elsewhere")):
            connection.execute(
                """
                INSERT INTO rnic_state (rnic_id, host, pci, rack, seen_at, change_seq)
                VALUES (hashtext(%s), %s, %s, %s, now(), nextval('rnic_state_change_seq_values'))
                """,
                [host, host, PCI, rack],
            )
        yield mine, other
        connection.execute("DELETE FROM rnic_state WHERE host = ANY(%s)", [[mine, other]])


@pytest.mark.parametrize("by_rack", [False, True])
def test_a_token_that_is_limited_to_hosts_reads_and_changes_no_others(
    backend: Any, admin: httpx.Client, hosts: tuple[str, str], by_rack: bool
) -> None:
    mine, other = hosts
    limit = {"racks": [f"rack-of-{mine}"]} if by_rack else {"hosts": [mine]}
    token = new_token(admin, scopes=["read", "incidents", "remedies", "lab"], **limit)
    order = {"action": "tune-revalidator", "params": {"max_idle_ms": 60000}, "mode": "dry_run"}
    with closing(by(backend, token)) as robot:
        assert robot.get(f"/api/v1/rnics/{mine}/{PCI}").json()["code"] == "not_found", "past the check: it has reported nothing yet"
        assert robot.get("/api/v1/remedies", params={"host": mine}).status_code == 200
        assert robot.post("/api/v1/remedies", json={**order, "host": mine}).json()["code"] == "no_agent"
        rollout = {"action": "tune-revalidator", "params": {"max_idle_ms": 60000}, "reason": "x"}
        refused = [
            robot.get(f"/api/v1/rnics/{other}/{PCI}/findings"),
            robot.get("/api/v1/remedies", params={"host": other}),
            robot.get("/api/v1/remedies", params={"host": [mine, other]}),
            robot.post("/api/v1/remedies", json={**order, "host": other}),
            robot.post("/api/v1/remedies", json={**order, "host": mine, "incident_id": str(uuid4())}),
            robot.post("/api/v1/plans", json={"host": other, "pci": PCI}),
            robot.post("/api/v1/rollouts", json={**rollout, "targets": [{"host": mine}, {"host": other}]}),
            robot.post("/api/v1/lab/campaigns", json={"device": "x"}),
            *(robot.get(f"/api/v1/{path}") for path in ("fleet", "rnics", "remedies", "incidents", "stream", "forecasts", "agents")),
            robot.get(f"/api/v1/remedies/{uuid4()}"),
            robot.get(f"/api/v1/incidents/{uuid4()}"),
        ]
    assert {(str(answer.url), answer.status_code, answer.json()["code"]) for answer in refused} == {
        (str(answer.url), 403, "outside_token_hosts") for answer in refused
    }


def test_a_limited_token_sees_incidents_of_its_own_hosts_alone(
    backend: Any, admin: httpx.Client, hosts: tuple[str, str], findings: Any, apply_findings: Any
) -> None:
    mine, other = hosts
    apply_findings(*(findings.finding(host=host, started=datetime.now(UTC)) for host in hosts))
    ids = {host: _incident_of(backend, host) for host in hosts}
    with closing(by(backend, new_token(admin, scopes=["read", "incidents"], hosts=[mine]))) as robot:
        assert robot.get(f"/api/v1/incidents/{ids[mine]}").status_code == 200
        assert robot.post(f"/api/v1/incidents/{ids[mine]}/acknowledge", json={}).status_code < 300
        assert robot.get(f"/api/v1/incidents/{ids[other]}").json()["code"] == "outside_token_hosts"
        assert robot.get(f"/api/v1/incidents/{ids[mine]}/similar").json()["code"] == "outside_token_hosts"


def _incident_of(backend: Any, host: str) -> str:
    with backend.connect() as connection:
        (id,) = connection.execute("SELECT incident_id FROM incident_finding WHERE host = %s", [host]).fetchone()
    return str(id)


def test_a_token_s_last_use_has_its_time_and_address(backend: Any, admin: httpx.Client) -> None:
    token = new_token(admin)
    assert (token["last_used_at"], token["last_used_address"]) == (None, None)
    with closing(by(backend, token)) as robot:
        robot.get("/api/v1/session")
    assert listed(admin, token)["last_used_address"] == "127.0.0.1"
    assert listed(admin, token)["last_used_at"] is not None


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def _environment(self, backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("WALLWATCH_DATABASE_URL", backend.database_url)

    def test_tokens_are_created_listed_and_revoked(self, backend: Any, admin: httpx.Client) -> None:
        runner, name = CliRunner(), f"cli-{uuid4().hex[:8]}"
        options = ["--name", name, "--owner", "operator", "--role", "operator", "--scope", "read", "--host", "host01"]
        secret = runner.invoke(token_app, ["create", *options]).stdout.strip()
        [line] = [line for line in runner.invoke(token_app, ["list"]).stdout.splitlines() if name in line]
        assert line.split("\t")[1:7] == [name, "operator", "active", "operator", "read", "host host01"]
        assert line.endswith("never used")
        [token] = [one for one in json.loads(runner.invoke(token_app, ["list", "--json"]).stdout) if one["name"] == name]
        assert (token["owner"], token["scopes"], token["hosts"], token["last_used_at"]) == ("operator", ["read"], ["host01"], None)
        assert "token" not in token
        with closing(by(backend, {"token": secret})) as robot:
            assert robot.get("/api/v1/session").status_code == 200
            assert runner.invoke(token_app, ["revoke", name]).stdout.strip() == f"Revoked {name}."
            assert robot.get("/api/v1/session").status_code == 401
        again = runner.invoke(token_app, ["revoke", name])
        assert again.exit_code == 1
        assert "wallwatch token list" in again.stderr

    def test_a_token_of_nobody_gets_one_clear_line(self) -> None:
        result = CliRunner().invoke(token_app, ["create", "--name", "x", "--owner", "nobody-at-all"])
        assert result.exit_code == 1
        assert "nobody-at-all" in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1


def test_tokens_of_an_earlier_version_go_to_their_maker_or_are_disabled(backend: Any) -> None:
    """On a database of its own, from the revision before."""
    name = f"copy_{uuid4().hex[:8]}"
    url = backend.database_url.rsplit("/", 1)[0] + "/" + name
    with psycopg.connect(backend.dsn.rsplit("/", 1)[0] + "/postgres", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            _upgrade(url, "0016")
            with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
                connection.execute(
                    "INSERT INTO user_account (id, username, password_hash, role, disabled) "
                    "VALUES (gen_random_uuid(), 'ann', '', 'admin', false)"
                )
                for token, maker in (("of-ann", "ann"), ("of-robot", "token:of-ann"), ("of-gone", "token:deleted"), ("of-cli", "cli:root")):
                    connection.execute(
                        "INSERT INTO api_token (id, name, role, prefix, token_hash, created_by) "
                        "VALUES (gen_random_uuid(), %s, 'viewer', 'ww_', %s, %s)",
                        [token, token.encode(), maker],
                    )
                connection.execute(
                    "INSERT INTO audit_event (actor, action, target, outcome, detail) VALUES ('ann', 'token.create', 'deleted', 'ok', '{}')"
                )
            _upgrade(url, "0018")
            with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
                query = "SELECT name, username FROM api_token LEFT JOIN user_account u ON u.id = owner_id"
                owners = dict(connection.execute(query).fetchall())
                audited = connection.execute("SELECT target FROM audit_event WHERE action = 'token.disable'").fetchall()
            assert owners == {"of-ann": "ann", "of-robot": "ann", "of-gone": "ann", "of-cli": None}
            assert audited == [("of-cli",)]
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _upgrade(url: str, revision: str) -> None:
    repository = Path(__file__).resolve().parents[3]
    script = (
        "import sys; from alembic import command; from alembic.config import Config; c = Config(sys.argv[1] + '/alembic.ini'); "
        "c.set_main_option('script_location', sys.argv[1] + '/migrations'); c.attributes.update(url=sys.argv[2], configure_logging=False); "
        "command.upgrade(c, sys.argv[3])"
    )
    subprocess.run([sys.executable, "-c", script, str(repository), url, revision], check=True)
