"""Campaigns on RNICs of the fleet: the permission lab:run, the cordon, and the approval of a second person."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch.store import lab as store
from wallwatch.store.lab import CampaignState
from wallwatch_testing.lab_runner import CAMPAIGNS, Runner, start

PCI = "0000:3b:00.0"
PASSWORD = "a second administrator"


@pytest.fixture
def host() -> str:
    return f"host-{uuid4().hex[:8]}"


@pytest.fixture
def rnic(runner: Runner, host: str) -> str:
    """A device that is an RNIC of the fleet."""
    return runner.offer(f"dut-{uuid4().hex[:8]}", host=host, pci=PCI)


@pytest.fixture
def cordon(backend: Any, host: str) -> Callable[[bool], None]:
    def set_it(cordoned: bool) -> None:
        sql = """
            INSERT INTO rnic_cordon (host, pci, cordoned, changed_at) VALUES (%s, %s, %s, now())
            ON CONFLICT (host, pci) DO UPDATE SET cordoned = excluded.cordoned
        """
        with backend.connect() as connection:
            connection.execute(sql, [host, PCI, cordoned])

    return set_it


@pytest.fixture(scope="module")
def second_admin(backend: Any, admin: httpx.Client) -> Iterator[httpx.Client]:
    made = admin.post("/api/v1/users", json={"username": "second", "password": PASSWORD, "role": "admin"})
    assert made.status_code == 201, made.text
    with closing(backend.client()) as client:
        answer = client.post("/api/v1/session", json={"username": "second", "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
        yield client


def post(client: httpx.Client, campaign: dict[str, Any], verb: str, **body: Any) -> httpx.Response:
    return client.post(f"{CAMPAIGNS}/{campaign['id']}/{verb}", json=body)


def audited(admin: httpx.Client, campaign: dict[str, Any]) -> list[tuple[str, str]]:
    events = admin.get("/api/v1/audit", params={"limit": 100}).json()["items"]
    return [(e["action"], e["actor"]) for e in events if e["detail"].get("campaign_id") == campaign["id"]][::-1]


def test_an_rnic_of_the_fleet_is_tested_by_administrators_while_it_is_cordoned(
    operator: httpx.Client, admin: httpx.Client, second_admin: httpx.Client, runner: Runner, rnic: str, host: str, cordon: Any
) -> None:
    refused = operator.post(CAMPAIGNS, json={"device": rnic}).json()
    assert (refused["code"], "lab:run on it requires the role admin" in refused["detail"]) == ("forbidden", True)
    assert admin.post(CAMPAIGNS, json={"device": rnic}).json()["code"] == "rnic_not_cordoned"
    cordon(True)
    campaign = start(admin, rnic)
    assert post(second_admin, campaign, "approve").status_code == 200
    claimed = runner.claim(rnic)
    assert claimed is not None
    assert runner.write(claimed.id, []) == store.Held(stop=None)
    cordon(False)
    held = runner.write(claimed.id, [])
    assert held is not None
    assert held.stop == f"RNIC {PCI} of host {host} is no longer cordoned."
    runner.end(claimed.id, CampaignState.stopped, message=held.stop)
    assert admin.get(f"{CAMPAIGNS}/{campaign['id']}").json()["message"] == held.stop


def test_no_runner_takes_a_campaign_before_another_person_has_approved_it(
    operator: httpx.Client, admin: httpx.Client, second_admin: httpx.Client, runner: Runner, rnic: str, cordon: Any
) -> None:
    cordon(True)
    campaign = start(admin, rnic)
    assert (campaign["state"], campaign["decided_by"]) == ("pending", None)
    assert runner.claim(rnic) is None
    assert post(operator, campaign, "approve").json()["code"] == "forbidden"
    own = post(admin, campaign, "approve")
    assert (own.status_code, own.json()["code"]) == (403, "second_person_needed")
    assert runner.claim(rnic) is None
    approved = post(second_admin, campaign, "approve", comment="drained").json()
    assert (approved["state"], approved["decided_by"], approved["decision_comment"]) == ("queued", "second", "drained")
    assert post(second_admin, campaign, "approve").json()["code"] == "lab_campaign_not_pending"
    claimed = runner.claim(rnic)
    assert claimed is not None
    assert str(claimed.id) == campaign["id"]
    assert audited(admin, campaign) == [("lab.propose", "admin"), ("lab.approve", "second")]


def test_a_token_counts_as_the_person_who_created_it(backend: Any, admin: httpx.Client, rnic: str, cordon: Any) -> None:
    cordon(True)
    campaign = start(admin, rnic)
    token = admin.post("/api/v1/tokens", json={"name": f"t-{uuid4().hex[:8]}", "role": "admin"}).json()["token"]
    with backend.client(headers={"Authorization": f"Bearer {token}"}) as robot:
        assert post(robot, campaign, "approve").json()["code"] == "second_person_needed"


def test_the_cordon_is_looked_at_again_when_it_is_approved(admin: httpx.Client, second_admin: httpx.Client, rnic: str, cordon: Any) -> None:
    cordon(True)
    campaign = start(admin, rnic)
    cordon(False)
    assert post(second_admin, campaign, "approve").json()["code"] == "rnic_not_cordoned"
    assert admin.get(f"{CAMPAIGNS}/{campaign['id']}").json()["state"] == "pending"


def test_a_rejected_campaign_is_over_and_says_why(
    admin: httpx.Client, second_admin: httpx.Client, runner: Runner, rnic: str, cordon: Any
) -> None:
    cordon(True)
    campaign = start(admin, rnic)
    assert post(second_admin, campaign, "reject").status_code == 422, "a reason is required"
    rejected = post(second_admin, campaign, "reject", reason="the host carries traffic").json()
    assert (rejected["state"], rejected["message"]) == ("rejected", "Rejected by second: the host carries traffic")
    assert runner.claim(rnic) is None
    assert post(admin, campaign, "stop").json()["code"] == "lab_campaign_over"
    assert audited(admin, campaign)[-1] == ("lab.reject", "second")


def test_a_campaign_that_waits_for_approval_can_be_stopped(admin: httpx.Client, rnic: str, cordon: Any) -> None:
    cordon(True)
    stopped = post(admin, start(admin, rnic), "stop").json()
    assert (stopped["state"], stopped["message"]) == ("stopped", "Stopped by admin before it began.")


def test_a_campaign_that_nobody_decides_on_expires(
    admin: httpx.Client, backend: Any, rnic: str, runner: Runner, cordon: Any, eventually: Any
) -> None:
    cordon(True)
    campaign = start(admin, rnic)
    with backend.connect() as connection:
        connection.execute("UPDATE lab_campaign SET created_at = now() - interval '25 h' WHERE id = %s", [campaign["id"]])
    eventually(lambda: admin.get(f"{CAMPAIGNS}/{campaign['id']}").json()["state"] == "expired")
    assert runner.claim(rnic) is None
    assert audited(admin, campaign)[-1] == ("lab.expired", "wallwatch")


def test_devices_say_who_may_test_them(viewer: httpx.Client, device: str, rnic: str) -> None:
    answer = viewer.get("/api/v1/lab/devices").json()
    shown = {each["name"]: (each["run_role"], each["needs_approval"]) for each in answer["items"]}
    assert (shown[device], shown[rnic], answer["run_role"]) == (("operator", False), ("admin", True), "operator")


def test_a_simulated_device_needs_no_approval(operator: httpx.Client, device: str) -> None:
    assert start(operator, device)["state"] == "queued"
