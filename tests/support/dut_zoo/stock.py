"""Parameters and metrics that devices are put together from, with ranges drawn by seed."""

from __future__ import annotations

from random import Random

from dut_zoo.parameters import Boolean, Choice, Integer, Order, Parameter
from dut_zoo.planted import Metric

# name, component, low, candidates for high, candidates for step, log scale, unit
INTEGERS: tuple[tuple[str, str, int, tuple[int, ...], tuple[int, ...], bool, str], ...] = (
    ("masks", "eSwitch", 1, (64, 100, 256), (1,), False, ""),
    ("entries_per_mask", "eSwitch", 1, (4096, 10_000), (1,), True, ""),
    ("flows", "eSwitch", 100, (100_000, 1_000_000), (100,), True, ""),
    ("insertions_per_s", "steering", 10, (2000, 10_000), (10,), True, "1/s"),
    ("deletions_per_s", "steering", 0, (1000, 5000), (50,), False, "1/s"),
    ("contexts", "context buffer", 1, (4096, 20_000), (1,), True, ""),
    ("vfs", "SR-IOV", 0, (64, 126), (1,), False, ""),
    ("qps", "queue pairs", 1, (1024, 16_384), (1,), True, ""),
    ("message_kib", "queue pairs", 1, (1024, 8192), (1,), True, "KiB"),
    ("inflight", "queue pairs", 1, (128, 512), (1,), False, ""),
    ("memory_regions", "translation cache", 1, (10_000, 131_072), (1,), True, ""),
    ("queues", "queues", 1, (32, 63, 128), (1,), False, ""),
    ("ring_entries", "queues", 64, (4096, 8192), (64,), False, ""),
    ("mtu_bytes", "port", 1024, (4096, 9216), (64,), False, "B"),
    ("counter_interval_ms", "counters", 10, (1000, 5000), (10,), False, "ms"),
    ("policers", "traffic control", 0, (256, 1000), (1,), False, ""),
    ("classes", "traffic control", 1, (8, 16), (1,), False, ""),
    ("packet_bytes", "port", 64, (1500, 4096), (4,), False, "B"),
    ("pcie_payload_index", "PCIe", 0, (5,), (1,), False, ""),
    ("interrupt_us", "interrupts", 0, (100, 256), (2,), False, "us"),
)
CHOICES: tuple[tuple[str, str, tuple[str | int, ...]], ...] = (
    ("verb", "queue pairs", ("write", "send", "read", "atomic")),
    ("tunnel", "eSwitch", ("none", "vxlan", "geneve", "gre")),
    ("protocol", "traffic", ("tcp", "udp", "icmp", "sctp", "gre")),
    ("steering_mode", "steering", ("dmfs", "smfs", "hmfs")),
    ("transport", "queue pairs", ("rc", "uc", "ud", "dc", "xrc")),
    ("address_family", "traffic", ("ipv4", "ipv6", "mixed")),
    ("vlan_action", "eSwitch", ("none", "push", "pop", "rewrite")),
    ("counter_mode", "counters", ("off", "per_flow", "per_rule", "aggregated")),
    ("page_size", "translation cache", ("4k", "64k", "2m", "1g")),
    ("congestion_control", "transport", ("off", "dcqcn", "timely", "zcc")),
    ("lag_mode", "port", ("none", "active_backup", "hash", "queue_affinity")),
    ("bind_mode", "SR-IOV", ("kernel", "vfio", "unbound")),
    ("traffic_pattern", "traffic", ("steady", "incast", "bursts", "all_to_all", "ring", "pairs")),
    ("pcie_generation", "PCIe", (3, 4, 5)),
    ("path_mtu", "port", (256, 512, 1024, 2048, 4096)),
    ("numa_node", "PCIe", ("local", "remote", "mixed")),
)
BOOLEANS: tuple[tuple[str, str], ...] = (
    ("hw_offload", "eSwitch"),
    ("connection_tracking", "eSwitch"),
    ("hairpin", "eSwitch"),
    ("ecn", "transport"),
    ("pause_frames", "port"),
    ("gro_hw", "queues"),
    ("relaxed_ordering", "PCIe"),
    ("ats", "PCIe"),
    ("adaptive_interrupts", "interrupts"),
    ("spoof_check", "SR-IOV"),
    ("on_demand_paging", "translation cache"),
    ("multi_host", "firmware"),
    ("parallel_unbind", "SR-IOV"),
    ("inline_crypto", "crypto"),
)
ORDERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("teardown_order", "firmware", ("destroy_qp", "remove_rules", "unbind_vf", "flush_counters", "link_down", "release_pages")),
    ("bring_up_order", "firmware", ("enable_sriov", "switchdev", "load_rules", "start_traffic", "set_mtu", "bind_vf")),
    ("insert_order", "steering", ("exact", "prefix", "wildcard", "tunnel", "default")),
)
METRICS = (
    Metric("bw_gbps", "Gbit/s", True, 98.0),
    Metric("latency_us", "us", False, 2.4),
    Metric("mpps", "Mpps", True, 31.0),
    Metric("insertions_done_per_s", "1/s", True, 1200.0),
    Metric("p99_us", "us", False, 9.5),
    Metric("cpu_percent", "%", False, 22.0),
)
SYMPTOMS = ("S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8")


def integer(rng: Random) -> list[Parameter]:
    """All integers, with ranges drawn."""
    made: list[Parameter] = []
    for name, component, low, highs, steps, log, unit in INTEGERS:
        high, step = rng.choice(highs), rng.choice(steps)
        made.append(Integer(name, component, low, low + (high - low) // step * step, step, log, unit))
    return made


def choice(rng: Random) -> list[Parameter]:
    """All choices."""
    return [Choice(name, component, tuple(rng.sample(values, len(values)))) for name, component, values in CHOICES]


def boolean(rng: Random) -> list[Parameter]:
    """All booleans."""
    return [Boolean(name, component) for name, component in BOOLEANS]


def order(rng: Random) -> list[Parameter]:
    """All orders, of three to six events."""
    return [Order(name, component, tuple(rng.sample(values, rng.randint(3, len(values))))) for name, component, values in ORDERS]


def metrics(rng: Random, count: int) -> tuple[Metric, ...]:
    """Some metrics, with the level of this device."""
    return tuple(
        Metric(one.name, one.unit, one.higher_is_better, round(one.base * rng.uniform(0.4, 2.0), 2)) for one in rng.sample(METRICS, count)
    )
