"""1,000 agents on loopback: from an order to the acknowledgement of its result, also when the backend is killed meanwhile.

The agents are lightweight but speak the real protocol with the real backend: each has its own WebSocket and OpAMP, checks signatures, sends
a result per command, and runs nothing twice. WALLWATCH_BENCH_AGENTS is their number (1,000), WALLWATCH_BENCH_ORDERS_S the orders per
second in the paced part (25), WALLWATCH_BENCH_CLIENTS the maximum number of concurrent requests (50). Orders are dry runs, which no limit
delays; real orders take the same path. Each step of an order is timed separately: accepted (the answer to the request), delivered to the
agent, acknowledged (the agent knows that its result is stored).
"""

import asyncio
import contextlib
import json
import os
import resource
import secrets
import signal
import sys
import tempfile
import time
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from opentelemetry._opamp.messages import build_agent_description
from opentelemetry._opamp.proto import opamp_pb2
from tests.bench.api_token import token
from tests.bench.processes import usage
from tests.bench.report import percentile, report
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.kit.hashing import digest
from wallwatch_local import ports
from wallwatch_local.processes import die_with_parent, running
from wallwatch_testing import telemetry_path
from wallwatch_testing.telemetry_path import TelemetryPath

AGENTS = int(os.environ.get("WALLWATCH_BENCH_AGENTS", "1000"))
ORDERS_PER_S = float(os.environ.get("WALLWATCH_BENCH_ORDERS_S", "25"))
CLIENTS = int(os.environ.get("WALLWATCH_BENCH_CLIENTS", "50"))
HEARTBEAT_S = 15.0
CAPABILITY = "com.wallwatch.remedy.v1"


class Agent:
    """One host's agent."""

    def __init__(self, number: int) -> None:
        self.host, self.id, self.secret, self.uid = f"bench{number:05}", uuid4(), secrets.token_urlsafe(32), uuid4()
        self.ran: dict[str, bytes] = {}  # the journal: result by command id
        self.repeated = self.connections = 0
        self.received: dict[str, float] = {}  # when first, by remedy id
        self.acknowledged: dict[str, float] = {}  # when, by remedy id
        self.connected, self.message_arrived = asyncio.Event(), asyncio.Event()
        self._sequence = 0

    async def live(self, url: str, key: Ed25519PublicKey) -> None:
        """Connect, answer, and reconnect when the connection breaks."""
        headers = {"Authorization": f"Bearer {self.id}.{self.secret}"}
        while True:
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                async with connect(url, additional_headers=headers, open_timeout=60, ping_interval=None) as socket:
                    self._sequence, self.connections = 0, self.connections + 1
                    await self._send(socket, self._hello())
                    for result in self.unacknowledged():
                        await self._send(socket, self._result(result))
                    while True:
                        await self._next(socket, key)
            self.connected.clear()
            await asyncio.sleep(0.2 + secrets.randbelow(1000) / 1000)

    def unacknowledged(self) -> list[bytes]:
        """Results that are sent again on a new connection."""
        return [result for result in self.ran.values() if json.loads(result)["remedy_id"] not in self.acknowledged]

    async def _next(self, socket: Any, key: Ed25519PublicKey) -> None:
        """Receive one message, or send a heartbeat."""
        try:
            async with asyncio.timeout(HEARTBEAT_S):  # wait_for of Python 3.11 may swallow the end of the task
                frame = await socket.recv()
        except TimeoutError:
            await self._send(socket, opamp_pb2.AgentToServer())
        else:
            await self._take(socket, key, frame)

    def _hello(self) -> opamp_pb2.AgentToServer:
        message = opamp_pb2.AgentToServer(capabilities=1)
        identity = {"service.name": "wallwatch-agent", "service.version": "bench", "service.instance.id": str(self.uid)}
        message.agent_description.CopyFrom(build_agent_description(identity, {"host.name": self.host}))
        message.custom_capabilities.capabilities.append(CAPABILITY)
        return message

    async def _send(self, socket: Any, message: opamp_pb2.AgentToServer) -> None:
        message.instance_uid, message.sequence_num = self.uid.bytes, self._sequence
        self._sequence += 1
        await socket.send(b"\x00" + message.SerializeToString())

    async def _take(self, socket: Any, key: Ed25519PublicKey, frame: bytes) -> None:
        message = opamp_pb2.ServerToAgent.FromString(frame[1:])
        self.connected.set()
        if message.custom_message.type == "command":
            await self._send(socket, self._result(self._run(key, message.custom_message.data)))
        elif message.custom_message.type == "ack":
            command_id = json.loads(message.custom_message.data)["command_id"]
            self.acknowledged.setdefault(json.loads(self.ran[command_id])["remedy_id"], time.perf_counter())
            self.message_arrived.set()

    def _run(self, key: Ed25519PublicKey, jws: bytes) -> bytes:
        signed, _, signature = jws.rpartition(b".")
        key.verify(_decoded(signature), signed)
        command = json.loads(_decoded(signed.partition(b".")[2]))
        assert command["host"] == self.host
        if command["command_id"] in self.ran:
            self.repeated += 1
        else:
            result = {"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []}
            self.ran[command["command_id"]] = json.dumps(result).encode()
            self.received[command["remedy_id"]] = time.perf_counter()
        return self.ran[command["command_id"]]

    def _result(self, data: bytes) -> opamp_pb2.AgentToServer:
        message = opamp_pb2.AgentToServer()
        message.custom_message.capability, message.custom_message.type, message.custom_message.data = CAPABILITY, "result", data
        return message


def _decoded(part: bytes) -> bytes:
    return urlsafe_b64decode(part + b"=" * (-len(part) % 4))


@contextmanager
def backend(path: TelemetryPath, folder: Path, port: int) -> Iterator[int]:
    """The real backend; its process id."""
    environment = path.environment | {"WALLWATCH_SECRETS_DIR": str(folder / "secrets"), "WALLWATCH_COMMAND_TTL_S": "600"}
    server = [sys.executable, "-m", "wallwatch_backend.cli.serve"]
    command = ["env", *[f"{name}={value}" for name, value in environment.items()], *server, "--port", str(port)]

    def ready() -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{port}/-/ready", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    with running(
        "backend", die_with_parent(command, signal.SIGTERM), folder / "backend.log", ready, signal.SIGTERM, timeout_s=180
    ) as process:
        yield process.pid


