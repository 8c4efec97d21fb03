"""The network of the tests: a wire, a host with a switch, and tenants, each in a network namespace of its own.

    wire ns            host ns                                tenant namespaces
    wire  ---veth---  uplink -- bridge -- rep0 ---veth---  eth0 (VF 0)
                                       -- rep1 ---veth---  eth0 (VF 1) ...

All packets that the host receives are handled on one CPU (receive packet steering), and each passes a list of filters at the
uplink, so that a packet has a price like in a switch with many rules.
"""

import os
import subprocess
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "wwiso"
VFS = 6
FILTERS = 2500
"""Rules that each packet at the uplink is compared with: some 20 µs. A CPU then handles some 40,000 packets per second."""
TIMEOUT_S = 60
SHAPED_BPS = 20_000_000
SHAPED_QUEUE_BYTES = 1_000_000
"""0.4 s at the shaped rate."""
LIMITED_BPS = 2_000_000


class CommandFailed(RuntimeError):
    """A command of iproute2 failed; the text has the command and what it printed."""


def run(*command: str, text: str | None = None) -> str:
    """Run one command, and return what it prints."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def address(vf: int) -> str:
    """Address of a tenant."""
    return f"10.77.0.{10 + vf}"


WIRE_ADDRESS = "10.77.0.1"


def _mac(number: int) -> str:
    return f"02:00:00:77:00:{number:02x}"


@dataclass
class Lab:
    """Names of the namespaces, and the CPUs."""

    engine_cpu: int
    """Handles what the host receives."""
    sender_cpu: int
    """Runs the programs that send."""
    mark: str = field(default_factory=lambda: f"{PREFIX}{os.getpid()}-{uuid.uuid4().hex[:4]}")
    """The names of the namespaces begin with it."""
    _filter_lists: int = 0

    @property
    def wire(self) -> str:
        return f"{self.mark}w"

    @property
    def host(self) -> str:
        return f"{self.mark}h"

    def tenant(self, vf: int) -> str:
        return f"{self.mark}v{vf}"

    @property
    def namespaces(self) -> list[str]:
        return [self.wire, self.host, *map(self.tenant, range(VFS))]

    def build(self) -> None:
        """Create everything; `remove` also cleans up after a failure in the middle."""
        for namespace in self.namespaces:
            run("ip", "netns", "add", namespace)
        self._host("link add sw0 type bridge", "link set sw0 up")
        self._pair("uplink", self.wire, "wire", WIRE_ADDRESS, _mac(1))
        for vf in range(VFS):
            self._pair(f"rep{vf}", self.tenant(vf), "eth0", address(vf), _mac(10 + vf))
            # Addresses are known beforehand: a storm that swallows ARP would otherwise look like a silent tenant.
            self._batch(self.tenant(vf), [f"neigh add {WIRE_ADDRESS} lladdr {_mac(1)} dev eth0 nud permanent"])
        self._batch(self.wire, [f"neigh add {address(vf)} lladdr {_mac(10 + vf)} dev wire nud permanent" for vf in range(VFS)])
        self._steer()
        self.add_filters(FILTERS)

    def remove(self) -> None:
        """Delete the namespaces, and with them all devices."""
        for namespace in self.namespaces:
            with suppress(CommandFailed):
                run("ip", "netns", "delete", namespace)

    def add_filters(self, count: int) -> None:
        """Add rules at the uplink that no packet matches, in a list of their own: one list of u32 has places for 4,095."""
        self._filter_lists += 1
        rules = [
            f"filter add dev uplink ingress protocol ip pref {self._filter_lists} u32 "
            f"match ip dst 10.200.{number // 250 % 250}.{number % 250} flowid 1:1"
            for number in range(count)
        ]
        run("tc", "-n", self.host, "-batch", "-", text="\n".join(rules) + "\n")

    def share_egress_buffer(self) -> None:
        """Put all tenants' traffic to the wire behind one class of htb with one queue."""
        for words in (
            "qdisc add dev uplink root handle 1: htb default 10 r2q 100",
            f"class add dev uplink parent 1: classid 1:10 htb rate {SHAPED_BPS}",
            f"qdisc add dev uplink parent 1:10 handle 10: bfifo limit {SHAPED_QUEUE_BYTES}",
        ):
            run("tc", "-n", self.host, *words.split())

    def own_egress_buffers(self) -> None:
        """Undo `share_egress_buffer`; what waits is dropped."""
        run("tc", "-n", self.host, "qdisc", "delete", "dev", "uplink", "root")

    def limit(self, vf: int) -> None:
        """Give one tenant a limiter of its own for what it receives."""
        run("tc", "-n", self.host, *f"qdisc add dev rep{vf} root tbf rate {LIMITED_BPS} burst 10000 limit 20000".split())

    def unlimit(self, vf: int) -> None:
        """Undo `limit`."""
        run("tc", "-n", self.host, "qdisc", "delete", "dev", f"rep{vf}", "root")

    def _pair(self, ours: str, namespace: str, theirs: str, ip_address: str, mac: str) -> None:
        self._host(
            f"link add {ours} type veth peer name {theirs} address {mac} netns {namespace}",
            f"link set {ours} master sw0 up",
        )
        self._batch(namespace, ["link set lo up", f"addr add {ip_address}/24 dev {theirs}", f"link set {theirs} up"])

    def _host(self, *lines: str) -> None:
        self._batch(self.host, lines)

    @staticmethod
    def _batch(namespace: str, lines: Sequence[str]) -> None:
        run("ip", "-n", namespace, "-batch", "-", text="\n".join(lines) + "\n")

    def _steer(self) -> None:
        """All devices of the host on one CPU. `ip netns exec` mounts the namespace's own sysfs."""
        mask = f"{1 << self.engine_cpu:x}"
        devices = ["uplink", *(f"rep{vf}" for vf in range(VFS))]
        script = f"for d in {' '.join(devices)}; do echo {mask} >/sys/class/net/$d/queues/rx-0/rps_cpus || exit 1; done"
        run("ip", "netns", "exec", self.host, "sh", "-c", script)
        run("tc", "-n", self.host, "qdisc", "add", "dev", "uplink", "ingress")


def new_lab() -> Lab:
    """A lab that is not built yet; what a killed test run left behind is removed.

    Raises
    ------
    CommandFailed
        If this machine cannot have it.
    """
    if os.geteuid() != 0:
        raise CommandFailed("network namespaces need root")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise CommandFailed("two CPUs are needed: one sends, one receives")
    _remove_left_over()
    return Lab(engine_cpu=cpus[1], sender_cpu=cpus[0])


def _remove_left_over() -> None:
    """Remove the namespaces of test runs whose process is gone."""
    for path in Path("/run/netns").glob(f"{PREFIX}*-*"):
        if not Path("/proc", path.name.removeprefix(PREFIX).split("-")[0]).exists():
            with suppress(CommandFailed):
                run("ip", "netns", "delete", path.name)


SOFTNET = Path("/proc/net/softnet_stat")
