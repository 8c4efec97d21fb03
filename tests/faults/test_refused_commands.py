"""Commands that an agent must not run: the real agent behind somebody who changes them on their way.

Each is refused, logged on the host, audited in the centre. The attacker of these tests even
has the backend's signing key where that is needed, to reach the checks behind the signature.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from signal import SIGKILL
from typing import Any
from uuid import UUID

import httpx
import pytest
import yaml

from wallwatch_backend.remedies.signing import CommandSigner
from wallwatch_testing.opamp_middle import Middle, between, payload_of
from wallwatch_testing.stack import Stack, wait_for

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

HOST = "host01"
VALID = {"max_idle_ms": 20_000}


@dataclass
class Attack:
    """The stack with somebody in the middle of host01's agent and its backend."""

    stack: Stack
    api: httpx.Client
    middle: Middle
    signer: CommandSigner

    def signed(self, jws: bytes, **changes: Any) -> bytes:
        """The command with some of its payload changed, signed again with the stolen key."""
        payload = payload_of(jws) | changes
        times = {name: payload[name] for name in ("issued_at", "expires_at")}
        parsed = {name: value if isinstance(value, datetime) else datetime.fromisoformat(value) for name, value in times.items()}
        return self.signer.sign(
            command_id=UUID(payload["command_id"]),
            remedy_id=UUID(payload["remedy_id"]),
            host=payload["host"],
            action=payload["action"],
            operation=payload["operation"],
            params=payload["params"],
            issued_at=parsed["issued_at"],
            expires_at=parsed["expires_at"],
        ).encode()

    def apply(self, params: dict[str, Any] = VALID) -> dict[str, Any]:
        """Apply a remedy in the ordinary way; returns it in its final state."""
        request = {"action": "tune-revalidator", "host": HOST, "params": params, "mode": "apply"}
        answer = self.api.post("/remedies", json=request)
        assert answer.status_code == 201, answer.text
        path = f"/remedies/{answer.json()['id']}"
        final = ("applied", "verified", "not_verified", "failed", "refused", "expired")

        def ask() -> dict[str, Any] | None:
            remedy: dict[str, Any] = self.api.get(path).json()
            return remedy if remedy["state"] in final else None

        found: dict[str, Any] = wait_for("a final state", ask, timeout_s=120)
        return found

    def undo(self, remedy: dict[str, Any]) -> None:
        """Undo a remedy in the ordinary way, and wait for it."""
        path = f"/remedies/{remedy['id']}"
        answer = self.api.post(f"{path}/undo")
        assert answer.status_code == 202, answer.text

        def ask() -> bool:
            now = self.api.get(path).json()
            assert now["state"] not in ("failed", "refused"), now
            assert all(command["state"] not in ("failed", "refused", "expired") for command in now["commands"]), now
            return bool(now["state"] == "undone")

        wait_for("the undo", ask, timeout_s=60)

    def agent_log(self) -> list[dict[str, Any]]:
        lines = (self.stack.layout.folder / "logs" / f"agent-{HOST}.log").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def audit(self) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = self.api.get("/audit", params={"limit": 200}).json()["items"]
        return events


@pytest.fixture(scope="module")
def attack(healthy_stack: Stack) -> Iterator[Attack]:
    stack = healthy_stack
    with between(stack.layout.api_url.replace("http", "ws") + "/v1/opamp") as middle, stack.api() as api:
        file = stack.layout.hosts / HOST / "agent.yaml"
        file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | {"opamp_url": middle.url}))
        os.kill(stack.pid(f"agent-{HOST}"), SIGKILL)
        wait_for("the agent behind the middle", lambda: middle._agents, timeout_s=60)

        def connected() -> bool:
            return any(one["host"] == HOST and one["connected"] for one in api.get("/agents").json()["items"])

        wait_for("a connected agent", connected, timeout_s=60)
        yield Attack(stack, api, middle, CommandSigner.load(stack.layout.secrets))


def bad_signature(attack: Attack, jws: bytes) -> bytes:
    head, payload, signature = jws.split(b".")
    return b".".join([head, payload, signature[:-6] + (b"AAAAAA" if signature[-6:] != b"AAAAAA" else b"BBBBBB")])


