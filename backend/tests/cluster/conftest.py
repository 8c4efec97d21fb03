"""Fixtures of the tests about Kubernetes: an API server, and what Wallwatch knows of the test's host.

The API server is a stand-in that knows the chart's rights and the published schemas. `make kubernetes` runs the same tests against a real
one, but for those that need to count calls or to cut the server off.
"""

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from wallwatch_backend.cluster.worker import ClusterWorker
from wallwatch_backend.kit.database import Database
from wallwatch_backend.settings import Settings
from wallwatch_testing.kubernetes_cluster import StandInCluster
from wallwatch_testing.kubernetes_nodes import PCI, Cluster
from wallwatch_testing.real_cluster import PROGRAM, ApiServer, RealCluster, serving


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    """The tests run the worker step by step."""
    return {"background": False}


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer | None]:
    """A real API server, if one was built."""
    program = os.environ.get(PROGRAM)
    if program is None:
        yield None
        return
    with serving(Path(program), tmp_path_factory.mktemp("apiserver")) as server:
        yield server


@pytest.fixture
def cluster(api_server: ApiServer | None, tmp_path: Path) -> Iterator[Cluster]:
    used = ("nodes", "taint", "pods", "nvsentinel")
    cluster = StandInCluster(tmp_path, *used) if api_server is None else RealCluster(api_server, tmp_path, *used)
    yield cluster
    cluster.stop()


@pytest.fixture
def stand_in(cluster: Cluster) -> StandInCluster:
    """For tests that count calls, or cut the server off."""
    if not isinstance(cluster, StandInCluster):
        pytest.skip("a real API server counts no calls and does not fail on request")
    return cluster


@pytest.fixture
def settings(backend: Any, cluster: Cluster) -> Settings:
    used: dict[str, object] = {"kubernetes_nodes": True, "kubernetes_taint": "all", "kubernetes_pods": True}
    used["kubernetes_nvsentinel"] = True
    used["public_url"] = "https://wallwatch.example"
    files = {"kubernetes_api_url": cluster.url, "kubernetes_ca_file": cluster.authority, "kubernetes_token_file": cluster.token_file}
    return Settings.model_validate(backend.settings.model_dump() | used | files)


@pytest.fixture
def worker(database: Database, settings: Settings) -> ClusterWorker:
    return ClusterWorker(database, settings)


@pytest.fixture
def fleet(backend: Any, host: str) -> Iterator[Callable[..., None]]:
    """A function that gives the test's host, or another, RNICs with these symptoms: PCI address -> symptom -> severity."""
    written: set[str] = set()
    with backend.connect() as connection:

        def write(rnics: dict[str, dict[str, str]], seen_at: datetime | None = None, of: str = host) -> None:
            at = seen_at or datetime.now(UTC)
            written.add(of)
            for pci, symptoms in rnics.items():
                stored = {name: {"since": at.isoformat(), "severity": severity, "until": None} for name, severity in symptoms.items()}
                found = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s AND pci = %s", [of, pci]).fetchone()
                (rnic_id,) = (
                    found or connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id", [of, pci]).fetchone()
                )
                connection.execute(
                    """INSERT INTO rnic_state (rnic_id, host, pci, symptoms, seen_at, change_seq)
                       VALUES (%s, %s, %s, %s, %s, nextval('rnic_state_change_seq_values'))
                       ON CONFLICT (rnic_id) DO UPDATE SET symptoms = excluded.symptoms, seen_at = excluded.seen_at""",
                    [rnic_id, of, pci, json.dumps(stored), at],
                )

        yield write
        connection.execute("DELETE FROM rnic_state WHERE host = ANY(%s)", [list(written)])
        connection.execute("DELETE FROM rnic WHERE host = ANY(%s)", [list(written)])


@pytest.fixture
def cordon(backend: Any, host: str) -> Callable[[str, bool], None]:
    """A function that records what the agent reported of a cordon."""

    def record(pci: str, cordoned: bool) -> None:
        with backend.connect() as connection:
            connection.execute(
                """INSERT INTO rnic_cordon (host, pci, cordoned, changed_at) VALUES (%s, %s, %s, now())
                   ON CONFLICT (host, pci) DO UPDATE SET cordoned = excluded.cordoned""",
                [host, pci, cordoned],
            )

    return record


@pytest.fixture
def incident(backend: Any, host: str) -> Callable[..., str]:
    """A function that writes an incident of the test's host, and entries of its timeline: kind -> time."""

    def write(timeline: dict[str, datetime] | None = None, **more: Any) -> str:
        now = datetime.now(UTC)
        row = {
            "id": str(uuid4()),
            "host": host,
            "pci": PCI,
            "symptom": "S6",
            "state": "open",
            "severity": "warning",
            "blast_radius": "rnic",
            "title": "S6 on the RNIC",
            "summary": "s",
            "finding_id": str(uuid4()),
            "active": True,
            "opened_at": now,
            "updated_at": now,
            "hosts": [host],
            "symptoms": ["S6"],
            "scope": "rnic",
            "subject": host,
            "rnics": 1,
            "reopened": 0,
            "external_refs": "[]",
            "apart": False,
            "version": 1,
            **more,
        }
        with backend.connect() as connection:
            names, places = ", ".join(row), ", ".join(["%s"] * len(row))
            update = ", ".join(f"{name} = excluded.{name}" for name in row if name != "id")
            connection.execute(
                f"INSERT INTO incident ({names}) VALUES ({places}) ON CONFLICT (id) DO UPDATE SET {update}",
                list(row.values()),
            )
            for kind, at in (timeline or {}).items():
                connection.execute(
                    "INSERT INTO incident_timeline (incident_id, at, kind, actor, text, data) VALUES (%s, %s, %s, 'system', 't', '{}')",
                    [row["id"], at, kind],
                )
        return str(row["id"])

    return write
