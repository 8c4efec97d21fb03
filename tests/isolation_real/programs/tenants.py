"""Plays the tenants: each has steady requests from the wire, which it answers, and the round trips are written to a file.

Arguments: CPU FILE WIRE_NAMESPACE WIRE_ADDRESS {NAMESPACE ADDRESS}...
Lines of the file: `a VF MICROSECONDS` for an answer, `l VF` for a request that was not answered within `LOST_AFTER_S`.
Lines on standard input: `hold VF SECONDS` makes one tenant answer late, `hold VF 0` ends that.
One process plays all: a round trip is then the way through the kernel, and not how soon a second process gets a CPU.
"""

import gc
import heapq
import os
import selectors
import struct
import sys
import time
from pathlib import Path
from typing import TextIO

from tests.isolation_real.programs.sockets import PROBE_PORT, SINK_PORT, prefer, udp_in

TICK_S = 0.004
LOST_AFTER_S = 1.0
REQUEST = struct.Struct("!Q")
BATCH = 64


class Tenants:
    """Sockets of all tenants, and what waits."""

    def __init__(self, output: TextIO, wire: str, wire_address: str, tenants: list[tuple[str, str]]) -> None:
        self.output = output
        self.waiting: list[dict[int, float]] = [{} for _ in tenants]
        self.late: list[tuple[float, int, bytes, tuple[str, int]]] = []
        self.hold_s = [0.0] * len(tenants)
        self.sequence = 0
        self.servers = [udp_in(namespace, bind=(address, PROBE_PORT)) for namespace, address in tenants]
        # Somebody has to own the port of the storms, or each packet would be answered with an ICMP message. Nobody reads it.
        self.sinks = [udp_in(namespace, bind=(address, SINK_PORT)) for namespace, address in tenants]
        self.sinks.append(udp_in(wire, bind=(wire_address, SINK_PORT)))
        self.clients = [udp_in(wire, connect=(address, PROBE_PORT)) for _, address in tenants]

    def ask(self) -> None:
        """One request to each tenant; forget what was lost."""
        now = time.monotonic()
        for vf, client in enumerate(self.clients):
            waiting = self.waiting[vf]
            while waiting:
                oldest = next(iter(waiting))
                if now - waiting[oldest] < LOST_AFTER_S:
                    break
                del waiting[oldest]
                self.output.write(f"l {vf}\n")
            self.sequence += 1
            waiting[self.sequence] = time.monotonic()
            try:
                client.send(REQUEST.pack(self.sequence) + bytes(56))
            except OSError:  # a full queue: lost
                continue

    def answer(self, vf: int) -> None:
        """Answer the requests that have arrived at a tenant."""
        server = self.servers[vf]
        for _ in range(BATCH):
            try:
                request, source = server.recvfrom(2048)
            except OSError:
                return
            if self.hold_s[vf]:
                heapq.heappush(self.late, (time.monotonic() + self.hold_s[vf], vf, request, source))
            else:
                self._reply(vf, request, source)

    def answer_late(self) -> None:
        """Send the answers that were held long enough."""
        while self.late and self.late[0][0] <= time.monotonic():
            _, vf, request, source = heapq.heappop(self.late)
            self._reply(vf, request, source)

    def take(self, vf: int) -> None:
        """Write the round trips of the answers that have arrived."""
        client = self.clients[vf]
        for _ in range(BATCH):
            try:
                answer = client.recv(2048)
            except OSError:
                return
            sent = self.waiting[vf].pop(REQUEST.unpack_from(answer)[0], None)
            if sent is not None:
                self.output.write(f"a {vf} {(time.monotonic() - sent) * 1e6:.0f}\n")

    def _reply(self, vf: int, request: bytes, source: tuple[str, int]) -> None:
        try:
            self.servers[vf].sendto(request, source)
        except OSError:  # a full queue: lost
            return


def main() -> None:
    """Run until standard input ends."""
    cpu, path, wire, wire_address, *names = sys.argv[1:]
    with Path(path).open("w") as output:
        tenants = Tenants(output, wire, wire_address, list(zip(names[::2], names[1::2], strict=True)))
        prefer(int(cpu), realtime=True)
        gc.disable()
        selector = selectors.DefaultSelector()
        for vf in range(len(tenants.clients)):
            selector.register(tenants.servers[vf], selectors.EVENT_READ, (tenants.answer, vf))
            selector.register(tenants.clients[vf], selectors.EVENT_READ, (tenants.take, vf))
        selector.register(sys.stdin, selectors.EVENT_READ, None)
        os.set_blocking(sys.stdin.fileno(), False)
        loop(tenants, selector)


def loop(tenants: Tenants, selector: selectors.BaseSelector) -> None:
    """Ask every `TICK_S`; ticks that were missed are not made up for."""
    due = time.monotonic()
    while True:
        for key, _ in selector.select(max(0.0, due - time.monotonic())):
            if key.data is not None:
                handle, vf = key.data
                handle(vf)
            elif not obey(tenants):
                return
        tenants.answer_late()
        if time.monotonic() >= due:
            tenants.ask()
            tenants.output.flush()
            due = max(due + TICK_S, time.monotonic())


def obey(tenants: Tenants) -> bool:
    """Carry out the commands that have arrived; False at the end of standard input."""
    text = os.read(sys.stdin.fileno(), 4096)
    for line in text.decode().splitlines():
        _, vf, seconds = line.split()
        tenants.hold_s[int(vf)] = float(seconds)
    return bool(text)


if __name__ == "__main__":
    main()
