"""Profiles of RNIC models: calibrations, versions, which is active."""

import json
import math
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from wallwatch.domain.catalogue import promoted
from wallwatch.domain.catalogue.load import profiles as printed
from wallwatch.domain.forecast.physical_model import one_in_flight
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us
from wallwatch.store.promoted import ProfileWatcher
from wallwatch.store.rollups import ROLLUPS, refresh_statement

P = printed()["CX-7"].performance
MASKS = [(cen, sde) for cen in (0, 20, 60) for sde in (0, 20, 60)]
REASON = {"reason": "measured on our own RNICs"}


def files(factor: float = 1.0) -> list[dict[str, Any]]:
    """Outputs of perftest that an RNIC like a CX-7 would give."""
    found = []
    for cen, sde in MASKS:
        name = f"cen_{cen}_cde_0_sen_0_sde_{sde}"
        gbps, us = bandwidth_gbps(P, cen, sde) * factor, latency_us(P, cen, sde)
        head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        row = f" 65536 5000 {gbps:.3f} {gbps:.3f} {gbps * 1e3 / 8 / 65536:.6f}\n"
        found.append({"name": f"{name}_send_bw.log", "text": f"Send BW Test\n{head}{row}"})
        head = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
        found.append({"name": f"{name}_send_lat.log", "text": f"Send Latency Test\n{head} 2 1000 {us:.3f} {us:.3f} {us:.3f} {us:.3f}\n"})
    return found


@pytest.fixture(scope="module", autouse=True)
def patient(operator: httpx.Client) -> None:
    """A fit takes a second of CPU time, which a busy machine gives it late."""
    operator.timeout = httpx.Timeout(120)


@pytest.fixture(scope="module")
def made(operator: httpx.Client) -> dict[str, Any]:
    """A calibration of the CX-6 that is as good as a calibration can be."""
    answer = operator.post(
        "/api/v1/profiles/CX-6/calibrations", json={"files": files(), "limits": {"offloaded_flows": 6100}, "note": "rack 4"}
    )
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def profile(client: httpx.Client, model: str = "CX-6") -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/api/v1/profiles/{model}").json()
    return found


def test_a_stranger_sees_no_profiles(anonymous: httpx.Client) -> None:
    assert anonymous.get("/api/v1/profiles").status_code == 401


def test_a_viewer_may_not_calibrate(viewer: httpx.Client) -> None:
    assert viewer.post("/api/v1/profiles/CX-6/calibrations", json={"files": files()}).status_code == 403


def test_models_have_parameters_and_limits_with_their_sources(viewer: httpx.Client) -> None:
    items = {item["model"]: item for item in viewer.get("/api/v1/profiles").json()["items"]}
    assert {name for name, item in items.items() if item["parameters_basis"] == "paper"} == {"CX-4", "CX-5", "CX-6", "CX-7", "BF-3", "E810"}
    assert {name for name, item in items.items() if item["parameters_basis"] == "assumed"} == {"BF-2", "CX-8", "P2100"}
    assert items["BF-2"]["parameters"] == items["CX-6"]["parameters"]
    assert items["BF-2"]["parameters_source"].startswith("CX-6's parameters: ")
    assert items["E810"]["head_gbps"] == pytest.approx(170, abs=0.6)
    found = profile(viewer, "BF-3")
    limits = {limit["wall"]: limit for limit in found["limits"]}
    assert limits["encap_contexts"]["basis"] == "paper"
    assert all(limit["source"] for limit in found["limits"])
    assert found["versions"][-1]["number"] == 0
    assert "bracket" in found["equation_note"]


def test_an_unknown_model_says_which_are_known(viewer: httpx.Client) -> None:
    answer = viewer.get("/api/v1/profiles/CX-9")
    assert answer.status_code == 404
    assert "CX-4, CX-5" in answer.json()["detail"]


def test_a_surface_falls_from_the_origin(viewer: httpx.Client) -> None:
    surface = viewer.get("/api/v1/profiles/CX-6/surface", params={"to": 50}).json()
    assert surface["q_l"][0] == 0
    assert surface["q_l"][-1] == 50
    assert surface["bandwidth_gbps"][0][0] == pytest.approx(158.2, abs=0.1)
    assert surface["bandwidth_gbps"][-1][-1] < surface["bandwidth_gbps"][0][-1] < surface["bandwidth_gbps"][0][0]


