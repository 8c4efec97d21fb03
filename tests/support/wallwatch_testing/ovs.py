"""A real ovsdb-server and a real ovs-vswitchd with its dummy datapath: no kernel module, no root, everything in one folder."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGTERM

from wallwatch_local.paths import tools_dir
from wallwatch_local.processes import die_with_parent, listens, running

PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl")


FOLDERS = ("usr/bin", "usr/sbin", "usr/lib/openvswitch-switch", "usr/lib/openvswitch-common")


@dataclass(frozen=True)
class Installation:
    """Where the programs of a release are: in this system, or in a folder with another Debian's packages.

    Programs of a folder use the libraries next to them and those of `libraries`, a folder with that Debian's base system.
    """

    root: Path = Path("/")
    libraries: Path | None = None

    @property
    def schema(self) -> Path:
        return self.root / "usr/share/openvswitch/vswitch.ovsschema"

    def command(self, program: str) -> list[str]:
        """The beginning of a command line that runs a program."""
        if self.libraries is None:
            return [program]
        found = next(self.root / folder / program for folder in FOLDERS if (self.root / folder / program).exists())
        path = ":".join(str(root / "usr/lib/x86_64-linux-gnu") for root in (self.root, self.libraries))
        # By its own name, for the daemons make their sockets' names of it.
        return [str(self.libraries / "lib64/ld-linux-x86-64.so.2"), "--argv0", program, "--library-path", path, str(found)]


SYSTEM = Installation()


def other_release() -> Installation | None:
    """Debian 13's packages, if unpacked next to the tools; docs/contributing explains how."""
    found = Installation(tools_dir() / "openvswitch-debian13", tools_dir() / "debian13")
    return found if found.schema.exists() and (found.libraries or Path()).exists() else None


def missing() -> list[str]:
    """The programs of Open vSwitch that are not installed here."""
    return [name for name in PROGRAMS if shutil.which(name) is None] + ([] if SYSTEM.schema.exists() else [str(SYSTEM.schema)])


@dataclass(frozen=True)
class OpenVSwitch:
    """A running switch. `folder` has `db.sock` (OVSDB) and `vswitchd.ctl` (unixctl)."""

    folder: Path
    installation: Installation = SYSTEM
    daemon: ExitStack = field(default_factory=ExitStack)

    def _run(self, program: str, *arguments: str) -> str:
        command = [*self.installation.command(program), *arguments]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "OVS_RUNDIR": str(self.folder)}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=30, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def vsctl(self, *arguments: str) -> str:
        return self._run("ovs-vsctl", "--db=unix:db.sock", "--timeout=60", *arguments)

    def add_flow(self, bridge: str, flow: str) -> None:
        self._run("ovs-ofctl", "add-flow", bridge, flow)

    def appctl(self, *arguments: str) -> str:
        return self._run("ovs-appctl", "-t", str(self.folder / "vswitchd.ctl"), *arguments)

    def add_dummy_bridge(self, bridge: str, ports: Sequence[str]) -> None:
        """A bridge on the dummy datapath that forwards nothing until it has flows."""
        self.vsctl("add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=dummy", "fail-mode=secure")
        for number, port in enumerate(ports, start=1):
            # Only ports with an index take part in the dummy datapath's offload (other_config:hw-offload).
            self.vsctl("add-port", bridge, port, "--", "set", "interface", port, "type=dummy", f"options:ifindex={1000 + number}")

    def start_daemon(self) -> None:
        """Run ovs-vswitchd."""
        arguments = [f"unix:{self.folder}/db.sock", "--enable-dummy=override", "--disable-system", f"--unixctl={self.folder}/vswitchd.ctl"]
        _run_daemon(self.daemon, self, "ovs-vswitchd", arguments, self.folder / "vswitchd.ctl")

    def restart_daemon(self) -> None:
        """Restart ovs-vswitchd. It loses its datapath and creates its socket under the same name."""
        self.daemon.close()
        self.start_daemon()

    def receive(self, port: str, source: str, destination: str, udp_destination: int = 4791) -> None:
        """One RoCE-like packet arrives at a port, as if from the wire."""
        packet = (
            "in_port(1),eth(src=50:54:00:00:00:09,dst=50:54:00:00:00:0a),eth_type(0x0800),"
            f"ipv4(src={source},dst={destination},proto=17,tos=0,ttl=64,frag=no),udp(src=49152,dst={udp_destination})"
        )
        self.appctl("netdev-dummy/receive", port, packet)


@contextmanager
def start(folder: Path, installation: Installation = SYSTEM) -> Iterator[OpenVSwitch]:
    """Run a switch for the length of the block. The folder's path must be short: it holds Unix sockets."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([*installation.command("ovsdb-tool"), "create", str(folder / "conf.db"), str(installation.schema)], check=True)
    switch = OpenVSwitch(folder, installation)
    database = [f"{folder}/conf.db", f"--remote=punix:{folder}/db.sock", f"--unixctl={folder}/ovsdb.ctl"]
    with ExitStack() as stack, switch.daemon:
        _run_daemon(stack, switch, "ovsdb-server", database, folder / "db.sock")
        switch.vsctl("--no-wait", "init")
        switch.start_daemon()
        yield switch


def _run_daemon(stack: ExitStack, switch: OpenVSwitch, name: str, arguments: Sequence[str], socket: Path) -> None:
    folder = switch.folder
    quiet = ["-vconsole:warn", "-vsyslog:off", "-vfile:off"]
    # Separate folders for everything, so that the machine's own switch is neither read nor disturbed.
    environment = [f"OVS_{kind}={folder}" for kind in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")]
    command = die_with_parent(["env", *environment, *switch.installation.command(name), *arguments, *quiet], SIGTERM)
    stack.enter_context(running(name, command, folder / f"{name}.log", lambda: listens(socket), SIGTERM))
