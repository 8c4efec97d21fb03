"""The fleet, RNICs, series, masks and findings, from rows as `ingest` writes them."""

import asyncio
import gzip
import json
import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from wallwatch_backend.fleet.overview import answers
from wallwatch_backend.fleet.rnics.cordons import record_cordon
from wallwatch_backend.kit.database import Database

HOST, PCI = "host01", "0000:3b:00.0"
NOW = datetime.now(UTC).replace(second=0, microsecond=0)  # a whole minute, so that steps of 10 s begin with it
START = NOW - timedelta(minutes=10)


@pytest.fixture(scope="module", autouse=True)
def rows(backend: Any) -> None:
    global NOW, START  # what is recent is judged by the clock, and a module may run long after it was imported
    NOW = datetime.now(UTC).replace(second=0, microsecond=0)
    START = NOW - timedelta(minutes=10)
    walls = {"offloaded_flows": {"value": 6800, "limit": 7000, "headroom": 0.0286, "basis": "paper"}}
    symptoms = {"S1": {"since": START.isoformat(), "finding_id": "00000000-0000-5000-8000-000000000001", "severity": "warning"}}
    for symptom, ended in (("S2", NOW - timedelta(minutes=10)), ("S6", NOW - timedelta(minutes=40))):
        symptoms[symptom] = {
            "since": START.isoformat(),
            "finding_id": symptoms["S1"]["finding_id"],
            "severity": "warning",
            "until": ended.isoformat(),
        }
    with backend.connect() as c:
        (rnic_id,) = c.execute(
            "INSERT INTO rnic (host, pci, rack, model, driver, fw_ver) "
            "VALUES (%s, %s, 'r1', 'CX-6', 'mlx5_core', '22.1') RETURNING rnic_id",
            [HOST, PCI],
        ).fetchone()
        c.execute("INSERT INTO rnic (host, pci) VALUES ('host02', %s)", [PCI])
        (host_id,) = c.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [HOST]).fetchone()
        c.execute(
            """INSERT INTO rnic_state (rnic_id, host, pci, rack, model, walls, headroom, nearest_wall, symptoms, tx_gbps, rx_gbps,
            seen_at, change_seq)
            VALUES (%s, %s, %s, 'r1', 'CX-6', %s, 0.0286, 'offloaded_flows', %s, 90.5, 88, %s, nextval('rnic_state_change_seq_values')),
                   (9999, 'host02', %s, '', NULL, NULL, NULL, NULL, '{}', NULL, NULL, NULL, nextval('rnic_state_change_seq_values'))""",
            [rnic_id, HOST, PCI, json.dumps(walls), json.dumps(symptoms), NOW, PCI],
        )
        for i, packets in enumerate([1000, 2000, 4000, None, 500, 1500]):  # the fifth is after a driver reload
            at = START + timedelta(seconds=10 * i)
            c.execute(
                "INSERT INTO rnic_sample (time, rnic_id, port_xmit_packets, tx_gbps) VALUES (%s, %s, %s, %s)", [at, rnic_id, packets, i]
            )
        for at, egress in ((START, ["a", "b"]), (NOW - timedelta(seconds=30), ["c"])):
            for position, mask in enumerate(egress):
                c.execute(
                    "INSERT INTO mask_sample (time, rnic_id, direction, mask, position, flows, packets_per_s, length_bits, match) "
                    "VALUES (%s, %s, 'egress', %s, %s, 10, 5.5, 96, 'eth')",
                    [at, rnic_id, mask, position],
                )
        crash = {"finding_id": "00000000-0000-5000-8000-000000000002", "rnic_id": None, "symptom": "S3", "blast_radius": "host"}
        for more, state, at in (
            ({}, "active", START),
            ({}, "cleared", START + timedelta(minutes=5)),
            (crash, "active", START + timedelta(minutes=2)),
        ):
            row = {
                "time": at,
                "rnic_id": rnic_id,
                "host_id": host_id,
                "finding_id": "00000000-0000-5000-8000-000000000001",
                "symptom": "S1",
                "state": state,
                "started_at": START,
                "severity": "warning",
                "blast_radius": "flows",
                "rule": "",
                "title": "",
                "summary": "",
                "evidence": "[]",
                "hypotheses": "[]",
                "remedies": "[]",
                **more,
            }
            c.execute(f"INSERT INTO finding ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})", list(row.values()))


