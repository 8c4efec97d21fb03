"""An agent gets its host's telemetry key: at its enrolment, on each connection, and again after a rotation."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import httpx
import pytest

from wallwatch.domain.telemetry.keys import key_of
from wallwatch.store import telemetry_secret
from wallwatch_backend.hosts.connections.capabilities import AgentLink, CustomMessage
from wallwatch_backend.hosts.connections.telemetry_key import TELEMETRY_CAPABILITY, TelemetryKeyDelivery
from wallwatch_backend.kit.telemetry_keys import HostKeys


class Link:
    """A connection of host01 that remembers what was sent."""

    host = "host01"

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def send(self, capability: str, message: CustomMessage) -> None:
        assert (capability, message.type) == (TELEMETRY_CAPABILITY, "key")
        self.sent.append(json.loads(message.data)["telemetry_key"])

    def send_soon(self, capability: str, messages: Sequence[CustomMessage]) -> None:
        raise AssertionError

    async def report_abuse(self, reason: str, *, kind: str = "", **detail: str | None) -> None:
        raise AssertionError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(telemetry_secret, "LOOK_EVERY_S", 0.0)
    return tmp_path / "secrets" / "telemetry.secret"


async def test_a_connection_gets_its_own_key_once_and_again_after_a_rotation(file: Path) -> None:
    link = Link()
    delivery = TelemetryKeyDelivery(HostKeys(file), cast(AgentLink, link))
    await delivery.offer()
    assert link.sent == [], "an agent that does not know the capability gets nothing"
    delivery.on_announced(True)
    for _ in range(3):
        await delivery.offer()
    first = telemetry_secret.read(file)[0]
    assert link.sent == [key_of(first, "host01")]
    telemetry_secret.rotate(file)
    for _ in range(3):
        await delivery.offer()
    assert link.sent == [key_of(first, "host01"), key_of(telemetry_secret.read(file)[0], "host01")]
    assert not await delivery.on_message(CustomMessage("key", b"{}"))


async def test_a_server_without_a_secret_sends_no_key() -> None:
    link = Link()
    delivery = TelemetryKeyDelivery(HostKeys(None), cast(AgentLink, link))
    delivery.on_announced(True)
    await delivery.offer()
    assert link.sent == []


@pytest.fixture(scope="module")
def backend_settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return {"telemetry_secret_file": tmp_path_factory.mktemp("telemetry") / "secret"}


@pytest.mark.integration
def test_the_answer_to_an_enrolment_has_the_key_of_the_host_that_the_token_allows(
    admin: httpx.Client, anonymous: httpx.Client, backend: Any
) -> None:
    token = admin.post("/api/v1/agents/enrolment-tokens", json={"host": "key01"}).json()["token"]
    body = {"token": token, "host": "key02", "version": "1", "instance_uid": str(uuid4())}
    refused = anonymous.post("/api/v1/agents/enrol", json=body)
    assert refused.status_code in (401, 403), "no key of another host"
    assert "telemetry_key" not in refused.text
    answer = anonymous.post("/api/v1/agents/enrol", json=body | {"host": "key01"})
    assert answer.status_code == 201, answer.text
    secret = telemetry_secret.read(backend.settings.telemetry_secret_file)[0]
    assert answer.json()["telemetry_key"] == key_of(secret, "key01")
    assert answer.headers["Cache-Control"] == "no-store"
