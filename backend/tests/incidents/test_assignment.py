"""To whom incidents are assigned, and by what."""

from typing import Any

import httpx

from wallwatch_testing.incidents import API, get


def test_an_incident_is_only_assigned_to_who_can_sign_in(operator: httpx.Client, admin: httpx.Client, opened: Any) -> None:
    one, two = opened(2)
    tag = one["host"].rsplit("-", 1)[0]
    name = f"dana-{tag}"
    path = f"{API}/{one['id']}"

    def offered(q: str) -> Any:
        return operator.get(f"{API}/assignees", params={"q": q}).json()

    def unassigned(value: bool) -> set[str]:
        return {i["id"] for i in operator.get(API, params={"q": tag, "unassigned": value}).json()["items"]}

    for method, where, body in (
        ("PATCH", path, {"assignee": name}),
        ("POST", f"{API}/bulk", {"ids": [two["id"]], "action": "assign", "assignee": name}),
    ):
        refused = operator.request(method, where, json=body)
        assert (refused.status_code, refused.json()["code"]) == (422, "unknown_assignee"), where
    assert offered(name) == {"items": [], "more": False}

    made = admin.post("/api/v1/users", json={"username": name, "password": "correct horse battery", "role": "operator"}).json()
    assert f"Did you mean {name}?" in operator.patch(path, json={"assignee": f"{name}x"}).json()["detail"]
    assert offered(tag) == {"items": [name], "more": False}
    assert operator.patch(path, json={"assignee": name}).json()["assignee"] == name
    assert unassigned(True) == {two["id"]}
    assert unassigned(False) == {one["id"]}

    admin.patch(f"/api/v1/users/{made['id']}", json={"disabled": True}).raise_for_status()
    assert offered(tag) == {"items": [], "more": False}
    assert operator.get(path).json()["assignee"] == name, "history is not rewritten"
    assert unassigned(True) == {one["id"], two["id"]}, "but somebody has to take it over"
    assert operator.patch(path, json={"assignee": name}).status_code == 200, "what does not change is not refused"
    assert operator.patch(f"{API}/{two['id']}", json={"assignee": name}).status_code == 422


def test_the_names_offered_for_an_assignment_begin_with_the_one_asked_for(operator: httpx.Client, viewer: httpx.Client) -> None:
    names = operator.get(f"{API}/assignees").json()
    assert {"admin", "operator", "viewer"} <= set(names["items"])
    assert names["items"] == sorted(names["items"])
    assert operator.get(f"{API}/assignees", params={"q": "operator"}).json()["items"][0] == "operator"
    assert len(operator.get(f"{API}/assignees", params={"limit": 1}).json()["items"]) == 1
    assert operator.get(f"{API}/assignees", params={"limit": 1}).json()["more"] is True
    assert viewer.get(f"{API}/assignees").status_code == 403


def test_acknowledging_an_unassigned_incident_assigns_it_until_that_is_undone(operator: httpx.Client, opened: Any) -> None:
    free, taken = opened(2)
    operator.patch(f"{API}/{taken['id']}", json={"assignee": "viewer"}).raise_for_status()
    done = operator.post(f"{API}/{free['id']}/acknowledge").json()
    assert (done["assignee"], done["timeline"][-1]["text"]) == ("operator", "Acknowledged. Assigned to operator.")
    assert operator.post(f"{API}/{taken['id']}/acknowledge").json()["assignee"] == "viewer", "an assignment is not taken from anybody"
    assert operator.post(f"{API}/{free['id']}/unacknowledge").json()["assignee"] is None
    assert operator.post(f"{API}/{taken['id']}/unacknowledge").json()["assignee"] == "viewer"
    for action, expected in (("acknowledge", "operator"), ("unacknowledge", None)):
        ids = [free["id"], taken["id"]]
        operator.post(f"{API}/bulk", json={"ids": ids, "action": action}).raise_for_status()
        assert [get(operator, each)["assignee"] for each in (free, taken)] == [expected, "viewer"]
