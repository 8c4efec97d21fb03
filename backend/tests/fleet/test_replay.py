"""The fleet of a past minute: the endpoint against rows as `ingest` writes them."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

THEN = (datetime.now(UTC) - timedelta(minutes=30)).replace(second=0, microsecond=0)


@pytest.fixture(scope="module")
def two_rnics(backend: Any) -> None:
    """Half an hour ago the first had too many masks and S6, which has cleared; of the second nothing was measured, and it is sick now."""
    walls = json.dumps(
        {
            "egress_masks": {"value": 1, "limit": 10, "headroom": 0.9, "basis": "model"},
            "offloaded_flows": {"value": 1, "limit": 1000, "headroom": 0.999, "basis": "model"},
        }
    )
    with backend.connect() as c:
        (host_id,) = c.execute("INSERT INTO host (host) VALUES ('replay01') RETURNING host_id").fetchone()
        for pci in ("0000:3b:00.0", "0000:5e:00.0"):
            (rnic_id,) = c.execute(
                "INSERT INTO rnic (host, pci, rack, model) VALUES ('replay01', %s, 'r1', 'CX-6') RETURNING rnic_id", [pci]
            ).fetchone()
            c.execute(
                "INSERT INTO rnic_state (rnic_id, host, pci, rack, model, walls, headroom, change_seq) "
                "VALUES (%s, 'replay01', %s, 'r1', 'CX-6', %s, 0.9, nextval('rnic_state_change_seq_values'))",
                [rnic_id, pci, walls],
            )
            first = pci.startswith("0000:3b")
            if first:
                for second, masks in ((5, 8), (15, 15), (25, 9)):
                    at = THEN + timedelta(seconds=second)
                    c.execute("INSERT INTO rnic_sample (time, rnic_id, tx_gbps, rx_gbps) VALUES (%s, %s, %s, 1)", [at, rnic_id, second])
                    c.execute(
                        "INSERT INTO offload_sample (time, rnic_id, masks_egress, flows_offloaded) VALUES (%s, %s, %s, 100)",
                        [at, rnic_id, masks],
                    )
                _refresh(c)
            began, ended = (THEN - timedelta(minutes=5), THEN + timedelta(minutes=5)) if first else (THEN + timedelta(minutes=20), None)
            for time, state in ((began, "active"), (ended, "cleared")):
                if time is not None:
                    c.execute(
                        "INSERT INTO finding (time, rnic_id, host_id, finding_id, symptom, state, started_at, severity, blast_radius, rule,"
                        " title, summary, evidence, hypotheses, remedies)"
                        " VALUES (%s, %s, %s, %s, 'S6', %s, %s, 'warning', 'flows', 'S6/1', '', '', '[]', '[]', '[]')",
                        [time, rnic_id, host_id, uuid.uuid5(uuid.NAMESPACE_URL, pci), state, began],
                    )


def _refresh(c: Any) -> None:
    """The Apache edition computes minutes in `ingest`; the Community edition while they are read."""
    from wallwatch.store.rollups import ROLLUPS, refresh_statement

    for rollup in ROLLUPS:
        if rollup.view in ("rnic_1m", "offload_1m") and c.execute("SELECT to_regclass(%s)", [rollup.table]).fetchone()[0]:
            c.execute(refresh_statement(rollup), {"start": THEN, "end": THEN + timedelta(minutes=1)})


def columns_at(viewer: httpx.Client, at: datetime) -> list[tuple[Any, ...]]:
    body = viewer.get("/api/v1/fleet/replay", params={"at": at.isoformat()}).raise_for_status().json()
    rows = zip(*(body[name] for name in ("host", "headroom", "nearest_wall", "symptoms", "tx_gbps")), strict=True)
    return [row[1:] for row in rows if row[0] == "replay01"]


@pytest.mark.usefixtures("two_rnics")
def test_a_minute_shows_its_largest_values_and_the_symptoms_of_then(viewer: httpx.Client) -> None:
    assert columns_at(viewer, THEN + timedelta(seconds=42)) == [(-0.5, "egress_masks", ["S6"], 15.0), (None, None, [], None)]


@pytest.mark.usefixtures("two_rnics")
def test_one_wall_can_be_asked_for(viewer: httpx.Client) -> None:
    body = viewer.get("/api/v1/fleet/replay", params={"at": THEN.isoformat(), "wall": "offloaded_flows"}).json()
    of_host = [body["wall_headroom"][i] for i, host in enumerate(body["host"]) if host == "replay01"]
    assert of_host == [0.9, None]
    assert viewer.get("/api/v1/fleet/replay", params={"at": THEN.isoformat(), "wall": "great"}).status_code == 422


@pytest.mark.usefixtures("two_rnics")
def test_what_began_or_cleared_since_is_told_apart(viewer: httpx.Client) -> None:
    assert [row[2] for row in columns_at(viewer, THEN - timedelta(minutes=10))] == [[], []]
    assert [row[2] for row in columns_at(viewer, THEN + timedelta(minutes=10))] == [[], []]
    assert [row[2] for row in columns_at(viewer, THEN + timedelta(minutes=25))] == [[], ["S6"]]


@pytest.mark.usefixtures("two_rnics")
def test_the_replay_is_in_the_order_of_the_fleet(viewer: httpx.Client) -> None:
    fleet = viewer.get("/api/v1/fleet").json()["columns"]
    then = viewer.get("/api/v1/fleet/replay", params={"at": THEN.isoformat()}).json()
    assert (then["host"], then["pci"]) == (fleet["host"], fleet["pci"])


@pytest.mark.parametrize("at", [timedelta(days=-2), timedelta(hours=1)])
def test_only_the_last_day_can_be_replayed(viewer: httpx.Client, at: timedelta) -> None:
    answer = viewer.get("/api/v1/fleet/replay", params={"at": (datetime.now(UTC) + at).isoformat()})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
