"""`python -m tests.faults_campaign`: runs the stack in a network namespace of its own, lets faults happen, and compares the ledgers."""

import base64
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
import typer
from tests.faults_campaign import kept, ledgers
from tests.faults_campaign.faults import Fault, World, choose, inflict
from tests.faults_campaign.ledgers import Balance
from tests.faults_campaign.orders import Orders, states_of
from tests.faults_campaign.page import write_page
from tests.faults_campaign.settling import follow, wait_until

from wallwatch.domain.telemetry.decode import Refused
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.settings import Settings
from wallwatch_local import hosts, kafka
from wallwatch_local.paths import REPOSITORY
from wallwatch_testing import stack as stacks
from wallwatch_testing.blocks import singles
from wallwatch_testing.kafka_lag import committed, ends, lag, read_all
from wallwatch_testing.stack import Stack
from wallwatch_testing.telemetry_path import TABLES, Key, keys
from wallwatch_testing.webhook_receiver import Receiver, receiving

app = typer.Typer(pretty_exceptions_enable=False)
INSIDE = "WALLWATCH_FAULTS_INSIDE"
DISKS_MB = {"kafka": 2048, "postgres": 4096, "state": 512}
BUFFER_MB = 64
STALLED_S = 300.0
"""Ledgers that stay uneven for so long with nothing under way will stay so; while something still moves, it is waited for."""
LONGEST_SETTLE_S = 3600.0
SETTINGS = {
    "WALLWATCH_REMEDY_MAX_FLEET_PERCENT": "100",
    "WALLWATCH_REMEDY_MAX_HOSTS": "100",
    "WALLWATCH_REMEDY_MAX_RACKS": "100",
    "WALLWATCH_REMEDY_BREAKER_FAILURES": "1000000",
    "WALLWATCH_COMMAND_TTL_S": "30",
    "WALLWATCH_WEBHOOK_RETRY_BASE_S": "1",
    "WALLWATCH_WEBHOOK_RETRY_MAX_S": "5",
    "WALLWATCH_WEBHOOK_MAX_ATTEMPTS": "50",
}


def clock_library() -> Path | None:
    """libfaketime, which steps the clocks of programs that ask libc for the time."""
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


@app.command()
def main(
    faults: int = typer.Option(200, min=1, help="number of faults"),
    seconds: float = typer.Option(3600, min=30, help="time in which they are spread"),
    seed: int = typer.Option(1, help="the same seed chooses the same faults"),
    scenario: str = typer.Option("demo", help="scenario of the simulated fleet"),
    out: Path | None = typer.Option(None, help="write the report as JSON here"),
    keep: Path | None = typer.Option(None, help="copy logs and ledgers here if the ledgers do not agree"),
    write: bool = typer.Option(False, "--write", help="write docs/fault-campaign.md and its figures"),
) -> None:
    """Let faults happen and say whether anything was lost or doubled; exit code 1 if so."""
    if os.environ.get(INSIDE) != "yes":
        # With a network of its own, where connections can be cut without harm to anybody else, and disks that nobody else sees.
        inside = ["unshare", "--net", "--mount", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        command = [*inside, sys.executable, "-m", "tests.faults_campaign", *sys.argv[1:]]
        raise typer.Exit(subprocess.run(command, env={**os.environ, INSIDE: "yes"}, check=False).returncode)
    report = campaign(faults, seconds, seed, scenario, keep)
    text = json.dumps(report, indent=1)
    if out is not None:
        out.write_text(text + "\n")
    if write:
        write_page(report, REPOSITORY / "docs")
    sys.stdout.write(text + "\n")
    raise typer.Exit(0 if report["even"] else 1)


def campaign(count: int, seconds: float, seed: int, scenario: str, keep: Path | None = None) -> dict[str, Any]:
    """Run it and return the report."""
    generator = random.Random(seed)
    began = time.time()
    loads = [os.getloadavg()[0]]
    with ExitStack() as things:
        folder = Path(things.enter_context(tempfile.TemporaryDirectory(prefix="ww-faults-")))
        receiver = things.enter_context(receiving())
        disks = mounts(things, folder, scenario)
        clock = folder / "clock"
        clock.write_text("+0s\n")
        library = clock_library()
        faked = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        prepared: list[bool] = []
        stack = things.enter_context(
            stacks.start(
                folder,
                hosts.scenario_file(scenario),
                SETTINGS | (faked if library else {}),
                lambda running: prepared.append(prepare(running, receiver)),
            )
        )
        layout = stack.layout
        ports = {"Kafka": layout.kafka_port, "PostgreSQL": layout.postgres_port, "agents": layout.agent_port}
        world = World(stack, disks, ports, {"server": clock} if library else {})
        orders = Orders(stack, seed)
        orders.start()
        happened = let_happen(generator, world, count, seconds)
        orders.stop()
        loads.append(os.getloadavg()[2])
        revived = revive(stack)
        balances = settle(stack, orders, receiver)
        places = {one.what: whereabouts(stack, one) for one in balances if one.what in TABLES and one.lost}
        if keep is not None and not all(one.is_even for one in balances):
            kept.copy_tree(folder, keep, without=("postgres", "kafka", "telegraf-buffer"))
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seed": seed,
        "scenario": scenario,
        "minutes": round((time.time() - began) / 60, 1),
        "cores": os.cpu_count(),
        "loads": [round(load, 1) for load in loads],
        "faults": happened,
        "clocks": library is not None,
        "started_by_hand": revived,
        "orders_refused": len(orders.refused),
        "orders_unanswered": orders.unanswered,
        "balances": [asdict(one) | {"is_even": one.is_even} for one in balances],
        "lost_at": places,
        "even": all(one.is_even for one in balances) and orders.unanswered == 0,
    }