def test_a_prediction_is_that_of_the_command(viewer: httpx.Client) -> None:
    found = viewer.get("/api/v1/profiles/CX-6/prediction", params={"ql": 10, "qr": 5}).json()
    assert found["bandwidth_gbps"]["value"] == pytest.approx(121.39, abs=0.01)
    assert found["bandwidth_gbps"]["lower"] < 121 < found["bandwidth_gbps"]["upper"]
    assert viewer.get("/api/v1/profiles/CX-6/prediction", params={"ql": -1, "qr": 5}).status_code == 422


def test_a_calibration_is_a_candidate_with_its_points_and_changes_nothing_yet(viewer: httpx.Client, made: dict[str, Any]) -> None:
    assert (made["number"], made["state"], made["points"], made["created_by"]) == (1, "candidate", 18, "operator")
    assert made["calibration"]["bandwidth"]["r_squared"] > 0.99
    assert viewer.get("/api/v1/profiles/CX-6/versions/1").json()["calibration"]["latency"]["distinct"] == 9
    found = profile(viewer)
    assert (found["active"], found["candidates"]) == (0, 1)


def test_a_comparison_has_what_both_versions_say_at_each_point(viewer: httpx.Client, made: dict[str, Any]) -> None:
    found = viewer.get("/api/v1/profiles/CX-6/compare", params={"left": 0, "right": made["number"]}).json()
    assert len(found["points"]) == 18
    assert found["right_error"]["bandwidth"] < 0.02 < found["left_error"]["bandwidth"]


def test_a_promoted_version_is_active_in_every_process_until_it_is_rolled_back(
    backend: Any, operator: httpx.Client, admin: httpx.Client, made: dict[str, Any]
) -> None:
    """The jobs follow the table with a `ProfileWatcher`; walls and predictions change with it."""
    watcher = ProfileWatcher(backend.dsn, threading.Event())
    try:
        answer = operator.post("/api/v1/profiles/CX-6/versions/1/promote", json=REASON)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["active"], answer.json()["versions"][-1]["state"]) == (1, "retired")
        limits = {limit["wall"]: limit for limit in answer.json()["limits"]}
        assert (limits["offloaded_flows"]["value"], limits["offloaded_flows"]["basis"]) == (6100, "calibrated")
        assert limits["egress_masks"]["basis"] == "calibrated"
        assert operator.get("/api/v1/profiles/CX-6/prediction", params={"ql": 0, "qr": 0}).json()["number"] == 1
        assert watcher.refresh()
        assert promoted.profiles()["CX-6"].limits["offloaded_flows"].value == 6100
        assert bandwidth_gbps(promoted.profiles()["CX-6"].performance, 0, 0) == pytest.approx(bandwidth_gbps(P, 0, 0), rel=0.02)
        assert not watcher.refresh()

        back = operator.post("/api/v1/profiles/CX-6/rollback", json=REASON)
        assert back.status_code == 200, back.text
        assert (back.json()["active"], back.json()["versions"][0]["state"]) == (0, "retired")
        assert watcher.refresh()
        assert promoted.profiles()["CX-6"].limits["offloaded_flows"].value == 7000
    finally:
        promoted.use([])
    actions = [event["action"] for event in admin.get("/api/v1/audit").json()["items"] if event["action"].startswith("profile.")]
    assert actions[:2] == ["profile.rollback", "profile.promote"]


def test_rolling_back_brings_the_version_before_and_finally_the_built_in_one(operator: httpx.Client, made: dict[str, Any]) -> None:
    again = operator.post("/api/v1/profiles/CX-6/calibrations", json={"files": files()}).json()
    for number in (made["number"], again["number"]):
        assert operator.post(f"/api/v1/profiles/CX-6/versions/{number}/promote", json=REASON).json()["active"] == number
    answers = [operator.post("/api/v1/profiles/CX-6/rollback", json=REASON) for _ in range(3)]
    assert [a.json().get("active") for a in answers[:2]] == [made["number"], 0]
    assert (answers[2].status_code, answers[2].json()["code"]) == (409, "nothing_to_roll_back")


