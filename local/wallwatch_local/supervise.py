"""supervisord as a library: write its settings, run it, control it.

supervisord restarts programs that exit, also after ``kill -9``. The kernel ends every program when supervisord dies, so that nothing
outlives it.
"""

import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from shutil import rmtree
from signal import SIGKILL, SIGTERM
from typing import Any, cast
from xmlrpc.client import Error as XmlRpcError

from wallwatch_local.errors import LocalStackError
from wallwatch_local.processes import die_with_parent, last_lines
from wallwatch_local.programs import Program
from wallwatch_local.supervisor_rpc import server_proxy

# A program may wait long for another (a database that is down for minutes): supervisord retries as long as the stack runs.
START_RETRIES = 1_000_000
LOG_BYTES = 20_000_000
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 90.0


@dataclass(frozen=True)
class State:
    """A program's state: `state` as supervisord names it, `stopped_at` in seconds since 1970 (0: it never stopped)."""

    name: str
    state: str
    pid: int
    stopped_at: int
    log: Path


def _escaped(text: str) -> str:
    return text.replace("%", "%%")


def _environment(program: Program) -> str:
    return ",".join(f"{name}={_quoted(program, name, value)}" for name, value in program.environment.items())


def _quoted(program: Program, name: str, value: str) -> str:
    """A value as supervisord reads it: between quotes of the kind that it doesn't have. It strips both kinds from both ends."""
    quote = "'" if '"' in value else '"'
    if quote in value or "\n" in value or value.strip("'\"") != value:
        raise LocalStackError(
            f"{program.name}: the value of {name} has both kinds of quotes, one at an end, or a line end; supervisord can't hold it"
        )
    return quote + _escaped(value) + quote


def settings(programs: Sequence[Program], folder: Path, socket: Path) -> str:
    """The text of supervisord.conf; no program starts automatically."""
    logs = folder / "logs"
    sections = [
        f"[supervisord]\nnodaemon=true\nlogfile={logs}/supervisord.log\nlogfile_maxbytes={LOG_BYTES}\nlogfile_backups=1\n"
        f"pidfile={folder}/supervisord.pid\nchildlogdir={logs}\nminfds=4096\n",
        f"[unix_http_server]\nfile={socket}\nchmod=0600\n",
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface\n",
        f"[supervisorctl]\nserverurl=unix://{socket}\n",
    ]
    groups = list(dict.fromkeys(program.group for program in programs))
    for program in programs:
        # SIGKILL would leave children of children; these signals let a program end its own first.
        command = die_with_parent(program.command, SIGTERM)
        sections.append(
            f"[program:{program.name}]\ncommand={_escaped(shlex.join(command))}\ndirectory={program.directory}\n"
            f"environment={_environment(program)}\nautostart=false\nautorestart=true\nstartsecs=1\nstartretries={START_RETRIES}\n"
            f"stopsignal={program.stop_signal}\nstopwaitsecs={program.stop_wait_s}\nkillasgroup=true\nredirect_stderr=true\n"
            f"stdout_logfile={logs}/{program.name}.log\nstdout_logfile_maxbytes={LOG_BYTES}\nstdout_logfile_backups=1\n"
        )
    for priority, group in enumerate(groups, start=1):
        members = ",".join(program.name for program in programs if program.group == group)
        sections.append(f"[group:{group}]\nprograms={members}\npriority={priority}\n")
    return "\n".join(sections)


class Supervisor:
    """A running supervisord."""

    def __init__(self, process: subprocess.Popen[bytes], socket: Path, folder: Path) -> None:
        self._process = process
        self._rpc = server_proxy(socket)
        self._logs = folder / "logs"

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_running(self) -> bool:
        """Whether supervisord itself is running."""
        return self._process.poll() is None

    def answers(self) -> bool:
        """Whether supervisord accepts requests yet."""
        try:
            self._rpc.supervisor.getState()
        except (OSError, HTTPException, XmlRpcError):
            return False
        return True

    def start_group(self, group: str) -> None:
        """Start all programs of a group without waiting for them."""
        self._rpc.supervisor.startProcessGroup(group, False)

    def start(self, group: str, name: str) -> None:
        """Start one program without waiting for it."""
        self._rpc.supervisor.startProcess(f"{group}:{name}", False)

    def states(self) -> list[State]:
        """The current state of every program."""
        answer = cast(list[dict[str, Any]], self._rpc.supervisor.getAllProcessInfo())
        return [State(one["name"], one["statename"], one["pid"], one["stop"], self._logs / f"{one['name']}.log") for one in answer]

    def failing(self, seen: dict[str, set[int]], limit: int = 3) -> State | None:
        """The first program that exited ``limit`` times on its own; ``seen`` is the caller's memory between calls."""
        for one in self.states():
            if one.state in ("BACKOFF", "FATAL", "EXITED") and one.stopped_at:
                seen.setdefault(one.name, set()).add(one.stopped_at)
            if one.state == "FATAL" or len(seen.get(one.name, ())) >= limit:
                return one
        return None

    def stop(self) -> None:
        """Stop all programs, the last group first, and supervisord."""
        if not self.is_running():
            return
        self._process.send_signal(SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.send_signal(SIGKILL)  # the kernel then ends the programs
            self._process.wait()


@contextmanager
def running(programs: Sequence[Program], folder: Path) -> Iterator[Supervisor]:
    """Run supervisord with the given programs, none started yet; all stop at the end of the block."""
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    # A socket's path may have at most 107 bytes, and a clone's path can be longer.
    sockets = Path(tempfile.mkdtemp(prefix="wallwatch-"))
    file = folder / "supervisord.conf"
    file.touch(mode=0o600)
    file.write_text(settings(programs, folder, sockets / "supervisor.sock"))
    command = [str(Path(sys.executable).with_name("supervisord")), "--configuration", str(file)]
    output = folder / "logs" / "supervisord.out"
    with output.open("wb") as handle:
        # Its own session: Ctrl-C and a closed terminal reach only the caller, which then stops everything in order.
        process = subprocess.Popen(
            die_with_parent(command, SIGTERM), stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, start_new_session=True
        )
    supervisor = Supervisor(process, sockets / "supervisor.sock", folder)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not supervisor.answers():
            if not supervisor.is_running() or time.monotonic() > deadline:
                raise LocalStackError(f"supervisord did not start; the end of {output}:\n{last_lines(output)}")
            time.sleep(0.05)
        yield supervisor
    finally:
        supervisor.stop()
        rmtree(sockets, ignore_errors=True)
