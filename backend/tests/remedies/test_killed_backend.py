"""The backend is killed, or loses its database, in the middle of remedies: each runs once on its host, and its state ends right."""

import asyncio
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from wallwatch_local.ports import free_ports
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import mask_plan_host

pytestmark = pytest.mark.long

PCI = "0000:3b:00.0"
REPOSITORY = Path(__file__).resolve().parents[3]


def _conftest() -> Any:
    """The fixtures' module; loaded by path because test folders are no packages."""
    spec = importlib.util.spec_from_file_location("wallwatch_backend_conftest", Path(__file__).parents[1] / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for their module
    spec.loader.exec_module(module)
    return module


@dataclass
class Killable:
    """A backend in a process of its own, always under the same address."""

    url: str
    dsn: str
    folder: Path
    environment: dict[str, str]
    running: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        port = self.url.rsplit(":", 1)[1]
        server = [sys.executable, "-m", "wallwatch_backend.cli.serve", "--port", port]

        def ready() -> bool:
            try:
                return httpx.get(f"{self.url}/-/healthy", timeout=5).status_code == 200
            except httpx.HTTPError:
                return False

        command = die_with_parent(["env", *(f"{name}={value}" for name, value in self.environment.items()), *server], SIGTERM)
        self.process = self.running.enter_context(running("backend", command, self.folder / "backend.log", ready, SIGTERM))

    def kill(self) -> None:
        self.process.send_signal(SIGKILL)
        self.process.wait()
        self.running.close()

    def restart(self) -> None:
        self.kill()
        self.start()

    def lose_database(self) -> None:
        """What a restart of PostgreSQL does to those who are connected."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="module")
def killable(migrated_url: str, backend_url: str, kafka_bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killable]:
    asyncio.run(_conftest().add_accounts(migrated_url))
    folder = tmp_path_factory.mktemp("killable")
    environment = {
        "WALLWATCH_DATABASE_URL": backend_url,
        "WALLWATCH_KAFKA_BOOTSTRAP": kafka_bootstrap,
        "WALLWATCH_KAFKA_GROUP": f"killable-{time.monotonic_ns()}",
        "WALLWATCH_SECRETS_DIR": str(folder / "secrets"),
        "WALLWATCH_REMEDY_WATCH_S": "0.2",
        "WALLWATCH_REMEDY_MAX_FLEET_PERCENT": "100",
        "WALLWATCH_PLAN_READ_S": "0",
        "WALLWATCH_LOG_LEVEL": "WARNING",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    one = Killable(f"http://127.0.0.1:{free_ports(1)[0]}", migrated_url.replace("+psycopg", ""), folder, environment)
    one.start()
    try:
        yield one
    finally:
        one.running.close()


def _signed_in(killable: Killable, role: str) -> httpx.Client:
    client = httpx.Client(base_url=killable.url, timeout=60)
    answer = client.post("/api/v1/session", json={"username": role, "password": _conftest().PASSWORD})
    assert answer.status_code == 201, answer.text
    client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
    return client


@pytest.fixture(scope="module")
def at_desk(killable: Killable) -> Iterator[httpx.Client]:
    """An administrator who stays signed in through it all."""
    with closing(_signed_in(killable, "admin")) as client:
        yield client


@dataclass
class Host:
    """An agent with a journal: it carries out each command once, and connects again."""

    make: Callable[..., Any]
    credentials: dict[str, Any]
    name: str
    silent: bool = False
    ran: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    agent: Any = None
    connection: ExitStack = field(default_factory=ExitStack)

    def answer(self, command: dict[str, Any]) -> dict[str, Any] | None:
        self.asked.append(command["command_id"])
        return None if self.silent else self.run(command)

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        known = self.ran.get(command["command_id"])
        if known is not None:
            return known | {"repeated": True}
        result = {"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []}
        self.ran[command["command_id"]] = result
        return result

    def connect(self) -> None:
        self.connection.close()
        self.agent = self.make(self.credentials, self.name, self.answer)
        for _ in range(100):
            try:
                self.connection.enter_context(self.agent)
                return
            except (OSError, InvalidStatus, ConnectionClosed):
                time.sleep(0.1)
        raise AssertionError("the agent cannot connect")


@pytest.fixture
def hosts(killable: Killable, at_desk: httpx.Client, fake_agents: Any) -> Iterator[Callable[..., Host]]:
    """A function that creates a host with an enrolled, connected agent."""
    with ExitStack() as stack:

        def new(kind: type[Host] = Host) -> Host:
            name = f"host-{uuid4().hex[:8]}"
            with httpx.Client(base_url=killable.url, timeout=60) as anonymous:
                enrolled = fake_agents.enrol(at_desk, anonymous, name)
            host = kind(fake_agents, enrolled.credentials, name)
            host.connect()
            stack.callback(host.connection.close)
            return host

        yield new


def test_an_order_outlives_kills_before_its_result_and_before_its_verification_and_a_lost_database(
    killable: Killable, at_desk: httpx.Client, hosts: Callable[[], Host], eventually: Any
) -> None:
    host = hosts()
    host.silent = True
    order = {"action": "tune-revalidator", "host": host.name, "pci": PCI, "params": {"max_idle_ms": 60000}, "mode": "apply"}
    created = at_desk.post("/api/v1/remedies", json=order)
    assert created.status_code == 201, created.text
    path = f"/api/v1/remedies/{created.json()['id']}"
    eventually(lambda: host.asked)
    killable.restart()
    assert at_desk.get(path).json()["state"] in ("approved", "running")  # killed before it noted that it had sent it, or after
    # The host has applied it while no backend was there to receive the result.
    host.silent = False
    host.run(host.agent.commands[0])
    killable.lose_database()
    host.connect()
    applied = eventually(lambda: (r := at_desk.get(path)).status_code == 200 and r.json()["state"] == "verifying" and r.json())
    assert (set(host.asked), len(host.asked), len(host.ran)) == ({applied["commands"][0]["command_id"]}, 2, 1)
    killable.restart()
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    with psycopg.connect(killable.dsn) as connection:
        (rnic_id,) = connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id", [host.name, PCI]).fetchone()  # type: ignore[misc]  # RETURNING of one row gives one
        for seconds in (5, 15, 25, 35):
            row = [at + timedelta(seconds=seconds), rnic_id, 0.01]
            connection.execute("INSERT INTO offload_sample (time, rnic_id, reoffload_ratio) VALUES (%s, %s, %s)", row)
    eventually(lambda: at_desk.get(path).json()["state"] == "confirmed")
    results = at_desk.get("/api/v1/audit", params={"action": "remedy.apply.result", "actor": f"agent:{host.name}"}).json()["items"]
    assert len(results) == 1
    host.connect()
    assert at_desk.post(f"{path}/undo").status_code == 202
    eventually(lambda: at_desk.get(path).json()["state"] == "undone")
    assert len(host.ran) == 2


def test_a_rollout_goes_on_where_it_was_and_orders_nothing_twice(
    killable: Killable, at_desk: httpx.Client, hosts: Callable[[], Host], eventually: Any
) -> None:
    fleet = [hosts() for _ in range(3)]
    for host in fleet:
        host.silent = True
    targets = [{"host": host.name, "pci": PCI} for host in fleet]
    body = {"action": "pace-vf-unbinding", "params": {"interval_ms": 500}, "targets": targets, "canary": 1, "growth": 2, "reason": "x"}
    made = at_desk.post("/api/v1/rollouts", json=body)
    assert made.status_code == 201, made.text
    path = f"/api/v1/rollouts/{made.json()['id']}"
    eventually(lambda: any(host.asked for host in fleet))
    killable.restart()  # in the middle of the first wave
    canary = next(host for host in fleet if host.asked)
    canary.silent = False
    for host in fleet:
        host.connect()
    eventually(lambda: all(host.asked for host in fleet))
    killable.restart()  # in the middle of the second
    for host in fleet:
        host.silent = False
        host.connect()
    eventually(lambda: at_desk.get(path).json()["state"] == "confirmed", 60)
    assert [len(host.ran) for host in fleet] == [1, 1, 1]


@dataclass
class Planned(Host):
    """A host that is worth a mask plan. It leaves unanswered what is held, by action and operation."""

    flows: mask_plan_host.Host = field(default_factory=lambda: mask_plan_host.Host(mask_plan_host.LONG_CHAIN))
    held: set[str] = field(default_factory=set)
    received: list[str] = field(default_factory=list)

    def answer(self, command: dict[str, Any]) -> dict[str, Any] | None:
        self.received.append(name := f"{command['action']} {command['operation']}")
        self.flows.agent = self.agent
        return None if name in self.held else self.run(command)

    def run(self, command: dict[str, Any]) -> dict[str, Any]:
        known = self.ran.get(command["command_id"])
        result = self.flows.answer(command)  # with the flows, which an agent keeps for as long as the result
        assert result is not None
        self.ran[command["command_id"]] = known or result
        return result | {"repeated": known is not None}


def test_an_automatic_run_goes_on_through_kills_at_each_of_its_steps_and_does_nothing_twice(
    killable: Killable, at_desk: httpx.Client, hosts: Callable[..., Host], eventually: Any
) -> None:
    host = hosts(Planned)
    assert isinstance(host, Planned)
    steps = ["read-flows dry_run", "apply-mask-plan dry_run", "apply-mask-plan apply"]
    host.held = set(steps)
    with psycopg.connect(killable.dsn) as connection:
        connection.execute("INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, 'r1', 'CX-6')", [host.name, PCI])
        mask_plan_host.predict_decline(connection, host.name)
    rule = {
        "name": "kills",
        "action": "apply-mask-plan",
        "trigger": "decline",
        "matchers": [{"name": "host", "op": "=", "value": host.name}],
    }
    path = f"/api/v1/automation-rules/{at_desk.post('/api/v1/automation-rules', json=rule).json()['id']}"
    assert at_desk.post(f"{path}/enable").status_code == 200
    for step in steps:
        eventually(lambda step=step: step in host.received)
        killable.kill()
        # What is applied is done on the host before anybody hears of it; what is read or tried is answered to the next backend.
        if step == steps[-1]:
            command = host.agent.commands[-1]
            host.ran[command["command_id"]] = {
                "command_id": command["command_id"],
                "remedy_id": command["remedy_id"],
                "state": "done",
                "operations": [],
            }
        host.held.discard(step)
        killable.start()
        host.connect()

    def run() -> dict[str, Any]:
        (one,) = at_desk.get(f"{path}/runs").json()["items"]
        return dict(one)

    remedy = eventually(
        lambda: run()["remedy_id"] and (r := at_desk.get(f"/api/v1/remedies/{run()['remedy_id']}").json())["state"] == "verifying" and r
    )
    at = datetime.fromisoformat(remedy["commands"][0]["finished_at"])
    with psycopg.connect(killable.dsn) as connection:
        mask_plan_host.insert_queries(
            connection, host.name, [(at - timedelta(seconds=30), 30.0), *((at + timedelta(seconds=10 * n), 0.1) for n in (1, 2, 3))]
        )
    eventually(lambda: run()["state"] == "confirmed")
    assert [step["state"] for step in run()["steps"]] == ["planning", "planning", "applying", "confirmed"]
    assert len(host.ran) == len(steps), "each command ran once"
    with psycopg.connect(killable.dsn) as connection:
        counts = "SELECT (SELECT count(*) FROM mask_plan WHERE host = %s), (SELECT count(*) FROM remedy WHERE host = %s)"
        assert connection.execute(counts, [host.name, host.name]).fetchone() == (1, 3), "one plan; its reading, its dry run, its apply"