class Order(NamedTuple):
    """The remedy's id, the time of the first order, and the time when the backend accepted it."""

    remedy_id: str
    begin: float
    taken: float


async def until_accepted(client: httpx.AsyncClient, agent: Agent) -> Order:
    """Send an order; retry with the same key while there is no answer or the backend asks for a retry."""
    body = {"action": "tune-revalidator", "host": agent.host, "params": {"max_idle_ms": 60000}, "mode": "dry_run"}
    begin, headers = time.perf_counter(), {"Idempotency-Key": str(uuid4())}
    while True:
        try:
            answer = await client.post("/remedies", json=body, headers=headers)
        except httpx.HTTPError:
            await asyncio.sleep(0.2)
            continue
        if answer.status_code == 503:
            await asyncio.sleep(0.2)
            continue
        return Order(str(answer.raise_for_status().json()["id"]), begin, time.perf_counter())


async def all_acknowledged(agents: list[Agent], orders: dict[UUID, Order], timeout_s: float) -> list[float]:
    """Seconds from each order to the acknowledgement of its result."""
    async with asyncio.timeout(timeout_s):
        for agent in agents:
            while orders[agent.id].remedy_id not in agent.acknowledged:
                agent.message_arrived.clear()
                await agent.message_arrived.wait()
    return [agent.acknowledged[orders[agent.id].remedy_id] - orders[agent.id].begin for agent in agents]


def steps(name: str, agents: list[Agent], orders: dict[UUID, Order]) -> dict[str, float]:
    """Seconds from each order to the end of each step: median and 99th percentile."""
    given = [(agent, orders[agent.id]) for agent in agents]
    ends = {
        "taken": [order.taken - order.begin for _, order in given],
        "with_agent": [agent.received[order.remedy_id] - order.begin for agent, order in given],
        "acknowledged": [agent.acknowledged[order.remedy_id] - order.begin for agent, order in given],
    }
    return {f"{name}_{step}_p{share}_s": percentile(times, share / 100) for step, times in ends.items() for share in (50, 99)}


async def counted(client: httpx.AsyncClient) -> dict[str, float]:
    """Statements and commits of the backend so far, by its own metrics."""
    text = (await client.get(f"{str(client.base_url).removesuffix('/api/v1/')}/metrics")).text
    lines = (
        line.split()
        for line in text.splitlines()
        if line.startswith(("wallwatch_database_statements_total", "wallwatch_database_commits_total"))
    )
    found: dict[str, float] = {"statements": 0, "commits": 0}
    for name, value in lines:
        found["commits" if "commits" in name else "statements"] += float(value)
    return found


