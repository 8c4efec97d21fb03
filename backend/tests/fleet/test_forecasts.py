"""Forecasts from rows as `ingest` writes them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

HOST, PCI, OTHER = "host01", "0000:3b:00.0", "0000:86:00.0"
NOW = datetime.now(UTC).replace(second=0, microsecond=0)
NEAR = {"limit": 43, "earliest_in_s": 300, "likely_in_s": 900, "latest_in_s": None, "chance": 0.8}
PERHAPS = {"limit": 43, "earliest_in_s": 1200, "likely_in_s": None, "latest_in_s": None, "chance": 0.2}


def body(at: datetime, pci: str, wall: dict[str, Any], masks: float = 30.0, bandwidth: float = 100.0) -> dict[str, Any]:
    return {
        "host": HOST,
        "pci": pci,
        "rack": "r1",
        "model": "CX-6",
        "at": at.isoformat(),
        "forecaster": "abc",
        "cold_start": False,
        "confidence": "high",
        "policy_violated": pci == PCI,
        "q_r_basis": "peers",
        "horizons_s": [60, 300, 900, 1800, 3600],
        "quantiles": [0.05, 0.5, 0.95],
        "targets": {"egress_masks": {"now": masks, "ahead": [[masks, masks + i, masks + 2 * i] for i in range(1, 6)]}},
        "bandwidth_gbps": {"now": bandwidth, "ahead": [[bandwidth - 2 * i, bandwidth - i, bandwidth] for i in range(1, 6)]},
        "latency_us": None,
        "headroom": [[0.1, 0.2, 0.3]] * 5,
        "walls": {"egress_masks": wall},
        "decline": {"share": 0.08, "in_s": 900, "chance": 0.7, "since": "2026-01-01T00:00:00Z"}
        if pci == PCI
        else {"share": 0.01, "in_s": None},
    }


@pytest.fixture(scope="module", autouse=True)
def rows(backend: Any) -> None:
    global NOW  # what is stale is judged by the clock, and a module may run long after it was imported
    NOW = datetime.now(UTC).replace(second=0, microsecond=0)
    with backend.connect() as c:
        for pci, wall in ((PCI, NEAR), (OTHER, PERHAPS)):
            (rnic_id,) = c.execute(
                "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6') RETURNING rnic_id", [HOST, pci]
            ).fetchone()
            newest = body(NOW, pci, wall)
            c.execute(
                "INSERT INTO rnic_forecast (rnic_id, made_at, kept_at, cold_start, policy_violated, next_wall, earliest_in_s, likely_in_s, "
                "latest_in_s, wall_chance, confidence, decline_share, decline_since, decline_in_s, body) "
                "VALUES (%s, %s, %s, false, %s, 'egress_masks', %s, %s, %s, %s, 'high', %s, %s, %s, %s)",
                [
                    rnic_id,
                    NOW,
                    NOW,
                    newest["policy_violated"],
                    wall["earliest_in_s"],
                    wall["likely_in_s"],
                    wall["latest_in_s"],
                    wall["chance"],
                    newest["decline"]["share"],
                    newest["decline"].get("since"),
                    newest["decline"]["in_s"],
                    json.dumps(newest),
                ],
            )
            if pci == PCI:
                for ago in (20, 5, 0):
                    at = NOW - timedelta(minutes=ago)
                    kept = body(at, pci, wall, masks=30.0 - ago, bandwidth=100.0 + ago)
                    c.execute(
                        "INSERT INTO forecast (time, rnic_id, forecaster, cold_start, policy_violated, body) "
                        "VALUES (%s, %s, 'abc', false, true, %s)",
                        [at, rnic_id, json.dumps(kept)],
                    )
        c.execute("INSERT INTO rnic (host, pci) VALUES ('host02', %s)", [PCI])
        c.execute(
            "INSERT INTO forecast_model (id, role, trained_at, description, live) VALUES ('abc', 'champion', %s, %s, %s)",
            [
                NOW,
                json.dumps({"data": {"rnics": 10}, "metrics": {}, "features": ["level"], "sha256": "abcdef"}),
                json.dumps({"drifted": False}),
            ],
        )


def test_the_newest_forecast_has_walls_with_labels_and_times(viewer: httpx.Client) -> None:
    found = viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/forecast").json()
    assert found["stale"] is False
    assert found["policy_violated"] is True
    (wall,) = found["walls"]
    assert (wall["label"], wall["unit"], wall["now"], wall["limit"]) == ("Egress masks", "masks", 30, 43)
    assert (wall["earliest_in_s"], wall["likely_in_s"], wall["latest_in_s"], wall["chance"]) == (300, 900, None, 0.8)
    assert found["confidence"] == "high"
    assert wall["ahead"][2] == [30, 33, 36]
    assert found["others"]["bandwidth_gbps"]["now"] == 100
    assert "latency_us" not in found["others"]
    assert found["decline"] == {"share": 0.08, "in_s": 900, "chance": 0.7, "since": "2026-01-01T00:00:00Z"}
    assert found["q_r_basis"] == "peers"


def test_an_rnic_without_a_forecast_has_none_and_an_unknown_one_is_not_found(viewer: httpx.Client) -> None:
    answer = viewer.get(f"/api/v1/rnics/host02/{PCI}/forecast")
    assert (answer.status_code, answer.json()) == (200, None)
    assert viewer.get(f"/api/v1/rnics/nowhere/{PCI}/forecast").status_code == 404


def listed(viewer: httpx.Client, query: str = "") -> list[str]:
    return [item["pci"] for item in viewer.get(f"/api/v1/forecasts?{query}").json()["items"]]


def counted(viewer: httpx.Client, query: str = "") -> tuple[int, int, int, int]:
    found = viewer.get(f"/api/v1/forecasts/counts?{query}").json()
    return found["at_limit"], found["likely"], found["others"], found["declining"]


def test_the_fleet_lists_only_walls_that_are_likely_and_the_others_apart(viewer: httpx.Client) -> None:
    (found,) = viewer.get("/api/v1/forecasts").json()["items"]
    assert (found["pci"], found["label"], found["likely_in_s"]) == (PCI, "Egress masks", 900)
    assert (found["chance"], found["confidence"]) == (0.8, "high")
    assert listed(viewer, "expected=false") == [OTHER]
    assert counted(viewer) == (0, 1, 1, 1)
    assert (listed(viewer, "within_s=900"), listed(viewer, "within_s=900&expected=false")) == ([PCI], [OTHER])
    assert (listed(viewer, "within_s=899"), listed(viewer, "within_s=899&expected=false")) == ([], [PCI, OTHER])
    assert counted(viewer, "within_s=899") == (0, 0, 2, 0)
    assert (counted(viewer, "rack=r2"), counted(viewer, "wall=offloaded_flows")) == ((0, 0, 0, 0), (0, 0, 0, 0))
    assert [i["pci"] for i in viewer.get("/api/v1/forecasts?declining=true&sort=decline").json()["items"]] == [PCI]
    assert viewer.get("/api/v1/forecasts?wall=offloaded_flows").json()["items"] == []


def test_a_decline_whose_time_is_unknown_is_one_within_the_hour(viewer: httpx.Client, backend: Any) -> None:
    with backend.connect() as c:
        c.execute("UPDATE rnic_forecast SET decline_in_s = NULL WHERE decline_since IS NOT NULL")
    try:
        (found,) = viewer.get("/api/v1/forecasts?declining=true&sort=decline").json()["items"]
        assert (found["pci"], found["decline_in_s"], found["decline_since"]) == (PCI, None, "2026-01-01T00:00:00Z")
        assert viewer.get("/api/v1/forecasts?declining=true&within_s=1800").json()["items"] == []
        assert (listed(viewer, "declining=false"), listed(viewer, "declining=false&expected=false")) == ([], [OTHER])
    finally:
        with backend.connect() as c:
            c.execute("UPDATE rnic_forecast SET decline_in_s = 900 WHERE decline_since IS NOT NULL")


@pytest.mark.parametrize("sort", ["time_to_wall", "decline"])
def test_pages_of_the_fleet_follow_each_other(viewer: httpx.Client, backend: Any, sort: str) -> None:
    change = "UPDATE rnic_forecast SET likely_in_s = %s WHERE decline_since IS NULL"
    with backend.connect() as c:
        c.execute(change, [1200])
    try:
        first = viewer.get(f"/api/v1/forecasts?limit=1&sort={sort}").json()
        second = viewer.get(f"/api/v1/forecasts?limit=1&sort={sort}&cursor={first['next_cursor']}").json()
    finally:
        with backend.connect() as c:
            c.execute(change, [None])
    assert [i["pci"] for i in (*first["items"], *second["items"])] == [PCI, OTHER]
    assert second["next_cursor"] is None


def test_an_unknown_wall_is_refused_with_those_that_are_known(viewer: httpx.Client) -> None:
    answer = viewer.get("/api/v1/forecasts?wall=brick")
    assert answer.status_code == 422
    assert "egress_masks" in answer.json()["detail"]


@pytest.mark.parametrize(("target", "likely", "actual"), [("bandwidth_gbps", 117.0, 105.0), ("egress_masks", 13.0, 25.0)])
def test_past_forecasts_are_listed_with_the_actual_values(viewer: httpx.Client, target: str, likely: float, actual: float) -> None:
    query = f"target={target}&horizon_s=900&to={(NOW + timedelta(minutes=1)).strftime('%Y-%m-%dT%H:%M:%SZ')}"
    found = viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/forecasts?{query}").json()
    assert len(found["items"]) == 3
    first, *later = found["items"]
    assert (first["likely"], first["actual"]) == (likely, actual)  # what was predicted 20 minutes ago for 5 minutes ago
    assert first["policy_violated"] is True
    assert [one["actual"] for one in later] == [None, None]


def test_what_happened_lies_between_the_forecasts_that_were_kept(viewer: httpx.Client) -> None:
    query = f"target=bandwidth_gbps&horizon_s=1800&to={(NOW + timedelta(minutes=1)).strftime('%Y-%m-%dT%H:%M:%SZ')}"
    first = viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/forecasts?{query}").json()["items"][0]
    assert first["actual"] is None  # ten minutes from now
    between = query.replace("1800", "60")
    late = viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/forecasts?{between}").json()["items"][1]
    assert late["actual"] == 104.0  # predicted 5 minutes ago for 4 minutes ago; kept were 105 then and 100 now


def test_an_rnic_at_a_limit_counts_as_that_and_an_old_forecast_not_at_all(viewer: httpx.Client, backend: Any) -> None:
    change = "UPDATE rnic_forecast SET likely_in_s = %s, earliest_in_s = %s, made_at = %s WHERE decline_since IS NOT NULL"
    try:
        with backend.connect() as c:
            c.execute(change, [0, 0, NOW])
        assert (listed(viewer, "within_s=0"), counted(viewer, "within_s=0")) == ([PCI], (1, 0, 1, 0))
        with backend.connect() as c:
            c.execute(change, [0, 0, datetime.now(UTC) - timedelta(minutes=16)])
        assert (listed(viewer), counted(viewer)) == ([], (0, 0, 1, 0))
    finally:
        with backend.connect() as c:
            c.execute(change, [900, 300, NOW])


def test_walls_that_are_not_likely_are_ordered_by_their_chance(viewer: httpx.Client, backend: Any) -> None:
    change = "UPDATE rnic_forecast SET likely_in_s = %s, wall_chance = %s WHERE decline_since IS NOT NULL"
    try:
        for chance, order in ((0.4, [PCI, OTHER]), (0.1, [OTHER, PCI]), (None, [OTHER, PCI])):
            with backend.connect() as c:
                c.execute(change, [None, chance])
            assert listed(viewer, "expected=false") == order
    finally:
        with backend.connect() as c:
            c.execute(change, [900, 0.8])


def test_an_unknown_wall_cannot_be_counted(viewer: httpx.Client) -> None:
    assert viewer.get("/api/v1/forecasts/counts?wall=weather").status_code == 422


@pytest.mark.parametrize("query", ["target=weather", "horizon_s=7"])
def test_past_forecasts_of_nothing_known_are_refused(viewer: httpx.Client, query: str) -> None:
    assert viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/forecasts?{query}").status_code == 422


def test_models_have_their_role_and_their_accuracy_on_live_data(viewer: httpx.Client) -> None:
    (model,) = viewer.get("/api/v1/forecast-models").json()
    assert (model["id"], model["role"], model["live"], model["data"]) == ("abc", "champion", {"drifted": False}, {"rnics": 10})


@pytest.mark.parametrize(
    "path",
    [
        "forecasts",
        "forecasts/counts",
        "forecast-models",
        "forecast-models/changes",
        f"rnics/{HOST}/{PCI}/forecast",
        f"rnics/{HOST}/{PCI}/forecasts",
    ],
)
def test_anonymous_callers_get_nothing(backend: Any, path: str) -> None:
    with backend.client() as nobody:
        assert nobody.get(f"/api/v1/{path}").status_code == 401


def test_a_challenger_has_its_accuracy_and_a_damaged_model_its_error(viewer: httpx.Client, backend: Any) -> None:
    judged = {"champion": "abc", "verdict": "better", "hours": 30, "loss": 0.01, "champion_loss": 0.02}
    with backend.connect() as c:
        for model, live in (
            ("dee", {"judged": judged, "state": [1], "widths": [1], "minutes": 3}),
            ("eff", {"problem": "its hash differs"}),
        ):
            c.execute(
                "INSERT INTO forecast_model (id, role, trained_at, description, live) VALUES (%s, 'challenger', now(), '{}', %s)",
                [model, json.dumps(live)],
            )
    found = {one["id"]: one for one in viewer.get("/api/v1/forecast-models").json()}
    assert found["dee"]["judged"] == judged
    assert found["dee"]["live"] == {"minutes": 3}
    assert (found["eff"]["judged"], found["eff"]["problem"]) == (None, "its hash differs")


def test_changes_of_models_are_listed_newest_first(viewer: httpx.Client, backend: Any) -> None:
    with backend.connect() as c:
        for minute, action, model in ((1, "trained", "abc"), (2, "promoted", "dee")):
            c.execute(
                "INSERT INTO forecast_model_change (at, action, model, champion_before, by, reason) "
                "VALUES (%s, %s, %s, 'abc', 'ada', 'why')",
                [NOW + timedelta(minutes=minute), action, model],
            )
    found = viewer.get("/api/v1/forecast-models/changes").json()
    assert [(one["action"], one["model"], one["by"], one["reason"]) for one in found] == [
        ("promoted", "dee", "ada", "why"),
        ("trained", "abc", "ada", "why"),
    ]