def series(client: httpx.Client, **params: Any) -> dict[str, Any]:
    params = {"from": START.isoformat(), "to": (START + timedelta(minutes=1)).isoformat(), "step_s": 10, **params}
    answer = client.get(f"/api/v1/rnics/{HOST}/{PCI}/series", params=params)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_fleet_has_one_entry_per_column_for_each_rnic(viewer: httpx.Client) -> None:
    columns = viewer.get("/api/v1/fleet").json()["columns"]
    assert {len(column) for column in columns.values()} == {2}
    i = columns["host"].index(HOST)
    assert (columns["headroom"][i], columns["symptoms"][i], columns["tx_gbps"][i]) == (0.0286, ["S1"], 90.5)
    assert (columns["recent"][i], columns["recent"][1 - i]) == (["S2"], [])
    assert columns["seen_at_ms"][i] == NOW.timestamp() * 1000


def test_what_is_unknown_is_null_in_the_fleet_never_zero(viewer: httpx.Client) -> None:
    columns = viewer.get("/api/v1/fleet").json()["columns"]
    i = columns["host"].index("host02")
    for name in ("rack", "model", "headroom", "nearest_wall", "seen_at_ms", "tx_gbps", "rx_gbps"):
        assert columns[name][i] is None, name


def test_an_rnic_is_stale_after_three_missed_samples_and_a_refresh_of_its_row(viewer: httpx.Client) -> None:
    for path in ("/api/v1/fleet", f"/api/v1/rnics/{HOST}/{PCI}"):
        assert viewer.get(path).json()["stale_after_s"] == 3 * 10 + 10, path


def test_a_cordon_is_seen_wherever_its_rnic_is(viewer: httpx.Client, backend: Any) -> None:
    def seen() -> tuple[bool, bool, bool]:
        columns = viewer.get("/api/v1/fleet").json()["columns"]
        cordoned = dict(zip(columns["host"], columns["cordoned"], strict=True))
        (listed,) = viewer.get("/api/v1/rnics", params={"host": HOST}).json()["items"]
        return cordoned[HOST], listed["cordoned"], viewer.get(f"/api/v1/rnics/{HOST}/{PCI}").json()["cordoned"]

    async def record(cordoned: bool, at: datetime) -> None:
        database = Database(backend.settings)
        async with database.write() as session:
            await record_cordon(session, HOST, PCI, cordoned, at)
        await database.dispose()

    assert seen() == (False, False, False)
    asyncio.run(record(True, NOW))
    assert seen() == (True, True, True)
    asyncio.run(record(False, NOW - timedelta(minutes=1)))
    assert seen() == (True, True, True), "an older report changes nothing"
    asyncio.run(record(False, NOW + timedelta(minutes=1)))
    assert seen() == (False, False, False)


def test_one_rnic_shows_every_wall_and_leaves_unmeasured_ones_empty(viewer: httpx.Client) -> None:
    rnic = viewer.get(f"/api/v1/rnics/{HOST}/{PCI}").json()
    walls = {wall["wall"]: wall for wall in rnic["walls"]}
    assert set(walls) == {"offloaded_flows", "egress_masks", "ingress_masks", "flow_insertions", "encap_contexts"}
    assert (walls["offloaded_flows"]["value"], walls["offloaded_flows"]["basis"]) == (6800, "paper")
    assert walls["offloaded_flows"]["leads_to"] == ["S1", "S5", "S6"]
    assert walls["egress_masks"]["value"] is None
    assert [(s["symptom"], s["until"] is None) for s in rnic["symptoms"]] == [("S1", True), ("S2", False)], "S6 ended too long ago"
    assert (rnic["firmware"], rnic["agent_id"]) == ("22.1", None)


