"""Incidents in groups: each in exactly one, the counts of which add up, whose rows the list returns."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.incidents import API

NOW = datetime.now(UTC).replace(microsecond=0)
PCI = "0000:3b:00.0"


@pytest.fixture(scope="module")
def grouped(operator: httpx.Client, backend: Any, findings: Any, apply_findings: Any) -> str:
    """Four incidents whose host names begin with the value: two in one rack, one critical and assigned, one of another model."""
    tag = uuid4().hex[:8]
    a, b, c, d = (f"{tag}-{n}" for n in "abcd")
    apply_findings(
        findings.finding(host=a, started=NOW, rack=f"{tag}-r1"),
        findings.finding("S6", host=b, started=NOW, rack=f"{tag}-r1"),
        findings.finding(host=c, started=NOW, rack=f"{tag}-r2", severity="critical"),
        findings.finding("S7", host=d, started=NOW, rack=f"{tag}-r3", model="BF-2"),
    )
    with backend.connect() as connection:
        for host, tenants in ((a, ["web", "", "ads"]), (b, ["web"]), (c, [])):
            query = "INSERT INTO rnic (host, pci, rack, model, fw_ver) VALUES (%s, %s, '', '', '') RETURNING rnic_id"
            (rnic_id,) = connection.execute(query, [host, PCI]).fetchone()
            vfs = json.dumps([{"vf": n, "tenant": tenant} for n, tenant in enumerate(tenants)])
            connection.execute("INSERT INTO rnic_isolation (rnic_id, at, vfs) VALUES (%s, %s, %s)", [rnic_id, NOW, vfs])
    critical = operator.get(API, params={"q": c}).json()["items"][0]
    operator.patch(
        f"{API}/{critical['id']}", json={"assignee": "viewer"}, headers={"If-Match": f'"{critical["version"]}"'}
    ).raise_for_status()
    return tag


def groups(client: httpx.Client, by: str, tag: str, **more: Any) -> list[dict[str, Any]]:
    answer = client.get(f"{API}/groups", params={"by": by, "q": f"{tag}-", **more})
    answer.raise_for_status()
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


EXPECTED = {
    "host": {"{}-a": 1, "{}-b": 1, "{}-c": 1, "{}-d": 1},
    "rack": {"{}-r1": 2, "{}-r2": 1, "{}-r3": 1},
    "symptom": {"S1": 2, "S6": 1, "S7": 1},
    "tenant": {"ads, web": 1, "web": 1, "": 2},
    "assignee": {"viewer": 1, "": 3},
}


@pytest.mark.parametrize("by", EXPECTED)
def test_each_incident_is_in_one_group_and_the_list_returns_those_of_a_group(viewer: httpx.Client, grouped: str, by: str) -> None:
    found = {group["value"]: group["incidents"] for group in groups(viewer, by, grouped)}
    assert found == {value.format(grouped): count for value, count in EXPECTED[by].items()}
    seen: list[str] = []
    for value, count in found.items():
        rows = viewer.get(API, params={"q": f"{grouped}-", "group_by": by, "group": value}).json()["items"]
        assert len(rows) == count, value
        seen += [row["id"] for row in rows]
    assert len(set(seen)) == 4


def test_the_group_with_the_most_critical_incidents_comes_first_and_what_is_left_out_is_said(viewer: httpx.Client, grouped: str) -> None:
    first, *others = groups(viewer, "rack", grouped)
    assert (first["value"], first["critical"]) == (f"{grouped}-r2", 1)
    assert [group["incidents"] for group in others] == [2, 1]
    answer = viewer.get(f"{API}/groups", params={"by": "rack", "q": f"{grouped}-", "limit": 2}).json()
    assert (len(answer["items"]), answer["more"]) == (2, True)


def test_models_are_groups_and_filters_apply_before_grouping(viewer: httpx.Client, grouped: str) -> None:
    assert [(group["value"], group["incidents"]) for group in groups(viewer, "model", grouped, symptom="S7")] == [("BF-2", 1)]


def test_an_incident_of_several_hosts_is_in_no_group_of_a_host(operator: httpx.Client, viewer: httpx.Client, opened: Any) -> None:
    one, two = opened(2)
    merged = operator.post(f"{API}/{one['id']}/merge", json={"incident_ids": [two["id"]]})
    merged.raise_for_status()
    tag = one["host"].rsplit("-", 1)[0]
    assert merged.json()["scope"] not in ("rnic", "host")
    assert [group["value"] for group in groups(viewer, "host", tag)] == [""]
