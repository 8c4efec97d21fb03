"""The whole product on one machine as `make demo` starts it, but in the test's own folder and without a terminal."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import psycopg

from wallwatch_local import demo, hosts, ports, postgres, supervise
from wallwatch_local.demo_programs import Layout, fleet, on_hosts, server, stores


@dataclass(frozen=True)
class Stack:
    """A running stack and access to it."""

    layout: Layout
    database_url: str
    supervisor: supervise.Supervisor
    hosts: list[hosts.Host]
    username: str
    password: str

    @contextmanager
    def database(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection of the test's own."""
        with psycopg.connect(self.database_url.replace("+psycopg", ""), autocommit=True) as connection:
            yield connection

    @contextmanager
    def api(self) -> Iterator[httpx.Client]:
        """A signed-in client of `/api/v1` that sends the CSRF token with every request."""
        with httpx.Client(base_url=f"{self.layout.api_url}/api/v1", timeout=60) as client:
            answer = client.post("/session", json={"username": self.username, "password": self.password})
            answer.raise_for_status()
            client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
            yield client

    def pid(self, program: str) -> int:
        """Process id of a supervised program."""
        return next(state.pid for state in self.supervisor.states() if state.name == program)


PATIENCE = 4
"""How much slower than a quiet one a machine may be: only what never comes shall fail. Suites ran beside each other at a load of 35."""


def wait_for(what: str, ask: Callable[[], Any], timeout_s: float, pause_s: float = 0.5) -> Any:
    """The first answer of `ask` that is true, within `timeout_s` of a quiet machine.

    An AssertionError names `what` and the last answer when none comes in time.
    """
    timeout_s *= PATIENCE
    deadline = time.monotonic() + timeout_s
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s:.0f} s; last answer {answer!r}"
        time.sleep(pause_s)


@contextmanager
def start(
    folder: Path, scenario: Path, settings: Mapping[str, str] | None = None, before_fleet: Callable[[Stack], None] | None = None
) -> Iterator[Stack]:
    """Run the stack of a scenario for the length of the block; nothing is left running.

    A scenario's clock starts with its fleet. What must be there before the first symptom, however slow the machine, is made in
    `before_fleet`, which is called when the API is ready.
    `settings` are additional environment variables for the server processes. Incidents that are over are resolved after 10 s, unless they
    say otherwise: tests follow an incident to its end.
    """
    settings = {"WALLWATCH_INCIDENT_HOLD_S": "10", **(settings or {})}
    http_port, kafka_port, postgres_port, agent_port = ports.free_ports(4)
    layout = Layout(folder, http_port, kafka_port, postgres_port, agent_port)
    layout.secrets.mkdir(parents=True, mode=0o700)
    layout.hosts.mkdir(exist_ok=True)
    database_url = postgres.url(folder / "postgres", postgres_port)
    simulated = hosts.hosts_of(scenario)
    if layout.kafka_security is not None:
        layout.kafka_security.prepare()
    for host in simulated:
        hosts.write_configuration(layout.hosts / host.name, host, layout.kafka_bootstrap, layout.agent_url, layout.kafka_security)
    central = [replace(one, environment={**one.environment, **settings}) for one in server(layout)]
    programs = [*stores(layout), *central, *fleet(layout, scenario), *on_hosts(layout, simulated)]
    with supervise.running(programs, folder) as supervisor:
        starting = demo.Demo(layout, supervisor, PATIENCE)
        stack = Stack(layout, database_url, supervisor, simulated, demo.ADMIN, starting.admin_password())
        # Its progress is for a person; standard output may be somebody's data.
        with redirect_stdout(sys.stderr):
            starting.start(simulated, None if before_fleet is None else lambda: before_fleet(stack))
        yield stack


def random_name(prefix: str) -> str:
    """A name that no other test uses."""
    return f"{prefix}-{secrets.token_hex(4)}"


def is_root() -> bool:
    """The stack creates mounts, which requires root."""
    return os.geteuid() == 0
