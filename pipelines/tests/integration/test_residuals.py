"""A persistent residual on a real store: the job `forecast` joins Q_r over the peers, and its finding comes back through ingest."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from wallwatch.jobs.forecast import ForecastJob
from wallwatch.jobs.ingest import Ingest
from wallwatch.settings import Settings

from .conftest import until

PCI = "0000:3b:00.0"
MINUTES = 6
FIRST = int(datetime.now(UTC).timestamp() // 60) - 1 - MINUTES


def card(connection: psycopg.Connection[Any], host: str, address: str, peer: str, q: tuple[float, float], gbps: float, waits: int) -> int:
    """An RNIC of minutes that are all alike: two samples in each."""
    found = connection.execute(
        "INSERT INTO rnic (host, pci, rack, model, driver, fw_ver) "
        "VALUES (%s, %s, 'r1', 'CX-6', 'mlx5_core', '20.35.1012') RETURNING rnic_id",
        [host, PCI],
    ).fetchone() or (0,)
    talks = json.dumps({"peers": f"{peer}=1000", "tunnel_addresses": address})
    for half in range(2 * MINUTES):
        at = datetime.fromtimestamp(FIRST * 60 + 10 + half * 30, UTC)
        connection.execute(
            "INSERT INTO offload_sample (time, rnic_id, flows_offloaded, masks_egress, q_egress, q_ingress, other) "
            "VALUES (%s, %s, 90, 9, %s, %s, %s)",
            [at, found[0], *q, talks],
        )
        connection.execute(
            "INSERT INTO rnic_sample (time, rnic_id, tx_gbps, rate_gbps, port_xmit_wait, rp_cnp_handled) VALUES (%s, %s, %s, 200, %s, 5)",
            [at, found[0], gbps, 10_000 + half * waits],
        )
    return int(found[0])


def test_a_port_that_sends_less_than_its_and_its_peers_lookups_allow_is_unexplained_and_its_peer_is_not(
    job_settings: Settings,
    connection: psycopg.Connection[Any],
    ingest: Callable[[], AbstractContextManager[Ingest]],
    host: str,
    tmp_path: Any,
) -> None:
    """Data waits at both. The first's peer has a short chain, so 121 Gbit/s are expected; the second's has a long one, and 45 are all."""
    slow = card(connection, host, "192.0.2.1", "192.0.2.2", (10.0, 45.0), 60.0, 3_000_000)
    card(connection, f"{host}-peer", "192.0.2.2", "192.0.2.1", (5.0, 5.0), 45.0, 3_000_000)
    chosen = job_settings.model_copy(update={"forecast_models": tmp_path / "models"})
    job = ForecastJob(chosen)
    with ingest():
        for minute in range(FIRST, FIRST + MINUTES - 1):
            job.forecast(minute)
        until(lambda: _findings(connection))
        ForecastJob(chosen).forecast(FIRST + MINUTES - 1)  # a process that starts again goes on with the finding
        rows = until(lambda: found if len(found := _findings(connection)) >= 2 else None)
    assert {(rnic_id, symptom, state, rule) for rnic_id, symptom, state, rule, *_ in rows} == {(slow, "unexplained", "active", "U/2")}
    assert len({finding_id for *_, finding_id, _, _ in rows}) == 1
    at, evidence = rows[0][-2:]
    assert at == datetime.fromtimestamp(FIRST * 60, UTC)
    values = {one["signal"]: one["value"] for one in evidence}
    assert values["tx_gbps"] == 60.0
    assert values["q_ingress"] == 5.0
    assert values["port_xmit_wait"] == pytest.approx(100_000)


def _findings(connection: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT rnic_id, symptom, state, rule, finding_id, started_at, evidence FROM finding"
        " WHERE rule = 'U/2' AND time <= %s ORDER BY time",
        [datetime.now(UTC) + timedelta(minutes=5)],
    ).fetchall()
