"""A real Alerta takes incidents: from Wallwatch's own webhook, and through a real Alertmanager (docs/webhooks.md)."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from wallwatch_local.paths import REPOSITORY
from wallwatch_local.ports import free_ports

ADDRESS = "https://alerta.example/api"


@pytest.fixture(scope="module")
def alerta(programs: Path, backend: Any, tmp_path_factory: pytest.TempPathFactory, eventually: Any) -> Iterator[httpx.Client]:
    """Alerta with a database of its own on the test's PostgreSQL."""
    name, port = f"alerta_{uuid4().hex[:8]}", free_ports(1)[0]
    with psycopg.connect(backend.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    server, _, _ = backend.dsn.rpartition("/")
    environment = {**os.environ, "DATABASE_URL": f"{server}/{name}", "DATABASE_NAME": name, "AUTH_REQUIRED": "false"}
    log = tmp_path_factory.mktemp("alerta") / "log"
    with log.open("wb") as file:
        command = [str(programs / "alerta/bin/alertad"), "run", "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

        def answers() -> bool:
            assert process.poll() is None, log.read_text()[-4000:]
            try:
                return client.get("/alerts").is_success
            except httpx.TransportError:
                return False

        eventually(answers)
        yield client
    process.terminate()
    process.wait(30)


def alerts(alerta: httpx.Client, **wanted: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = alerta.get("/alerts", params=wanted).json()["alerts"]
    return found


def described(kind: str) -> str:
    """The path of Alerta's webhook as the documentation gives it."""
    found = re.search(rf"`{re.escape(ADDRESS)}(/webhooks/{kind})`", (REPOSITORY / "docs/webhooks.md").read_text())
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def webhook(admin: httpx.Client, alerta: httpx.Client) -> dict[str, Any]:
    url = f"{alerta.base_url}".rstrip("/") + described("prometheus")
    made = admin.post("/api/v1/webhooks", json={"name": "alerta", "format": "alertmanager", "url": url})
    assert made.status_code == 201, made.text
    body: dict[str, Any] = made.json()
    return body


@pytest.mark.usefixtures("webhook")
def test_incidents_of_two_hosts_are_two_alerts_that_close(alerta: httpx.Client, findings: Any, eventually: Any) -> None:
    at = datetime.now(UTC) - timedelta(seconds=120)
    hosts = [f"al-{uuid4().hex[:6]}" for _ in range(2)]
    for host in hosts:
        findings.send(findings.finding(host=host, started=at))
    for host in hosts:
        [alert] = eventually(lambda host=host: alerts(alerta, resource=host))
        assert (alert["event"], alert["severity"], alert["status"]) == ("WallwatchS1", "warning", "open")
        assert alert["duplicateCount"] == 0
    findings.send(findings.finding(host=hosts[0], started=at, after_s=60, state="cleared"))
    eventually(lambda: [each["status"] for each in alerts(alerta, resource=hosts[0])] == ["closed"])
    assert [each["status"] for each in alerts(alerta, resource=hosts[1])] == ["open"]


def test_the_test_button_succeeds(admin: httpx.Client, alerta: httpx.Client, webhook: dict[str, Any], eventually: Any) -> None:
    assert admin.post(f"/api/v1/webhooks/{webhook['id']}/test").status_code == 202
    eventually(lambda: alerts(alerta, event="WallwatchTest"))

    def delivered() -> Any:
        items = admin.get(f"/api/v1/webhooks/{webhook['id']}/deliveries").json()["items"]
        return items and all(each["state"] == "delivered" for each in items)

    eventually(delivered)


def test_they_come_through_alertmanager_too(
    admin: httpx.Client,
    alerta: httpx.Client,
    webhook: dict[str, Any],
    alertmanager: Callable[[str], httpx.Client],
    findings: Any,
    eventually: Any,
) -> None:
    assert admin.delete(f"/api/v1/webhooks/{webhook['id']}").status_code == 204  # nothing goes there directly any more
    through = alertmanager(f"{alerta.base_url}".rstrip("/") + described("prometheus"))
    url = f"{through.base_url}".rstrip("/") + "/api/v2/alerts"
    made = admin.post("/api/v1/webhooks", json={"name": "alertmanager", "format": "alertmanager_api", "url": url})
    assert made.status_code == 201, made.text
    host = f"am-{uuid4().hex[:6]}"
    findings.send(findings.finding(host=host, started=datetime.now(UTC) - timedelta(seconds=60)))
    [alert] = eventually(lambda: alerts(alerta, resource=host))
    assert (alert["event"], alert["severity"], alert["status"]) == ("WallwatchS1", "warning", "open")


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory, eventually: Any) -> Iterator[Callable[[str], httpx.Client]]:
    """A function that starts an Alertmanager which sends everything to one webhook."""
    running: list[subprocess.Popen[bytes]] = []
    clients: list[httpx.Client] = []

    def start(receiver: str) -> httpx.Client:
        folder, port = tmp_path_factory.mktemp("alertmanager"), free_ports(1)[0]
        text = f"route: {{receiver: one, group_wait: 0s}}\nreceivers: [{{name: one, webhook_configs: [{{url: '{receiver}'}}]}}]\n"
        (folder / "alertmanager.yaml").write_text(text)
        options = {"config.file": folder / "alertmanager.yaml", "storage.path": folder, "web.listen-address": f"127.0.0.1:{port}"}
        arguments = [f"--{name}={value}" for name, value in (options | {"cluster.listen-address": ""}).items()]
        with (folder / "log").open("wb") as log:
            running.append(subprocess.Popen(["prometheus-alertmanager", *arguments], stdout=log, stderr=log))
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        clients.append(client)

        def answers() -> bool:
            try:
                return client.get("/-/ready").is_success
            except httpx.TransportError:
                return False

        eventually(answers)
        return client

    yield start
    for client in clients:
        client.close()
    for process in running:
        process.terminate()
        process.wait(30)
