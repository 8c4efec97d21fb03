"""Formulas are checked, run and backtested before anything runs them; violations and states are shown with what they say."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import orjson
import pytest

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.tables import revision

API = "/api/v1/policies"
NOW = datetime.now(UTC).replace(microsecond=0)
PORT = {"DOWN": {"kind": ["port_down"]}, "UP": {"kind": ["port_up"]}, "GONE": {"kind": ["device_vanished"]}}
RNIC = ("host01", "0000:3b:00.0")


@pytest.fixture(scope="module")
def host_id(backend: Any) -> int:
    """The host of these tests, with one RNIC."""
    with backend.connect() as connection:
        connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s)", RNIC)
        [row] = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", RNIC[:1]).fetchall()
        found: int = row[0]
        return found


@pytest.fixture(scope="module")
def happened(backend: Any, host_id: int) -> Any:
    """A function that stores an event of the host."""

    def store(kind: str, at: datetime, pci: str = RNIC[1], detail: str = "", **other: Any) -> None:
        with backend.connect() as connection:
            query = "INSERT INTO event (time, host_id, pci, kind, detail, other) VALUES (%s, %s, %s, %s, %s, %s)"
            connection.execute(query, (at, host_id, pci, kind, detail, orjson.dumps(other).decode()))

    return store


def test_a_check_says_what_the_formula_means_and_draws_it(viewer: httpx.Client) -> None:
    answer = viewer.post(f"{API}/check", json={"formula": "G(DOWN -> X(!GONE W UP))", "subject": "rnic", "propositions": PORT}).json()
    assert (answer["kind"], answer["states"], answer["problems"], answer["propositions"]) == ("safety", 3, [], ["DOWN", "GONE", "UP"])
    assert answer["words"] == "Violated after 2 steps at the earliest: DOWN, then GONE without UP."
    assert [state["verdict"] for state in answer["automaton"]["states"]] == ["?", "?", "F"]
    assert {"source": 0, "target": 1, "guard": "DOWN"} in answer["automaton"]["edges"]
    assert answer["examples"][0][1] == [{"proposition": "GONE", "holds": True}, {"proposition": "UP", "holds": False}]


@pytest.mark.parametrize(
    ("formula", "kind", "position"),
    [
        ("", "syntax", 0),
        ("G(DOWN -> ", "syntax", 9),
        ("G(DOWN @ UP)", "syntax", 7),
        ("G(DOWN -> X LATER)", "unbound", 12),
        ("F UP", "refused", None),
        ("G(DOWN -> " + "X " * 14 + "UP)", "too_complex", None),
    ],
)
def test_a_problem_has_its_place_in_the_formula(viewer: httpx.Client, formula: str, kind: str, position: int | None) -> None:
    answer = viewer.post(f"{API}/check", json={"formula": formula, "subject": "rnic", "propositions": PORT})
    assert answer.status_code == 200, "a formula that is being typed is no error of the caller"
    first = answer.json()["problems"][0]
    assert (first["kind"], first["position"]) == (kind, position)


def test_a_run_gives_the_state_and_the_verdict_after_each_step(viewer: httpx.Client) -> None:
    steps = [["DOWN"], [], ["GONE", "SUN"], ["UP"]]
    answer = viewer.post(f"{API}/run", json={"formula": "G(DOWN -> X(!GONE W UP))", "steps": steps}).json()
    assert (answer["states"], answer["verdicts"]) == ([0, 1, 1, 2, 2], ["?", "?", "?", "F", "F"])
    assert answer["ignored"] == ["SUN"]
    assert viewer.post(f"{API}/run", json={"formula": "G(", "steps": []}).json()["code"] == "bad_policy"


def test_the_vocabulary_says_which_events_a_subject_can_have(viewer: httpx.Client) -> None:
    found = viewer.get(f"{API}/vocabulary").json()
    kinds = {kind["kind"]: kind for kind in found["kinds"]}
    assert ("vf" in kinds["cni_add"]["subjects"], kinds["cni_add"]["when"]["result"]) == (True, ["ok", "refused", "unchecked"])
    assert kinds["flow_aged"]["stays_on_host"]
    assert set(found["subjects"]) == {"flow", "vf", "rnic", "host", "command", "address"}


def test_a_backtest_finds_what_a_draft_would_have_found(viewer: httpx.Client, happened: Any) -> None:
    began = NOW - timedelta(days=3)
    for hours, kind in ((1, "port_down"), (2, "device_vanished"), (3, "port_up"), (4, "port_down"), (5, "port_up"), (6, "device_vanished")):
        happened(kind, began + timedelta(hours=hours))
    body = {
        "definition": {"formula": "G(DOWN -> X(!GONE W UP))", "subject": "rnic", "propositions": PORT},
        "from": began.isoformat(),
        "to": (began + timedelta(days=1)).isoformat(),
    }
    answer = viewer.post(f"{API}/backtest", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["violations"], found["subjects_violated"], found["events"], found["cut_short"]) == (1, 1, 6, False)
    [one] = found["shown"]
    assert (one["host"], one["pci"], one["at"][:19]) == (*RNIC, (began + timedelta(hours=2)).isoformat()[:19])
    assert [(step["propositions"], step["state"], step["verdict"]) for step in one["trace"]] == [(["DOWN"], 1, "?"), (["GONE"], 2, "F")]
    assert one["trace"][0]["text"] == "Port down"
    assert (sum(part["violations"] for part in found["timeline"]), found["not_stored"]) == (1, [])
    assert viewer.post(f"{API}/backtest", json={**body, "host": "elsewhere"}).json()["events"] == 0
    assert viewer.post(f"{API}/backtest", json={**body, "to": body["from"]}).status_code == 422
    broken = {**body, "definition": {**body["definition"], "formula": "F UP"}}
    assert viewer.post(f"{API}/backtest", json=broken).json()["code"] == "bad_policy"


def test_a_backtest_of_flows_says_that_their_events_stay_on_the_host(viewer: httpx.Client) -> None:
    span = {"from": (NOW - timedelta(days=1)).isoformat(), "to": NOW.isoformat()}
    found = viewer.post(f"{API}/backtest", json={"policy": "flow-offloaded-once", **span}).json()
    assert [one["kind"] for one in found["not_stored"]] == ["flow_entry_created", "flow_offloaded"]
    assert viewer.post(f"{API}/backtest", json={"policy": "no-such-policy", **span}).status_code == 404


def test_a_violation_is_shown_with_its_way_through_the_automaton(viewer: httpx.Client, happened: Any) -> None:
    at = NOW - timedelta(minutes=10)
    link = policies()["rnic-link-comes-back"]
    steps = [
        {"at": (at - timedelta(seconds=121)).isoformat(), "kinds": ["pcie_link_down"], "propositions": ["LINK_LOST"]},
        {"at": (at - timedelta(seconds=60)).isoformat(), "kinds": ["port_down"], "propositions": []},
        {"at": at.isoformat(), "kinds": ["timer"], "propositions": ["LATE"]},
    ]
    reported = {"policy": link.id, "subject": RNIC[1], "severity": "critical", "steps": orjson.dumps(steps).decode()}
    happened("policy_violated", at, detail=link.violation, revision=revision(link), **reported)
    happened("policy_violated", at - timedelta(minutes=1), detail="7 more", policy=link.id, left_out=7)
    happened("policy_violated", at - timedelta(minutes=2), detail="old", **{**reported, "steps": "not JSON"}, revision="of long ago")
    listed = viewer.get(f"{API}/{link.id}/violations").json()["items"]
    assert [(one["text"], one["left_out"], one["version"]) for one in listed] == [
        (link.violation, 0, 0),
        ("7 more", 7, None),
        ("old", 0, None),
    ]
    newest = viewer.get(f"{API}/{link.id}/violations/{listed[0]['id']}").json()
    assert newest == listed[0]
    assert (newest["start"], [step["state"] for step in newest["trace"]]) == (0, [1, 1, 2])
    assert [step["text"] for step in newest["trace"]] == ["PCIe link down", "Port down", "120 s after LINK_LOST"]
    first = viewer.get(f"{API}/{link.id}/violations", params={"limit": 1}).json()
    rest = viewer.get(f"{API}/{link.id}/violations", params={"cursor": first["next_cursor"]}).json()["items"]
    assert [one["id"] for one in (*first["items"], *rest)] == [one["id"] for one in listed]
    summary = next(one for one in viewer.get(API).json()["items"] if one["id"] == link.id)
    assert (summary["state"], summary["violations_1h"], summary["recent"][-1]) == ("violated", 9, 9), "those left out count too"
    assert viewer.get(f"{API}/{link.id}/violations/nonsense").status_code == 422


def test_states_over_time_stand_until_the_next_report(viewer: httpx.Client, backend: Any, host_id: int) -> None:
    start = NOW.replace(second=0) - timedelta(hours=1)
    reports = [(0, 5, 0, 0), (10, 5, 2, 0), (20, 5, 0, 3), (30, 5, 0, 0)]
    with backend.connect() as connection:
        for minute, subjects, unknown, violated in reports:
            query = (
                "INSERT INTO policy_sample (time, host_id, pci, policy, revision, subjects, unknown, violations) "
                "VALUES (%s, %s, %s, 'vf-one-container', 'r', %s, %s, %s)"
            )
            connection.execute(query, (start + timedelta(minutes=minute, seconds=5), host_id, RNIC[1], subjects, unknown, violated))
    span = {"from": start.isoformat(), "to": (start + timedelta(hours=1)).isoformat()}
    strips = viewer.get(f"/api/v1/rnics/{RNIC[0]}/{RNIC[1]}/policies", params=span).json()
    strip = next(item for item in strips["items"] if item["policy"] == "vf-one-container")
    at = {minute: strip["states"][minute] for minute in (0, 5, 10, 15, 20, 21, 30, 41, 55)}
    assert at == {
        0: "holding", 5: "holding", 10: "unknown", 15: "unknown", 20: "violated", 21: "holding", 30: "holding", 41: "holding", 55: "unheard"
    }  # fmt: skip
    assert (strip["violations"][20], strip["of_host"], len(strips["times"])) == (3, False, 60)
    series = viewer.get(f"{API}/vf-one-container/series", params=span).json()
    assert (series["states"], sum(series["violations"])) == (strip["states"], 3)
    assert viewer.get("/api/v1/rnics/nowhere/0000:00:00.0/policies").status_code == 404
    assert viewer.get(f"{API}/vf-one-container/series", params={"from": span["to"], "to": span["from"]}).status_code == 422
