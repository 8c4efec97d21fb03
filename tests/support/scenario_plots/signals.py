"""The signals of each symptom that the plots show."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A field of the telemetry and how it is named in the picture."""

    field: str
    label: str


@dataclass(frozen=True)
class Panel:
    """One part of a picture with its own axis. `wall` is a limit that is drawn with its name."""

    axis: str  # with its unit
    lines: tuple[Line, ...]
    wall: tuple[float, str] | None = None


@dataclass(frozen=True)
class Picture:
    """One picture: a scenario, the symptom in it, and what is drawn."""

    scenario: str
    symptom: str
    title: str
    panels: tuple[Panel, ...]
    events: tuple[str, ...] = ()


THROUGHPUT = Panel("Gbit/s", (Line("tx_gbps", "sent"), Line("rx_gbps", "received")))

PICTURES = (
    Picture(
        "s1",
        "S1",
        "S1: live flows are deleted and offloaded again, because counters come too late (C5)",
        (
            Panel("share", (Line("reoffload_ratio", "offloads of flows that were live when deleted"),)),
            Panel("flows/s", (Line("reoffloads_per_s", "re-offloads"), Line("flow_deletions_per_s", "deletions"))),
            Panel("s", (Line("counter_gap_p95_s", "time between two moves of a counter, p95"),), wall=(10, "max-idle")),
        ),
    ),
    Picture(
        "s2",
        "S2",
        "S2: the kernel stands still, because the driver does not handle a time-out (C2)",
        (
            Panel("flows/s", (Line("flow_insertions_per_s", "insertions"),), wall=(1000, "wall")),
            THROUGHPUT,
        ),
        ("command_timeout", "soft_lockup"),
    ),
    Picture(
        "s3",
        "S3",
        "S3: the kernel crashes when the RNIC refuses a new flow (C3)",
        (Panel("flows", (Line("flows_offloaded", "offloaded"),)), THROUGHPUT),
        ("kernel_panic", "host_booted"),
    ),
    Picture(
        "s4",
        "S4",
        "S4: deletions take nine times as long, because each searches a large table (C4)",
        (
            Panel("ms", (Line("dump_duration_ms", "one round of Open vSwitch over all flows, with its deletions"),)),
            Panel("flows", (Line("flows_offloaded", "offloaded: what each deletion searches"),)),
            Panel("flows/s", (Line("flow_insertions_per_s", "insertions"), Line("flow_deletions_per_s", "deletions"))),
        ),
    ),
    Picture(
        "s5",
        "S5",
        "S5: software forwards packets of offloaded flows now and then, because counters stand still (C5)",
        (
            Panel("packets/s", (Line("software_packets_per_s", "in software, of offloaded flows"),)),
            Panel("s", (Line("counter_gap_p95_s", "time between two moves of a counter, p95"),)),
            Panel("share", (Line("reoffload_ratio", "re-offloads of live flows: this is not S1"),)),
        ),
    ),
    Picture(
        "s6",
        "S6",
        "S6: flows deep in the chain of masks are slow, because masks are tried one after another (C6)",
        (
            Panel("masks", (Line("q_egress", "queried before the match (Q), egress"), Line("q_ingress", "Q, ingress"))),
            Panel("masks", (Line("masks_egress", "in the chain, egress"), Line("masks_ingress", "in the chain, ingress"))),
            THROUGHPUT,
        ),
    ),
    Picture(
        "s7",
        "S7",
        "S7: the PCIe link goes down when VFs are unbound, by a race (C7)",
        (
            Panel("lanes", (Line("pci_link_width", "width of the PCIe link"),)),
            Panel("errors", (Line("aer_fatal", "fatal errors (AER)"),)),
            THROUGHPUT,
        ),
        ("cni_del", "pcie_link_down", "pcie_link_up"),
    ),
    Picture(
        "s8",
        "S8",
        "S8: the RNIC stops, because there are more encapsulations than its buffer holds (C8)",
        (
            Panel("contexts", (Line("encap_contexts", "encapsulation contexts"),), wall=(10_000, "wall")),
            THROUGHPUT,
        ),
        ("device_health", "command_timeout", "device_recovered"),
    ),
)
