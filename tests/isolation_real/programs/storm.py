"""Sends packets at a rate: the aggressor.

Arguments: CPU WIRE_NAMESPACE WIRE_ADDRESS {NAMESPACE ADDRESS}...
Lines on standard input: `in VF RATE SIZE` sends UDP packets of SIZE bytes from the wire to the tenant, `out VF RATE SIZE` from
the tenant to the wire, RATE packets per second. The newest line counts; `in 0 0 0` stops. The program ends with standard input.
"""

import os
import select
import socket
import sys
import time

from tests.isolation_real.programs.sockets import SINK_PORT, prefer, udp_in

BUFFER = 64 << 20
PAUSE_S = 0.001
MOST_BEHIND_S = 0.02
"""What could not be sent for longer than this is left out, so that a stall is no burst afterwards."""


def send(udp: socket.socket, packet: bytes, count: int) -> None:
    """Send `count` packets; what the kernel does not take is lost like in a full queue."""
    for _ in range(count):
        try:
            udp.send(packet)
        except OSError:
            continue


def main() -> None:
    """Run until standard input ends."""
    cpu, wire, wire_address, *names = sys.argv[1:]
    tenants = list(zip(names[::2], names[1::2], strict=True))
    ways = {
        "in": [udp_in(wire, connect=(address, SINK_PORT), send_buffer=BUFFER) for _, address in tenants],
        "out": [udp_in(namespace, connect=(wire_address, SINK_PORT), send_buffer=BUFFER) for namespace, _ in tenants],
    }
    prefer(int(cpu), realtime=False)
    udp, packet, rate, owed, last = ways["in"][0], b"", 0.0, 0.0, time.monotonic()
    while True:
        if select.select([sys.stdin], [], [], PAUSE_S if rate else None)[0]:
            text = os.read(sys.stdin.fileno(), 4096)
            if not text:
                return
            way, vf, rate_text, size = text.decode().splitlines()[-1].split()
            udp, packet, rate, owed, last = ways[way][int(vf)], bytes(int(size)), float(rate_text), 0.0, time.monotonic()
        now = time.monotonic()
        owed = min(owed + (now - last) * rate, rate * MOST_BEHIND_S)
        last = now
        send(udp, packet, int(owed))
        owed -= int(owed)


if __name__ == "__main__":
    main()
