"""Commands to a running ovs-vswitchd over its control socket (JSON-RPC), without a process per command."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path

from wallwatch.lab.adaptors.serve import DeviceFailed

_COUNT = re.compile(r"^  (?P<name>[a-z][^:\n]*): (?P<value>[0-9.]+)", re.MULTILINE)


def command(control: Path, method: str, *arguments: str, timeout_s: float = 20) -> str:
    """What a command prints.

    Raises
    ------
    DeviceFailed
        If the daemon does not answer in time, or refuses.
    """
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(control))
            connection.sendall(json.dumps({"id": 0, "method": method, "params": list(arguments)}).encode())
            answer = _document(connection)
    except (OSError, ValueError) as error:
        raise DeviceFailed(f"ovs-vswitchd did not answer {method}: {error}") from error
    if answer.get("error") is not None:
        raise DeviceFailed(f"ovs-vswitchd refused {method}: {str(answer['error']).strip()}")
    return str(answer.get("result") or "")


def _document(connection: socket.socket) -> dict[str, object]:
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
        # The daemon keeps the connection open, so the end is where the braces close.
        if received.endswith(b"}"):
            try:
                document = json.loads(received)
            except ValueError:
                continue
            if isinstance(document, dict):
                return document
    raise ValueError("the answer ended early")


@dataclass(frozen=True)
class Counts:
    """What the datapath's threads have counted since `dpif-netdev/pmd-stats-clear`."""

    packets: float
    """Received on ports."""
    cached: float
    """Lookups that the exact-match or the signature-match cache answered."""
    megaflow_hits: float
    lookups_per_megaflow_hit: float
    """Subtables searched."""
    missed: float
    """Passed to OpenFlow rules."""

    @property
    def lookups_per_packet(self) -> float:
        """Tables searched per packet; a hit in a cache counts as one."""
        return (self.cached + self.megaflow_hits * self.lookups_per_megaflow_hit) / self.packets if self.packets else 0.0


def counts(text: str) -> Counts:
    """Read the output of `dpif-netdev/pmd-stats-show`, summed over all threads.

    >>> shown = '''main thread:
    ...   packets received: 200
    ...   emc hits: 50
    ...   smc hits: 0
    ...   megaflow hits: 150
    ...   avg. subtable lookups per megaflow hit: 4.00
    ...   miss with success upcall: 0
    ...   miss with failed upcall: 0'''
    >>> counts(shown).lookups_per_packet
    3.25
    """
    totals: dict[str, float] = {}
    searched = 0.0
    hits = 0.0
    for found in _COUNT.finditer(text):
        name, value = found.group("name"), float(found.group("value"))
        totals[name] = totals.get(name, 0.0) + value
        if name == "megaflow hits":
            hits = value
        elif name == "avg. subtable lookups per megaflow hit":
            searched += hits * value
    if "packets received" not in totals or "megaflow hits" not in totals:
        raise DeviceFailed(f"dpif-netdev/pmd-stats-show has another form than expected: {text[:200]!r}")
    cached = sum(totals.get(f"{cache} hits", 0.0) for cache in ("simple match", "emc", "smc"))
    missed = sum(totals.get(f"miss with {end} upcall", 0.0) for end in ("success", "failed"))
    all_hits = totals["megaflow hits"]
    return Counts(totals["packets received"], cached, all_hits, searched / all_hits if all_hits else 0.0, missed)
