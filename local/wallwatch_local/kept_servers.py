"""``make test-servers``: PostgreSQL and Kafka brokers that stay up between test runs, so that no run waits for servers to start.

One process runs the servers and describes them in `.local/test-servers/servers.json`. Databases are copies, so all test processes share
one PostgreSQL; topics have fixed names, so each test process reserves its own broker.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import rmtree
from signal import SIGTERM

from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import local_dir
from wallwatch_local.processes import last_lines
from wallwatch_local.signals import Interrupted, interruptible

BROKERS = 2  # as many test processes as the runner of all tests starts
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Servers:
    """Addresses of the kept servers, and the process that runs them."""

    pid: int
    database_url: str
    brokers: list[str]


def folder() -> Path:
    """Folder of the servers' data, deleted when they stop."""
    return local_dir() / "test-servers"


def find() -> Servers | None:
    """The kept servers, or None when there are none.

    Raises
    ------
    LocalStackError
        When their process lives and PostgreSQL does not answer.
    """
    servers = _described()
    if servers is None:
        return None
    if not _answers(servers):
        raise LocalStackError(
            f"the test servers (process {servers.pid}, {folder()}) do not answer: "
            "run 'make test-servers-stop', then 'make test-servers' for new ones, or only the tests, which start their own"
        )
    return servers


@contextmanager
def broker(servers: Servers) -> Iterator[str | None]:
    """Reserve one broker for this process, without the previous process's topics; None when all are reserved."""
    with ExitStack() as stack:
        for number, bootstrap in enumerate(servers.brokers):
            lock = stack.enter_context((folder() / f"broker-{number}.lock").open("w"))
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _delete_topics(bootstrap)
                yield bootstrap
                return
        yield None


def run_in_foreground() -> None:
    """Run the servers until a signal ends this process.

    Raises
    ------
    LocalStackError
        When another process runs them already.
    """
    from wallwatch_local import kafka, postgres

    place = folder()
    place.parent.mkdir(parents=True, exist_ok=True)
    with suppress(Interrupted), interruptible(), ExitStack() as stack:
        lock = stack.enter_context(place.with_suffix(".lock").open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalStackError(f"the test servers of {place} are up or starting: 'make test-servers-stop' stops them") from None
        rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700)
        stack.callback(rmtree, place, ignore_errors=True)
        database_url = stack.enter_context(postgres.start(place / "postgres", durable=False))
        brokers = [stack.enter_context(kafka.start(place / f"kafka-{number}")) for number in range(BROKERS)]
        stack.callback(_description().unlink, missing_ok=True)
        _describe(Servers(os.getpid(), database_url, brokers))
        while True:
            time.sleep(3600)


def start() -> Servers:
    """Start the servers in the background unless they are running; returns when they answer."""
    servers = find()
    if servers is not None:
        return servers
    log = local_dir() / "test-servers.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "wallwatch_local", "test-servers", "run"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    return wait_for(process, log)


def wait_for(process: "subprocess.Popen[bytes]", log: Path) -> Servers:
    """Wait until the servers of a process answer; terminate it on timeout."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while (servers := _described()) is None:
        if process.poll() is not None:
            raise LocalStackError(f"the test servers did not start; the end of {log}:\n{last_lines(log)}")
        if time.monotonic() > deadline:
            process.terminate()
            raise LocalStackError(f"the test servers did not answer within {START_TIMEOUT_S:.0f} s; the end of {log}:\n{last_lines(log)}")
        time.sleep(0.1)
    return servers


def stop() -> bool:
    """Stop the servers and delete their data; returns whether they were running."""
    servers = _described()
    if servers is None:
        return False
    os.kill(servers.pid, SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while _is_alive(servers.pid):
        if time.monotonic() > deadline:
            raise LocalStackError(f"process {servers.pid} still runs the test servers {STOP_TIMEOUT_S:.0f} s after SIGTERM")
        time.sleep(0.1)
    return True


def _description() -> Path:
    return folder() / "servers.json"


def _describe(servers: Servers) -> None:
    """Write the description; only its owner may read it, because it has the database's password."""
    unfinished = folder() / "servers.json.new"
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as handle:
        json.dump(asdict(servers), handle)
    unfinished.replace(_description())


def _described() -> Servers | None:
    try:
        servers = Servers(**json.loads(_description().read_text()))
    except FileNotFoundError:
        return None
    return servers if _is_alive(servers.pid) else None


def _is_alive(pid: int) -> bool:
    """Whether the process runs (zombies do not count) and is ours; process ids are reused."""
    try:
        return b"wallwatch_local" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return False


def _answers(servers: Servers) -> bool:
    import psycopg

    try:
        with psycopg.connect(servers.database_url.replace("+psycopg", "").rsplit("/", 1)[0] + "/postgres", connect_timeout=5):
            return True
    except psycopg.OperationalError:
        return False


def _delete_topics(bootstrap: str) -> None:
    from wallwatch import kafka_clients
    from wallwatch.kafka_settings import KafkaSettings

    admin = kafka_clients.admin(KafkaSettings(kafka_bootstrap=bootstrap))
    names = [name for name in admin.list_topics(timeout=10).topics if not name.startswith("__")]
    for deleted in admin.delete_topics(names).values() if names else ():
        deleted.result(30)
