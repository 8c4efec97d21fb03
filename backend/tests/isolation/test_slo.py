"""SLO classes and rules: who may write them, what is refused, and that the preview shows what the job would do."""

import json
from collections.abc import Iterator
from typing import Any, get_args

import httpx
import pytest

from wallwatch.domain.isolation.assignment import Book, Condition, Rule, slo_of
from wallwatch.store.promises import read_book
from wallwatch_backend.isolation.slo import repository
from wallwatch_backend.isolation.slo.rules import Assigner, KnownVf
from wallwatch_backend.isolation.slo.schemas import VfMatcher

PCI = "0000:3b:00.0"
CLASSES, RULES = "/api/v1/isolation/slo-classes", "/api/v1/isolation/slo-rules"
GOLD = {"name": "gold", "min_mbps": 100, "max_mbps": 2000, "p99_us": 200, "loss": 0.001}
TENANT_A = {"matchers": [{"name": "namespace", "op": "=", "value": "a"}], "slo_class": "gold"}


@pytest.fixture(autouse=True)
def _empty(backend: Any) -> Iterator[None]:
    yield
    backend.clear("slo_rule", "slo_rule_version", "slo_class", "rnic_isolation")


@pytest.fixture
def gold(operator: httpx.Client) -> dict[str, Any]:
    answer = operator.post(CLASSES, json=GOLD)
    assert answer.status_code == 201, answer.text
    assert answer.headers["ETag"] == '"1"'
    found: dict[str, Any] = answer.json()
    return found


def test_a_viewer_reads_and_does_not_write(viewer: httpx.Client, gold: Any) -> None:
    assert [one["name"] for one in viewer.get(CLASSES).json()] == ["gold"]
    assert viewer.get(RULES).json() == {"rules": [], "version": 0, "updated_at": None, "updated_by": None}
    assert viewer.post(CLASSES, json={**GOLD, "name": "x"}).status_code == 403
    assert viewer.put(f"{CLASSES}/gold", json=values()).status_code == 403
    assert viewer.delete(f"{CLASSES}/gold").status_code == 403
    assert viewer.put(RULES, json={"rules": []}).status_code == 403


def values(**changed: Any) -> dict[str, Any]:
    return {**{name: value for name, value in GOLD.items() if name != "name"}, **changed}


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"min_mbps": 3000}, "min_mbps must be at most max_mbps"),
        ({"min_mbps": -1}, "min_mbps"),
        ({"max_mbps": 0}, "max_mbps"),
        ({"loss": 1}, "loss"),
        ({"p50_us": 300}, "p50_us must be at most p99_us"),
        ({"name": "No spaces"}, "name"),
        ({"maximum": 5}, "maximum"),
    ],
)
def test_values_that_promise_nonsense_are_refused(operator: httpx.Client, changed: dict[str, Any], where: str) -> None:
    answer = operator.post(CLASSES, json={**GOLD, **changed})
    assert answer.status_code == 422
    assert where in answer.text


def test_a_class_is_created_changed_by_its_version_and_deleted_and_the_audit_log_has_each_step(
    operator: httpx.Client, admin: httpx.Client, gold: Any
) -> None:
    assert operator.post(CLASSES, json=GOLD).json()["code"] == "slo_class_exists"
    changed = operator.put(f"{CLASSES}/gold", json=values(max_mbps=3000), headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.json()["max_mbps"], changed.headers["ETag"]) == (200, 3000, '"2"')
    assert operator.put(f"{CLASSES}/gold", json=values(), headers={"If-Match": '"1"'}).status_code == 412
    assert operator.put(f"{CLASSES}/none", json=values()).status_code == 404
    assert operator.delete(f"{CLASSES}/gold").status_code == 204
    assert operator.delete(f"{CLASSES}/gold").status_code == 404
    events = admin.get("/api/v1/audit", params={"limit": 20}).json()["items"]
    mine = [event["action"] for event in events if event["target"] == "gold" and event["outcome"] == "ok"]
    assert mine[:3] == ["slo_class.delete", "slo_class.update", "slo_class.create"]


