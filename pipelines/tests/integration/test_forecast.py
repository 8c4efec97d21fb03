"""The job `forecast` on a real store and a real Kafka, and what ingest makes of its messages."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import dask
import numpy as np
import psycopg
import pytest
from prometheus_client import REGISTRY

from wallwatch.domain.forecast.targets import column
from wallwatch.domain.policies import messages
from wallwatch.domain.policies.backtest import backtest
from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.step import Event
from wallwatch.forecasting.histories import from_store, store_queries
from wallwatch.forecasting.registry import base_model
from wallwatch.forecasting.training import distributed
from wallwatch.jobs.forecast import TOPIC, Fleet, ForecastJob
from wallwatch.jobs.ingest import Ingest
from wallwatch.settings import Settings
from wallwatch.store.rollups import ROLLUPS, refresh_statement

from .conftest import until

PCI = "0000:3b:00.0"
MINUTE = int(datetime.now(UTC).timestamp() // 60) - 2
END = datetime.fromtimestamp((MINUTE + 1) * 60, UTC)


@pytest.fixture
def rnic(connection: psycopg.Connection[Any], host: str) -> int:
    """An RNIC whose masks have grown by one every two minutes for an hour, up to 35."""
    (rnic_id,) = connection.execute(
        "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6') RETURNING rnic_id", [host, PCI]
    ).fetchone() or (0,)
    for ago in range(60):
        masks = 35 - ago // 2
        connection.execute(
            "INSERT INTO offload_sample (time, rnic_id, flows_offloaded, masks_egress, masks_ingress, encap_contexts, "
            "flow_insertions_per_s, q_egress, other) VALUES (%s, %s, %s, %s, 5, 100, 1, %s, %s)",
            [END - timedelta(minutes=ago, seconds=30), rnic_id, 20 * masks, masks, masks / 2, '{"q_egress_sd": 8.0}'],
        )
    aggregates = next(r for r in ROLLUPS if r.view == "offload_1m")
    span = {"start": END - timedelta(hours=2), "end": END + timedelta(minutes=1)}
    connection.execute(refresh_statement(aggregates).encode(), span)
    return int(rnic_id)


def test_a_growing_rnic_is_forecast_to_meet_its_wall_and_ingest_stores_it(
    job_settings: Settings,
    connection: psycopg.Connection[Any],
    ingest: Callable[[], AbstractContextManager[Ingest]],
    send: Callable[..., None],
    rnic: int,
    host: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base_model, "FILE", tmp_path / "missing")  # a cold start
    heartbeat = policies()["rnic-heartbeat"]
    missed = Event("device_health", round((END - timedelta(minutes=3)).timestamp() * 1e6), host, PCI)
    [violation] = backtest([heartbeat], [missed]).violations
    send("wallwatch.event", messages.violated(violation, heartbeat, "r1"), key=host)
    job = ForecastJob(job_settings.model_copy(update={"forecast_models": tmp_path / "models"}))
    with ingest():
        stored = "SELECT 1 FROM event JOIN host USING (host_id) WHERE host = %s AND kind = 'policy_violated'"
        assert until(lambda: connection.execute(stored, [host]).fetchone())
        assert job.forecast(MINUTE) >= 1
        row = until(
            lambda: connection.execute(
                "SELECT made_at, cold_start, policy_violated, next_wall, likely_in_s, wall_chance, confidence, body FROM rnic_forecast "
                "WHERE rnic_id = %s",
                [rnic],
            ).fetchone()
        )
    made_at, cold, violated, wall, likely, chance, confidence, body = row
    assert made_at == END
    assert (cold, confidence, body["forecaster"]) == (True, "low", "")
    assert violated
    assert wall == "egress_masks"
    assert 0 < likely < 3600
    assert 0.5 <= chance == body["walls"]["egress_masks"]["chance"] <= 1
    assert body["decline"]["since"] is not None
    assert body["targets"]["egress_masks"]["now"] == 35
    kept = connection.execute("SELECT time, body FROM forecast WHERE rnic_id = %s", [rnic]).fetchall()
    assert kept == [(END, body)]
    after = Fleet()  # of a process that starts now: the decline counts since then, it is no new one
    after.refresh_rnics(connection)
    declining_since = dict(zip([known.host for known in after.known], after.declining(connection, MINUTE + 1).tolist(), strict=True))
    assert declining_since[host] == MINUTE


def test_a_new_installation_forecasts_with_the_base_model(
    job_settings: Settings, connection: psycopg.Connection[Any], rnic: int, tmp_path: Any
) -> None:
    connection.execute("DELETE FROM forecast_model")
    trained = REGISTRY.get_sample_value("wallwatch_forecasts_total", {"kind": "trained"}) or 0.0
    assert ForecastJob(job_settings.model_copy(update={"forecast_models": tmp_path / "models"})).forecast(MINUTE) >= 1
    models = connection.execute("SELECT id, role, description ->> 'source' FROM forecast_model").fetchall()
    assert models == [(base_model.load().meta["id"], "base", "simulated fleets")]
    assert (REGISTRY.get_sample_value("wallwatch_forecasts_total", {"kind": "trained"}) or 0.0) > trained


def test_forecasts_that_come_too_often_are_not_all_kept_and_a_replay_adds_nothing(
    job_settings: Settings,
    connection: psycopg.Connection[Any],
    ingest: Callable[[], AbstractContextManager[Ingest]],
    send: Callable[..., None],
    host: str,
) -> None:
    def message(at: datetime) -> dict[str, Any]:
        return {"host": host, "pci": PCI, "rack": "", "at": at.isoformat(), "cold_start": True, "policy_violated": False, "walls": {}}

    times = [END, END + timedelta(seconds=20), END + timedelta(seconds=60)]
    with ingest():
        for at in times:  # one by one: what is kept depends on what was kept before
            send(TOPIC, message(at), key=host)
            until(
                lambda at=at: connection.execute(
                    "SELECT 1 FROM rnic_forecast f JOIN rnic r USING (rnic_id) WHERE r.host = %s AND f.made_at = %s", [host, at]
                ).fetchone()
            )
        refused = (b"not json", {**message(END), "walls": {"x": {"likely_in_s": "soon"}}}, {**message(END), "confidence": "total"})
        send(TOPIC, message(times[0]), *refused, key=host)
        until(lambda: (connection.execute("SELECT sum(count) FROM dead_letter_count WHERE topic = %s", [TOPIC]).fetchone() or (0,))[0] == 3)
    kept = connection.execute("SELECT f.time FROM forecast f JOIN rnic r USING (rnic_id) WHERE r.host = %s ORDER BY 1", [host]).fetchall()
    assert [row[0] for row in kept] == [times[0], times[2]]


def test_a_history_for_training_is_read_from_the_store_by_one_machine_and_by_workers_alike(
    connection: psycopg.Connection[Any], database: str, rnic: int, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connection.transaction():
        histories = from_store.read_histories(connection, MINUTE - 59, MINUTE + 1)
    history = next(h for h in histories if (host, PCI) in h.names)
    place = list(history.names).index((host, PCI))
    assert history.values[place, -1, 1] == 35
    assert history.values[place, 0, 1] == 35 - 59 // 2
    assert history.models[place] == "CX-6"
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", database)
    by_workers = dask.compute(
        *distributed.of_the_store(from_store.parts_of_fleet(connection), MINUTE - 59, MINUTE + 1), scheduler="synchronous"
    )
    assert [one.names for one in by_workers] == [one.names for one in histories]
    np.testing.assert_array_equal(by_workers[0].values, histories[0].values)


@pytest.fixture
def peer(connection: psycopg.Connection[Any], host: str, rnic: int) -> str:
    """An RNIC on another host that gets all packets of the first one, and has them through its deep masks."""
    far = f"{host}-far"
    (far_id,) = connection.execute(
        "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6') RETURNING rnic_id", [far, PCI]
    ).fetchone() or (0,)
    sent = {"peers": f"{host}-b=100", "peers_other_packets_per_s": 0, "tunnel_addresses": f"{host}-a"}
    received = {"tunnel_addresses": f"{host}-b", "tunnel_sources": f"{host}-a=20/3"}
    for rnic_id, q_ingress, other in ((rnic, None, sent), (far_id, 12.0, received)):
        for ago in (0, 70):
            connection.execute(
                "INSERT INTO offload_sample (time, rnic_id, q_ingress, other) VALUES (%s, %s, %s, %s)",
                [END - timedelta(minutes=ago, seconds=10), rnic_id, q_ingress, json.dumps(other)],
            )
    aggregates = next(r for r in ROLLUPS if r.view == "offload_1m")
    connection.execute(refresh_statement(aggregates).encode(), {"start": END - timedelta(hours=2), "end": END + timedelta(minutes=1)})
    return far


def test_what_packets_meet_at_their_receiver_is_known_to_the_job_and_to_training(
    connection: psycopg.Connection[Any], rnic: int, peer: str, host: str
) -> None:
    fleet = Fleet()
    fleet.refresh_rnics(connection)
    fleet.fill(connection, MINUTE)
    window = fleet.rings.window(MINUTE, fleet.models, fleet.hosts)
    place = next(i for i, known in enumerate(fleet.known) if known.host == host)
    assert window.values[place, -1, column("q_r")] == 20
    assert window.spread[place].tolist() == [8, 3]
    assert window.of_peers[place]
    history = next(h for h in from_store.read_histories(connection, MINUTE - 70, MINUTE + 1) if (host, PCI) in h.names)
    assert history.values[list(history.names).index((host, PCI)), -1, column("q_r")] == 20


def test_the_job_learns_from_counters_what_a_port_sent_and_which_are_congested(
    connection: psycopg.Connection[Any], rnic: int, peer: str
) -> None:
    (far,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [peer]).fetchone() or (0,)
    for second in (10, 40):
        at, sent = END - timedelta(seconds=60 - second), 3e6 * second
        connection.execute(
            "INSERT INTO rnic_sample (time, rnic_id, tx_gbps, port_xmit_packets, port_xmit_wait, np_ecn_marked_roce_packets) "
            "VALUES (%s, %s, 100, %s, %s, 7)",
            [at, rnic, sent, 5000 * second],
        )
        other = json.dumps({"cnpHandled": 0, "RxECNMrkd": 30 * second})
        connection.execute("INSERT INTO rnic_sample (time, rnic_id, other) VALUES (%s, %s, %s)", [at, far, other])
    port_rows = {row[0]: row[1:] for row in store_queries.ports(connection, MINUTE)}
    assert port_rows[rnic] == pytest.approx((100, 3e6, 5000, None, 0))
    assert port_rows[far] == pytest.approx((None, None, None, 0, 30))
    fleet = Fleet()
    fleet.refresh_rnics(connection)
    fleet.fill(connection, MINUTE)
    window = fleet.rings.window(MINUTE, fleet.models, fleet.hosts)
    assert window.sent_gbps is not None
    place = [known.host for known in fleet.known].index(peer.removesuffix("-far"))
    assert window.sent_gbps[place] == pytest.approx(98.8)


def test_late_minutes_of_a_disconnected_host_are_read_when_it_reports_again(connection: psycopg.Connection[Any], host: str) -> None:
    (rnic_id,) = connection.execute(
        "INSERT INTO rnic (host, pci, model) VALUES (%s, %s, 'CX-6') RETURNING rnic_id", [host, PCI]
    ).fetchone() or (0,)

    def sample(*ago: int) -> None:
        for each in ago:
            row = [END - timedelta(minutes=each, seconds=30), rnic_id, 10 + each]
            connection.execute("INSERT INTO offload_sample (time, rnic_id, masks_egress) VALUES (%s, %s, %s)", row)
        aggregates = next(r for r in ROLLUPS if r.view == "offload_1m")
        connection.execute(refresh_statement(aggregates).encode(), {"start": END - timedelta(hours=2), "end": END + timedelta(minutes=1)})

    sample(10)
    fleet = Fleet()
    fleet.refresh_rnics(connection)
    place = next(i for i, known in enumerate(fleet.known) if known.host == host)
    masks = column("egress_masks")
    fleet.fill(connection, MINUTE - 1)
    assert np.isnan(fleet.rings.now.last(MINUTE - 1)[place, -9:, masks]).all()
    sample(*range(10))
    fleet.fill(connection, MINUTE)
    assert fleet.rings.now.last(MINUTE)[place, -11:, masks].tolist() == [float(10 + ago) for ago in range(10, -1, -1)]
