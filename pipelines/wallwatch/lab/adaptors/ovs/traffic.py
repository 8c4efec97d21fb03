"""Sends frames into the switch's ports and counts what leaves it, with a bounded number on the way."""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wallwatch.lab.adaptors.serve import DeviceFailed

_SOL_PACKET = 263
_PACKET_QDISC_BYPASS = 20
CHUNK = 32
"""Frames sent at once: what the datapath handles as one batch."""
MOST_UNDERWAY = 64
"""Two batches, so that the switch always finds a full one. They fit into the socket of a port at any length of frame."""
PATIENCE_S = 3.0
"""A busy machine may not run the switch for some tenths of a second."""
_SEED = 1


@dataclass(frozen=True)
class Sender:
    """Sockets at the far ends of the ports, and the device whose received packets are counted."""

    sockets: Sequence[socket.socket]
    sink: str

    def received(self) -> int:
        """Frames that have left the switch."""
        # Of this process' namespace; sysfs would be that of the namespace in which it was mounted.
        for line in Path("/proc/self/net/dev").read_text(encoding="ascii").splitlines():
            name, _, numbers = line.partition(":")
            if name.strip() == self.sink:
                return int(numbers.split()[1])
        raise DeviceFailed(f"the device {self.sink} is gone")

    def send(self, frames: Sequence[tuple[int, bytes]]) -> None:
        """Send frames (port, content), at most `MOST_UNDERWAY` ahead of the switch, and wait until all have left it.

        Raises
        ------
        DeviceFailed
            If nothing leaves the switch for `PATIENCE_S`.
        """
        first = self.received()
        for position in range(0, len(frames), CHUNK):
            self._wait(first + position + CHUNK - MOST_UNDERWAY)
            for port, frame in frames[position : position + CHUNK]:
                self.sockets[port].send(frame)
        self._wait(first + len(frames))

    def _wait(self, target: int) -> None:
        seen, since = -1, 0.0
        while (received := self.received()) < target:
            if received != seen:
                seen, since = received, time.monotonic()
            elif time.monotonic() - since > PATIENCE_S:
                raise DeviceFailed(f"{target - received} packets did not leave the switch within {PATIENCE_S:.0f} s")
            time.sleep(0.00005)


def shuffled(frames: Sequence[tuple[int, bytes]], at_least: int) -> list[tuple[int, bytes]]:
    """Each frame equally often, at least so many in all, in an order that is the same every time.

    A batch of the datapath then holds frames of many masks, as from many containers.
    """
    sequence = list(frames) * -(-at_least // len(frames))
    random.Random(_SEED).shuffle(sequence)  # noqa: S311  # an order, not a secret
    return sequence


@contextmanager
def opened(senders: Sequence[str], sink: str) -> Iterator[Sender]:
    """Open the sockets for the length of the block."""
    sockets: list[socket.socket] = []
    try:
        for device in senders:
            sockets.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
            sockets[-1].bind((device, 0))
            sockets[-1].setsockopt(_SOL_PACKET, _PACKET_QDISC_BYPASS, 1)
        yield Sender(sockets, sink)
    finally:
        for one in sockets:
            one.close()