def mounts(things: ExitStack, folder: Path, scenario: str) -> dict[str, Path]:
    """Small disks for what a full disk shall meet. They end with this process, which has mounts of its own."""
    first = hosts.hosts_of(hosts.scenario_file(scenario))[0].name
    places = {name: (folder / name, size) for name, size in DISKS_MB.items()}
    places[f"telegraf-{first}"] = (folder / "hosts" / first / "telegraf-buffer", BUFFER_MB)
    for place, size in places.values():
        place.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=0755", "tmpfs", str(place)], check=True)
        things.callback(subprocess.run, ["umount", "-l", str(place)], check=False)  # before the folder is removed
    return {name: place for name, (place, _) in places.items()}


def prepare(stack: Stack, receiver: Receiver) -> bool:
    """Ledgers at the hosts, and a webhook, before the first sample."""
    for host in stack.hosts:
        file = stack.layout.hosts / host.name / "telegraf.conf"
        file.write_text(file.read_text() + ledgers.LEDGER_OUTPUT)
    with stack.api() as api:
        api.post("/webhooks", json={"name": "ledger", "url": receiver.url}).raise_for_status()
    return True


def let_happen(generator: random.Random, world: World, count: int, seconds: float) -> list[dict[str, Any]]:
    """One fault after another, at random distances that add up to the given time."""
    moments = sorted(generator.uniform(0, seconds) for _ in range(count))
    began, happened = time.monotonic(), []
    for number, moment in enumerate(moments, start=1):
        time.sleep(max(began + moment - time.monotonic(), 0))
        fault: Fault = choose(generator, world)
        failed = inflict(fault, world)
        happened.append(asdict(fault) | {"at_s": round(time.monotonic() - began, 1), "failed": failed})
        sys.stderr.write(f"{number}/{count} {fault.kind} {fault.target} {fault.detail} {failed or ''}\n")
    return happened


def revive(stack: Stack) -> list[str]:
    """Start by hand what the supervisor has given up; each is a finding of its own."""
    revived = []
    groups = {"ingest": "jobs", "classify": "jobs", "isolation": "jobs", "validate": "jobs", "forecast": "jobs", "lab": "jobs"}
    for state in stack.supervisor.states():
        if state.state in ("FATAL", "EXITED"):
            group = groups.get(state.name) or ("stores" if state.name in ("kafka", "postgres") else state.name.split("-")[0])
            stack.supervisor.start({"telegraf": "collectors", "agent": "agents", "fleetsim": "fleet"}.get(group, group), state.name)
            revived.append(state.name)
    return revived


