"""PostgreSQL 17 with TimescaleDB: one server in one folder, native or in the Debian 13 folder that setup created.

The server refuses to run as root, and its unprivileged user can't enter private folders such as ``/root`` or pytest's temporary ones.
So the server sees the data folder under ``/mnt`` in its own mount namespace. The namespace ends with the server, so no mount is ever left
behind.
"""

import os
import secrets
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT

import psycopg

from wallwatch.store import role_passwords, roles
from wallwatch.store.roles import DatabaseRole
from wallwatch_local import ports
from wallwatch_local.errors import LocalStackError
from wallwatch_local.paths import tools_dir
from wallwatch_local.processes import die_with_parent, running

USER = "wallwatch"
DATABASE = "wallwatch"
RELEASE = Path("usr/lib/postgresql/17")
MOUNT = "/mnt"  # exists on every Debian and is covered by a tmpfs in the server's own namespace only

# For two cores that also run Kafka and the jobs: large enough that inserts never wait for checkpoints, small enough for a laptop.
# Telemetry can be read again from Kafka after a power cut, so commits need not wait for the disk; full_page_writes and fsync stay on.
SETTINGS = {
    "shared_preload_libraries": "timescaledb",
    "timescaledb.telemetry_level": "off",
    "timescaledb.max_background_workers": "4",
    "max_worker_processes": "12",
    "max_parallel_workers": "2",
    "max_connections": "150",
    "shared_buffers": "512MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "effective_cache_size": "2GB",
    "wal_compression": "lz4",
    "min_wal_size": "256MB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
    "synchronous_commit": "off",
    "random_page_cost": "1.1",
    "max_locks_per_transaction": "256",
    "jit": "off",
    "timezone": "UTC",
    "unix_socket_directories": "",
    "listen_addresses": ports.LOOPBACK,
    "password_encryption": "scram-sha-256",
    "log_line_prefix": "%m [%p] ",
}

# For data that may be lost in a power cut. Without these settings, each DROP DATABASE waits until all earlier writes are on disk.
FORGETFUL = {"fsync": "off", "full_page_writes": "off"}


@dataclass(frozen=True)
class Installation:
    """Where PostgreSQL is: ``root`` is ``/`` or the Debian 13 folder."""

    root: Path

    @property
    def library(self) -> Path:
        return self.root / RELEASE / "lib" / "timescaledb.so"

    def program(self, name: str) -> str:
        """Path of a program as the server's process sees it."""
        return str(Path("/") / RELEASE / "bin" / name)


def installation() -> Installation:
    """The system's PostgreSQL 17 with TimescaleDB, or the one in the tools folder."""
    candidates = [Installation(Path("/")), Installation(tools_dir() / "debian13")]
    for candidate in candidates:
        if candidate.library.exists():
            return candidate
    places = " or ".join(str(candidate.library) for candidate in candidates)
    raise LocalStackError(f"PostgreSQL 17 with TimescaleDB is not installed (looked for {places}): run 'make setup'")


def _cluster(data_dir: Path) -> Path:
    return data_dir / "cluster"


def password(data_dir: Path) -> str:
    """The password of the database user, generated once and stored in a file that only its owner can read."""
    file = data_dir / "password"
    if not file.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
            handle.write(secrets.token_urlsafe(24))
    return file.read_text()


def url(data_dir: Path, port: int, database: str = DATABASE) -> str:
    """SQLAlchemy URL of a database of this server."""
    return f"postgresql+psycopg://{USER}:{password(data_dir)}@{ports.LOOPBACK}:{port}/{database}"


def role_url(data_dir: Path, port: int, role: str) -> str:
    """SQLAlchemy URL of the database for one of its roles, whose random passwords are in private files."""
    passwords = role_passwords.find(data_dir / "roles", {})
    return f"postgresql+psycopg://{role}:{passwords[DatabaseRole(role)]}@{ports.LOOPBACK}:{port}/{DATABASE}"


def _as_server_user(data_dir: Path, command: list[str], with_password: bool = False) -> list[str]:
    """Wrap a command so that it runs as the unprivileged owner of the data folder.

    With ``with_password`` the command can read the password from ``/mnt/password``, in memory while it runs (initdb requires a file).
    """
    where = installation()
    cluster = _cluster(data_dir)
    if os.geteuid() != 0:
        if where.root != Path("/"):
            raise LocalStackError("PostgreSQL is in a Debian 13 folder on this system, which requires root: run as root")
        return [argument.replace(f"{MOUNT}/cluster", str(cluster)) for argument in command]
    root = "" if where.root == Path("/") else str(where.root)
    mount = shlex.quote(root + MOUNT)
    inside = shlex.join(["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--pdeathsig", "INT", "--", *command])
    script = f"""
set -eu
mount -t tmpfs -o mode=755 tmpfs {mount}
mkdir {mount}/cluster
mount --bind {shlex.quote(str(cluster))} {mount}/cluster
"""
    if with_password:
        script += f"install -m 444 {shlex.quote(str(data_dir / 'password'))} {mount}/password\n"
    if root:
        folder = shlex.quote(root)
        script += f"mount --rbind /dev {folder}/dev\nmount -t proc proc {folder}/proc\nexec chroot {folder} {inside}\n"
    else:
        script += f"exec {inside}\n"
    return ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", script]


