"""The processes of the demo and of `make dev`, in start order: each group depends on those before it."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.store.roles import DatabaseRole
from wallwatch_local import postgres
from wallwatch_local.hosts import Host
from wallwatch_local.kafka_security import Security
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_local.programs import Program

FRONTEND = REPOSITORY / "frontend"
DatabaseUrl = Callable[[str], str]
"""From a role of the database to the address with which it signs in."""

SOURCES = ("backend/wallwatch_backend", "pipelines/wallwatch")


@dataclass(frozen=True)
class Layout:
    """Folders and ports of the demo."""

    folder: Path
    http_port: int
    kafka_port: int
    postgres_port: int
    agent_port: int
    ui_port: int | None = None
    """Port of the UI served from its sources; None: the backend serves the built pages."""
    kafka_secured: bool = True
    """Whether the broker is reached by TLS, and asks who somebody is."""

    @property
    def hosts(self) -> Path:
        return self.folder / "hosts"

    @property
    def secrets(self) -> Path:
        return self.folder / "secrets"

    @property
    def postgres(self) -> Path:
        return self.folder / "postgres"

    def database_url(self, role: str) -> str:
        """Where one of the database's roles signs in."""
        return postgres.role_url(self.postgres, self.postgres_port, role)

    @property
    def telemetry_secret(self) -> Path:
        """File from which the telemetry keys of all hosts come."""
        return self.secrets / "telemetry.secret"

    @property
    def kafka_security(self) -> Security | None:
        """Certificates and passwords of the broker."""
        return Security(self.folder / "kafka-security") if self.kafka_secured else None

    @property
    def kafka_bootstrap(self) -> str:
        return f"127.0.0.1:{self.kafka_port}"

    @property
    def api_url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return self.api_url if self.ui_port is None else f"http://127.0.0.1:{self.ui_port}"

    @property
    def agent_url(self) -> str:
        return f"https://127.0.0.1:{self.agent_port}"

    def environment(self, database_url: str, kafka_role: KafkaRole | None = None) -> dict[str, str]:
        """Settings of a process of the server; without a role at Kafka it has no credentials for it."""
        built_pages = {"WALLWATCH_UI_DIR": str(REPOSITORY / "frontend" / "dist")} if self.ui_port is None else {}
        security = self.kafka_security
        return {
            **built_pages,
            **(security.environment(kafka_role) if security is not None and kafka_role is not None else {}),
            "WALLWATCH_DATABASE_URL": database_url,
            "WALLWATCH_KAFKA_BOOTSTRAP": self.kafka_bootstrap,
            "WALLWATCH_API_URL": self.api_url,
            "WALLWATCH_HTTP_PORT": str(self.http_port),
            "WALLWATCH_AGENT_PORT": str(self.agent_port),
            "WALLWATCH_AGENT_URL": self.agent_url,
            "WALLWATCH_AGENT_SECRETS": "false",
            # Shorter than the default of a real installation, so that incidents resolve while someone watches the demo.
            "WALLWATCH_INCIDENT_HOLD_S": os.environ.get("WALLWATCH_INCIDENT_HOLD_S", "120"),
            "WALLWATCH_SECRETS_DIR": str(self.secrets),
            "WALLWATCH_CAPTURES_DIR": str(self.folder / "captures"),
            "WALLWATCH_TELEMETRY_SECRET_FILE": str(self.telemetry_secret),
            "WALLWATCH_STATE_DIR": str(self.folder / "state"),
            "WALLWATCH_LAB_DEVICES": json.dumps(lab_devices()),
            "PYTHONUNBUFFERED": "1",
        }


def role_of(job: str) -> DatabaseRole:
    """The role with which a job signs in to the database."""
    return DatabaseRole.ingest if job == "ingest" else DatabaseRole.jobs


def kafka_role_of(job: str) -> KafkaRole | None:
    """The role with which a job signs in to Kafka; the lab does not use it."""
    return KafkaRole(job) if job in list(KafkaRole) else None


def lab_devices() -> dict[str, dict[str, str]]:
    """Devices of the lab: a simulated RNIC that belongs to no host of the fleet, so nothing has to be cordoned."""
    return {"Simulated CX-6": {"command": f"{binary('fleetsim')} dut --model CX-6", "model": "CX-6"}}


def _venv(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def stores(layout: Layout) -> list[Program]:
    """PostgreSQL and Kafka."""
    module = (sys.executable, "-m", "wallwatch_local")
    postgres = (*module, "postgres", "--data-dir", str(layout.folder / "postgres"), "--port", str(layout.postgres_port))
    security = layout.kafka_security
    secured = ("--security", str(security.folder)) if security is not None else ()
    kafka = (*module, "kafka", "--data-dir", str(layout.folder / "kafka"), "--port", str(layout.kafka_port), *secured)
    return [
        Program("postgres", "stores", postgres, layout.folder, stop_signal="INT", stop_wait_s=20),
        Program("kafka", "stores", kafka, layout.folder, stop_wait_s=20),
    ]


def _job(layout: Layout, name: str, url: DatabaseUrl) -> Program:
    environment = layout.environment(url(role_of(name)), kafka_role_of(name))
    return Program(name, "jobs", (_venv("wallwatch"), "job", name), REPOSITORY, environment)


def server(layout: Layout, database_url: DatabaseUrl | None = None) -> list[Program]:
    """The stream jobs and the backend; with a `ui_port`, backend and UI run from their sources and reload on change."""
    url = database_url or layout.database_url
    environment = layout.environment(url(DatabaseRole.backend), KafkaRole.backend)
    names = ("ingest", "classify", "isolation", "validate", "forecast", "lab")
    jobs = [_job(layout, name, url) for name in names]
    serve = (sys.executable, "-m", "wallwatch_backend.cli.serve", "--port", str(layout.http_port))
    if layout.ui_port is None:
        return [*jobs, Program("backend", "backend", serve, REPOSITORY, environment)]
    reloading = (*serve, *(argument for folder in SOURCES for argument in ("--reload", str(REPOSITORY / folder))))
    vite = (str(FRONTEND / "node_modules" / ".bin" / "vite"), "--host", "127.0.0.1", "--port", str(layout.ui_port), "--strictPort")
    return [
        *jobs,
        Program("backend", "backend", reloading, REPOSITORY, environment),
        Program("ui", "ui", vite, FRONTEND, {"WALLWATCH_API_URL": layout.api_url}),
    ]


def fleet(layout: Layout, scenario: Path) -> list[Program]:
    """The simulator; a relative folder keeps its socket paths short. Containers start and stop through the real CNI plugin."""
    plugin = str(binary("wallwatch-cni"))
    command = (str(binary("fleetsim")), "run", "--scenario", str(scenario), "--hosts", layout.hosts.name, "--cni-bin", plugin)
    return [Program("fleetsim", "fleet", command, layout.folder)]


def on_hosts(layout: Layout, hosts: list[Host]) -> list[Program]:
    """Collector and agent of every host, each in its host's folder, as on a real host."""
    telegraf = (str(binary("wallwatch-telegraf")), "--config", "telegraf.conf")
    agent = (str(binary("wallwatch-agent")), "run", "--config", "agent.yaml")
    collectors = [Program(f"telegraf-{host.name}", "collectors", telegraf, layout.hosts / host.name) for host in hosts]
    return collectors + [Program(f"agent-{host.name}", "agents", agent, layout.hosts / host.name) for host in hosts]
