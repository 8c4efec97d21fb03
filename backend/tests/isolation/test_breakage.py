"""The fleet view, an RNIC's VFs, the strip and one VF: from judged traffic to answers."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import httpx
import pytest

from wallwatch.domain.isolation.verdicts import Mechanism, State
from wallwatch.store.tables import vf_sample
from wallwatch_backend.isolation.schemas import MechanismName, StateName
from wallwatch_testing.isolation_rollups import roll_up_isolation
from wallwatch_testing.packed_hours import pack_rnic

PCI = "0000:3b:00.0"
VICTIMS = {0, 1, 2, 4, 5, 6, 7}


@pytest.mark.parametrize(
    "path", ["/fleet", f"/rnics/h/{PCI}", f"/rnics/h/{PCI}/strip", f"/rnics/h/{PCI}/vfs/1", "/slo-classes", "/slo-rules", "/report"]
)
def test_an_anonymous_caller_sees_nothing(anonymous: httpx.Client, path: str) -> None:
    assert anonymous.get(f"/api/v1/isolation{path}").status_code == 401


def test_states_and_mechanisms_are_those_of_the_detector() -> None:
    assert set(get_args(StateName)) == {str(state) for state in State}
    assert set(get_args(MechanismName)) == {str(mechanism) for mechanism in Mechanism}


def test_the_catalogue_has_a_label_for_each_state_and_mechanism(viewer: httpx.Client) -> None:
    words = viewer.get("/api/v1/catalogue").json()["isolation"]
    assert {word["id"] for word in words["states"]} == {str(state) for state in State}
    assert {word["id"] for word in words["mechanisms"]} == {str(mechanism) for mechanism in Mechanism}
    assert {word["id"] for word in words["roles"]} == {"victim", "aggressor", "beyond"}
    assert all(word["label"] and word["meaning"] for several in words.values() for word in several)


def test_the_fleet_counts_a_second_once_per_rnic_and_names_who_did_it(judged: Any, get: Any) -> None:
    found = get("/fleet", since=judged.since, until=judged.until)
    assert (found["broken_s"], found["rnics_total"]) == (20.0, 1)
    [one] = found["rnics"]
    assert (one["host"], one["rack"], one["model"], one["broken_s"], one["estimated_s"]) == (judged.host, "r1", "CX-6", 20.0, 0.0)
    assert one["mechanisms"] == [{"mechanism": "ingress packet rate", "seconds": 20.0}]
    assert {victim["vf"] for victim in one["victims"]} == VICTIMS
    assert {victim["tenant"] for victim in one["victims"]} == {"a"}
    assert one["aggressors"] == [{"vf": 3, "pod": f"b/{judged.host}-3", "tenant": "b", "aggressor_s": 20.0}]
    assert {(pair["aggressor_vf"], pair["victim_vf"]) for pair in one["pairs"]} == {(3, vf) for vf in VICTIMS}
    [host] = found["hosts"]
    assert (host["host"], host["rack"], host["rnics"], host["broken_s"]) == (judged.host, "r1", 1, 20.0)
    assert host["last_broken_at"] == one["last_broken_at"]
    where = {"host": judged.host, "pci": PCI}
    unread = {"owner": None, "labels": {}}
    assert found["aggressors"] == [{**where, "vf": 3, "pod": f"b/{judged.host}-3", "tenant": "b", "seconds": 20.0, **unread}]
    assert {(victim["host"], victim["vf"]) for victim in found["victims"]} == {(judged.host, vf) for vf in VICTIMS}
    assert [victim["seconds"] for victim in found["victims"]] == [victim["broken_s"] for victim in one["victims"]]
    tenants = {tenant["tenant"]: tenant for tenant in found["tenants"]}
    assert (tenants["a"]["vfs"], tenants["a"]["aggressor_s"]) == (7, 0.0)
    assert tenants["a"]["broken_s"] == sum(victim["broken_s"] for victim in one["victims"])
    assert tenants["b"] == {"tenant": "b", "vfs": 1, "broken_s": 0.0, "aggressor_s": 20.0, "unknown_s": 0.0, "kept_share": None}
    assert 0.5 < tenants["a"]["kept_share"] < 1.0


def test_a_vf_that_two_pods_held_is_two_victims(rnic: Any, get: Any) -> None:
    begin = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10)
    for second, pod in ((0, "a/one"), (1, "b/two"), (2, "b/two")):
        rnic.connection.execute(
            "INSERT INTO vf_broken (time, rnic_id, vf, interval_s, mechanism, pod, tenant, aggressors, estimated, reason)"
            " VALUES (%s, %s, 5, 1, 'pcie', %s, %s, '[]', false, '')",
            [begin + timedelta(seconds=second), rnic.rnic_id, pod, pod[0]],
        )
    rnic.connection.execute(
        "INSERT INTO kubernetes_pod (pod, owner, labels, found, read_at) VALUES ('b/two', 'Job/two', %s, true, now())"
        " ON CONFLICT (pod) DO NOTHING",
        [json.dumps({"app": "two"})],
    )
    found = get("/fleet", since=begin, until=begin + timedelta(minutes=1))
    mine = [(one["pod"], one["tenant"], one["seconds"]) for one in found["victims"] if one["host"] == rnic.host]
    assert mine == [("b/two", "b", 2.0), ("a/one", "a", 1.0)]
    assert [one["broken_s"] for one in found["hosts"] if one["host"] == rnic.host] == [3.0]
    two = next(one for one in found["victims"] if one["host"] == rnic.host and one["pod"] == "b/two")
    assert (two["owner"], two["labels"]) == ("Job/two", {"app": "two"}), "as Kubernetes describes the pod"


def test_outside_of_the_storm_nothing_is_broken(judged: Any, get: Any) -> None:
    found = get("/fleet", since=judged.since, until=judged.since + timedelta(seconds=100))
    assert (found["broken_s"], found["rnics"], found["hosts"], found["victims"], found["aggressors"]) == (0.0, [], [], [], [])
    assert {tenant["tenant"]: tenant["kept_share"] for tenant in found["tenants"]} == {"a": 1.0, "b": None}


@pytest.mark.parametrize(("since_min", "until_min"), [(0, 240), (30, 215), (60, 180), (10, 50), (119, 121), (185, 200)])
def test_the_fleet_reads_whole_hours_and_the_minutes_around_them(rnic: Any, get: Any, since_min: int, until_min: int) -> None:
    """One VF of a tenant for three hours, and a second one in the fourth; each minute has 7 unknown seconds of each."""
    begin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=12)
    tenant = f"hours-{rnic.rnic_id}"
    rnic.connection.execute(
        "INSERT INTO vf_minute (time, rnic_id, vf, tenant, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s, state)"
        " SELECT %s + n * interval '1 minute', %s, vf, %s, 53, 0, 7, 0, 0, 'unknown'"
        " FROM generate_series(0, 239) n, generate_series(0, 1) vf WHERE vf = 0 OR n >= 180",
        [begin, rnic.rnic_id, tenant],
    )
    since, until = begin + timedelta(minutes=since_min), begin + timedelta(minutes=until_min)
    query = "SELECT sum(unknown_s) FROM vf_minute WHERE rnic_id = %s AND time >= %s AND time < %s"
    [of_minutes] = rnic.connection.execute(query, [rnic.rnic_id, since, until]).fetchone()
    roll_up_isolation(rnic.connection, begin, begin + timedelta(hours=4))
    [mine] = [one for one in get("/fleet", since=since, until=until)["tenants"] if one["tenant"] == tenant]
    assert (mine["unknown_s"], mine["vfs"], mine["kept_share"]) == (of_minutes, 2 if until_min > 180 else 1, 1.0)


def test_a_long_interval_counts_whole_hours(rnic: Any, get: Any) -> None:
    begin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=5)
    rnic.connection.execute(
        "INSERT INTO vf_minute (time, rnic_id, vf, tenant, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s, state)"
        " SELECT %s + n * interval '1 minute', %s, 0, 'long', 53, 0, 7, 0, 0, 'unknown' FROM generate_series(0, 119) n",
        [begin, rnic.rnic_id],
    )
    roll_up_isolation(rnic.connection, begin, begin + timedelta(hours=2))
    found = get("/fleet", since=begin + timedelta(minutes=90), until=begin + timedelta(days=4))
    assert [one["unknown_s"] for one in found["tenants"] if one["tenant"] == "long"] == [420.0]


def test_an_interval_that_ends_before_it_begins_is_refused(viewer: httpx.Client) -> None:
    answer = viewer.get("/api/v1/isolation/fleet", params={"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"})
    assert answer.status_code == 422
    assert "before" in answer.json()["detail"]


def test_an_rnic_shows_promise_rates_state_and_seconds_of_today(judged: Any, get: Any) -> None:
    found = get(f"/rnics/{judged.host}/{PCI}")
    assert (found["model"], found["port_mbps"], found["mechanism"], found["doubt"]) == ("CX-6", 25_000, None, None)
    assert found["broken_s_today"] == judged.broken_today
    rows = {row["vf"]: row for row in found["vfs"]}
    assert sorted(rows) == list(range(8))
    assert (rows[0]["state"], rows[0]["role"], rows[0]["tenant"], rows[0]["namespace"]) == ("kept", None, "a", "a")
    assert rows[0]["slo"] == {
        "name": "gold", "min_mbps": 50.0, "max_mbps": 2000.0, "p50_us": None, "p99_us": 200.0, "loss": 0.001, "source": "rule", "rule": 0,
    }  # fmt: skip
    assert rows[0]["rx_mbps"] == pytest.approx(560, rel=0.05)
    assert (rows[3]["slo"], rows[3]["state"], rows[3]["aggressor_s_today"]) == (None, "not promised", judged.broken_today)
    assert rows[0]["broken_s_today"] == judged.broken_today


def test_an_rnic_without_traffic_of_vfs_has_none_and_an_unknown_one_is_not_found(rnic: Any, get: Any, viewer: httpx.Client) -> None:
    found = get(f"/rnics/{rnic.host}/{PCI}")
    assert (found["vfs"], found["at"], found["stale"], found["numvfs"]) == ([], None, False, None)
    assert viewer.get(f"/api/v1/isolation/rnics/nowhere/{PCI}").status_code == 404


def count_vfs(rnic: Any, number: int, at: datetime) -> None:
    rnic.connection.execute("INSERT INTO rnic_sample (time, rnic_id, sriov_numvfs) VALUES (%s, %s, %s)", [at, rnic.rnic_id, number])


@pytest.mark.parametrize("number", [0, 16])
def test_an_rnic_says_how_many_vfs_it_has_of_which_none_reports(rnic: Any, get: Any, number: int) -> None:
    count_vfs(rnic, number, datetime.now(UTC) - timedelta(seconds=5))
    found = get(f"/rnics/{rnic.host}/{PCI}")
    assert (found["vfs"], found["stale"], found["numvfs"]) == ([], False, number)


@pytest.mark.parametrize(("minutes", "shown"), [(50, 4), (70, None)])
def test_the_number_of_vfs_is_that_of_the_last_hour(rnic: Any, get: Any, minutes: int, shown: int | None) -> None:
    count_vfs(rnic, 4, datetime.now(UTC) - timedelta(minutes=minutes))
    assert get(f"/rnics/{rnic.host}/{PCI}")["numvfs"] == shown


def test_vfs_that_were_all_removed_are_not_stale_but_gone(rnic: Any, get: Any) -> None:
    rnic.judge(seconds=70)
    rnic.connection.execute("UPDATE rnic_isolation SET at = now() - interval '10 minutes' WHERE rnic_id = %s", [rnic.rnic_id])
    count_vfs(rnic, 8, datetime.now(UTC) - timedelta(minutes=11))
    silent = get(f"/rnics/{rnic.host}/{PCI}")
    assert (len(silent["vfs"]), silent["stale"], silent["numvfs"]) == (8, True, 8)
    count_vfs(rnic, 0, datetime.now(UTC) - timedelta(minutes=9))
    found = get(f"/rnics/{rnic.host}/{PCI}")
    assert (found["vfs"], found["stale"], found["numvfs"], found["mechanism"]) == ([], False, 0, None)


def test_the_strip_has_a_cell_per_second_and_vf(judged: Any, get: Any) -> None:
    since = judged.since + timedelta(seconds=120)
    found = get(f"/rnics/{judged.host}/{PCI}/strip", since=since, until=since + timedelta(seconds=60), step_s=1)
    assert found["step_s"] == 1
    strips = {strip["vf"]: strip["cells"] for strip in found["vfs"]}
    # The interval that ends at second 130 began at 129.
    for vf in VICTIMS:
        broken = {round(at(cell) - judged.start) for cell in strips[vf] if cell["state"] == "broken"}
        assert broken == set(range(129, 149))
        assert Counter(cell["state"] for cell in strips[vf]) == {"broken": 20, "kept": 40}
    assert Counter(cell["state"] for cell in strips[3]) == {"not promised": 60}
    assert sum(cell["aggressor_s"] for cell in strips[3]) == pytest.approx(20.0)


def test_the_strip_by_minute_adds_up(judged: Any, get: Any) -> None:
    found = get(f"/rnics/{judged.host}/{PCI}/strip", since=judged.since, until=judged.until, step_s=60)
    cells = {strip["vf"]: [(cell["state"], cell["broken_s"]) for cell in strip["cells"]] for strip in found["vfs"]}
    assert cells[0] == [("kept", 0.0), ("kept", 0.0), ("broken", 20.0), ("kept", 0.0)]


@pytest.mark.parametrize("step_s", [7, 90])
def test_steps_that_do_not_fit_minutes_are_refused(judged: Any, viewer: httpx.Client, step_s: int) -> None:
    answer = viewer.get(f"/api/v1/isolation/rnics/{judged.host}/{PCI}/strip", params={"step_s": step_s, **span(judged)})
    assert answer.status_code == 422


def test_too_many_steps_are_refused_with_what_to_do(judged: Any, viewer: httpx.Client) -> None:
    params: dict[str, str | int] = {"since": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z", "step_s": 1}
    answer = viewer.get(f"/api/v1/isolation/rnics/{judged.host}/{PCI}/strip", params=params)
    assert answer.status_code == 422
    assert "longer step" in answer.json()["detail"]


def test_a_victims_page_names_the_aggressor_of_each_interval(judged: Any, get: Any) -> None:
    found = get(f"/rnics/{judged.host}/{PCI}/vfs/0", since=judged.since, until=judged.until)
    assert (found["vf"], found["step_s"], found["broken_total"], len(found["broken"])) == (0, 60, 20, 20)
    newest = found["broken"][0]
    assert datetime.fromisoformat(newest["at"]).timestamp() == judged.start + 149
    assert (newest["role"], newest["mechanism"], newest["estimated"], newest["interval_s"]) == ("victim", "ingress packet rate", False, 1.0)
    assert [(one["vf"], one["tenant"]) for one in newest["aggressors"]] == [(3, "b")]
    assert newest["reason"]
    assert [point["broken_s"] for point in found["series"]] == [0.0, 0.0, 20.0, 0.0]


def test_an_aggressors_page_names_its_victims(judged: Any, get: Any) -> None:
    found = get(f"/rnics/{judged.host}/{PCI}/vfs/3", since=judged.since, until=judged.until)
    assert {one["role"] for one in found["broken"]} == {"aggressor"}
    assert {victim["vf"] for one in found["broken"] for victim in one["victims"]} == VICTIMS
    assert found["broken_total"] == 20


def test_a_vf_that_nobody_knows_is_not_found(judged: Any, viewer: httpx.Client) -> None:
    assert viewer.get(f"/api/v1/isolation/rnics/{judged.host}/{PCI}/vfs/99", params=span(judged)).status_code == 404


def test_a_vf_that_its_rnic_no_longer_reports_keeps_its_seconds_of_today(rnic: Any, get: Any) -> None:
    rnic.judge()
    rnic.connection.execute("UPDATE rnic_isolation SET vfs = '[]' WHERE rnic_id = %s", [rnic.rnic_id])
    found = get(f"/rnics/{rnic.host}/{PCI}/vfs/0", since=rnic.since, until=rnic.until)
    assert (found["state"], found["broken_s_today"], found["aggressor_s_today"]) == ("unknown", rnic.broken_today, 0.0)


def test_a_vfs_page_has_the_pods_that_held_it(rnic: Any, get: Any) -> None:
    rnic.judge(seconds=70)
    insert = "INSERT INTO host (host) VALUES (%s) RETURNING host_id"
    [host_id] = rnic.connection.execute(insert, [rnic.host]).fetchone()
    rnic.connection.execute(
        "INSERT INTO vf_sample (time, rnic_id, vf, vf_pci) VALUES (%s, %s, 1, '0000:3b:00.3')", [rnic.since, rnic.rnic_id]
    )
    for second, kind, pod in ((0, "cni_add", "a/one"), (20, "cni_del", "a/one"), (30, "cni_add", "b/two"), (40, "cni_add", "c/no")):
        fields = {"pod": pod, "container": pod, "interface": "net1", "device": "0000:3b:00.3"}
        if pod == "c/no":
            fields["result"] = "refused"
        rnic.connection.execute(
            "INSERT INTO event (time, host_id, pci, kind, other) VALUES (%s, %s, %s, %s, jsonb_object(%s::text[], %s::text[]))",
            [rnic.since + timedelta(seconds=second), host_id, PCI, kind, list(fields), list(fields.values())],
        )
    rnic.connection.execute(
        "INSERT INTO kubernetes_pod (pod, owner, labels, found, read_at) VALUES ('a/one', 'Deployment/one', %s, true, now())"
        " ON CONFLICT (pod) DO UPDATE SET owner = excluded.owner, labels = excluded.labels",
        [json.dumps({"app": "one"})],
    )
    found = get(f"/rnics/{rnic.host}/{PCI}/vfs/1", since=rnic.since, until=rnic.until)["holders"]
    assert (found[1]["owner"], found[1]["labels"]) == ("Deployment/one", {"app": "one"}), "as Kubernetes describes the pod"
    assert [(one["pod"], one["tenant"], one["until"] is None) for one in found] == [("b/two", "b", True), ("a/one", "a", False)]
    pack_rnic(rnic.connection, vf_sample, rnic.rnic_id)
    assert get(f"/rnics/{rnic.host}/{PCI}/vfs/1", since=rnic.since, until=rnic.until)["holders"] == found, "from a packed hour, too"


def test_breakage_by_tenant_is_in_the_fleets_metrics(judged: Any, viewer: httpx.Client) -> None:
    lines = viewer.get("/metrics/fleet").text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if line.startswith("wallwatch_tenant_"))
    if judged.broken_today == 20.0:  # not when midnight lies between
        assert float(values['wallwatch_tenant_broken_seconds{tenant="a"}']) >= 20.0
        assert float(values['wallwatch_tenant_aggressor_seconds{tenant="b"}']) >= 20.0
    assert viewer.get("/metrics/fleet", params={"rack": "elsewhere"}).text.count("wallwatch_tenant_broken_seconds{") == 0


def at(cell: dict[str, Any]) -> float:
    return datetime.fromisoformat(cell["at"]).astimezone(UTC).timestamp()


def span(judged: Any) -> dict[str, str]:
    return {"since": judged.since.isoformat(), "until": judged.until.isoformat()}
