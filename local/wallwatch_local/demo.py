"""``make demo`` and ``make dev``: the whole product on one machine, with a simulated fleet, until Ctrl-C."""

import fcntl
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGTERM
from urllib.error import URLError
from urllib.request import urlopen

from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.store.roles import DatabaseRole
from wallwatch_local import hosts, kafka, ports, postgres, supervise
from wallwatch_local.demo_programs import Layout, fleet, on_hosts, server, stores
from wallwatch_local.errors import LocalStackError
from wallwatch_local.function_models import FunctionModels, functions_of
from wallwatch_local.paths import local_dir
from wallwatch_local.processes import die_with_parent, last_lines, listens
from wallwatch_local.signals import Interrupted, interruptible, pause

WAIT_TIMEOUT_S = 120.0
ADMIN = "admin"
LIST = "?"  # in place of a scenario's name
PREFERRED_HTTP_PORT = 8080
PREFERRED_AGENT_PORT = 8443
PREFERRED_UI_PORT = 5173


def demo_dir() -> Path:
    """Folder of the demo's state."""
    return local_dir() / "demo"


def say(text: str) -> None:
    """Print a line of progress; a closed terminal must not prevent the shutdown of the rest."""
    with suppress(OSError, ValueError):
        print(text, flush=True)


def run(scenario_name: str, hot_reload: bool = False) -> int:
    """Run the demo until a signal ends it; returns the exit code. With `hot_reload`, backend and UI reload when their sources change."""
    started = time.monotonic()
    if scenario_name == LIST:
        say(hosts.menu())
        return 0
    try:
        scenario = hosts.scenario_file(scenario_name)
        if os.geteuid() != 0:
            raise LocalStackError("the demo must run as root (it enters the database's folder and creates mounts): 'sudo make demo'")
        with exclusive(demo_dir()):
            with suppress(Interrupted), interruptible("\nstopping ...\n"):
                _run(scenario, started, hot_reload)
            say("stopped; the state stays in .local/demo ('make demo-reset' deletes it)")
    except LocalStackError as error:
        say(f"\n{error}")
        return 1
    return 0


def _run(scenario: Path, started: float, hot_reload: bool) -> None:
    layout = Layout(
        folder=demo_dir(),
        http_port=ports.from_environment("WALLWATCH_HTTP_PORT", PREFERRED_HTTP_PORT),
        kafka_port=ports.from_environment("WALLWATCH_KAFKA_PORT"),
        postgres_port=ports.from_environment("WALLWATCH_POSTGRES_PORT"),
        agent_port=ports.from_environment("WALLWATCH_AGENT_PORT", PREFERRED_AGENT_PORT),
        ui_port=ports.from_environment("WALLWATCH_UI_PORT", PREFERRED_UI_PORT) if hot_reload else None,
    )
    layout.secrets.mkdir(parents=True, exist_ok=True, mode=0o700)
    layout.hosts.mkdir(exist_ok=True)
    simulated = hosts.hosts_of(scenario)
    if layout.kafka_security is not None:
        layout.kafka_security.prepare()
    for host in simulated:
        hosts.write_configuration(layout.hosts / host.name, host, layout.kafka_bootstrap, layout.agent_url, layout.kafka_security)
    programs = [*stores(layout), *server(layout), *fleet(layout, scenario), *on_hosts(layout, simulated)]
    with supervise.running(programs, layout.folder) as supervisor:
        demo = Demo(layout, supervisor)
        demo.start(simulated)
        say(
            f"\nWallwatch is ready after {time.monotonic() - started:.0f} s:\n\n    {layout.address}\n\n"
            f"    sign in as      {ADMIN}\n    password        {demo.admin_password()}\n\n"
            f"logs: {layout.folder / 'logs'}   simulator events: {layout.folder / 'truth.jsonl'}\nCtrl-C stops everything."
        )
        demo.make_function_models(scenario)
        followed = LogFollower({name: layout.folder / "logs" / f"{name}.log" for name in ("backend", "ui")} if hot_reload else {})
        while supervisor.is_running():
            for line in followed.new_lines():
                say(line)
            pause(0.5)
        raise LocalStackError(
            f"supervisord exited unexpectedly; the end of its log:\n{last_lines(layout.folder / 'logs' / 'supervisord.log')}"
        )


