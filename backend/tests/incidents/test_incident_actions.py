"""What people and ticket systems do with incidents over the API."""

import csv
import io
import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_testing.incidents import API, get

NOW = datetime.now(UTC).replace(microsecond=0)


def test_an_incident_is_assigned_and_linked_to_tickets(operator: httpx.Client, opened: Any) -> None:
    path = f"{API}/{opened()[0]['id']}"
    refs = [{"system": "jira", "key": "OPS-1", "url": "https://tickets.example/OPS-1"}]
    done = operator.patch(path, json={"assignee": "viewer", "external_refs": refs}).json()
    assert (done["assignee"], done["external_refs"]) == ("viewer", refs)
    assert operator.patch(path, json={"external_refs": refs}).json()["version"] == done["version"], "nothing changed"
    done = operator.patch(path, json={"assignee": None}).json()
    assert (done["assignee"], done["external_refs"]) == (None, refs)
    assert [e["kind"] for e in done["timeline"]] == ["opened", "assigned", "ticket", "assigned"]
    for bad in ({}, {"external_refs": None}, {"external_refs": [{"system": "x", "key": "y", "url": "javascript:alert(1)"}]}):
        assert operator.patch(path, json=bad).status_code == 422


def test_a_write_with_an_outdated_if_match_is_rejected(operator: httpx.Client, opened: Any) -> None:
    path = f"{API}/{opened()[0]['id']}"
    answer = operator.get(path)
    etag = answer.headers["etag"]
    assert etag == f'"{answer.json()["version"]}"'
    fresh = operator.post(f"{path}/comments", json={"text": "first"}, headers={"If-Match": etag})
    assert fresh.status_code == 201
    assert fresh.headers["etag"] != etag
    for method, end, body in (
        ("POST", "/comments", {"text": "second"}),
        ("POST", "/acknowledge", None),
        ("POST", "/resolve", None),
        ("PATCH", "", {"assignee": "x"}),
    ):
        stale = operator.request(method, path + end, json=body, headers={"If-Match": etag})
        assert (stale.status_code, stale.json()["code"]) == (412, "version_mismatch")
    assert operator.get(path).json()["state"] == "open"
    assert operator.post(f"{path}/resolve", headers={"If-Match": fresh.headers["etag"]}).json()["state"] == "resolved"
    assert operator.post(f"{path}/reopen", headers={"If-Match": "*"}).json()["state"] == "reopened"
    assert operator.post(f"{path}/reopen", headers={"If-Match": "three"}).status_code == 422


