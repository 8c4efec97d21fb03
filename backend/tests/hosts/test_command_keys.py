"""The key that signs commands is replaced while agents are at work, and no agent has to be enrolled again."""

import json
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from typer.testing import CliRunner

from wallwatch_backend import background
from wallwatch_backend.cli.keys import app as keys_app

PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def backend_settings() -> Iterator[dict[str, object]]:
    """Expired keys are deleted every half second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "_CLEAN_UP_EVERY_S", 0.5)
        yield {}


@pytest.fixture(autouse=True)
def one_key(backend: Any) -> Iterator[None]:
    """Each test begins with the server's first key."""
    yield
    backend.clear("remedy", "agent", "command_key")


def header_and_payload(jws: str) -> tuple[dict[str, Any], dict[str, Any]]:
    header, payload = (json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in jws.split(".")[:2])
    return header, payload


def introductions(agent: Any) -> list[dict[str, Any]]:
    """What came as new keys, each checked with the key of its signer, and pinned."""
    found = []
    for reply in list(agent.replies):
        if reply.custom_message.type != "key":
            continue
        header, payload = header_and_payload(agent_verifies(agent, reply.custom_message.data.decode()))
        assert header["typ"] == "wallwatch-key+jws"
        found.append({**payload, "by": header["kid"]})
    return found


def agent_verifies(agent: Any, jws: str) -> str:
    header, payload = header_and_payload(jws)
    agent.check(jws, header["typ"])
    if payload["kid"] not in agent.kids:
        agent.credentials["command_keys"].append({"kid": payload["kid"], "public_key": payload["public_key"]})
    return jws


def rotate(admin: httpx.Client, overlap_s: int = 3600) -> dict[str, Any]:
    answer = admin.post("/api/v1/command-keys/rotate", json={"overlap_s": overlap_s})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


def apply(client: httpx.Client, host: str) -> dict[str, Any]:
    body = {"action": "pace-vf-unbinding", "host": host, "pci": PCI, "params": {"interval_ms": 500}, "mode": "apply"}
    made: dict[str, Any] = client.post("/api/v1/remedies", json=body).json()
    return made


def signing_kid(backend: Any, remedy: dict[str, Any]) -> str:
    with backend.connect() as connection:
        row = connection.execute("SELECT jws FROM remedy_command WHERE remedy_id = %s", [remedy["id"]]).fetchone()
    return str(header_and_payload(row[0])[0]["kid"])


def test_a_connected_agent_gets_the_new_key_from_the_old_one_and_then_its_commands(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, backend: Any, eventually: Any
) -> None:
    with fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}") as agent:
        first = agent.kids[0]
        agent.say_hello(kids=[first])
        keys = rotate(admin)
        current = keys["items"][0]["kid"]
        assert [(key["kid"], key["state"]) for key in keys["items"]] == [(current, "current"), (first, "overlapping")]
        assert keys["behind"] == [agent.host]
        before = apply(operator, agent.host)
        assert signing_kid(backend, before) == first, "the agent has not reported yet that it trusts the new key"
        (introduced,) = eventually(lambda: introductions(agent))
        assert (introduced["kid"], introduced["by"], introduced["retires"][0]["kid"]) == (current, first, first)
        agent.say_hello(kids=[first, current])
        eventually(lambda: admin.get("/api/v1/command-keys").json()["behind_total"] == 0)
        eventually(lambda: operator.get(f"/api/v1/remedies/{before['id']}").json()["state"] == "change_confirmed")
        after = apply(operator, agent.host)
        assert signing_kid(backend, after) == current
        eventually(lambda: len(agent.commands) == 2)
    audited = admin.get("/api/v1/audit", params={"action": "command_key.rotate", "limit": 1}).json()["items"]
    assert (audited[0]["actor"], audited[0]["target"], audited[0]["detail"]["before"]) == ("admin", current, first)


def test_an_agent_that_was_disconnected_gets_all_missed_keys_in_order(
    admin: httpx.Client, operator: httpx.Client, anonymous: httpx.Client, fake_agents: Any, backend: Any, eventually: Any
) -> None:
    agent = fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}")
    first = agent.kids[0]
    second = rotate(admin, 0)["items"][0]["kid"]
    third = rotate(admin, 0)["items"][0]["kid"]
    with backend.connect() as connection:
        assert connection.execute("SELECT count(*) FROM command_key WHERE not_after <= now()").fetchone() == (2,)
    with agent:
        agent.say_hello(kids=[first])
        found = eventually(lambda: (i := introductions(agent)) and len(i) == 2 and i)
        assert [(i["kid"], i["by"]) for i in found] == [(second, first), (third, second)]
        agent.say_hello(kids=[third])
        eventually(lambda: admin.get("/api/v1/command-keys").json()["behind_total"] == 0)
        assert signing_kid(backend, apply(operator, agent.host)) == third


def test_a_new_agent_pins_the_valid_keys_and_a_retired_private_key_is_deleted(
    admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, backend: Any, eventually: Any
) -> None:
    rotate(admin)
    second = rotate(admin, 0)["items"][0]["kid"]
    agent = fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}")
    assert second in agent.kids
    assert len(agent.kids) == 2, "the first key is in its overlap, the one between has ended"
    with backend.connect() as connection:
        stored = connection.execute("SELECT private_key FROM command_key WHERE kid = %s", [second]).fetchone()
    assert stored is not None
    assert len(bytes(stored[0])) > 60, "it is encrypted"
    eventually(lambda: admin.get("/api/v1/audit", params={"action": "command_key.retire"}).json()["items"])


def test_what_an_agent_does_not_trust_is_audited(admin: httpx.Client, anonymous: httpx.Client, fake_agents: Any, eventually: Any) -> None:
    with fake_agents.enrol(admin, anonymous, f"host-{uuid4().hex[:8]}") as agent:
        for _ in range(2):
            agent.say_hello(kids=agent.kids, refused="bad_signature: the signature does not match")
        audited = eventually(
            lambda: admin.get("/api/v1/audit", params={"actor": f"agent:{agent.host}", "action": "command_key.introduce"}).json()["items"]
        )
        assert [(entry["outcome"], entry["detail"]["reason"][:13]) for entry in audited] == [("refused", "bad_signature")]


def test_the_command_rotates_and_lists(backend: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", backend.database_url)
    monkeypatch.setenv("WALLWATCH_SECRETS_DIR", str(tmp_path))
    elsewhere = CliRunner().invoke(keys_app, ["rotate"])
    assert (elsewhere.exit_code, "WALLWATCH_SECRETS_DIR" in elsewhere.output) == (1, True)
    assert list(tmp_path.iterdir()) == [], "no key is created as a side effect"
    monkeypatch.setenv("WALLWATCH_SECRETS_DIR", str(backend.settings.secrets_dir))
    rotated = CliRunner().invoke(keys_app, ["rotate", "--overlap-hours", "24"])
    assert rotated.exit_code == 0, rotated.output
    lines = CliRunner().invoke(keys_app, ["list"]).stdout.splitlines()
    assert [line.split("\t")[1] for line in lines[:2]] == ["current", "overlapping"]
    assert lines[-1] == "Every agent trusts the current key."
    found = json.loads(CliRunner().invoke(keys_app, ["list", "--json"]).stdout)
    assert [key["kid"] for key in found["items"][:2]] == [line.split("\t")[0] for line in lines[:2]]
    assert found["behind"] == []
