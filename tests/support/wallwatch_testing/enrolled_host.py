"""A host with the real agent, which enrols with a key of its own and uses mutual TLS; and clients that present certificates like its."""

import contextlib
import json
import ssl
from pathlib import Path
from signal import SIGTERM
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from wallwatch_local.hosts import render
from wallwatch_local.paths import binary
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing.opamp_client import connect_agent

PCI = "0000:3b:00.0"


class EnrolledHost:
    """A host's folder, and its agent when it runs."""

    def __init__(self, folder: Path, name: str, backend: Any) -> None:
        self.folder, self.name, self.backend = folder, name, backend
        (folder / "agent").mkdir(parents=True)
        (folder / "sys/bus/pci/devices" / PCI).mkdir(parents=True)
        url = str(backend.settings.agent_url).rstrip("/")
        values = {"host": name, "server_url": url, "opamp_url": url.replace("https", "wss") + "/v1/opamp"}
        (folder / "agent.yaml").write_text(render("agent.yaml", values) + "heartbeat_seconds: 1\n")

    @property
    def credentials(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "agent/credentials.json").read_text())
        return found

    def put_token(self, admin: httpx.Client) -> str:
        token = str(admin.post("/api/v1/agents/enrolment-tokens", json={"host": self.name}).json()["token"])
        (self.folder / "agent/enrolment-token").write_text(token + "\n")
        return token

    def agent(self) -> contextlib.AbstractContextManager[Any]:
        command = ["env", f"--chdir={self.folder}", str(binary("wallwatch-agent")), "run", "--config", "agent.yaml"]
        ready = (self.folder / "agent/credentials.json").exists
        return running("agent", die_with_parent(command, SIGTERM), self.folder / "agent.log", ready, SIGTERM)

    @property
    def log(self) -> str:
        return (self.folder / "agent.log").read_text()


def connected(admin: httpx.Client, name: str) -> bool:
    """Whether the host's agent is connected."""
    found = admin.get("/api/v1/agents", params={"host": name}).json()["items"]
    return bool(found) and bool(found[0]["connected"])


def refusals(admin: httpx.Client, name: str) -> list[str]:
    """Why connections of the host were refused, newest first, as the audit log has it."""
    found = admin.get("/api/v1/audit", params={"actor": f"agent:{name}", "limit": 200}).json()["items"]
    return [event["detail"]["reason"] for event in found if event["action"] == "agent.connect" and event["outcome"] == "refused"]


def context(credentials: dict[str, Any], folder: Path, *, shown: bool = True) -> ssl.SSLContext:
    """TLS settings that trust the server of these credentials and, if `shown`, present their certificate; its file goes to `folder`."""
    made = ssl.create_default_context(cadata="".join(credentials["authorities"]))
    if shown:
        file = folder / f"{uuid4().hex}.pem"
        file.write_text(credentials["certificate"] + credentials["private_key"])
        made.load_cert_chain(file)
    return made


def refused_with(credentials: dict[str, Any], folder: Path, *, shown: bool = True) -> str:
    """The code with which a bearer of credentials is rejected."""
    with pytest.raises(InvalidStatus) as refused, connect_agent(credentials["opamp_url"], context(credentials, folder, shown=shown)):
        pass
    assert refused.value.response.status_code == 401
    assert refused.value.response.body is not None
    return str(json.loads(refused.value.response.body)["code"])