def test_rnics_can_be_filtered(viewer: httpx.Client) -> None:
    for params in ({"model": "CX-6"}, {"symptom": "S1"}, {"rack": "r1"}, {"host": HOST}):
        assert [r["host"] for r in viewer.get("/api/v1/rnics", params=params).json()["items"]] == [HOST], params
    for over in ("S2", "S6"):
        assert viewer.get("/api/v1/rnics", params={"symptom": over}).json()["items"] == []


def test_an_rnic_that_never_sent_anything_is_not_found(viewer: httpx.Client) -> None:
    for path in ("", "/series?fields=tx_gbps", "/masks", "/findings"):
        answer = viewer.get(f"/api/v1/rnics/nowhere/{PCI}{path}")
        assert answer.status_code == 404
        assert "No telemetry" in answer.json()["detail"]


def test_a_gauge_has_a_value_in_each_step_that_was_read_and_null_in_the_others(viewer: httpx.Client) -> None:
    found = series(viewer, fields="tx_gbps", to=(START + timedelta(seconds=90)).isoformat())
    assert found["values"]["tx_gbps"] == [0, 1, 2, 3, 4, 5, None, None, None]
    assert found["fields"] == [{"name": "tx_gbps", "label": "Sent", "unit": "Gbit/s"}]
    assert len(found["times"]) == 9


def test_a_counter_is_a_rate_and_a_reset_or_a_missing_value_is_a_gap(viewer: httpx.Client) -> None:
    found = series(viewer, fields="port_xmit_packets")
    assert found["values"]["port_xmit_packets"] == [None, 100, 200, None, None, 100]
    assert found["fields"][0]["unit"] == "packets/s"


def test_fields_of_other_measurements_can_be_requested_together(viewer: httpx.Client) -> None:
    found = series(viewer, fields="tx_gbps,q_egress,ovs_datapath.flows,rx_packets")
    assert list(found["values"]) == ["tx_gbps", "q_egress", "ovs_datapath.flows", "rx_packets"]
    assert set(found["values"]["q_egress"]) == {None}


@pytest.mark.parametrize(
    "params",
    [
        {"fields": "nothing"},
        {"fields": ""},
        {"fields": "port_state"},
        {"fields": "event.detail"},
        {"fields": "tx_gbps", "step_s": 0},
        {"fields": "tx_gbps", "from": NOW.isoformat(), "to": START.isoformat()},
        {"fields": "tx_gbps", "from": "2001-01-01T00:00:00Z", "step_s": 1},
        {"fields": "tx_gbps", "from": "yesterday"},
    ],
)
def test_a_series_that_cannot_be_given_is_refused(viewer: httpx.Client, params: dict[str, Any]) -> None:
    assert viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/series", params=params).status_code == 422


def test_masks_are_those_of_the_newest_sample(viewer: httpx.Client) -> None:
    masks = viewer.get(f"/api/v1/rnics/{HOST}/{PCI}/masks").json()
    assert [entry["mask"] for entry in masks["egress"]] == ["c"]
    assert masks["ingress"] == []
    assert datetime.fromisoformat(masks["at"]) == NOW - timedelta(seconds=30)


def test_findings_have_their_interval(viewer: httpx.Client) -> None:
    path = f"/api/v1/rnics/{HOST}/{PCI}/findings"
    crash, found = sorted(viewer.get(path).json(), key=lambda f: f["symptom"], reverse=True)
    assert (crash["symptom"], crash["to"]) == ("S3", None), "its host's findings concern it too"
    assert datetime.fromisoformat(found["from"]) == START
    assert datetime.fromisoformat(found["to"]) == START + timedelta(minutes=5)
    later = viewer.get(path, params={"from": (START + timedelta(minutes=6)).isoformat()}).json()
    assert later == []


