"""What sick hosts have in common: the endpoint against rows as `ingest` writes them; the statistics are tested in pipelines."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest


@pytest.fixture(scope="module")
def sick_firmware(backend: Any) -> None:
    """Forty hosts with two RNICs each; of the eight with old firmware six are sick, and of those five had their driver reloaded.

    The sick ones have pods of one tenant, and one RNIC in ten has some of another.
    """
    now = datetime.now(UTC)
    symptoms = json.dumps({"S1": {"since": now.isoformat(), "finding_id": "00000000-0000-5000-8000-000000000001", "severity": "warning"}})
    walls = json.dumps({"egress_masks": {"value": 12, "limit": 10, "headroom": -0.2, "basis": "model"}})
    with backend.connect() as c:
        for n in range(40):
            host = f"common{n:02}"
            (host_id,) = c.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [host]).fetchone()
            for pci in ("0000:3b:00.0", "0000:5e:00.0"):
                (rnic_id,) = c.execute(
                    "INSERT INTO rnic (host, pci, rack, model, fw_ver) VALUES (%s, %s, %s, 'CX-6', %s) RETURNING rnic_id",
                    [host, pci, f"r{n % 5}", "22.1" if n < 8 else "22.2"],
                ).fetchone()
                c.execute(
                    "INSERT INTO rnic_state (rnic_id, host, pci, rack, model, walls, headroom, symptoms, change_seq) "
                    "VALUES (%s, %s, %s, %s, 'CX-6', %s, -0.2, %s, nextval('rnic_state_change_seq_values'))",
                    [rnic_id, host, pci, f"r{n % 5}", walls, symptoms if n < 6 else "{}"],
                )
                tenants = ["noisy", "", "noisy"] if n < 6 else ["calm"] if n % 10 == 9 else []
                c.execute(
                    "INSERT INTO rnic_isolation (rnic_id, at, vfs) VALUES (%s, %s, %s)",
                    [rnic_id, now, json.dumps([{"vf": i, "tenant": tenant} for i, tenant in enumerate(tenants)])],
                )
            if n < 5:
                for kind, minutes in (("driver_reloaded", 20), ("flow_added", 1), ("port_down", 90)):
                    c.execute(
                        "INSERT INTO event (time, host_id, pci, kind, detail) VALUES (%s, %s, '', %s, '')",
                        [now - timedelta(minutes=minutes), host_id, kind],
                    )


@pytest.mark.usefixtures("sick_firmware")
def test_the_fleet_says_what_its_sick_hosts_share(viewer: httpx.Client) -> None:
    body = viewer.get("/api/v1/fleet/commonalities").json()
    found = {(item["dimension"], item["value"]): (item["sick_with"], item["all_with"]) for item in body["items"]}
    assert found == {("firmware", "22.1"): (6, 8), ("tenant", "noisy"): (6, 6), ("change", "driver_reloaded"): (5, 5)}
    assert (body["hosts"], body["sick"]) == (40, 6)
    assert all(item["chance"] <= 0.05 and item["lift"] > 1 for item in body["items"])


@pytest.mark.usefixtures("sick_firmware")
def test_a_symptom_that_no_host_has_shares_nothing(viewer: httpx.Client) -> None:
    body = viewer.get("/api/v1/fleet/commonalities", params={"symptom": "S6"}).json()
    assert (body["sick"], body["tested"], body["items"]) == (0, 0, [])


@pytest.mark.usefixtures("sick_firmware")
def test_details_are_in_the_order_of_the_fleet(viewer: httpx.Client) -> None:
    fleet = viewer.get("/api/v1/fleet").json()["columns"]
    details = viewer.get("/api/v1/fleet/details", params={"wall": "egress_masks"}).json()
    assert (details["host"], details["pci"]) == (fleet["host"], fleet["pci"])
    assert set(details["headroom"]) == {-0.2}
    assert set(details["firmware"]) == {"22.1", "22.2"}
    assert details["tenants"][details["host"].index("common00")] == ["noisy"]
    assert details["tenants"][details["host"].index("common09")] == ["calm"]
    assert details["tenants"][details["host"].index("common08")] == []
    assert set(viewer.get("/api/v1/fleet/details").json()["headroom"]) == {None}
    assert viewer.get("/api/v1/fleet/details", params={"wall": "great"}).status_code == 422
