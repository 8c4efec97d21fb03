"""ovsdb-server and ovs-vswitchd of this device alone: their own folder, database and sockets. The machine's own switch is not touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from wallwatch.lab.adaptors.children import die_with_parent
from wallwatch.lab.adaptors.ovs import namespace, unixctl
from wallwatch.lab.adaptors.serve import DeviceFailed

PROGRAMS = ("ip", "ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl")
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
_FOLDER_PREFIX = "wallwatch-ovs-"
_FIXED = {
    # One thread each besides the one that handles packets: more would only take turns on a small machine.
    "n-handler-threads": "1",
    "n-revalidator-threads": "1",
    # On a busy machine the revalidator would delete flows rather than check them, if they have fewer packets per second than this.
    "min-revalidate-pps": "0",
}
_START_S = 20
_STOP_S = 5
_DYING_S = 0.5


@dataclass
class Switch:
    """A running switch."""

    folder: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _settings: dict[str, str] = field(default_factory=dict)
    """of `other_config`, as set last."""

    @property
    def control(self) -> Path:
        return self.folder / "vswitchd.ctl"

    @property
    def pid(self) -> int:
        """Of ovs-vswitchd. Its first thread, which has the same number, handles the packets."""
        return self.daemons["ovs-vswitchd"].pid

    def check(self) -> None:
        """Raise DeviceFailed if a daemon has ended."""
        for name, daemon in self.daemons.items():
            if daemon.poll() is not None:
                raise DeviceFailed(f"{name} ended with status {daemon.returncode}: {self.last_words(name)}")

    def check_after_failure(self) -> None:
        """As `check`, for a daemon that is just ending: its sockets close before the process has gone."""
        deadline = time.monotonic() + _DYING_S
        while time.monotonic() < deadline:
            self.check()
            time.sleep(0.02)

    def has_bridge(self, name: str) -> bool:
        return (self.folder / f"{name}.mgmt").exists()

    def last_words(self, name: str) -> str:
        """The end of what a daemon has logged."""
        return (self.folder / f"{name}.log").read_text(errors="replace").strip()[-300:] or "it wrote nothing"

    def vsctl(self, *arguments: str) -> str:
        return namespace.run("ovs-vsctl", f"--db=unix:{self.folder}/db.sock", "--timeout=20", *arguments, environment=self._environment())

    def appctl(self, method: str, *arguments: str) -> str:
        return unixctl.command(self.control, method, *arguments)

    def replace_rules(self, bridge: str, rules: str) -> None:
        """Make these the only OpenFlow rules of a bridge."""
        target = f"unix:{self.folder}/{bridge}.mgmt"
        namespace.run("ovs-ofctl", "-O", "OpenFlow13", "replace-flows", target, "-", text=rules, environment=self._environment())

    def configure(self, settings: Mapping[str, str]) -> None:
        """Set entries of `other_config`, and wait until the daemon has taken them over."""
        changed = {name: value for name, value in settings.items() if self._settings.get(name) != value}
        if changed:
            self.vsctl("set", "Open_vSwitch", ".", *(f"other_config:{name}={value}" for name, value in changed.items()))
            self._settings |= changed

    def start(self) -> None:
        """Start both daemons on a new database."""
        namespace.run("ovsdb-tool", "create", str(self.folder / "conf.db"), str(SCHEMA))
        database = [f"{self.folder}/conf.db", f"--remote=punix:{self.folder}/db.sock", f"--unixctl={self.folder}/ovsdb.ctl"]
        self._start("ovsdb-server", database, self.folder / "db.sock")
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", *(f"other_config:{name}={value}" for name, value in _FIXED.items()))
        self._start("ovs-vswitchd", [f"unix:{self.folder}/db.sock", "--disable-system", f"--unixctl={self.control}"], self.control)

    def stop(self) -> None:
        """End both daemons, ovs-vswitchd first."""
        for daemon in reversed(self.daemons.values()):
            daemon.terminate()
            try:
                daemon.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def _start(self, name: str, arguments: list[str], socket: Path) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.daemons[name] = subprocess.Popen(  # noqa: S603  # a fixed program, arguments of this module; no shell
                [name, *arguments, "-vconsole:warn", "-vsyslog:off", "-vfile:off"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment(),
                preexec_fn=die_with_parent,
            )  # fmt: skip
        deadline = time.monotonic() + _START_S
        while not socket.exists():
            self.check()
            if time.monotonic() > deadline:
                raise DeviceFailed(f"{name} did not open {socket} within {_START_S} s: {self.last_words(name)}")
            time.sleep(0.01)

    def _environment(self) -> dict[str, str]:
        own = {f"OVS_{kind}": str(self.folder) for kind in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")}
        return {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin", **own}


@contextmanager
def started() -> Iterator[Switch]:
    """Run a switch for the length of the block; its folder is removed afterwards.

    Raises
    ------
    DeviceFailed
        If Open vSwitch is not installed or does not start.
    """
    absent = namespace.missing(PROGRAMS) + ([] if SCHEMA.exists() else [str(SCHEMA)])
    if absent:
        raise DeviceFailed(f"not installed: {', '.join(absent)}; install Open vSwitch (openvswitch-switch) and iproute2")
    _remove_folders_of_the_dead()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix=f"{_FOLDER_PREFIX}{os.getpid()}-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if len(str(folder)) > 80:
            raise DeviceFailed(f"{folder} is too long for the names of sockets; set TMPDIR to a shorter folder")
        switch = Switch(folder)
        stack.callback(switch.stop)
        switch.start()
        yield switch


def _remove_folders_of_the_dead() -> None:
    """What killed processes left: only files, since their daemons and devices ended with them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
        pid = folder.name.removeprefix(_FOLDER_PREFIX).split("-")[0]
        with suppress(OSError):
            if pid.isdecimal() and not Path(f"/proc/{pid}").exists():
                shutil.rmtree(folder)
