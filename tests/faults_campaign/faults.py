"""The faults: what each does to the running stack, and how it ends."""

import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

from wallwatch_testing.stack import Stack

SERVER = ("ingest", "classify", "isolation", "validate", "forecast", "backend", "kafka", "postgres")
WITH_CLOCKS = ("ingest", "classify", "isolation", "validate", "backend")
"""Programs whose clock can be stepped: those that ask libc for the time."""

LONGEST_S = 15.0
CLOCK_STEPS_S = (-3600, -120, -5, 5, 120, 3600)


@dataclass(frozen=True)
class Fault:
    """One fault: its kind, whom it meets and for how long (0: it happens at once)."""

    kind: str
    target: str
    seconds: float
    detail: str = ""


@dataclass(frozen=True)
class World:
    """The stack, the folders whose disks can be filled, the ports that can be cut, and the files that step clocks."""

    stack: Stack
    disks: dict[str, Path]
    ports: dict[str, int]
    clocks: dict[str, Path]


def choose(generator: random.Random, world: World) -> Fault:
    """The next fault: each kind equally often, each of its targets equally often."""
    hosts = [host.name for host in world.stack.hosts]
    on_hosts = [f"{program}-{host}" for program in ("telegraf", "agent") for host in hosts]
    seconds = round(generator.uniform(2, LONGEST_S), 1)
    kinds: dict[str, Callable[[], Fault]] = {
        "kill": lambda: Fault("kill", generator.choice([*SERVER, generator.choice(on_hosts)]), 0),
        "stop": lambda: Fault("stop", generator.choice([*SERVER, generator.choice(on_hosts)]), seconds),
        "full disk": lambda: Fault("full disk", generator.choice(list(world.disks)), seconds),
        "cut": lambda: Fault("cut", generator.choice(list(world.ports)), seconds),
    }
    if world.clocks:
        step = generator.choice(CLOCK_STEPS_S)
        kinds["clock"] = lambda: Fault("clock", generator.choice(list(world.clocks)), seconds, f"{step:+d} s")
    return kinds[generator.choice(list(kinds))]()


def inflict(fault: Fault, world: World) -> str | None:
    """Let the fault happen and end. Returns why it could not happen, else None."""
    match fault.kind:
        case "kill":
            return _signalled(world, fault.target, SIGKILL)
        case "stop":
            failed = _signalled(world, fault.target, SIGSTOP)
            time.sleep(0 if failed else fault.seconds)
            return failed or _signalled(world, fault.target, SIGCONT)
        case "full disk":
            with _full(world.disks[fault.target]):
                time.sleep(fault.seconds)
        case "cut":
            with _cut(world.ports[fault.target]):
                time.sleep(fault.seconds)
        case "clock":
            with _stepped(world.clocks[fault.target], fault.detail):
                time.sleep(fault.seconds)
        case other:
            raise ValueError(other)
    return None


def _signalled(world: World, program: str, signal: int) -> str | None:
    pid = world.stack.pid(program)
    if pid == 0:
        return f"{program} was not running"
    try:
        for one in (pid, *_descendants(pid)):  # a wrapper's child is the program; a stopped parent alone stops nothing
            with suppress(ProcessLookupError):
                os.kill(one, signal)
    except PermissionError as error:
        return str(error)
    return None


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        found = [int(one) for one in children.read_text().split()]
    except OSError:
        return []
    return [*found, *(deeper for one in found for deeper in _descendants(one))]


@contextmanager
def _full(folder: Path) -> Iterator[None]:
    """Take all that is left on a disk."""
    filler = folder / "filler"
    try:
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 1_048_576):
                pass
        with filler.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(b"\0" * 512):
                pass
        yield
    finally:
        filler.unlink(missing_ok=True)


@contextmanager
def _cut(port: int) -> Iterator[None]:
    """Packets to and from a port are dropped without an answer, as when a cable is pulled."""
    rules = [["OUTPUT", "-p", "tcp", direction, str(port), "-j", "DROP"] for direction in ("--dport", "--sport")]
    for rule in rules:
        subprocess.run(["iptables", "-A", *rule], check=True, capture_output=True)
    try:
        yield
    finally:
        for rule in rules:
            subprocess.run(["iptables", "-D", *rule], check=True, capture_output=True)


@contextmanager
def _stepped(file: Path, step: str) -> Iterator[None]:
    """The clock of a program is wrong, then right again."""
    file.write_text(step.replace(" ", "") + "\n")
    try:
        yield
    finally:
        file.write_text("+0s\n")