def changed_payload(attack: Attack, jws: bytes) -> bytes:
    head, _, signature = jws.split(b".")
    return b".".join([head, attack.signed(jws, params={"max_idle_ms": 3_600_000}).split(b".")[1], signature])


def other_key(attack: Attack, jws: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Attack(attack.stack, attack.api, attack.middle, CommandSigner(Ed25519PrivateKey.generate())).signed(jws)


def unknown_action(attack: Attack, jws: bytes) -> bytes:
    return attack.signed(jws, action="run-shell", params={"command": "true"})


def out_of_range(attack: Attack, jws: bytes) -> bytes:
    return attack.signed(jws, params={"max_idle_ms": 3_600_001})


def unknown_parameter(attack: Attack, jws: bytes) -> bytes:
    return attack.signed(jws, params={**VALID, "path": "/etc/passwd"})


def old_timestamp(attack: Attack, jws: bytes) -> bytes:
    then = datetime.now(UTC) - timedelta(hours=1)
    return attack.signed(jws, issued_at=then, expires_at=then + timedelta(minutes=1))


def from_the_future(attack: Attack, jws: bytes) -> bytes:
    then = datetime.now(UTC) + timedelta(hours=1)
    return attack.signed(jws, issued_at=then, expires_at=then + timedelta(minutes=1))


def other_host(attack: Attack, jws: bytes) -> bytes:
    return attack.signed(jws, host="host02")


CHANGES: dict[str, tuple[Callable[[Attack, bytes], bytes], str]] = {
    "a bad signature": (bad_signature, "bad_signature"),
    "a payload that does not fit the signature": (changed_payload, "bad_signature"),
    "a key that the agent has not pinned": (other_key, "unknown_key"),
    "an unknown action": (unknown_action, "unknown_action"),
    "a parameter out of range": (out_of_range, "bad_parameter"),
    "a parameter that the action does not have": (unknown_parameter, "bad_parameter"),
    "an old timestamp": (old_timestamp, "expired"),
    "a timestamp of the future": (from_the_future, "not_yet_valid"),
    "another host's name": (other_host, "wrong_host"),
}


def test_an_unchanged_command_passes_the_middle_and_is_run(attack: Attack) -> None:
    attack.middle.change = None
    remedy = attack.apply()
    assert remedy["state"] in ("applied", "verified"), remedy
    attack.undo(remedy)


@pytest.mark.parametrize(("change", "code"), CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_command_is_refused_logged_and_audited(attack: Attack, change: Callable[[Attack, bytes], bytes], code: str) -> None:
    attack.middle.change = lambda jws: change(attack, jws)
    try:
        remedy = attack.apply()
    finally:
        attack.middle.change = None
    # Whose command a message was that cannot be trusted is not known, so such a remedy expires instead of being called refused.
    untrusted = code in ("bad_signature", "unknown_key")
    assert (remedy["state"], remedy["code"]) == ("refused", code) or (untrusted and remedy["state"] in ("expired", "refused")), remedy
    logged = [line for line in attack.agent_log() if line.get("code") == code]
    assert logged, f"the agent's log has no refusal {code}"
    audited = [event for event in attack.audit() if code in json.dumps(event) and event["actor"] == f"agent:{HOST}"]
    assert audited, f"the audit log has no refusal {code}"
    assert audited[0]["outcome"] == "refused"


def test_a_command_that_comes_twice_is_run_once(attack: Attack) -> None:
    remedy = attack.apply()
    assert remedy["state"] in ("applied", "verified")
    journal = attack.stack.layout.hosts / HOST / "agent" / "journal.jsonl"
    command = next(one for one in reversed(attack.middle.commands) if payload_of(one)["remedy_id"] == remedy["id"])
    identity = payload_of(command)["command_id"]

    def carried_out() -> list[str]:
        """What the agent did and found, without its notes of what the backend has acknowledged meanwhile."""
        records = [json.loads(line) for line in journal.read_text().splitlines()]
        return [one["kind"] for one in records if one["command_id"] == identity and one["kind"] != "delivered"]

    before = carried_out()
    for _ in range(3):
        attack.middle.inject(command)
    # The answer to a command that follows proves that the repeated ones have been dealt with.
    attack.undo(remedy)
    assert carried_out() == before == ["started", "result"]
