"""A thief has copied the credentials of a host's real agent and uses them elsewhere: it is seen, and ended within seconds."""

import contextlib
import ssl
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from opentelemetry._opamp.messages import build_agent_description
from opentelemetry._opamp.proto import opamp_pb2
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from wallwatch_local.ports import free_ports
from wallwatch_testing.enrolled_host import PCI, EnrolledHost, connected, context, refusals, refused_with
from wallwatch_testing.opamp_client import connect_agent

SECONDS = 30
"""Until a revocation has ended a connection; takes well under one, but tests share their processors."""


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    port = free_ports(1)[0]
    return {"agent_port": port, "agent_url": f"https://127.0.0.1:{port}", "remedy_max_fleet_percent": 100}


@pytest.fixture
def host(backend: Any) -> Iterator[EnrolledHost]:
    with tempfile.TemporaryDirectory(prefix="ww", dir="/tmp") as place:
        yield EnrolledHost(Path(place), "host-" + uuid4().hex[:8], backend)


class Thief:
    """Connects from another place with what it copied, and introduces itself as the agent does."""

    def __init__(self, host: EnrolledHost, folder: Path) -> None:
        self.stolen, self.name, self.folder = host.credentials, host.name, folder
        self.tls: ssl.SSLContext = context(self.stolen, folder)

    @contextlib.contextmanager
    def connected(self) -> Iterator[ClientConnection]:
        with connect_agent(self.stolen["opamp_url"], self.tls) as socket:
            hello = opamp_pb2.AgentToServer(instance_uid=UUID(self.stolen["instance_uid"]).bytes, sequence_num=0)
            hello.agent_description.CopyFrom(build_agent_description({"service.name": "wallwatch-agent", "host.name": self.name}, {}))
            hello.custom_capabilities.capabilities.append("com.wallwatch.remedy.v1")
            socket.send(b"\0" + hello.SerializeToString())
            socket.recv(timeout=60)  # the server has heard it
            yield socket

    def refused(self) -> str:
        return refused_with(self.stolen, self.folder)


def seconds_until_closed(socket: ClientConnection) -> float:
    began = time.monotonic()
    with contextlib.suppress(ConnectionClosed):
        while True:
            socket.recv(timeout=60)
    return time.monotonic() - began


def use_five_times(thief: Thief) -> None:
    """Two places that use the same credentials end each other's connections in turns."""
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            with contextlib.suppress(ConnectionClosed):  # the host's agent was back before the server had answered the thief
                stack.enter_context(thief.connected())


def test_a_copied_certificate_in_a_second_place_is_seen_and_a_new_enrolment_ends_it(
    host: EnrolledHost, admin: httpx.Client, eventually: Any, tmp_path: Path
) -> None:
    host.put_token(admin)
    with host.agent():
        eventually(lambda: connected(admin, host.name))
        thief = Thief(host, tmp_path)
        use_five_times(thief)
        eventually(lambda: "two_connections" in refusals(admin, host.name))
        eventually(lambda: host.log.count("connected to the server") > 1)
    (host.folder / "agent/credentials.json").unlink()
    host.put_token(admin)
    with thief.connected() as socket, host.agent():
        assert seconds_until_closed(socket) < SECONDS
        assert thief.refused() == "certificate_revoked"
        eventually(lambda: connected(admin, host.name))
        assert thief.refused() == "certificate_revoked"
        assert connected(admin, host.name), "the owner's own agent stays"
    assert "certificate_revoked" in refusals(admin, host.name)


def test_an_agent_that_is_removed_takes_its_thief_along_who_has_obeyed_nothing_on_the_host(
    host: EnrolledHost, admin: httpx.Client, operator: httpx.Client, eventually: Any, tmp_path: Path
) -> None:
    host.put_token(admin)
    with host.agent():
        eventually(lambda: connected(admin, host.name))
        thief = Thief(host, tmp_path)
    with thief.connected() as socket:
        eventually(lambda: connected(admin, host.name))
        order = {"action": "cordon-rnic", "host": host.name, "pci": PCI, "params": {"reason": "test"}, "mode": "apply"}
        remedy = operator.post("/api/v1/remedies", json=order).json()["id"]
        while opamp_pb2.ServerToAgent.FromString(socket.recv(timeout=60)[1:]).custom_message.type != "command":
            pass  # until it reads what is meant for the host
        id = admin.get("/api/v1/agents", params={"host": host.name}).json()["items"][0]["id"]
        assert admin.delete(f"/api/v1/agents/{id}").status_code == 204
        assert seconds_until_closed(socket) < SECONDS
    assert thief.refused() == "unknown_certificate"
    assert refusals(admin, host.name) == ["unknown_certificate"]
    assert operator.get(f"/api/v1/remedies/{remedy}").json()["state"] not in ("verifying", "confirmed")
    assert not (host.folder / "agent/cordon" / f"{PCI}.json").exists()
