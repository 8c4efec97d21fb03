"""Plays a case: advances the host, lets the collector read at its times, and collects the messages."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.raw_hosts import database
from tests.raw_hosts.case import Case
from tests.raw_hosts.collector import Collector
from tests.raw_hosts.host import EPOCH_NS, Host

HOST = "raw01"
MEMORY = Path("/dev/shm")
ALL_INPUTS = ("rnic", "ovs_offload", "kernel_events", "cni_events")
_TIMESTAMP = re.compile(rb'"timestamp":(\d+)')


@dataclass
class Played:
    """What came of a case."""

    messages: list[bytes] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0


class _Player:
    def __init__(self, case: Case, root: Path) -> None:
        self.case = case
        self.random = random.Random(case.seed + 1)
        self.host = Host(root, case.seed, case.settings(), case.release, from_s=-case.warm_s)
        case.make(self.host)
        server = database.shared()
        server.configure(self.host.settings)
        (root / "ovs/db.sock").symlink_to(server.socket)
        self._configured = dict(self.host.settings)
        self._server = server
        self.host.switch.start()
        self.collector = Collector(root, HOST)
        self.played = Played()
        self._nominal = 0.0

    def play(self) -> Played:
        try:
            self._run()
        finally:
            self.collector.close()
            self.host.switch.stop()
        socket = self.host.switch.socket
        if socket is not None and socket.failure is not None:
            raise socket.failure
        self.played.errors = self.collector.errors
        return self.played

    def _run(self) -> None:
        case, host = self.case, self.host
        sample, look = self._next_sample(), self.random.random()
        host.advance(0.0)
        while True:
            at = min(sample, look, host.next_event())
            if at > case.length_s:
                return
            host.advance(at)
            if host.settings != self._configured:
                self._server.configure(host.settings)
                self._configured = dict(host.settings)
            self._live()
            if at >= sample:
                sample = self._next_sample()
                self._gather(ALL_INPUTS)
            elif at >= look:
                look = at + 0.5 + self.random.random()
                self._gather(("sweep", "kernel_events", "cni_events") if case.interval_s <= 2 else ("sweep",))

    def _next_sample(self) -> float:
        self._nominal += self.case.interval_s
        return self._nominal + self.random.random() * self.case.jitter_s

    def _live(self) -> None:
        """Start or end the collector, if it is time."""
        if self.host.collector_runs and not self.collector.runs and not self.host.stalled:
            self._set_clock()
            self._take(self.collector.life("start"))
        elif not self.host.collector_runs and self.collector.runs:
            self._set_clock()
            if self.host.collector_ends == "stop":
                self._take(self.collector.gather(("kernel_events", "cni_events")))
            self._take(self.collector.life(self.host.collector_ends))

    def _gather(self, inputs: tuple[str, ...]) -> None:
        if not self.collector.runs or self.host.stalled:
            return
        self.host.write()
        self._set_clock()
        socket = self.host.switch.socket
        if socket is not None:
            takes = self.host.dump_takes_s
            socket.while_dumping = (lambda share: self._set_clock(share * takes)) if takes else None
        self._take(self.collector.gather(inputs))
        self._set_clock()

    def _set_clock(self, later_s: float = 0.0) -> None:
        self.collector.set_clock(EPOCH_NS + int((self.host.now + later_s) * 1e9))

    def _take(self, messages: list[bytes]) -> None:
        """Shift their times by what the clock was set by: a collector measures with the monotonic clock and stamps with the other."""
        offset = int(self.host.clock_offset_s * 1e9)
        if offset:
            messages = [_TIMESTAMP.sub(lambda m: b'"timestamp":%d' % (int(m[1]) + offset), one) for one in messages]
        self.played.messages += messages


def play(case: Case) -> Played:
    """Play one case in a folder of its own."""
    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="raw-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        played = _Player(case, root).play()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    played.took_s = time.monotonic() - began
    return played
