"""What sick hosts have in common: the statistics against chance itself, and the endpoint against rows as `ingest` writes them."""

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from scipy.stats import fisher_exact

from wallwatch_backend.fleet.commonalities.statistics import Property, chance_of, shared_properties

OLD, NEW = Property("firmware", "old"), Property("firmware", "new")


def fleet_of(hosts: int, seed: int) -> dict[str, set[Property]]:
    """Hosts in racks of eight, with one of three models and one of four versions of firmware."""
    chosen = random.Random(seed)
    return {
        f"h{n}": {
            Property("rack", str(n // 8)),
            Property("model", chosen.choice("abc")),
            Property("firmware", chosen.choice("1234")),
        }
        for n in range(hosts)
    }


@pytest.mark.parametrize(("hosts", "all_with", "sick", "sick_with"), [(40, 8, 6, 5), (100, 50, 10, 7), (9, 3, 3, 3), (30, 10, 5, 0)])
def test_the_chance_is_that_of_fishers_exact_test(hosts: int, all_with: int, sick: int, sick_with: int) -> None:
    table = [[sick_with, sick - sick_with], [all_with - sick_with, hosts - all_with - sick + sick_with]]
    assert chance_of(hosts, all_with, sick, sick_with) == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_a_fleet_without_a_pattern_is_named_one_rarely() -> None:
    properties = fleet_of(200, seed=1)
    draw = random.Random(2)
    named = sum(bool(shared_properties(properties, set(draw.sample(sorted(properties), 12)))[0]) for _ in range(300))
    assert named <= 15, "0.05 of 300 looks"


def test_a_pattern_is_found_among_others_and_the_rest_is_not_named() -> None:
    properties = fleet_of(200, seed=1)
    guilty = [host for host, has in properties.items() if Property("firmware", "3") in has]
    others = [host for host in properties if host not in guilty]
    found, tested = shared_properties(properties, {*guilty[:12], *others[:2]})
    assert [each.property for each in found] == [Property("firmware", "3")]
    assert (found[0].sick_with, found[0].all_with) == (12, len(guilty))
    assert found[0].lift == pytest.approx(12 / 14 / (len(guilty) / 200))
    assert tested > 1


def test_two_sick_hosts_are_an_anecdote_and_a_fleet_that_is_all_sick_has_nobody_to_compare_with() -> None:
    properties = {f"h{n}": {OLD if n < 2 else NEW} for n in range(1000)}
    assert shared_properties(properties, {"h0", "h1"}) == ([], 0)
    assert shared_properties(properties, set(properties)) == ([], 0)


@pytest.fixture(scope="module")
def sick_firmware(backend: Any) -> None:
    """Forty hosts with two RNICs each; of the eight with old firmware six are sick, and of those five had their driver reloaded."""
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
    assert found == {("firmware", "22.1"): (6, 8), ("change", "driver_reloaded"): (5, 5)}
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
    assert set(viewer.get("/api/v1/fleet/details").json()["headroom"]) == {None}
    assert viewer.get("/api/v1/fleet/details", params={"wall": "great"}).status_code == 422
