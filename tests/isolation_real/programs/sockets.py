"""Sockets inside network namespaces, and priorities."""

import ctypes
import os
import socket
from contextlib import suppress
from pathlib import Path

CLONE_NEWNET = 0x40000000
SO_SNDBUFFORCE = 32
PROBE_PORT, SINK_PORT = 7007, 9009
_libc = ctypes.CDLL(None, use_errno=True)


def udp_in(
    namespace: str, bind: tuple[str, int] | None = None, connect: tuple[str, int] | None = None, send_buffer: int = 0
) -> socket.socket:
    """A UDP socket that belongs to a named namespace, whatever namespace this process is in."""
    with Path(f"/run/netns/{namespace}").open() as file:
        if _libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"entering the namespace {namespace}: {os.strerror(code)}")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setblocking(False)
    if send_buffer:
        # Packets in flight count against the sender's buffer: with the usual one, a sender on the same machine waits instead of flooding.
        udp.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, send_buffer)
    if bind:
        udp.bind(bind)
    if connect:
        udp.connect(connect)
    return udp


def prefer(cpu: int, realtime: bool) -> None:
    """Run on one CPU, before other programs of a busy machine; what is not allowed is left out."""
    with suppress(OSError):
        os.sched_setaffinity(0, {cpu})
    if realtime:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
            return
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)