class Demo:
    """The start sequence.

    Parameters
    ----------
    patience
        How much slower than an idle machine this one may be.
    """

    def __init__(self, layout: Layout, supervisor: supervise.Supervisor, patience: float = 1) -> None:
        self._layout = layout
        self._supervisor = supervisor
        self._wait_s = WAIT_TIMEOUT_S * patience
        self._failures: dict[str, set[int]] = {}

    def start(self, simulated: list[hosts.Host], before_fleet: Callable[[], None] | None = None) -> None:
        """Start the groups in order, each as soon as its dependencies are ready.

        The simulated fleet starts immediately, in parallel with the rest; with `before_fleet` it starts only after the API is ready and
        `before_fleet` has returned.
        """
        layout, supervisor = self._layout, self._supervisor
        supervisor.start_group("stores")
        if before_fleet is None:
            supervisor.start_group("fleet")
        self._wait("PostgreSQL", lambda: postgres.is_ready(layout.postgres, layout.postgres_port))
        postgres.create_database(layout.postgres, layout.postgres_port)
        postgres.create_roles(layout.postgres, layout.postgres_port)
        migration = self._begin("db", "upgrade", role=DatabaseRole.owner)
        topics_made = layout.folder / "topics-made"
        later_start = topics_made.exists()
        if later_start:
            # Kafka takes longest to start: the backend starts meanwhile, because the topics that it reads exist.
            self._finish("the database schema", migration)
            supervisor.start_group("backend")
        self._wait("Kafka", lambda: kafka.is_ready(layout.kafka_bootstrap, layout.kafka_security))
        topics = self._begin("topics", "create", *self._kafka_passwords(), kafka_role=KafkaRole.admin)
        if not later_start:
            self._finish("the topics", topics)
            topics_made.touch()
            self._finish("the database schema", migration)
            supervisor.start_group("backend")
        supervisor.start_group("jobs")
        self._telemetry_keys(simulated)
        tokens = self._admin_and_tokens(simulated)
        if before_fleet is not None:
            self._wait("the API", self._api_is_ready)
            before_fleet()
            supervisor.start_group("fleet")
        self._wait("the simulated hosts", lambda: all(listens(layout.hosts / host.name / "ovs" / "db.sock") for host in simulated))
        supervisor.start_group("collectors")
        self._wait("the API", self._api_is_ready)
        for host, token in tokens.items():
            hosts.hand_over_token(layout.hosts / host.name, token)
        supervisor.start_group("agents")
        if layout.ui_port is not None:
            supervisor.start_group("ui")
            self._wait("the UI", lambda: _answers(layout.address))
        if later_start:
            self._finish("the topics", topics)
        if tokens:
            self._wait("the agents' enrolment", lambda: all(hosts.is_enrolled(layout.hosts / host.name) for host in simulated))

    def admin_password(self) -> str:
        """Password of the account that the demo creates: random, stored in a private file."""
        file = self._layout.secrets / "admin-password"
        if not file.exists():
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
                handle.write(secrets.token_urlsafe(12))
        return file.read_text()

    def make_function_models(self, scenario: Path) -> None:
        """Make the models of the scenario's network functions in the background: profiles take a minute on a slow machine."""
        kinds, nic_models = functions_of(scenario)
        if not kinds:
            return
        say(f"\nprofiling {', '.join(kinds)}: their models appear on the page Functions one by one ...")
        models = FunctionModels(self._layout.folder / "profiles", self._layout.api_url, self._operator_token)
        threading.Thread(target=models.make, args=(kinds, nic_models, say), daemon=True).start()

    def _operator_token(self) -> str:
        arguments = ("--name", "models of network functions", "--owner", ADMIN, "--role", "operator", "--ttl-days", "1")
        return self._finish("a token", self._begin("token", "create", *arguments)).strip()

    def _telemetry_keys(self, simulated: list[hosts.Host]) -> None:
        """Give the hosts their telemetry keys: the collectors start before the agents, which get their keys by themselves later."""
        lines = self._finish("the telemetry keys", self._begin("hosts", "telemetry-key", *(host.name for host in simulated), "--table"))
        for host, key in (line.split("\t") for line in lines.splitlines()):
            hosts.hand_over_telemetry_key(self._layout.hosts / host, key)

    def _admin_and_tokens(self, simulated: list[hosts.Host]) -> dict[hosts.Host, str]:
        self.admin_password()
        made = self._layout.folder / "admin-made"
        steps: dict[str, subprocess.Popen[str]] = {}
        if not made.exists():
            password_file = str(self._layout.secrets / "admin-password")
            steps["the admin account"] = self._begin("user", "create", ADMIN, "--role", "admin", "--password-file", password_file)
        new = [host for host in simulated if not hosts.is_enrolled(self._layout.hosts / host.name)]
        if new:
            say(f"creating enrolment tokens for {len(new)} agents ...")
        enrolments = {host: self._begin("agent", "enrol", "--host", host.name) for host in new}
        tokens = {host: self._finish(f"a token for {host.name}", step).split()[-1] for host, step in enrolments.items()}
        for what, step in steps.items():
            self._finish(what, step)
            made.touch()
        return tokens

    def _api_is_ready(self) -> bool:
        return _answers(f"{self._layout.api_url}/-/ready")

    def _wait(self, what: str, is_ready: Callable[[], bool]) -> None:
        say(f"waiting for {what} ...")
        deadline = time.monotonic() + self._wait_s
        while not is_ready():
            if not self._supervisor.is_running():
                raise LocalStackError("supervisord exited")
            failing = self._supervisor.failing(self._failures)
            if failing is not None:
                raise LocalStackError(f"{failing.name} failed to start; the end of {failing.log}:\n{last_lines(failing.log)}")
            if time.monotonic() > deadline:
                states = ", ".join(f"{one.name} {one.state}" for one in self._supervisor.states())
                raise LocalStackError(
                    f"{what} took longer than {self._wait_s:.0f} s ({states}); logs are in {self._layout.folder / 'logs'}"
                )
            pause(0.15)

    def _kafka_passwords(self) -> list[str]:
        security = self._layout.kafka_security
        return ["--passwords", str(security.passwords)] if security is not None else []

    def _begin(
        self, *arguments: str, role: DatabaseRole = DatabaseRole.backend, kafka_role: KafkaRole = KafkaRole.backend
    ) -> subprocess.Popen[str]:
        command = [str(Path(sys.executable).with_name("wallwatch")), *arguments]
        environment = {**os.environ, **self._layout.environment(self._layout.database_url(role), kafka_role)}
        return subprocess.Popen(
            die_with_parent(command, SIGTERM),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _finish(self, what: str, step: subprocess.Popen[str]) -> str:
        output, errors = step.communicate()
        if step.returncode != 0:
            raise LocalStackError(f"{what} could not be created:\n{output}{errors}")
        return output


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=10) as answer:  # noqa: S310  # our own address
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


class LogFollower:
    """Lines that programs add to their logs from now on, each prefixed with its program's name."""

    def __init__(self, logs: Mapping[str, Path]) -> None:
        self._logs = logs
        self._read = {name: log.stat().st_size if log.exists() else 0 for name, log in logs.items()}

    def new_lines(self) -> Iterator[str]:
        """Complete lines since the last call; a log that became shorter was rotated and is read from its beginning."""
        for name, log in self._logs.items():
            if not log.exists():
                continue
            size = log.stat().st_size
            with log.open("rb") as file:
                file.seek(self._read[name] if size >= self._read[name] else 0)
                begin = file.tell()
                whole, _, _ = file.read().rpartition(b"\n")
            if whole:
                self._read[name] = begin + len(whole) + 1
                yield from (f"{name} | {line}" for line in whole.decode(errors="replace").splitlines())


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Lock the demo's folder: two demos in one folder would damage each other's data."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalStackError(f"a demo is already running in {folder}: stop it first (Ctrl-C in its terminal)") from None
        yield
