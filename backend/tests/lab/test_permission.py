"""The permission lab:run where only administrators have it, and where nobody has to approve anything."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.lab_runner import CAMPAIGNS, Runner, start


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"lab_run_role": "admin", "remedy_approval_risk": "never"}


def test_operators_neither_start_nor_stop_single_campaigns(operator: httpx.Client, admin: httpx.Client, device: str) -> None:
    refused = operator.post(CAMPAIGNS, json={"device": device})
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "lab:run, which the role admin has here; you have operator" in refused.json()["detail"]
    campaign = start(admin, device)
    assert operator.post(f"{CAMPAIGNS}/{campaign['id']}/stop", json={}).json()["code"] == "forbidden"
    assert admin.get(f"{CAMPAIGNS}/{campaign['id']}").json()["state"] == "queued"


def test_every_operator_may_use_the_emergency_stop(operator: httpx.Client, admin: httpx.Client, device: str) -> None:
    campaign = start(admin, device)
    assert operator.post("/api/v1/lab/stop", json={}).status_code == 200
    assert admin.get(f"{CAMPAIGNS}/{campaign['id']}").json()["state"] == "stopped"


def test_devices_say_that_operators_may_not_test_them(viewer: httpx.Client, device: str) -> None:
    answer = viewer.get("/api/v1/lab/devices").json()
    assert answer["run_role"] == "admin"
    assert next(each["run_role"] for each in answer["items"] if each["name"] == device) == "admin"


def test_where_no_remedy_needs_approval_no_campaign_does(admin: httpx.Client, backend: Any, runner: Runner) -> None:
    host = f"host-{uuid4().hex[:8]}"
    rnic = runner.offer(f"dut-{uuid4().hex[:8]}", host=host, pci="0000:3b:00.0")
    with backend.connect() as connection:
        sql = "INSERT INTO rnic_cordon (host, pci, cordoned, changed_at) VALUES (%s, '0000:3b:00.0', true, now())"
        connection.execute(sql, [host])
    assert start(admin, rnic)["state"] == "queued"
