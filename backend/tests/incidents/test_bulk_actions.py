"""Actions on many incidents at once, chosen one by one or by a filter."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.incidents import API, get


def test_a_bulk_action_changes_what_it_can_and_reports_what_it_skipped(operator: httpx.Client, opened: Any) -> None:
    one, two, closed = opened(3)
    operator.post(f"{API}/{closed['id']}/resolve")
    missing = str(uuid4())
    body = {"ids": [one["id"], two["id"], closed["id"], missing, one["id"]], "action": "acknowledge"}
    done = operator.post(f"{API}/bulk", json=body).json()
    assert done["changed"] == 2
    assert {s["id"]: s["why"] for s in done["skipped"]} == {closed["id"]: "It is resolved.", missing: "There is no such incident."}
    assert (get(operator, one)["state"], get(operator, one)["acknowledged_by"]) == ("acknowledged", "operator")
    assert get(operator, one)["timeline"][-1]["kind"] == "acknowledged"
    assert get(operator, one)["version"] == one["version"] + 1
    again = operator.post(f"{API}/bulk", json=body).json()
    assert again["changed"] == 0


def test_incidents_are_unacknowledged_one_by_one_and_in_bulk(operator: httpx.Client, opened: Any) -> None:
    one, two = opened(2)
    for each in (one, two):
        operator.post(f"{API}/{each['id']}/acknowledge").raise_for_status()
    back = operator.post(f"{API}/{one['id']}/unacknowledge").json()
    assert (back["state"], back["acknowledged_by"], back["acknowledged_at"]) == ("open", None, None)
    assert (back["timeline"][-1]["kind"], back["timeline"][-1]["actor"]) == ("unacknowledged", "operator")
    assert operator.post(f"{API}/{one['id']}/unacknowledge").json()["version"] == back["version"], "again changes nothing"
    result = operator.post(f"{API}/bulk", json={"ids": [one["id"], two["id"]], "action": "unacknowledge"}).json()
    assert result == {"changed": 1, "skipped": [{"id": one["id"], "why": "Nobody has acknowledged it."}]}
    assert get(operator, two)["state"] == "open"
    operator.post(f"{API}/{one['id']}/resolve").raise_for_status()
    assert operator.post(f"{API}/{one['id']}/unacknowledge").status_code == 409


def test_a_bulk_action_by_filter_takes_what_the_list_shows(operator: httpx.Client, opened: Any) -> None:
    some = opened(3)
    chosen = {"q": some[0]["host"].rsplit("-", 1)[0]}
    seq = max(i["seq"] for i in some)

    def run(action: str, **more: Any) -> int:
        return int(operator.post(f"{API}/bulk", json={"filter": chosen, "action": action, **more}).json()["changed"])

    assert run("assign", assignee="viewer") == 3
    assert run("assign", assignee="viewer") == 0
    assert run("comment", text="All the same.") == 3
    assert run("resolve") == 3
    assert run("reopen") == 3
    for incident in (get(operator, one) for one in some):
        assert [e["kind"] for e in incident["timeline"]] == ["opened", "assigned", "comment", "resolved", "reopened"]
        assert (incident["state"], incident["reopened"], incident["assignee"]) == ("reopened", 1, "viewer")
    changes = operator.get(f"{API}/changes", params={"since": seq}).json()["items"]
    assert {i["id"] for i in changes} >= {i["id"] for i in some}
    assert len({i["seq"] for i in changes}) == len(changes), "each has its own place in the feed"


def test_a_bulk_action_is_replayed_under_its_key(operator: httpx.Client, opened: Any) -> None:
    body = {"ids": [opened()[0]["id"]], "action": "resolve"}
    key = {"Idempotency-Key": uuid4().hex}
    answers = [operator.post(f"{API}/bulk", json=body, headers=key).json() for _ in range(2)]
    assert answers == [{"changed": 1, "skipped": []}] * 2


@pytest.mark.parametrize(
    "body",
    [
        {"action": "resolve"},
        {"ids": [], "action": "resolve"},
        {"ids": ["x"], "action": "resolve"},
        {"ids": [str(uuid4())], "filter": {}, "action": "resolve"},
        {"filter": {}, "action": "comment"},
        {"filter": {}, "action": "resolve", "text": "x"},
        {"filter": {}, "action": "resolve", "assignee": "x"},
        {"filter": {"state": "open"}, "action": "resolve"},
        {"filter": {}, "action": "delete"},
    ],
)
def test_a_bulk_action_that_is_not_clear_is_refused(operator: httpx.Client, body: dict[str, Any]) -> None:
    assert operator.post(f"{API}/bulk", json=body).status_code == 422


def test_receivers_get_each_incident_of_a_bulk_action(admin: httpx.Client, operator: httpx.Client, opened: Any, eventually: Any) -> None:
    hook = admin.post("/api/v1/webhooks", json={"name": "bulk", "url": "http://127.0.0.1:9/", "events": ["incident.resolved"]}).json()
    some = opened(3)
    operator.post(f"{API}/bulk", json={"ids": [i["id"] for i in some], "action": "resolve"})
    deliveries = f"/api/v1/webhooks/{hook['id']}/deliveries"

    def notified() -> set[str]:  # incidents of other tests may end meanwhile
        ids = [one["id"] for one in operator.get(deliveries).json()["items"]]
        return {json.loads(operator.get(f"{deliveries}/{one}").json()["body"])["data"]["id"] for one in ids}

    eventually(lambda: {i["id"] for i in some} <= notified())
    admin.delete(f"/api/v1/webhooks/{hook['id']}")