def test_a_version_of_one_firmware_leaves_the_others_alone(backend: Any, operator: httpx.Client) -> None:
    made = operator.post("/api/v1/profiles/CX-5/calibrations", json={"files": files(), "fw_ver": "16.35.1012"}).json()
    assert operator.post(f"/api/v1/profiles/CX-5/versions/{made['number']}/promote", json=REASON).json()["scoped"] == 1
    try:
        ProfileWatcher(backend.dsn, threading.Event()).refresh()
        own, other = promoted.profile_of("CX-5", "mlx5_core", "16.35.1012"), promoted.profile_of("CX-5", "mlx5_core", "16.35.4030")
        assert own is not None
        assert other is not None
        assert own.performance.u > 2 * other.performance.u
    finally:
        promoted.use([])
    operator.post("/api/v1/profiles/CX-5/rollback", json={**REASON, "fw_ver": "16.35.1012"})


def test_a_fit_that_is_worse_is_kept_as_refused_and_cannot_be_promoted(operator: httpx.Client) -> None:
    shuffled = files()
    texts = [file["text"] for file in shuffled]
    for index, file in enumerate(shuffled):
        file["text"] = texts[(index * 7 + 4) % len(texts) // 2 * 2 + index % 2]
    answer = operator.post("/api/v1/profiles/CX-7/calibrations", json={"files": shuffled})
    assert answer.status_code == 201, answer.text
    refused = answer.json()
    assert (refused["state"], refused["parameters"]) == ("refused", None)
    assert any("goodness" in reason for reason in refused["reasons"])
    promoting = operator.post(f"/api/v1/profiles/CX-7/versions/{refused['number']}/promote", json=REASON)
    assert (promoting.status_code, promoting.json()["code"]) == (409, "not_promotable")


def test_files_without_results_say_what_is_wrong(operator: httpx.Client) -> None:
    answer = operator.post("/api/v1/profiles/CX-6/calibrations", json={"files": [{"name": "x.log", "text": "connection refused"}]})
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_fit")
    assert "no perftest table" in answer.json()["detail"]
    assert operator.post("/api/v1/profiles/CX-6/calibrations", json={"files": files(), "limits": {"luck": 7}}).status_code == 422


def test_where_a_file_was_measured_may_be_given_as_masks_or_as_queries(operator: httpx.Client) -> None:
    nameless = {"name": "send_lat.log", "text": files()[1]["text"], "masks": {"ql": 20}}
    answer = operator.post("/api/v1/profiles/CX-6/calibrations", json={"files": [nameless]})
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_fit")
    assert "missing: qr" in answer.json()["detail"]
    named = {**nameless, "name": "ql_20_qr_2.5_send_lat.log", "masks": None}
    made = operator.post("/api/v1/profiles/CX-6/calibrations", json={"files": [nameless | {"masks": {"ql": 0, "qr": 0.5}}, named]}).json()
    assert [(file["q_l"], file["q_r"]) for file in made["calibration"]["files"]] == [(0, 0.5), (20, 2.5)]


@pytest.fixture(scope="module")
def fleet(backend: Any) -> None:
    """Steady minutes of BF-3 RNICs at several depths, and one whose traffic wants less than the RNIC offers."""
    p, start = printed()["BF-3"].performance, datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=12)
    with backend.connect() as c:
        for index, (q_l, q_r) in enumerate(MASKS):
            rnic_id = _rnic(c, f"bf{index}")
            idle = 0.2 if index == 0 else 1.0
            _samples(c, rnic_id, start, q_l, q_r, bandwidth_gbps(p, q_l, q_r) * idle)
        _samples(c, _rnic(c, "bf-full"), start, 0, 0, bandwidth_gbps(p, 0, 0))
        for rollup in ROLLUPS:
            c.execute(refresh_statement(rollup).encode(), {"start": start, "end": start + timedelta(hours=1)})


def _roll_up(c: psycopg.Connection[Any], start: datetime) -> None:
    for rollup in ROLLUPS:
        c.execute(refresh_statement(rollup).encode(), {"start": start.replace(second=0, microsecond=0), "end": start + timedelta(hours=1)})


