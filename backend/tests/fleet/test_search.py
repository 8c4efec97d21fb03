"""Search by parts of names: hosts, RNICs and pods."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

SICK = {"S1": {"since": "2026-01-01T00:00:00Z", "finding_id": "00000000-0000-5000-8000-000000000001", "severity": "warning", "until": None}}
CLEARED = {"S6": {**SICK["S1"], "until": "2026-01-01T00:10:00Z"}}


@pytest.fixture(scope="module", autouse=True)
def rows(backend: Any) -> None:
    fleet = [
        ("gpu-1", "0000:3b:00.0", "r1", "CX-6", {}),
        ("gpu-1", "0000:5e:00.0", "r1", "CX-6", SICK),
        ("gpu-10", "0000:3b:00.0", "r1", "BF-3", CLEARED),
        ("old-gpu-1", "0000:3b:00.0", "", None, {}),
        ("under_score", "0000:3b:00.0", "r9", "CX-7", {}),
    ]
    now = datetime.now(UTC)
    attached = [
        ("gpu-1", "0000:3b:00.0", now - timedelta(hours=2), "training/worker-7", "aaaa"),
        ("gpu-10", "", now - timedelta(hours=1), "training/worker-7", "bbbb"),
        ("gpu-1", "0000:3b:00.0", now - timedelta(hours=3), "web/front", "cccc"),
        ("gpu-1", "0000:3b:00.0", now - timedelta(days=3), "training/long-ago", "dddd"),
    ]
    with backend.connect() as c:
        for host, pci, rack, model, symptoms in fleet:
            (rnic_id,) = c.execute(
                "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, %s, %s) RETURNING rnic_id", [host, pci, rack, model]
            ).fetchone()
            c.execute(
                "INSERT INTO rnic_state (rnic_id, host, pci, rack, model, symptoms, change_seq) "
                "VALUES (%s, %s, %s, %s, %s, %s, nextval('rnic_state_change_seq_values'))",
                [rnic_id, host, pci, rack, model, json.dumps(symptoms)],
            )
        ids = {}
        for host, rack in {row[0]: row[2] for row in fleet}.items():
            ids[host] = c.execute("INSERT INTO host (host, rack) VALUES (%s, %s) RETURNING host_id", [host, rack]).fetchone()[0]
        for host, pci, at, pod, container in attached:
            other = {"pod": pod, "container": container, "device": "0000:3b:00.2"}
            c.execute(
                "INSERT INTO event (time, host_id, pci, kind, other) VALUES (%s, %s, %s, 'cni_add', %s)",
                [at, ids[host], pci, json.dumps(other)],
            )


def find(viewer: httpx.Client, q: str, **more: Any) -> dict[str, Any]:
    answer = viewer.get("/api/v1/search", params={"q": q, **more})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_the_exact_host_comes_first_then_its_namesakes(viewer: httpx.Client) -> None:
    assert [one["host"] for one in find(viewer, "GPU-1")["hosts"]] == ["gpu-1", "gpu-10", "old-gpu-1"]
    assert find(viewer, "gpu-1")["hosts"][0] == {"host": "gpu-1", "rack": "r1", "rnics": 2, "zone": None, "instance_type": None}


def test_the_sick_rnic_of_a_host_comes_before_the_others(viewer: httpx.Client) -> None:
    found = [(one["host"], one["pci"], one["symptoms"]) for one in find(viewer, "gpu-1")["rnics"]]
    assert found == [
        ("gpu-1", "0000:5e:00.0", ["S1"]),
        ("gpu-1", "0000:3b:00.0", []),
        ("gpu-10", "0000:3b:00.0", []),
        ("old-gpu-1", "0000:3b:00.0", []),
    ]


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("5e:00 gpu", [("gpu-1", "0000:5e:00.0")]),
        ("bf-3", [("gpu-10", "0000:3b:00.0")]),
        ("r9", [("under_score", "0000:3b:00.0")]),
        ("%", []),
        ("er_sc", [("under_score", "0000:3b:00.0")]),
        ("gpu_1", []),
        ("gpu-1 nowhere", []),
    ],
)
def test_all_words_must_occur_as_they_stand(viewer: httpx.Client, q: str, expected: list[tuple[str, str]]) -> None:
    assert [(one["host"], one["pci"]) for one in find(viewer, q)["rnics"]] == expected


def test_a_pod_is_found_where_it_was_attached_last(viewer: httpx.Client) -> None:
    (pod,) = find(viewer, "worker-7")["pods"]
    assert (pod["pod"], pod["host"], pod["pci"], pod["container"]) == ("training/worker-7", "gpu-10", None, "bbbb")
    assert [one["pod"] for one in find(viewer, "cccc")["pods"]] == ["web/front"]


def test_pods_of_days_ago_are_not_found(viewer: httpx.Client) -> None:
    assert find(viewer, "long-ago")["pods"] == []


def test_a_limit_holds_for_each_kind(viewer: httpx.Client) -> None:
    found = find(viewer, "0", limit=1)
    assert len(found["rnics"]) == 1
    assert len(find(viewer, "gpu", limit=2)["hosts"]) == 2


@pytest.mark.parametrize("params", [{}, {"q": "  "}, {"q": "a" * 201}, {"q": "a", "limit": 0}, {"q": "a\0"}])
def test_a_search_without_words_is_refused(viewer: httpx.Client, params: dict[str, Any]) -> None:
    assert viewer.get("/api/v1/search", params=params).status_code == 422