def _owner(where: Installation) -> tuple[int, int]:
    for line in (where.root / "etc/passwd").read_text().splitlines():
        name, _, uid, gid, *_ = line.split(":")
        if name == "postgres":
            return int(uid), int(gid)
    raise LocalStackError(f"there is no user 'postgres' in {where.root / 'etc/passwd'}: reinstall PostgreSQL")


def initialise(data_dir: Path) -> None:
    """Create the cluster's files if they do not exist."""
    data_dir = data_dir.resolve()
    cluster = _cluster(data_dir)
    if (cluster / "PG_VERSION").exists():
        return
    where = installation()
    password(data_dir)
    cluster.mkdir(parents=True, exist_ok=True)
    cluster.chmod(0o700)
    password_file = f"{MOUNT}/password"
    if os.geteuid() == 0:
        os.chown(cluster, *_owner(where))
    else:
        password_file = str(data_dir / "password")
    command = [where.program("initdb"), "-D", f"{MOUNT}/cluster", "-U", USER, "-E", "UTF8", "--locale=C.UTF-8", "-A", "scram-sha-256"]
    command += [f"--pwfile={password_file}", "--no-instructions", "--no-sync"]
    done = subprocess.run(_as_server_user(data_dir, command, with_password=True), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LocalStackError(f"initdb failed in {cluster}:\n{done.stdout}{done.stderr}")


def server_command(data_dir: Path, port: int, durable: bool = True) -> list[str]:
    """The command of the server in the foreground (SIGINT stops it quickly and cleanly)."""
    data_dir = data_dir.resolve()
    command = [installation().program("postgres"), "-D", f"{MOUNT}/cluster", "-c", f"port={port}"]
    for name, value in (SETTINGS if durable else SETTINGS | FORGETFUL).items():
        command += ["-c", f"{name}={value}"]
    return _as_server_user(data_dir, command)


def is_ready(data_dir: Path, port: int) -> bool:
    """Whether the server answers a query."""
    try:
        with psycopg.connect(_dsn(data_dir, port, "postgres"), connect_timeout=2):
            return True
    except psycopg.OperationalError:
        return False


def _dsn(data_dir: Path, port: int, database: str) -> str:
    return url(data_dir, port, database).replace("+psycopg", "")


def create_database(data_dir: Path, port: int) -> None:
    """Create the database ``wallwatch`` with TimescaleDB if it does not exist."""
    with psycopg.connect(_dsn(data_dir, port, "postgres"), autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")
    with psycopg.connect(_dsn(data_dir, port, DATABASE), autocommit=True) as connection:
        connection.execute("SET client_min_messages = error")  # the extension greets with a banner
        connection.execute("CREATE EXTENSION IF NOT EXISTS timescaledb")


def create_roles(data_dir: Path, port: int) -> None:
    """Create the roles of the processes, or give them the passwords of the files; the owner's role gets the database."""
    with psycopg.connect(_dsn(data_dir, port, DATABASE), autocommit=True) as connection:
        roles.create_roles(connection, role_passwords.find(data_dir / "roles", {}))
        roles.own_database(connection)
        roles.take_over(connection)


@contextmanager
def start(data_dir: Path, port: int | None = None, durable: bool = True) -> Iterator[str]:
    """Run a server for the duration of the block.

    Yields the SQLAlchemy URL of the database ``wallwatch``, which has TimescaleDB. The same folder can be started again,
    on the same or another port; unless ``durable``, a power cut may destroy it.
    """
    port = port or ports.free_ports(1)[0]
    initialise(data_dir)
    command = server_command(data_dir, port, durable)
    if os.geteuid() != 0:
        command = die_with_parent(command, SIGINT)
    with running("PostgreSQL", command, data_dir / "postgres.log", lambda: is_ready(data_dir, port), SIGINT):
        create_database(data_dir, port)
        yield url(data_dir, port)


def run_in_foreground(data_dir: Path, port: int) -> None:
    """Replace this process with the server, so that a supervisor can signal the server directly."""
    initialise(data_dir)
    command = server_command(data_dir, port)
    os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