def _rnic(c: psycopg.Connection[Any], host: str) -> int:
    row = c.execute("INSERT INTO rnic (host, pci, model) VALUES (%s, '0000:3b:00.0', 'BF-3') RETURNING rnic_id", [host]).fetchone()
    assert row is not None
    c.execute(
        "INSERT INTO rnic_state (rnic_id, host, pci, model, tx_gbps, seen_at, change_seq) "
        "VALUES (%s, %s, '0000:3b:00.0', 'BF-3', 100, now(), nextval('rnic_state_change_seq_values'))",
        [row[0], host],
    )
    return int(row[0])


def _samples(c: psycopg.Connection[Any], rnic_id: int, start: datetime, q_l: float, q_r: float, gbps: float) -> None:
    for minute in range(10):
        at = start + timedelta(minutes=minute)
        c.execute("INSERT INTO rnic_sample (time, rnic_id, tx_gbps) VALUES (%s, %s, %s)", [at, rnic_id, gbps])
        c.execute("INSERT INTO offload_sample (time, rnic_id, q_egress, q_ingress) VALUES (%s, %s, %s, %s)", [at, rnic_id, q_l, q_r])


def test_the_fleet_s_own_steady_minutes_calibrate_bandwidth_alone(fleet: None, operator: httpx.Client) -> None:
    answer = operator.post("/api/v1/profiles/BF-3/calibrations/fleet", json={"hours": 1})
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["source"], found["calibration"]["latency"]) == ("fleet", None)
    bandwidth = found["calibration"]["bandwidth"]
    assert bandwidth["distinct"] == len(MASKS)
    assert max(abs(point["relative"]) for point in bandwidth["points"]) < 0.05


def test_the_fleet_s_rnics_stand_on_the_surface_of_their_model(fleet: None, viewer: httpx.Client) -> None:
    placed = {r["host"]: r for r in viewer.get("/api/v1/profiles/BF-3/rnics").json()}
    one = placed["bf8"]
    assert (one["q_l"], one["q_r"], one["q_r_basis"]) == (60, 60, "own_ingress")
    assert one["expected_gbps"] == pytest.approx(bandwidth_gbps(printed()["BF-3"].performance, 60, 60))


def test_a_fleet_without_steady_minutes_says_so(operator: httpx.Client) -> None:
    answer = operator.post("/api/v1/profiles/E810/calibrations/fleet", json={"hours": 1})
    assert (answer.status_code, answer.json()["code"]) == (422, "nothing_to_fit")


def test_q_r_is_what_packets_meet_at_their_peers_over_those_in_flight(backend: Any, viewer: httpx.Client) -> None:
    """The far peer says that what comes from here passes deeper masks than its other packets."""
    now = datetime.now(UTC)
    with backend.connect() as c:
        me, near, far = (_rnic(c, f"joined{name}") for name in ("-me", "-near", "-far"))
        for rnic_id, q_ingress, other in (
            (
                me,
                50.0,
                {
                    "tunnel_addresses": "192.0.2.1",
                    "peers": "192.0.2.2=300 192.0.2.3=100 192.0.2.9=50",
                    "peers_other_packets_per_s": 0,
                    "q_egress_sd": 6,
                },
            ),
            (near, 4.0, {"tunnel_addresses": "192.0.2.2"}),
            (far, 20.0, {"tunnel_addresses": "192.0.2.3 192.0.2.4", "tunnel_sources": "192.0.2.7=1/0 192.0.2.1=22/3"}),
        ):
            c.execute(
                "INSERT INTO offload_sample (time, rnic_id, q_egress, q_ingress, other) VALUES (%s, %s, 10, %s, %s)",
                [now - timedelta(seconds=20), rnic_id, q_ingress, json.dumps(other)],
            )
    found = viewer.get("/api/v1/rnics/joined-me/0000:3b:00.0/performance").json()
    p, mean = printed()["BF-3"].performance, (3 * 4 + 22) / 4
    spread = math.sqrt((3 * 4**2 + 22**2 + 3**2) / 4 - mean**2)
    place = one_in_flight(p, 10, mean, 6, spread)
    assert (found["q_l"], found["q_r"], found["q_r_basis"]) == (pytest.approx(place[0]), pytest.approx(place[1]), "peers")
    assert found["peers_known"] == pytest.approx(400 / 450)
    assert found["bandwidth_gbps"]["value"] == pytest.approx(bandwidth_gbps(p, *place))
    assert found["latency_us"]["value"] == pytest.approx(latency_us(p, 10, mean))
    assert (found["measured_gbps"], found["minutes"], found["full"], found["above"]) == (None, 0, None, None), "one sample is no verdict"
    # An RNIC without known peers uses its own ingress chain instead.
    alone = viewer.get("/api/v1/rnics/joined-near/0000:3b:00.0/performance").json()
    assert (alone["q_r"], alone["q_r_basis"], alone["peers_known"]) == (4, "own_ingress", None)


