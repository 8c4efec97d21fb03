"""A host for tests of mask plans: flows as its agent reads them, and telemetry of its chain."""

import gzip
import json
import threading
from datetime import UTC, datetime
from typing import Any

PCI = "0000:3b:00.0"


def ufid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def flow(number: int, destination: str, packets: int, actions: str = "5") -> str:
    match = f"recirc_id(0),in_port(3),eth_type(0x0800),ipv4(dst={destination},frag=no)"
    return f"ufid:{ufid(number)}, {match}, packets:{packets}, bytes:60, used:0.5s, offloaded:yes, dp:tc, actions:{actions}"


COLD = [flow(n, f"10.{n}.0.0/255.255.0.0", 1) for n in range(1, 4)] + [flow(n, f"10.{n}.1.0/255.255.255.0", 1) for n in range(4, 7)]
HOT = [flow(n, f"10.{n}.1.1", 90_000) for n in range(7, 12)]
LONG_CHAIN = [*(flow(n, f"10.{n}.0.0/255.{n}.0.0", 1) for n in range(20, 50)), *COLD, *HOT]
"""Enough masks before the hot ones for a worthwhile plan."""


def attached(lines: list[str], **changed: Any) -> bytes:
    content = {
        "pci": PCI,
        "at": datetime.now(UTC).isoformat(),
        "elapsed_s": 0,
        "ports": [{"number": "3", "name": "p0_0"}],
        "earlier": None,
        "flows": "\n".join(lines),
    }
    return gzip.compress(json.dumps({**content, **changed}).encode())


class Host:
    """A host whose agent has flows: it reads them and confirms every command; while `hold` is clear it does nothing."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.after, self.agent = lines, lines, None
        self.sent: bytes | None = None
        self.progress = False
        self.hold = threading.Event()
        self.hold.set()

    def answer(self, command: dict[str, Any]) -> dict[str, Any] | None:
        assert self.agent is not None
        assert self.hold.wait(90)
        if command["action"] == "read-flows":
            assert (command["operation"], command["params"]) == ("dry_run", {"pci": PCI, "seconds": 0})
            self.agent.send_attachment(command, self.sent or attached(self.lines), part_bytes=100)
        elif command["operation"] != "dry_run":
            if self.progress:
                self.agent.send_custom("progress", json.dumps({"command_id": command["command_id"], "done": 3, "total": 4}).encode())
            self.agent.send_attachment(command, attached(self.after))
        return {"command_id": command["command_id"], "remedy_id": command["remedy_id"], "state": "done", "operations": []}


def write_queries(backend: Any, host: str, samples: list[tuple[datetime, float]]) -> None:
    with backend.connect() as connection:
        insert_queries(connection, host, samples)


def insert_queries(connection: Any, host: str, samples: list[tuple[datetime, float]]) -> None:
    """Telemetry of the chain: mean depth of egress at a time."""
    (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s AND pci = %s", [host, PCI]).fetchone()
    for at, queries in samples:
        connection.execute("INSERT INTO offload_sample (time, rnic_id, q_egress) VALUES (%s, %s, %s)", [at, rnic_id, queries])


def predict_decline(connection: Any, host: str) -> None:
    """A forecast of a decline on the host's RNICs."""
    connection.execute(
        "INSERT INTO rnic_forecast (rnic_id, made_at, kept_at, cold_start, policy_violated, body, decline_share, decline_since)"
        " SELECT rnic_id, now(), now(), false, false, '{}', 0.2, now() FROM rnic WHERE host = %s",
        [host],
    )
