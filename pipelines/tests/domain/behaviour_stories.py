"""Samples of cards with transport engines, and the stage that judges them: for the tests of behaviours."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch_testing.stories import PCI, RACK, at_ns, port

Fields = dict[str, Any]
Counters = Callable[[int], Fields]

CARDS = {
    "CX-4 Lx": {"pci_id": "15b3:1015", "driver": "mlx5_core", "fw_ver": "14.28.1002"},
    "CX-4": {"pci_id": "15b3:1013", "driver": "mlx5_core", "fw_ver": "12.28.1002"},
    "CX-5": {"pci_id": "15b3:1017", "driver": "mlx5_core", "fw_ver": "16.35.1012"},
    "CX-6 Dx": {"pci_id": "15b3:101d", "driver": "mlx5_core", "fw_ver": "22.35.1012"},
    "E810": {"pci_id": "8086:1592", "driver": "ice", "fw_ver": "1.71"},
}
QUIET = {
    "rx_discards_phy": 0,
    "rx_pause_ctrl_phy": 0,
    "tx_pause_ctrl_phy": 0,
    "rx_out_of_buffer": 0,
    "out_of_buffer": 0,
    "rate_gbps": 100.0,
}


def samples(card: str, counters: Counters, seconds: Iterable[int], host: str = "host01") -> Iterator[Message]:
    for second in seconds:
        message = port(second, {**QUIET, **counters(second)}, tags=CARDS[card])
        yield message._replace(tags={**message.tags, "host": host})


def senders(second: int, host: str, *addresses: str, own: str = "") -> Message:
    """An RNIC's tunnel addresses, and those that send to it."""
    fields = {"tunnel_addresses": own, "tunnel_sources": " ".join(f"{address}=1/0.5" for address in addresses)}
    return Message("rnic_offload", {"host": host, "pci": PCI, "rack": RACK}, at_ns(second) + 1, fields)


def run(messages: Iterable[Message], peers: Peers | None = None) -> list[dict[str, Any]]:
    """Findings of several hosts' messages, each host with its own state."""
    states: dict[str, Any] = {}
    found = []
    for message in sorted(messages, key=lambda one: one.at_ns):
        states[message.tags["host"]], findings = step(states.get(message.tags["host"]), message, peers)
        found += findings
    return found


def raised(findings: Iterable[dict[str, Any]]) -> set[str]:
    return {f["symptom"] for f in findings if f["state"] == "active"}


def grows(per_s: float, since: int = 0) -> Callable[[int], int]:
    return lambda second: int(max(second - since, 0) * per_s)