def test_the_path_of_an_rnic_has_what_was_expected_and_measured_in_each_minute(fleet: None, viewer: httpx.Client) -> None:
    found = viewer.get("/api/v1/rnics/bf8/0000:3b:00.0/performance", params={"hours": 1}).json()
    assert len(found["path"]) == 10
    assert all(abs(point["residual"]) < 0.001 for point in found["path"])
    idle = viewer.get("/api/v1/rnics/bf0/0000:3b:00.0/performance", params={"hours": 1}).json()
    assert idle["path"][0]["residual"] == pytest.approx(-0.8)


def test_no_more_is_expected_than_the_port_and_its_pcie_link_carry(backend: Any, viewer: httpx.Client) -> None:
    now = datetime.now(UTC)
    with backend.connect() as c:
        for host, rate, lanes in (("narrow-port", 100, 16), ("narrow-link", 400, 4)):
            rnic_id = _rnic(c, host)
            for minute in range(4):
                at = now - timedelta(seconds=20, minutes=minute)
                c.execute("INSERT INTO offload_sample (time, rnic_id, q_egress, q_ingress) VALUES (%s, %s, 0, 0)", [at, rnic_id])
                c.execute(
                    "INSERT INTO rnic_sample (time, rnic_id, tx_gbps, rate_gbps, pci_link_speed_gts, pci_link_width) "
                    "VALUES (%s, %s, 100, %s, 16, %s)",
                    [at, rnic_id, rate, lanes],
                )
        _roll_up(c, now - timedelta(minutes=10))
    port, link = (viewer.get(f"/api/v1/rnics/{host}/0000:3b:00.0/performance").json() for host in ("narrow-port", "narrow-link"))
    assert (port["bandwidth_gbps"]["value"], port["full"], port["above"]) == (100, True, False)
    assert link["bandwidth_gbps"]["value"] == pytest.approx(63.0, abs=0.1)


def test_expected_and_measured_bandwidth_are_means_of_the_same_minutes_and_one_sample_is_no_verdict(
    backend: Any, viewer: httpx.Client
) -> None:
    """The newest sample sends 133 Gbit/s, the minutes around it 40: the port is neither full nor above what is expected."""
    now = datetime.now(UTC).replace(second=30, microsecond=0)
    with backend.connect() as c:
        rnic_id = _rnic(c, "bursty")
        c.execute("UPDATE rnic_state SET tx_gbps = 133 WHERE rnic_id = %s", [rnic_id])
        for minute in range(1, 5):
            at = now - timedelta(minutes=minute)
            c.execute("INSERT INTO rnic_sample (time, rnic_id, tx_gbps) VALUES (%s, %s, 40)", [at, rnic_id])
            c.execute("INSERT INTO offload_sample (time, rnic_id, q_egress, q_ingress) VALUES (%s, %s, 60, 60)", [at, rnic_id])
        _roll_up(c, now - timedelta(minutes=10))
    found = viewer.get("/api/v1/rnics/bursty/0000:3b:00.0/performance", params={"hours": 1}).json()
    points = found["path"]
    assert (found["minutes"], len(points)) == (4, 4)
    assert found["measured_gbps"] == pytest.approx(40)
    assert found["bandwidth_gbps"]["value"] == pytest.approx(sum(point["expected_gbps"] for point in points) / 4)
    assert found["bandwidth_gbps"]["lower"] < found["bandwidth_gbps"]["value"] < found["bandwidth_gbps"]["upper"]
    assert (found["full"], found["above"]) == (True, False), "38 Gbit/s are expected at 60 lookups, at most 65"


def test_nothing_is_expected_of_an_rnic_of_no_known_model(backend: Any, viewer: httpx.Client) -> None:
    with backend.connect() as c:
        c.execute("INSERT INTO rnic (host, pci) VALUES ('strange', '0000:3b:00.0')")
    assert viewer.get("/api/v1/rnics/strange/0000:3b:00.0/performance").status_code == 404
