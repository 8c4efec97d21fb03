"""Synthetic telemetry of one host for the symptom stage: scripts of its samples at each second."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from wallwatch.domain.instants import rfc3339
from wallwatch.domain.symptoms.host_stage import Message, step

START_MS = 1_790_000_000_000
HOST, PCI, RACK = "host01", "0000:3b:00.0", "r1"
CX6 = {"pci_id": "15b3:101b", "driver": "mlx5_core", "fw_ver": "20.35.1012"}

OFFLOAD = {
    "flows_offloaded": 3000, "flow_insertions_per_s": 5.0, "flow_deletions_per_s": 5.0, "reoffloads_per_s": 0.0, "reoffload_ratio": 0.0,
    "counter_gap_p95_s": 1.0, "counter_gap_max_s": 2.0, "max_idle_ms": 10_000, "packets_per_s": 1e5, "q_egress": 1.0, "q_ingress": 1.0,
    "software_packets_per_s": 10.0, "encap_contexts": 100, "flows_overdue": 0,
}  # fmt: skip
"""A healthy RNIC's `rnic_offload`."""

Fields = Mapping[str, Any]
Script = Callable[[int], Iterable[Message]]


def at_ns(second: float) -> int:
    return START_MS * 1_000_000 + int(second * 1_000_000_000)


def offload(second: float, fields: Fields | None = None, pci: str = PCI) -> Message:
    return Message("rnic_offload", {"host": HOST, "pci": pci, "rack": RACK}, at_ns(second), {**OFFLOAD, **(fields or {})})


def port(second: float, fields: Fields | None = None, pci: str = PCI, tags: Mapping[str, str] = CX6, gbps: float = 8.0) -> Message:
    """An `rnic` sample of a port that moves steadily."""
    words = int(second * gbps * 1e9 / 8 / 4)
    values = {
        "port_xmit_data": 10_000 + words, "port_rcv_data": 20_000 + words, "tx_gbps": gbps, "rx_gbps": gbps, "port_state": "ACTIVE",
        "admin_state": "up", "operstate": "up", "pci_link_speed_gts": 16.0, "pci_link_width": 16, "out_of_sequence": 0, "aer_fatal": 0,
    }  # fmt: skip
    return Message("rnic", {"host": HOST, "pci": pci, "rack": RACK, **tags}, at_ns(second), {**values, **(fields or {})})


def datapath(second: float, fields: Fields | None = None) -> Message:
    values = {"lookups_missed": int(second * 40), "flows": 3000, "dump_duration_ms": 36.0}
    return Message(
        "ovs_datapath", {"host": HOST, "rack": RACK, "datapath": "system@ovs-system"}, at_ns(second), {**values, **(fields or {})}
    )


def event(second: float, kind: str, pci: str = PCI, **fields: Any) -> Message:
    tags = {"host": HOST, "rack": RACK, "kind": kind, **({"pci": pci} if pci else {})}
    return Message("event", tags, at_ns(second), {"detail": kind, **fields})


def healthy(seconds: Iterable[int]) -> Iterator[Message]:
    for second in seconds:
        yield from (port(second), offload(second), datapath(second))


LARGE = {"flows_offloaded": 13_500, "flow_deletions_per_s": 220.0, "flow_insertions_per_s": 220.0}
"""A large table in which much is deleted."""


def churn(dump_ms: float, seconds: range = range(100, 260, 10), **fields: Any) -> Iterator[Message]:
    """A table that was quiet, and then has 220 deletions per second, with sweeps of that length."""
    for second in range(0, seconds.start, 10):
        yield from (port(second), offload(second), datapath(second, {"dump_duration_ms": 36.0, "flows": 3000}))
    for second in seconds:
        yield port(second)
        yield datapath(second, {"dump_duration_ms": dump_ms, "flows": 13_500})
        yield offload(second, {**LARGE, **fields})


def detect(messages: Iterable[Message], state: Any = None) -> list[dict[str, Any]]:
    """Findings of a host's messages."""
    found: list[dict[str, Any]] = []
    for message in messages:
        state, findings = step(state, message)
        found += findings
    return found


def of(findings: Iterable[dict[str, Any]], symptom: str) -> list[dict[str, Any]]:
    return [f for f in findings if f["symptom"] == symptom]


def second_of(finding: dict[str, Any], name: str = "at") -> float:
    return next(s / 2 for s in range(8000) if rfc3339(START_MS + s * 500) == finding[name])


def without(fields: Fields, *names: str) -> dict[str, Any]:
    return {k: v for k, v in fields.items() if k not in names}
