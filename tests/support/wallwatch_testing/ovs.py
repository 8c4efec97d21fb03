"""A real ovsdb-server and a real ovs-vswitchd with its dummy datapath: no kernel module, no root, everything in one folder."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM

from wallwatch_local.processes import die_with_parent, running

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")


def missing() -> list[str]:
    """The programs of Open vSwitch that are not installed here."""
    return [name for name in PROGRAMS if shutil.which(name) is None] + ([] if SCHEMA.exists() else [str(SCHEMA)])


@dataclass(frozen=True)
class OpenVSwitch:
    """A running switch. `folder` has `db.sock` (OVSDB) and `vswitchd.ctl` (unixctl)."""

    folder: Path

    def _run(self, *command: str) -> str:
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OVS_RUNDIR": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def vsctl(self, *arguments: str) -> str:
        return self._run("ovs-vsctl", "--db=unix:db.sock", "--timeout=20", *arguments)

    def add_flow(self, bridge: str, flow: str) -> None:
        self._run("ovs-ofctl", "add-flow", bridge, flow)

    def appctl(self, *arguments: str) -> str:
        return self._run("ovs-appctl", "-t", str(self.folder / "vswitchd.ctl"), *arguments)

    def add_dummy_bridge(self, bridge: str, ports: Sequence[str]) -> None:
        """A bridge on the dummy datapath that forwards nothing until it has flows."""
        self.vsctl("add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=dummy", "fail-mode=secure")
        for port in ports:
            self.vsctl("add-port", bridge, port, "--", "set", "interface", port, "type=dummy")

    def receive(self, port: str, source: str, destination: str, udp_destination: int = 4791) -> None:
        """One RoCE-like packet arrives at a port, as if from the wire."""
        packet = (
            "in_port(1),eth(src=50:54:00:00:00:09,dst=50:54:00:00:00:0a),eth_type(0x0800),"
            f"ipv4(src={source},dst={destination},proto=17,tos=0,ttl=64,frag=no),udp(src=49152,dst={udp_destination})"
        )
        self.appctl("netdev-dummy/receive", port, packet)


@contextmanager
def start(folder: Path) -> Iterator[OpenVSwitch]:
    """Run a switch for the length of the block. The folder's path must be short: it holds Unix sockets."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["ovsdb-tool", "create", str(folder / "conf.db"), str(SCHEMA)], check=True)
    switch = OpenVSwitch(folder)
    database = [f"{folder}/conf.db", f"--remote=punix:{folder}/db.sock", f"--unixctl={folder}/ovsdb.ctl"]
    daemon = [f"unix:{folder}/db.sock", "--enable-dummy=override", "--disable-system", f"--unixctl={folder}/vswitchd.ctl"]
    with ExitStack() as stack:
        _run_daemon(stack, folder, "ovsdb-server", database, folder / "db.sock")
        switch.vsctl("--no-wait", "init")
        _run_daemon(stack, folder, "ovs-vswitchd", daemon, folder / "vswitchd.ctl")
        yield switch


def _run_daemon(stack: ExitStack, folder: Path, name: str, arguments: Sequence[str], socket: Path) -> None:
    quiet = ["-vconsole:warn", "-vsyslog:off", "-vfile:off"]
    # Own folders for everything, so that a switch of the machine's own is neither read nor disturbed.
    environment = [f"OVS_{kind}={folder}" for kind in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")]
    command = die_with_parent(["env", *environment, name, *arguments, *quiet], SIGTERM)
    stack.enter_context(running(name, command, folder / f"{name}.log", socket.exists, SIGTERM))