def test_the_catalogue_has_labels_for_all_that_is_shown(viewer: httpx.Client) -> None:
    catalogue = viewer.get("/api/v1/catalogue").json()
    numbered = {f"{kind}{i}" for kind in "SB" for i in range(1, 9)}  # Table 1, and behaviours of the transport
    assert {s["id"] for s in catalogue["symptoms"]} == numbered | {"unexplained", "silent", "isolation", "contention"}
    s1 = catalogue["symptoms"][0]
    assert s1["looks_like"]
    assert {"signal", "label", "unit", "window_s", "raise", "clear"} <= set(s1["definition"]["conditions"][0])
    assert next(c for c in catalogue["causes"] if c["id"] == "C5")["settled_by_upgrade"] is True
    assert next(s for s in catalogue["signals"] if s["signal"] == "reoffload_ratio")["label"] == "Re-offload ratio"
    assert "CX-6" in catalogue["models"]
    assert all(field["label"] and field["unit"] for field in catalogue["fields"])


def test_a_brief_catalogue_has_the_same_names_without_what_few_pages_need(viewer: httpx.Client) -> None:
    whole = viewer.get("/api/v1/catalogue").json()
    brief = viewer.get("/api/v1/catalogue", params={"brief": "true"}).json()
    assert [(s["id"], s["title"], s["definition"]) for s in brief["symptoms"]] == [(s["id"], s["title"], None) for s in whole["symptoms"]]
    assert (brief["signals"], brief["fields"]) == ([], [])
    unchanged = ("causes", "walls", "models", "isolation", "states")
    assert [brief[part] for part in unchanged] == [whole[part] for part in unchanged]


def test_forty_thousand_rnics_come_in_one_compressed_answer(viewer: httpx.Client, backend: Any) -> None:
    with backend.connect() as connection:
        connection.execute(
            """INSERT INTO rnic_state (rnic_id, host, pci, rack, model, headroom, nearest_wall, symptoms, tx_gbps, rx_gbps,
            seen_at, change_seq)
            SELECT 10000 + i, 'h' || lpad((i / 5)::text, 5, '0'), '0000:' || to_hex(16 + i % 5) || ':00.0',
                   'rack' || i / 200, 'CX-6', random(),
                   'offloaded_flows', CASE WHEN i % 100 = 0 THEN '{"S1": {}}'::jsonb ELSE '{}' END, random() * 100, random() * 100, now(),
                   nextval('rnic_state_change_seq_values') FROM generate_series(1, 40000) i"""
        )
    took = []
    for _ in range(3):
        started = time.perf_counter()
        with viewer.stream("GET", "/api/v1/fleet", headers={"Accept-Encoding": "gzip"}) as answer:
            raw = b"".join(answer.iter_raw())
        took.append(time.perf_counter() - started)
        assert answer.headers["content-encoding"] == "gzip"
    body = gzip.decompress(raw)
    print(f"fleet of 40,002: {min(took):.3f} s, {len(body) / 1e6:.1f} MB, {len(raw) / 1e6:.1f} MB compressed")
    assert len(json.loads(body)["columns"]["host"]) == 40002


def test_everybody_gets_the_same_answer_until_the_fleet_changes(
    viewer: httpx.Client, backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made() -> float:
        return float(re.search(r"^wallwatch_fleet_answers_made_total (\S+)", viewer.get("/metrics").text, re.MULTILINE)[1])  # type: ignore[index]

    def change() -> None:
        with backend.connect() as connection:
            connection.execute(
                "UPDATE rnic_state SET tx_gbps = tx_gbps + 1, change_seq = nextval('rnic_state_change_seq_values') WHERE host = %s", [HOST]
            )

    monkeypatch.setattr(answers, "_KEEP_S", 3600.0)  # the machine may be slow
    change()
    before = made()
    first = viewer.get("/api/v1/fleet").json()
    plain = viewer.get("/api/v1/fleet", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == first
    assert made() == before + 1
    change()
    later = viewer.get("/api/v1/fleet").json()
    assert later["seq"] > first["seq"]
    at = first["columns"]["host"].index(HOST)
    assert later["columns"]["tx_gbps"][at] == first["columns"]["tx_gbps"][at] + 1