def settle(stack: Stack, orders: Orders, receiver: Receiver) -> list[Balance]:
    """Wait until what is under way has arrived, then compare."""
    wait_until(lambda: all(one.state == "RUNNING" for one in stack.supervisor.states()), STALLED_S)
    taken = ledgers.ledger_of(stack.layout.hosts)

    def compared() -> list[Balance]:
        refused = refused_keys(kafka.client_of(stack.layout.kafka_bootstrap, stack.layout.kafka_security))
        with stack.database() as database:
            return [ledgers.samples(database, taken, measurement, refused[measurement]) for measurement in TABLES]

    # First the lag alone: comparing the ledgers reads all that there is, which would take the time of those who have to catch up.
    follow(behind_now(stack), STALLED_S, LONGEST_SETTLE_S)
    follow(lambda: sum(len(one.lost) for one in compared()), STALLED_S, LONGEST_SETTLE_S)
    follow(lambda: sum(state not in ledgers.OVER for state in states_of(stack, orders.accepted).values()), STALLED_S, LONGEST_SETTLE_S)
    follow(lambda: undelivered(stack), STALLED_S, LONGEST_SETTLE_S)
    with stack.database() as database:
        received = [one.headers["webhook-id"] for one in receiver.received]
        rest = [
            ledgers.findings(database),
            ledgers.commands(orders.accepted, states_of(stack, orders.accepted), stack.layout.hosts),
            ledgers.webhooks(database, received),
        ]
    return [*compared(), *rest]


def behind_now(stack: Stack) -> Callable[[], int]:
    """A function that counts what `ingest` has not read yet of what Kafka has now: the fleet goes on, so there is always more."""
    broker = kafka.client_of(stack.layout.kafka_bootstrap, stack.layout.kafka_security)
    topics = ["wallwatch.blocks", *(f"wallwatch.{measurement}" for measurement in TABLES)]
    end: dict[tuple[str, int], int] = {}

    def behind() -> int:
        if not end:  # asked here, where a broker that is still starting may be asked again
            end.update(ends(broker, topics))
        done = committed(broker, Settings().ingest_group, topics)
        return sum(max(last - done.get(place, 0), 0) for place, last in end.items())

    return behind


def whereabouts(stack: Stack, balance: Balance) -> dict[str, int]:
    """How far lost samples came: those that Kafka has were not stored, the others never left their host."""
    broker = kafka.client_of(stack.layout.kafka_bootstrap, stack.layout.kafka_security)
    topic = f"wallwatch.{balance.what}"
    came = []
    for message in read_all(broker, topic):
        with suppress(ValueError, KeyError, TypeError):
            came.append(ledgers.message_of(json.loads(message.value() or b"")))
    for message in read_all(broker, "wallwatch.blocks"):
        with suppress(Refused):
            came += [ledgers.message_of(one) for one in singles(message.value() or b"")]
    in_kafka = {" ".join(one) for one in keys(came, balance.what)}
    missing = len(in_kafka.intersection(balance.lost))
    return {
        "in Kafka": missing,
        "at the host": len(balance.lost) - missing,
        "not read by ingest": lag(broker, Settings().ingest_group, [topic, "wallwatch.blocks"]),
    }


def undelivered(stack: Stack) -> int:
    """Webhook deliveries that are still to be tried."""
    with stack.database() as database:
        row = database.execute("SELECT count(*) FROM webhook_delivery WHERE state = 'pending'").fetchone()
    return int(row[0]) if row else 0


def refused_keys(broker: KafkaSettings) -> dict[str, set[Key]]:
    """What the dead letters have, by measurement."""
    found = []
    for letter in read_all(broker, "wallwatch.dead_letter"):
        try:
            value = json.loads(base64.b64decode(json.loads(letter.value())["value_base64"]))
            found.append(ledgers.message_of(value))
        except (ValueError, KeyError, TypeError):
            continue
    return {measurement: keys(found, measurement) for measurement in TABLES}


if __name__ == "__main__":
    try:
        app()
    except psycopg.Error as error:
        sys.exit(f"the database could not be compared: {error}")