def test_rules_are_replaced_as_a_whole_by_their_version(operator: httpx.Client, gold: Any) -> None:
    first = operator.put(RULES, json={"rules": [TENANT_A]}, headers={"If-Match": '"0"'})
    assert (first.status_code, first.json()["version"], first.json()["updated_by"]) == (200, 1, "operator")
    assert operator.get(RULES).headers["ETag"] == '"1"'
    assert operator.put(RULES, json={"rules": []}, headers={"If-Match": '"0"'}).status_code == 412
    assert operator.get(CLASSES).json()[0]["rules"] == 1
    assert operator.delete(f"{CLASSES}/gold").json()["code"] == "slo_class_in_use"
    assert operator.put(RULES, json={"rules": []}).json()["version"] == 2
    assert operator.delete(f"{CLASSES}/gold").status_code == 204


def test_a_rule_with_an_unknown_class_or_a_broken_expression_is_refused(operator: httpx.Client, gold: Any) -> None:
    unknown = operator.put(RULES, json={"rules": [{**TENANT_A, "slo_class": "silver"}]})
    assert (unknown.status_code, unknown.json()["code"]) == (409, "slo_class_unknown")
    broken = {"matchers": [{"name": "pod", "op": "=~", "value": "("}], "slo_class": "gold"}
    assert operator.put(RULES, json={"rules": [broken]}).status_code == 422
    label = {"matchers": [{"name": "symptom", "op": "=", "value": "S1"}], "slo_class": "gold"}
    assert operator.put(RULES, json={"rules": [label]}).status_code == 422


def test_the_job_reads_what_operators_write(operator: httpx.Client, backend: Any, gold: Any) -> None:
    assert operator.put(RULES, json={"rules": [TENANT_A]}).status_code == 200
    with backend.connect() as connection:
        book = read_book(connection)
    assert (book.classes["gold"].min_bps, book.classes["gold"].p99_us) == (100e6, 200.0)
    assert [(rule.slo_class, rule.conditions[0].name) for rule in book.rules] == [("gold", "namespace")]


def test_the_preview_shows_each_vf_with_its_promise_and_what_would_change(operator: httpx.Client, rnic: Any, gold: Any) -> None:
    rnic.judge(seconds=5)
    [found] = [operator.post(f"{RULES}/preview", json={"rules": [TENANT_A]}).json()]
    rows = {row["vf"]: row for row in found["vfs"] if row["host"] == rnic.host}
    assert (found["vfs_total"], found["refused"]) == (8, [])
    assert (rows[0]["slo"]["name"], rows[0]["slo"]["rule"], rows[0]["before"], rows[0]["tenant"]) == ("gold", 0, "gold", "a")
    assert (rows[3]["slo"], rows[3]["before"], rows[3]["pod"]) == (None, None, f"b/{rnic.host}-3")
    assert found["changed"] == 7  # they have another minimum under the same name
    assert operator.get(RULES).json()["version"] == 0


def test_the_preview_has_pages_and_says_how_many_vfs_match(operator: httpx.Client, rnic: Any, gold: Any) -> None:
    rnic.judge(seconds=5)
    rules = {"rules": [{"matchers": [{"name": "vf", "op": "=~", "value": "[456]"}], "slo_class": "gold"}]}

    def page(offset: int, limit: int) -> dict[str, Any]:
        answer = operator.post(f"{RULES}/preview", json=rules, params={"offset": offset, "limit": limit})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    whole = page(0, 1000)
    assert (whole["vfs_total"], whole["matched"], whole["changed"], whole["refused_total"]) == (8, 3, 7, 0)
    assert [row["vf"] for row in whole["vfs"]] == [0, 1, 2, 4, 5, 6, 7, 3]  # VF 3 has no promise, before and after
    assert [row["slo"] is not None for row in whole["vfs"]] == [False] * 3 + [True] * 3 + [False] * 2
    assert [row["vf"] for offset in (0, 3, 6, 9) for row in page(offset, 3)["vfs"]] == [0, 1, 2, 4, 5, 6, 7, 3]
    assert operator.post(f"{RULES}/preview", json=rules, params={"limit": 1001}).status_code == 422


def test_every_rnic_is_in_the_preview_however_many_are_read_at_a_time(
    operator: httpx.Client, rnic: Any, gold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "_BATCH_RNICS", 2)
    vfs = json.dumps([{"vf": vf, "pod": f"a/web-{vf}", "slo": None} for vf in range(2)])
    for number in range(5):
        insert = "INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id"
        [rnic_id] = rnic.connection.execute(insert, [f"{rnic.host}-{number // 2}", f"0000:{number:02x}:00.0"]).fetchone()
        # The fourth has no VF: the batches go on behind it.
        rnic.connection.execute(
            "INSERT INTO rnic_isolation (rnic_id, at, vfs) VALUES (%s, now(), %s)", [rnic_id, "[]" if number == 3 else vfs]
        )
    found = operator.post(f"{RULES}/preview", json={"rules": [TENANT_A]}).json()
    assert (found["vfs_total"], found["matched"], found["changed"]) == (8, 8, 8)
    rows = [(row["host"], row["pci"], row["vf"]) for row in found["vfs"]]
    assert rows == sorted(rows)
    assert len(set(rows)) == 8