async def give(client: httpx.AsyncClient, agents: list[Agent], pause_s: float) -> dict[UUID, Order]:
    """Send one order to each agent's host at a fixed rate, regardless of earlier orders."""
    tasks = []
    for agent in agents:
        tasks.append(asyncio.create_task(until_accepted(client, agent)))
        await asyncio.sleep(pause_s)
    return dict(zip((agent.id for agent in agents), await asyncio.gather(*tasks), strict=True))


@asynccontextmanager
async def connected(agents: list[Agent], url: str, key: Ed25519PublicKey) -> AsyncIterator[float]:
    """All agents, connected, and the seconds that connecting took."""
    begin = time.perf_counter()
    tasks = [asyncio.create_task(agent.live(url, key)) for agent in agents]
    async with asyncio.timeout(300):
        await asyncio.gather(*(agent.connected.wait() for agent in agents))
    try:
        yield time.perf_counter() - begin
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def measure(path: TelemetryPath, folder: Path, token: str, port: int) -> dict[str, Any]:
    """In sequence: paced orders, all orders simultaneously, and orders while the backend is killed."""
    agents = [Agent(number) for number in range(AGENTS)]
    with path.database() as connection, connection.cursor() as cursor:
        row = "INSERT INTO agent (id, host, secret_hash, instance_uid) VALUES (%s, %s, %s, %s)"
        cursor.executemany(row, [(agent.id, agent.host, digest(agent.secret), str(agent.uid)) for agent in agents])
    opamp, figures = f"ws://127.0.0.1:{port}/v1/opamp", dict[str, Any](orders_per_s=ORDERS_PER_S)
    options: dict[str, Any] = {
        "base_url": f"http://127.0.0.1:{port}/api/v1",
        "headers": {"Authorization": f"Bearer {token}"},
        "timeout": 60,
    }
    limits = httpx.Limits(max_connections=CLIENTS)
    with contextlib.ExitStack() as process:
        pid = process.enter_context(backend(path, folder, port))
        key = _public_key(folder)
        async with httpx.AsyncClient(limits=limits, **options) as client, connected(agents, opamp, key) as took:
            figures["all_connected_s"] = took
            for name, pause_s in (("paced", 1 / ORDERS_PER_S), ("burst", 0.0)):
                begin, before, sent = time.perf_counter(), usage(pid).cpu_s, await counted(client)
                orders = await give(client, agents, pause_s)
                await all_acknowledged(agents, orders, 300)
                figures |= {f"{name}_all_s": time.perf_counter() - begin, **steps(name, agents, orders)}
                figures[f"{name}_backend_cpu_ms_per_order"] = (usage(pid).cpu_s - before) / len(agents) * 1000
                now = await counted(client)
                figures |= {f"{name}_{what}_per_order": (now[what] - sent[what]) / len(agents) for what in sent}

            giving = asyncio.create_task(give(client, agents, 0.5 / ORDERS_PER_S))
            await asyncio.sleep(AGENTS / ORDERS_PER_S / 4)
            os.kill(pid, signal.SIGKILL)
            await asyncio.to_thread(process.pop_all().close)
            again = await asyncio.to_thread(process.enter_context, backend(path, folder, port))
            orders = await giving
            late = await all_acknowledged(agents, orders, 300)
            figures |= {"restarted_p50_s": percentile(late, 0.5), "restarted_longest_s": max(late), "backend_rss_mb": usage(again).rss_mb}
    with path.database() as connection:
        [(orders_known, not_done)] = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE state <> 'planned') FROM remedy"
        ).fetchall()
    return figures | {
        "orders": orders_known,
        "lost": 3 * AGENTS - orders_known + not_done,
        "run_twice": sum(len(agent.ran) for agent in agents) - 3 * AGENTS,
        "sent_again_answered_from_the_journal": sum(agent.repeated for agent in agents),
        "reconnections": sum(agent.connections - 1 for agent in agents),
    }


def _public_key(folder: Path) -> Ed25519PublicKey:
    """The key that agents pin."""
    return Ed25519PublicKey.from_public_bytes(_decoded(CommandSigner.load(folder / "secrets").public_key.encode()))


def main() -> None:
    """Measure and report."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 16384), hard), hard))
    with tempfile.TemporaryDirectory(prefix="ww-bench-") as folder, telemetry_path.start(Path(folder), partitions=1) as path:
        secret = token(os.environ | path.environment, "operator")
        [port] = ports.free_ports(1)
        figures = asyncio.run(measure(path, Path(folder), secret, port))
    report("agents", agents=AGENTS, **figures)


if __name__ == "__main__":
    main()
