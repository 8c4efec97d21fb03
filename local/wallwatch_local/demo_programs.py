"""The processes of the demo and of `make dev`, in start order: each group depends on those before it."""

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from wallwatch_local.hosts import Host
from wallwatch_local.paths import REPOSITORY, binary
from wallwatch_local.programs import Program

FRONTEND = REPOSITORY / "frontend"
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

    @property
    def hosts(self) -> Path:
        return self.folder / "hosts"

    @property
    def secrets(self) -> Path:
        return self.folder / "secrets"

    @property
    def telemetry_secret(self) -> Path:
        """File from which the telemetry keys of all hosts come."""
        return self.secrets / "telemetry.secret"

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

    def environment(self, database_url: str) -> dict[str, str]:
        """Settings of the server's processes."""
        built_pages = {"WALLWATCH_UI_DIR": str(REPOSITORY / "frontend" / "dist")} if self.ui_port is None else {}
        return {
            **built_pages,
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
            "WALLWATCH_TELEMETRY_SECRET_FILE": str(self.telemetry_secret),
            "WALLWATCH_STATE_DIR": str(self.folder / "state"),
            "WALLWATCH_LAB_DEVICES": json.dumps(lab_devices()),
            "PYTHONUNBUFFERED": "1",
        }


def lab_devices() -> dict[str, dict[str, str]]:
    """Devices of the lab: a simulated RNIC that belongs to no host of the fleet, so nothing has to be cordoned."""
    return {"Simulated CX-6": {"command": f"{binary('fleetsim')} dut --model CX-6", "model": "CX-6"}}


def _venv(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def stores(layout: Layout) -> list[Program]:
    """PostgreSQL and Kafka."""
    module = (sys.executable, "-m", "wallwatch_local")
    postgres = (*module, "postgres", "--data-dir", str(layout.folder / "postgres"), "--port", str(layout.postgres_port))
    kafka = (*module, "kafka", "--data-dir", str(layout.folder / "kafka"), "--port", str(layout.kafka_port))
    return [
        Program("postgres", "stores", postgres, layout.folder, stop_signal="INT", stop_wait_s=20),
        Program("kafka", "stores", kafka, layout.folder, stop_wait_s=20),
    ]


def server(layout: Layout, database_url: str) -> list[Program]:
    """The stream jobs and the backend; with a `ui_port`, backend and UI run from their sources and reload on change."""
    environment = layout.environment(database_url)
    names = ("ingest", "classify", "isolation", "validate", "forecast", "lab")
    jobs = [Program(name, "jobs", (_venv("wallwatch"), "job", name), REPOSITORY, environment) for name in names]
    api = ("--factory", "wallwatch_backend.app:create_app", "--host", "127.0.0.1", "--port", str(layout.http_port))
    # Open event streams would keep uvicorn alive: this limits how long it waits for them.
    uvicorn = (_venv("uvicorn"), *api, "--no-access-log", "--timeout-graceful-shutdown")
    if layout.ui_port is None:
        return [*jobs, Program("backend", "backend", (*uvicorn, "3"), REPOSITORY, environment)]
    watched = [argument for folder in SOURCES for argument in ("--reload-dir", str(REPOSITORY / folder))]
    reloading = (*uvicorn, "1", "--reload", "--reload-include", "*.yaml", *watched)
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