@pytest.mark.parametrize("name", get_args(VfMatcher.model_fields["name"].annotation))
def test_what_a_rule_looks_at_tells_vfs_apart(name: str) -> None:
    """Of two VFs that differ in one name only, each has its own promise, whichever was asked for first."""
    values = {"host": "h", "pci": PCI, "rack": "r", "model": "m", "vf": 1, "pod": "a/web"}
    changes: dict[str, dict[str, Any]] = {"namespace": {"pod": "b/web"}, "pod": {"pod": "a/db"}, "vf": {"vf": 2}}
    other = {**values, **changes.get(name, {name: "other"})}
    one, two = (KnownVf(**fields, port_mbps=None, slo=None) for fields in (values, other))
    value = {"host": "h", "pci": PCI, "rack": "r", "model": "m", "vf": "1", "pod": "web", "namespace": "a"}[name]
    book = Book({"gold": slo_of(1, 2, None, None, None)}, (Rule((Condition(name, "=", value),), "gold"),))
    for first, second in ((one, two), (two, one)):
        assigner = Assigner(book)
        assert [assigner.of(first) is not None, assigner.of(second) is not None] == [first is one, second is one]


def test_minima_above_the_link_are_refused_with_their_sum(operator: httpx.Client, rnic: Any, gold: Any) -> None:
    rnic.judge(seconds=5)
    greedy = {**GOLD, "name": "greedy", "min_mbps": 4000, "max_mbps": 5000}
    assert operator.post(CLASSES, json=greedy).status_code == 201
    rules = {"rules": [{"matchers": [{"name": "host", "op": "=", "value": rnic.host}], "slo_class": "greedy"}]}
    preview = operator.post(f"{RULES}/preview", json=rules).json()
    assert preview["refused"] == [{"host": rnic.host, "pci": PCI, "sum_min_mbps": 32_000.0, "port_mbps": 25_000.0}]
    answer = operator.put(RULES, json=rules)
    assert (answer.status_code, answer.json()["code"]) == (409, "minima_exceed_link")
    assert "32,000 Mbit/s" in answer.json()["detail"]
    assert operator.get(RULES).json()["version"] == 0
    rules["rules"][0]["slo_class"] = "gold"
    assert operator.put(RULES, json=rules).status_code == 200
    raised = operator.put(f"{CLASSES}/gold", json=values(min_mbps=4000, max_mbps=5000))
    assert (raised.status_code, raised.json()["code"]) == (409, "minima_exceed_link")
    assert operator.get(CLASSES).json()[0]["min_mbps"] == 100


def test_a_link_that_fell_to_a_lower_speed_refuses_only_what_makes_it_worse(operator: httpx.Client, rnic: Any, gold: Any) -> None:
    rnic.judge(seconds=5)
    mine = {"matchers": [{"name": "host", "op": "=", "value": rnic.host}], "slo_class": "gold"}
    assert operator.put(f"{CLASSES}/gold", json=values(min_mbps=2000)).status_code == 200
    assert operator.put(RULES, json={"rules": [mine]}).status_code == 200  # 16,000 of 25,000 Mbit/s
    rnic.connection.execute("UPDATE rnic_isolation SET port_mbps = 10000 WHERE rnic_id = %s", [rnic.rnic_id])
    assert operator.post(f"{RULES}/preview", json={"rules": [mine]}).json()["refused"] == []
    raised = operator.put(f"{CLASSES}/gold", json=values(min_mbps=2001, max_mbps=5000))
    assert (raised.status_code, raised.json()["code"]) == (409, "minima_exceed_link")
    assert operator.put(f"{CLASSES}/gold", json=values(min_mbps=2000, description="unchanged minima")).status_code == 200
    assert operator.put(f"{CLASSES}/gold", json=values(min_mbps=1500)).status_code == 200  # 12,000: still too much, but less
    assert operator.put(RULES, json={"rules": []}).status_code == 200
