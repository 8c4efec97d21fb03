import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wallwatch_local import supervise
from wallwatch_local.errors import LocalStackError
from wallwatch_local.programs import Program

pytestmark = pytest.mark.integration

# Ends on SIGTERM after noting it, like a well-behaved server.
SERVER = """
import os, signal, sys, time
name = sys.argv[1]
def end(*_):
    with open("ended", "a") as ended:
        ended.write(name + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
open(name + ".pid", "w").write(str(os.getpid()))
print("value", os.environ.get("VALUE"), flush=True)
time.sleep(300)
"""


def server(name: str, folder: Path, **environment: str) -> Program:
    (folder / "server.py").write_text(SERVER)
    return Program(name, f"group-{name}", (sys.executable, "server.py", name), folder, environment)


def wait(condition: Callable[[], object], timeout_s: float = 120.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def pid_of(file: Path) -> int:
    wait(lambda: file.exists() and file.read_text())
    return int(file.read_text())


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_a_killed_program_is_started_again(tmp_path: Path) -> None:
    with supervise.running([server("one", tmp_path)], tmp_path) as supervisor:
        supervisor.start_group("group-one")
        first = pid_of(tmp_path / "one.pid")
        wait(lambda: supervisor.states()[0].state == "RUNNING")
        os.kill(first, signal.SIGKILL)
        wait(lambda: pid_of(tmp_path / "one.pid") != first)
        assert is_alive(pid_of(tmp_path / "one.pid"))


def test_groups_stop_in_reverse_order_and_nothing_is_left(tmp_path: Path) -> None:
    with supervise.running([server("first", tmp_path), server("second", tmp_path)], tmp_path) as supervisor:
        for group in ("group-first", "group-second"):
            supervisor.start_group(group)
        pids = [pid_of(tmp_path / name) for name in ("first.pid", "second.pid")]
        wait(lambda: all(state.state == "RUNNING" for state in supervisor.states()))
    assert (tmp_path / "ended").read_text().split() == ["second", "first"]
    assert not any(is_alive(pid) for pid in pids)


def test_programs_end_when_supervisord_is_killed(tmp_path: Path) -> None:
    with supervise.running([server("one", tmp_path)], tmp_path) as supervisor:
        supervisor.start_group("group-one")
        pid = pid_of(tmp_path / "one.pid")
        os.kill(supervisor.pid, signal.SIGKILL)
        wait(lambda: not is_alive(pid))
        wait(lambda: not supervisor.is_running())


def test_a_program_that_ends_again_and_again_is_found_with_its_log(tmp_path: Path) -> None:
    broken = Program("broken", "broken", (sys.executable, "-c", "raise SystemExit('no such table')"), tmp_path)
    with supervise.running([broken, server("fine", tmp_path)], tmp_path) as supervisor:
        supervisor.start_group("broken")
        supervisor.start_group("group-fine")
        seen: dict[str, set[int]] = {}
        found: list[supervise.State] = []
        wait(lambda: found.append(state) or True if (state := supervisor.failing(seen)) else False)
        assert found[0].name == "broken"
        wait(lambda: "no such table" in found[0].log.read_text())


@pytest.mark.parametrize("value", ["postgresql://a:50%25,x=y@127.0.0.1/d", '{"a b": {"c": "d --e=f, 5%"}}'])
def test_an_environment_value_reaches_the_program_unchanged(tmp_path: Path, value: str) -> None:
    with supervise.running([server("one", tmp_path, VALUE=value)], tmp_path) as supervisor:
        supervisor.start_group("group-one")
        pid_of(tmp_path / "one.pid")
        wait(lambda: f"value {value}" in (tmp_path / "logs" / "one.log").read_text())


def test_the_settings_can_be_read_by_their_owner_only(tmp_path: Path) -> None:
    with supervise.running([server("one", tmp_path)], tmp_path):
        assert (tmp_path / "supervisord.conf").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("value", ["a\"b'c", '"a', "a'", "a\nb"])
def test_a_value_that_the_settings_can_not_hold_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(LocalStackError, match="VALUE"):
        supervise.settings([server("one", tmp_path, VALUE=value)], tmp_path, tmp_path / "socket")


CALLER = """
import sys
from pathlib import Path
from wallwatch_local import supervise
from wallwatch_local.programs import Program
from wallwatch_local.signals import Interrupted, interruptible
import time
folder = Path(sys.argv[1])
program = Program("one", "one", (sys.executable, "server.py", "one"), folder)
try:
    with interruptible(), supervise.running([program], folder) as supervisor:
        supervisor.start_group("one")
        time.sleep(300)
except Interrupted:
    (folder / "stopped").touch()
"""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_however_the_caller_ends_the_programs_end_too(tmp_path: Path, ending: signal.Signals) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(tmp_path)])
    pid = pid_of(tmp_path / "one.pid")
    caller.send_signal(ending)
    caller.wait(30)
    wait(lambda: not is_alive(pid))
    assert (tmp_path / "stopped").exists() == (ending != signal.SIGKILL)