def test_a_request_that_is_sent_again_under_its_key_does_nothing_twice(operator: httpx.Client, opened: Any) -> None:
    path, key = f"{API}/{opened()[0]['id']}/comments", {"Idempotency-Key": uuid4().hex}
    first = operator.post(path, json={"text": "once"}, headers=key)
    again = operator.post(path, json={"text": "once"}, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["etag"] == first.headers["etag"]
    other = operator.post(path, json={"text": "other"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert operator.post(path.replace("/comments", "/acknowledge"), headers=key).json()["code"] == "idempotency_key_reused"
    kinds = [e["kind"] for e in operator.get(path.replace("/comments", "")).json()["timeline"]]
    assert kinds == ["opened", "comment"]


def test_requests_at_the_same_time_under_one_key_are_one(operator: httpx.Client, opened: Any) -> None:
    path, key = f"{API}/{opened()[0]['id']}/comments", {"Idempotency-Key": uuid4().hex}
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(operator.post(path, json={"text": "once"}, headers=key).json()["version"]))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert len(set(answers)) == 1


def test_reopened_by_hand_it_stays_open_though_its_symptom_has_cleared(
    operator: httpx.Client, opened: Any, findings: Any, apply_findings: Any
) -> None:
    incident = opened()[0]
    apply_findings(findings.finding(host=incident["host"], started=NOW, after_s=1, state="cleared"))
    path = f"{API}/{incident['id']}"
    assert operator.post(f"{path}/reopen").json()["reopened"] == 0, "it is not resolved, so nothing changes"
    assert operator.get(path).json()["cleared_at"] is not None
    operator.post(f"{path}/resolve")
    done = operator.post(f"{path}/reopen").json()
    assert (done["state"], done["active"], done["cleared_at"], done["reopened"]) == ("reopened", False, None, 1)


def test_merged_incidents_point_to_the_target_and_splitting_gives_them_back(operator: httpx.Client, opened: Any) -> None:
    target, source, bystander = opened(3)
    refs = [{"system": "jira", "key": "OPS-7", "url": None}]
    operator.patch(f"{API}/{source['id']}", json={"external_refs": refs, "assignee": "viewer"})
    merged = operator.post(f"{API}/{target['id']}/merge", json={"incident_ids": [source["id"]]}).json()
    assert (merged["hosts"], merged["scope"], merged["merged"]) == (sorted([target["host"], source["host"]]), "fleet", [source["id"]])
    assert (merged["external_refs"], merged["assignee"]) == (refs, "viewer"), "what was done is not lost"
    source_after = get(operator, source)
    assert (source_after["merged_into"], source_after["state"], source_after["findings"]) == (target["id"], "resolved", [])
    assert source["id"] not in {one["id"] for one in operator.get(API, params={"host": source["host"]}).json()["items"]}
    answer = operator.post(f"{API}/{source['id']}/acknowledge")
    assert (answer.status_code, answer.json()["code"]) == (409, "merged_away")
    assert target["id"] in answer.json()["detail"]

    theirs = [f["finding_id"] for f in merged["findings"] if f["host"] == source["host"]]
    back = operator.post(f"{API}/{target['id']}/split", json={"finding_ids": theirs})
    assert back.status_code == 201
    assert (back.json()["id"], back.json()["merged_into"], back.json()["hosts"]) == (source["id"], None, [source["host"]])
    left = get(operator, target)
    assert (left["hosts"], left["merged"], left["scope"]) == ([target["host"]], [], "rnic")
    assert "split" in {e["kind"] for e in left["timeline"]}
    assert get(operator, bystander)["version"] == bystander["version"]


def test_splitting_what_grouping_joined_creates_a_new_incident(
    operator: httpx.Client, opened: Any, findings: Any, apply_findings: Any
) -> None:
    incident = opened()[0]
    apply_findings(findings.finding("S5", host=incident["host"], started=NOW + timedelta(seconds=5)))
    joined = get(operator, incident)
    s5 = [f["finding_id"] for f in joined["findings"] if f["symptom"] == "S5"]
    own = operator.post(f"{API}/{incident['id']}/split", json={"finding_ids": s5}).json()
    assert (own["id"] != incident["id"], own["symptoms"], own["state"]) == (True, ["S5"], "open")
    assert get(operator, incident)["symptoms"] == ["S1"]
    # A message of the same cause does not bring it back.
    apply_findings(findings.finding("S5", host=incident["host"], started=NOW + timedelta(seconds=5), after_s=30, severity="critical"))
    assert get(operator, own)["severity"] == "critical"
    assert get(operator, incident)["symptoms"] == ["S1"]
    everything = [f["finding_id"] for f in get(operator, own)["findings"]]
    for finding_ids, why in ((everything, "At least one"), ([str(uuid4())], "does not belong")):
        refused = operator.post(f"{API}/{own['id']}/split", json={"finding_ids": finding_ids})
        assert (refused.status_code, why in refused.json()["detail"]) == (422, True)


def test_merges_that_make_no_sense_are_refused_and_change_nothing(operator: httpx.Client, opened: Any) -> None:
    one, other, closed = opened(3)
    operator.post(f"{API}/{closed['id']}/resolve")
    for target, ids, code in (
        (one, [one["id"]], "cannot_merge"),
        (one, [str(uuid4())], "cannot_merge"),
        (closed, [one["id"]], "already_resolved"),
    ):
        assert operator.post(f"{API}/{target['id']}/merge", json={"incident_ids": ids}).json()["code"] == code
    operator.post(f"{API}/{one['id']}/merge", json={"incident_ids": [other["id"]]})
    again = operator.post(f"{API}/{closed['id']}/reopen") and operator.post(
        f"{API}/{closed['id']}/merge", json={"incident_ids": [other["id"]]}
    )
    assert again.json()["code"] == "cannot_merge"


def test_filters_select_and_counts_include_the_other_values_of_a_filter(operator: httpx.Client, opened: Any) -> None:
    masks = {"cause": "C6", "title": "", "prior": 0.3, "posterior": 0.9, "evidence_for": [], "evidence_against": []}
    one, two, three = opened(3, fw_ver="20.1", model="CX-6", hypotheses=[masks])  # no upgrade settles C6, so each stays alone
    tag = one["host"].rsplit("-", 1)[0]
    operator.post(f"{API}/{two['id']}/acknowledge")
    operator.post(f"{API}/{three['id']}/resolve")
    operator.patch(f"{API}/{one['id']}", json={"assignee": "viewer", "external_refs": [{"system": "jira", "key": f"T-{tag}"}]})

    def ids(**params: Any) -> set[str]:
        return {i["id"] for i in operator.get(API, params={"q": tag, **params}).json()["items"]}

    assert ids() == {one["id"], two["id"], three["id"]}
    assert ids(state=["open", "resolved"]) == {one["id"], three["id"]}
    assert ids(assignee="viewer") == {one["id"]}
    assert ids(fw_ver="20.1", model="CX-6", cause="C6", severity="warning", scope="rnic", active=True, symptom=["S1", "S2"]) == ids()
    assert ids(rack=f"rack-of-{two['host']}", pci=two["pci"]) == {two["id"]}
    assert ids(model="CX-7") == ids(symptom="S2") == ids(active=False) == ids(opened_before="2001-01-01T00:00:00Z") == set()
    assert {i["id"] for i in operator.get(API, params={"q": f"T-{tag}".lower()}).json()["items"]} == {one["id"]}
    counts = operator.get(f"{API}/counts", params={"q": tag, "state": "open"}).json()
    assert counts["total"] == 1
    assert counts["by"]["state"] == {"open": 1, "acknowledged": 1, "resolved": 1}, "its own filter does not count"
    assert (counts["by"]["severity"], counts["by"]["symptom"], counts["by"]["cause"]) == ({"warning": 1}, {"S1": 1}, {"C6": 1})
    for bad in ({"symptom": "S9"}, {"state": "closed"}, {"opened_after": "yesterday"}, {"sort": "host"}, {"cause": "C9"}):
        assert operator.get(API, params=bad).status_code == 422


@pytest.mark.parametrize("sort", ["opened_at", "updated_at", "severity"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_pages_by_cursor_give_each_incident_once_in_every_order(operator: httpx.Client, opened: Any, sort: str, order: str) -> None:
    some = opened(3) + opened(2, severity="critical")
    query = {"sort": sort, "order": order, "limit": 2}
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = operator.get(API, params={**query, **({"cursor": cursor} if cursor else {})}).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    keys = [({"warning": 0, "critical": 1}[i["severity"]], i["opened_at"]) if sort == "severity" else i[sort] for i in found]
    assert keys == sorted(keys, reverse=order == "desc")
    assert len({i["id"] for i in found}) == len(found)
    assert {i["id"] for i in some} <= {i["id"] for i in found}
    first = operator.get(API, params=query).json()["next_cursor"]
    other = "asc" if order == "desc" else "desc"
    assert operator.get(API, params={**query, "order": other, "cursor": first}).json()["code"] == "bad_cursor"


def test_the_change_feed_gives_every_change_in_order_and_ends(operator: httpx.Client, opened: Any) -> None:
    since = 0
    while True:
        page = operator.get(f"{API}/changes", params={"since": since, "limit": 1000}).json()
        if not page["items"]:
            break
        since = page["next_since"]
    one, two = opened(2)
    operator.post(f"{API}/{one['id']}/acknowledge")
    page = operator.get(f"{API}/changes", params={"since": since, "limit": 1}).json()
    assert [i["id"] for i in page["items"]] == [two["id"]], "the other one stands at its last change"
    page = operator.get(f"{API}/changes", params={"since": page["next_since"]}).json()
    assert [(i["id"], i["state"]) for i in page["items"]] == [(one["id"], "acknowledged")]
    assert operator.get(f"{API}/changes", params={"since": page["next_since"]}).json() == {"items": [], "next_since": page["next_since"]}


def test_a_reader_of_the_change_feed_misses_nothing_while_many_write(operator: httpx.Client, opened: Any) -> None:
    some = opened(4)
    since = max(i["seq"] for i in some)
    seen: dict[str, int] = {}

    def write(incident: dict[str, Any]) -> None:
        for i in range(8):
            operator.post(f"{API}/{incident['id']}/comments", json={"text": str(i)})

    threads = [threading.Thread(target=write, args=[incident]) for incident in some]
    for thread in threads:
        thread.start()
    while True:
        writing = any(thread.is_alive() for thread in threads)
        page = operator.get(f"{API}/changes", params={"since": since, "limit": 2}).json()
        seen |= {i["id"]: i["version"] for i in page["items"]}
        since = page["next_since"]
        if not writing and not page["items"]:
            break
    assert {id: version for id, version in seen.items() if id in {i["id"] for i in some}} == {i["id"]: i["version"] + 8 for i in some}


def test_exports_hold_what_the_filters_leave(operator: httpx.Client, opened: Any) -> None:
    one, two = opened(2, title="=HYPERLINK(1)")
    operator.patch(f"{API}/{one['id']}", json={"external_refs": [{"system": "jira", "key": "OPS-1"}]})
    tag = one["host"].rsplit("-", 1)[0]
    answer = operator.get(f"{API}/export", params={"q": tag, "format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert ".csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["id"] for row in rows] == [one["id"], two["id"]]
    assert (rows[0]["external_refs"], rows[0]["symptoms"], rows[0]["active"], rows[0]["assignee"]) == ("jira:OPS-1", "S1", "true", "")
    assert rows[0]["title"] == "'=HYPERLINK(1)", "no formula for the spreadsheet"
    as_json = operator.get(f"{API}/export", params={"q": tag, "format": "json"}).json()
    assert [i["id"] for i in as_json] == [one["id"], two["id"]]
    assert as_json[1] == {k: v for k, v in get(operator, two).items() if k in as_json[1]}
    assert operator.get(f"{API}/export", params={"q": f"{tag}nothing", "format": "json"}).json() == []


def test_each_action_is_in_the_audit_log(operator: httpx.Client, admin: httpx.Client, opened: Any) -> None:
    one, two = opened(2)
    path = f"{API}/{one['id']}"
    operator.post(f"{path}/acknowledge")
    operator.post(f"{path}/comments", json={"text": "x"})
    operator.patch(path, json={"assignee": "viewer"})
    operator.post(f"{path}/resolve")
    operator.post(f"{path}/reopen")
    operator.post(f"{path}/merge", json={"incident_ids": [two["id"]]})
    operator.post(f"{path}/split", json={"finding_ids": [f["finding_id"] for f in get(operator, one)["findings"][1:]]})
    operator.post(f"{API}/bulk", json={"ids": [one["id"]], "action": "resolve"})
    items = admin.get("/api/v1/audit", params={"action": "incident.", "limit": 8}).json()["items"]
    done = ["acknowledge", "comment", "update", "resolve", "reopen", "merge", "split", "bulk.resolve"]
    assert [i["action"] for i in items] == [f"incident.{what}" for what in reversed(done)]
    assert {i["actor"] for i in items} == {"operator"}


def test_views_are_ones_own_unless_shared(operator: httpx.Client, viewer: httpx.Client) -> None:
    path = "/api/v1/views"
    name = uuid4().hex
    mine = operator.post(path, json={"name": name, "query": "?state=open"}).json()
    assert (mine["mine"], mine["shared"], mine["owner"]) == (True, False, "operator")
    assert mine["id"] not in {v["id"] for v in viewer.get(path).json()}
    assert operator.post(path, json={"name": name, "query": ""}).json()["code"] == "name_taken"
    assert operator.patch(f"{path}/{mine['id']}", json={"shared": True}).json()["shared"] is True
    theirs = next(v for v in viewer.get(path).json() if v["id"] == mine["id"])
    assert (theirs["mine"], theirs["query"]) == (False, "?state=open")
    assert viewer.patch(f"{path}/{mine['id']}", json={"name": "x"}).status_code == 404
    assert viewer.delete(f"{path}/{mine['id']}").status_code == 404
    assert operator.delete(f"{path}/{mine['id']}").status_code == 204
    assert operator.patch(f"{path}/{mine['id']}", json={}).status_code == 422


def test_recommended_values_change_only_when_somebody_asks(
    operator: httpx.Client, viewer: httpx.Client, apply_findings: Any, findings: Any
) -> None:
    host, started = f"derive-{uuid4().hex[:8]}", datetime.now(UTC) - timedelta(minutes=5)

    def tuned(value: int) -> dict[str, Any]:
        derivations = {"max_idle_ms": f"longest gap {value / 2000:g} s x 2"}
        remedies = [{"action": "tune-revalidator", "params": {"max_idle_ms": value}, "why": "", "derivations": derivations}]
        return {"host": host, "started": started, "remedies": remedies}

    apply_findings(findings.finding("S1", **tuned(160_000)), findings.finding("S1", after_s=15, **tuned(90_000)))
    (incident,) = operator.get("/api/v1/incidents", params={"host": host}).json()["items"]
    path = f"/api/v1/incidents/{incident['id']}"
    (kept,) = operator.get(path).json()["remedies"]
    assert (kept["params"], kept["newest"]["params"]) == ({"max_idle_ms": 160_000}, {"max_idle_ms": 90_000})
    assert viewer.post(f"{path}/derive-again").status_code == 403
    answer = operator.post(f"{path}/derive-again")
    assert answer.status_code == 200, answer.text
    (derived,) = answer.json()["remedies"]
    assert (derived["params"], derived["derivations"], derived["newest"]) == (
        {"max_idle_ms": 90_000},
        {"max_idle_ms": "longest gap 45 s x 2"},
        None,
    )
    said = answer.json()["timeline"][-1]
    assert (said["kind"], said["actor"]) == ("derived", "operator")
    assert "max_idle_ms of tune-revalidator from 160000 to 90000 (longest gap 45 s x 2)" in said["text"]
    assert operator.post(f"{path}/derive-again").json()["version"] == answer.json()["version"], "the same again is no change"


def test_incidents_are_found_by_their_ticket(operator: httpx.Client, opened: Any) -> None:
    jira, other = opened(2)
    key = f"OPS-{jira['host']}"
    for incident, system in ((jira, "jira"), (other, "servicenow")):
        operator.patch(f"{API}/{incident['id']}", json={"external_refs": [{"system": system, "key": key}]})

    def found(**params: str) -> set[str]:
        return {incident["id"] for incident in operator.get(API, params=params).json()["items"]}

    assert found(ticket=key) == {jira["id"], other["id"]}
    assert found(ticket=key, ticket_system="jira") == {jira["id"]}
    assert found(ticket=key[:-1]) == set()
