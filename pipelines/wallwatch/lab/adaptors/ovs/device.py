"""Open vSwitch's userspace datapath as a device under test: what a packet costs, by the datapath's masks, caches, tunnel and tracker.

Costs are CPU time of the thread that handles packets, and counts of the datapath, not wall time. So a busy machine changes them little.
The switch handles a packet from reception to transmission in one go, so CPU time per packet is a packet's latency without queues.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wallwatch.lab.adaptors.ovs import namespace, switch, traffic, unixctl
from wallwatch.lab.adaptors.ovs.rules import UDP_SOURCE, Plan, frame, packets, rules
from wallwatch.lab.adaptors.parameters import Parameter
from wallwatch.lab.adaptors.serve import Description, DeviceFailed, Measured, Metric

PORTS = 2
REFERENCE = PORTS
"""Index of the port whose packets all take one simple path: the measure of what the machine is worth at the moment."""
PARAMETERS = (
    Parameter("masks", "integer", "classifier (dpcls)", 1, minimum=1, maximum=128, scale="log"),
    Parameter("flows_per_mask", "integer", "classifier (dpcls)", 1, minimum=1, maximum=4, scale="log"),
    Parameter("packet_bytes", "integer", "packets", 64, minimum=64, maximum=1400, unit="B"),
    Parameter("ports", "integer", "packets", 1, minimum=1, maximum=PORTS),
    Parameter("emc", "boolean", "exact-match cache", True),
    Parameter("smc", "boolean", "signature-match cache", False),
    Parameter("conntrack", "boolean", "connection tracker", False),
    Parameter("vxlan", "boolean", "tunnel", False),
    Parameter("openflow_tables", "integer", "OpenFlow pipeline", 1, minimum=1, maximum=32, scale="log"),
    Parameter("max_idle_ms", "integer", "revalidator", 10000, minimum=1000, maximum=60000, step=1000, unit="ms"),
)
METRICS = (Metric("relative_cost", "reference packets", "lower"), Metric("lookups_per_packet", "lookups", "lower"))
ABSOLUTE = Metric("cpu_us_per_packet", "us", "lower")
"""Only on request: other programs on the machine change it by half."""

BRIDGE, UNDERLAY, REFERENCE_BRIDGE = "br0", "br1", "br2"
BRIDGES = (UNDERLAY, BRIDGE, REFERENCE_BRIDGE)
LOCAL, REMOTE, PREFIX = "192.0.2.1", "192.0.2.2", 24
"""Ends of the tunnel (RFC 5737)."""
REMOTE_MAC = "50:54:00:00:00:99"
SLICES = 12
"""Pairs of measurements per test: the configuration's packets, then the reference's."""
SLICE_PACKETS = 2048
WARM_ROUNDS = 8
MOST_MISSED = 0.01
"""Of the measured packets: above that the flows were not in the datapath."""
DIRECT_PORT = PORTS + 1
TUNNEL_PORT = PORTS + 2


@dataclass
class OpenVSwitch:
    """The device. `stack` holds the switch and the sockets, `only` the parameters that are not fixed at their default."""

    stack: ExitStack
    parameters: tuple[Parameter, ...] = PARAMETERS
    absolute: bool = False
    slices: int = SLICES
    slow_lookups: float | None = None
    """A packet that needs so many lookups on average is slow: symptom S6. None reports no symptom."""
    _switch: switch.Switch | None = None
    _sender: traffic.Sender | None = None

    @property
    def description(self) -> Description:
        return Description(
            "ovs",
            "Open vSwitch's userspace datapath with real packets; a subtable per mask, searched one after another",
            self.parameters,
            (*METRICS, ABSOLUTE) if self.absolute else METRICS,
            symptoms=() if self.slow_lookups is None else ("S6",),
            sequential=False,
            seconds_per_test=2,
        )

    def test(self, config: Mapping[str, Any]) -> Measured:
        with self._working() as (running, sender):
            return self._test(running, sender, {parameter.name: parameter.default for parameter in PARAMETERS} | dict(config))

    def _test(self, running: switch.Switch, sender: traffic.Sender, full: Mapping[str, Any]) -> Measured:
        plan = Plan(
            full["masks"], full["flows_per_mask"], full["openflow_tables"], full["conntrack"],
            TUNNEL_PORT if full["vxlan"] else DIRECT_PORT,
        )  # fmt: skip
        self._apply(running, plan, full)
        frames = packets(plan, full["packet_bytes"], full["ports"])
        _warm(running, sender, traffic.shuffled(frames, 1))
        metrics = _measured(running, sender, traffic.shuffled(frames, SLICE_PACKETS), self.slices)
        slow = self.slow_lookups is not None and metrics["lookups_per_packet"] >= self.slow_lookups
        reported = {metric.name for metric in self.description.metrics}
        return Measured({name: value for name, value in metrics.items() if name in reported}, ["S6"] if slow else [])

    def reset(self) -> None:
        """Delete the bridges and create them again: no rule, flow, cached packet or connection stays."""
        with self._working() as (running, _):
            running.vsctl(*(word for bridge in BRIDGES for word in ("--", "--if-exists", "del-br", bridge)))
            _add_bridges(running)
            running.appctl("dpctl/flush-conntrack")

    def open(self) -> None:
        """Start everything."""
        namespace.add_pairs([*((f"in{port}", f"tx{port}") for port in range(PORTS + 1)), ("out0", "sink0")])
        self._sender = self.stack.enter_context(traffic.opened([f"tx{port}" for port in range(PORTS + 1)], "sink0"))
        self._start()

    @contextmanager
    def _working(self) -> Iterator[tuple[switch.Switch, traffic.Sender]]:
        """The switch for one operation. If it has ended, the operation fails, and the next one gets a new switch."""
        if self._sender is None:
            raise DeviceFailed("the device is not open")
        running = self._switch or self._start()
        try:
            yield running, self._sender
        except DeviceFailed:
            try:
                running.check_after_failure()
            except DeviceFailed:
                self._switch = None
                raise
            raise

    def _start(self) -> switch.Switch:
        running = self.stack.enter_context(switch.started())
        _add_bridges(running)
        self._switch = running
        return running

    @staticmethod
    def _apply(running: switch.Switch, plan: Plan, config: Mapping[str, Any]) -> None:
        running.configure({
            # Every packet that misses the cache is put into it, not one of a hundred: a short test then reaches the steady state.
            "emc-insert-inv-prob": "1" if config["emc"] else "0",
            "smc-enable": "true" if config["smc"] else "false",
            "max-idle": str(config["max_idle_ms"]),
        })  # fmt: skip
        running.replace_rules(BRIDGE, "\n".join(rules(plan)) + "\n")
        # With their records in the revalidator; dpctl/del-flows leaves these, and the flow could not be installed again.
        running.appctl("revalidator/purge")
        running.appctl("dpctl/flush-conntrack")
        if plan.output == TUNNEL_PORT:
            running.appctl("tnl/neigh/set", UNDERLAY, REMOTE, REMOTE_MAC)


def _add_bridges(running: switch.Switch) -> None:
    """The switch's own bridge; the one under the tunnel, as in a host, whose uplink is a port of a second bridge; and the reference's.

    Frames that do not take the tunnel leave through patch ports, which cost the datapath nothing.
    """
    words: list[str] = []
    for bridge in BRIDGES:
        words += ["--", "add-br", bridge, "--", "set", "bridge", bridge, "datapath_type=netdev", "fail-mode=secure"]
    words += _port(UNDERLAY, "out0", 1)
    for port in range(PORTS):
        words += _port(BRIDGE, f"in{port}", port + 1)
    words += _port(BRIDGE, "direct0", DIRECT_PORT, "type=patch", "options:peer=direct1")
    words += _port(UNDERLAY, "direct1", 2, "type=patch", "options:peer=direct0")
    words += _port(
        BRIDGE, "tunnel0", TUNNEL_PORT, "type=vxlan", f"options:remote_ip={REMOTE}", f"options:local_ip={LOCAL}", "options:key=7"
    )
    words += _port(REFERENCE_BRIDGE, f"in{REFERENCE}", 1)
    words += _port(REFERENCE_BRIDGE, "reference0", 2, "type=patch", "options:peer=reference1")
    words += _port(UNDERLAY, "reference1", 3, "type=patch", "options:peer=reference0")
    running.vsctl(*words[1:])
    # ovs-vsctl succeeds without them, for instance when /dev/net/tun may not be opened.
    if not all(running.has_bridge(bridge) for bridge in BRIDGES):
        raise DeviceFailed(f"ovs-vswitchd did not create the bridges: {running.last_words('ovs-vswitchd')}")
    # Rules instead of MAC learning, whose entries would change while packets are measured.
    running.replace_rules(UNDERLAY, "".join(f"in_port={port},actions=output:1\n" for port in ("LOCAL", 2, 3)))
    running.replace_rules(REFERENCE_BRIDGE, "in_port=1,actions=output:2\n")
    namespace.run("ip", "addr", "replace", f"{LOCAL}/{PREFIX}", "dev", UNDERLAY)
    namespace.run("ip", "link", "set", UNDERLAY, "up")


def _port(bridge: str, name: str, number: int, *settings: str) -> list[str]:
    return ["--", "add-port", bridge, name, "--", "set", "interface", name, f"ofport_request={number}", *settings]


def _warm(running: switch.Switch, sender: traffic.Sender, once: list[tuple[int, bytes]]) -> None:
    """Send every frame until none is new to the datapath, and once more, which fills the caches."""
    for _ in range(WARM_ROUNDS):
        running.appctl("dpif-netdev/pmd-stats-clear")
        sender.send(once)
        if _counts(running).missed == 0:
            sender.send(once)
            return
    raise DeviceFailed(f"after {WARM_ROUNDS} rounds packets still miss the datapath's flows")


def _measured(running: switch.Switch, sender: traffic.Sender, frames: list[tuple[int, bytes]], slices: int) -> dict[str, float]:
    """All metrics, by name."""
    running.appctl("dpif-netdev/pmd-stats-clear")
    _cost_us(running, sender, frames)
    counted = _counts(running)
    if counted.missed > MOST_MISSED * len(frames):
        raise DeviceFailed(f"{counted.missed:.0f} of {len(frames)} packets missed the datapath's flows while they were measured")
    reference = [(REFERENCE, frame(REMOTE, 64, UDP_SOURCE))] * SLICE_PACKETS
    costs: list[float] = []
    ratios: list[float] = []
    for _ in range(slices):
        costs.append(_cost_us(running, sender, frames))
        ratios.append(costs[-1] / _cost_us(running, sender, reference))
    # Medians: single slices hold the switch's housekeeping.
    metrics = {
        "relative_cost": statistics.median(ratios),
        "lookups_per_packet": counted.lookups_per_packet,
        ABSOLUTE.name: statistics.median(costs),
    }
    return {name: round(value, 4) for name, value in metrics.items()}


def _cost_us(running: switch.Switch, sender: traffic.Sender, frames: list[tuple[int, bytes]]) -> float:
    """CPU time per packet."""
    before = _cpu_ns(running.pid)
    sender.send(frames)
    return (_cpu_ns(running.pid) - before) / 1e3 / len(frames)


def _counts(running: switch.Switch) -> unixctl.Counts:
    return unixctl.counts(running.appctl("dpif-netdev/pmd-stats-show"))


def _cpu_ns(pid: int) -> int:
    """CPU time of the thread that handles packets."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text(encoding="ascii").split()[0])


@contextmanager
def opened(only: frozenset[str] | None, absolute: bool, slices: int, slow_lookups: float | None) -> Iterator[OpenVSwitch]:
    """The device in a namespace of its own, for the length of the block. The process stays in the namespace.

    `only` names the parameters that vary; the others keep their defaults.
    """
    namespace.enter()
    with ExitStack() as stack:
        varied = tuple(parameter for parameter in PARAMETERS if only is None or parameter.name in only)
        device = OpenVSwitch(stack, varied, absolute, slices, slow_lookups)
        device.open()
        yield device
