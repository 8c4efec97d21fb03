"""Incidents pushed to a real Alertmanager, which knows them by its own labels, silences and ends."""

import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_local.ports import free_ports

PROGRAM = "prometheus-alertmanager"
CONFIGURATION = "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0, "webhook_retry_base_s": 0.2}


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("alertmanager")
    (folder / "alertmanager.yaml").write_text(CONFIGURATION)
    port = free_ports(1)[0]
    process = start(folder, port)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield client
    process.terminate()
    process.wait(30)


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    options = {"config.file": folder / "alertmanager.yaml", "storage.path": folder, "web.listen-address": f"127.0.0.1:{port}"}
    options["cluster.listen-address"] = ""
    with (folder / "log").open("wb") as log:
        return subprocess.Popen([PROGRAM, *(f"--{name}={value}" for name, value in options.items())], stdout=log, stderr=log)


@pytest.fixture(scope="module")
def webhook(admin: httpx.Client, alertmanager: httpx.Client, eventually: Any) -> dict[str, Any]:
    eventually(lambda: answers(alertmanager))
    url = f"{alertmanager.base_url}/api/v2/alerts"
    made = admin.post("/api/v1/webhooks", json={"name": "alertmanager", "format": "alertmanager_api", "url": url})
    assert made.status_code == 201, made.text
    body: dict[str, Any] = made.json()
    return body


def answers(alertmanager: httpx.Client) -> bool:
    try:
        return alertmanager.get("/-/ready").is_success
    except httpx.TransportError:
        return False


def alerts(alertmanager: httpx.Client, **labels: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = alertmanager.get(
        "/api/v2/alerts", params={"filter": [f'{name}="{value}"' for name, value in labels.items()]}
    ).json()
    return found


def test_an_incident_is_one_alert_from_its_opening_to_its_end(
    alertmanager: httpx.Client, webhook: dict[str, Any], findings: Any, eventually: Any
) -> None:
    host, at = f"am-{uuid4().hex[:6]}", datetime.now(UTC) - timedelta(seconds=120)
    findings.send(findings.finding(host=host, started=at))
    [alert] = eventually(lambda: alerts(alertmanager, host=host))
    assert alert["labels"]["alertname"] == "WallwatchS1"
    assert (alert["labels"]["instance"], alert["labels"]["severity"]) == (host, "warning")
    lives = datetime.fromisoformat(alert["endsAt"]) - datetime.now(UTC)
    assert timedelta(minutes=20) < lives <= timedelta(minutes=30)  # three pauses of the default, less what the test took
    findings.send(findings.finding(host=host, started=at, after_s=60, state="cleared"))
    eventually(lambda: not alerts(alertmanager, host=host))


def test_alerts_of_two_hosts_are_two_alerts_and_each_can_be_silenced(
    alertmanager: httpx.Client, webhook: dict[str, Any], findings: Any, eventually: Any
) -> None:
    hosts = [f"am-{uuid4().hex[:6]}" for _ in range(2)]
    for host in hosts:
        findings.send(findings.finding(host=host, started=datetime.now(UTC) - timedelta(seconds=60)))
    eventually(lambda: all(len(alerts(alertmanager, instance=host)) == 1 for host in hosts))
    now = datetime.now(UTC)
    silence = {
        "matchers": [{"name": "instance", "value": hosts[0], "isRegex": False, "isEqual": True}],
        "startsAt": now.isoformat(),
        "endsAt": (now + timedelta(hours=1)).isoformat(),
        "createdBy": "sre",
        "comment": "known",
    }
    assert alertmanager.post("/api/v2/silences", json=silence).is_success

    def states() -> list[str]:
        return [alerts(alertmanager, instance=host)[0]["status"]["state"] for host in hosts]

    eventually(lambda: states() == ["suppressed", "active"])


def test_a_test_event_arrives_and_ends_by_itself(
    admin: httpx.Client, alertmanager: httpx.Client, webhook: dict[str, Any], eventually: Any
) -> None:
    assert admin.post(f"/api/v1/webhooks/{webhook['id']}/test").status_code == 202
    [alert] = eventually(lambda: alerts(alertmanager, alertname="WallwatchTest"))
    assert datetime.fromisoformat(alert["endsAt"]) - datetime.fromisoformat(alert["startsAt"]) == timedelta(minutes=5)


@pytest.mark.parametrize("route", [{"group_by": ["rack"]}, {"repeat_interval_s": None}])
def test_a_route_that_alertmanager_would_misunderstand_is_refused(
    admin: httpx.Client, webhook: dict[str, Any], route: dict[str, Any]
) -> None:
    answer = admin.patch(f"/api/v1/webhooks/{webhook['id']}", json=route)
    assert (answer.status_code, answer.json()["code"]) == (422, "unfit_route")
    assert "Alertmanager" in answer.json()["detail"]
