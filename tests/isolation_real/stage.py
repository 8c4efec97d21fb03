"""The lab with its programs: who sends what, one reading after another, and what a failing run prints."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

from tests.isolation_real.lab import FILTERS, VFS, WIRE_ADDRESS, Lab, address
from tests.isolation_real.telemetry import Sample, Telemetry

from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.slo import Slo
from wallwatch.domain.isolation.verdicts import Verdict
from wallwatch_local.processes import die_with_parent

REPOSITORY = Path(__file__).parents[2]
PROGRAMS = "tests.isolation_real.programs"
INTERVAL_S = 0.8
"""A little faster than the product's second, to spare time."""
LONGEST_INTERVAL_S = 1.45
"""The product calls longer intervals estimated."""
NIC_BPS = 1e9
PROMISED_P99_US = 100_000.0
"""Usual are 500 µs. Only a queue that is really full takes as long as this, whatever else the machine has to do."""
STORM_BYTES = 18
"""UDP payload; the smallest frame."""
FIRST_RATE, HIGHEST_RATE = 60_000.0, 500_000.0
"""Packets per second."""
MOST_RAISES = 12
OVERLOAD = 0.3
"""A storm is strong enough when this part of it is refused."""
PROMISE = Slo(min_bps=1e6, max_bps=100e6, p50_us=PROMISED_P99_US, p99_us=PROMISED_P99_US, loss=0.001)


@dataclass
class Interval:
    """Two readings, one after the other, and what the product says about the time between them."""

    before: Sample
    after: Sample
    verdict: Verdict
    during: str
    """What happened: `calm`, or what was sent."""

    @property
    def span_s(self) -> float:
        return self.after.t - self.before.t

    @property
    def dropped(self) -> int:
        """Packets that the CPU's queue refused."""
        return self.after.dropped - self.before.dropped

    @property
    def processed(self) -> int:
        return self.after.processed - self.before.processed

    @property
    def slow(self) -> list[str]:
        """Tenants whose delay exceeds the promise."""
        return [f"vf{vf}" for vf, delay in enumerate(self.after.delays) if delay.p99_us is not None and delay.p99_us > PROMISED_P99_US]

    def line(self) -> str:
        """The raw telemetry and the verdict, for the message of a failing test."""
        verdict, delays = self.verdict, self.after.delays
        packets = [self.after.representors[vf]["tx"]["packets"] - self.before.representors[vf]["tx"]["packets"] for vf in range(VFS)]
        drops = [self.after.representors[vf]["tx"]["dropped"] - self.before.representors[vf]["tx"]["dropped"] for vf in range(VFS)]
        facts: dict[str, Any] = {
            "t": round(self.after.t, 2),
            "s": round(self.span_s, 2),
            "during": self.during,
            "softnet": [self.processed, self.dropped, self.after.squeezed - self.before.squeezed],
            "to_vf": packets,
            "vf_drops": drops,
            "p50_us": [delay.p50_us for delay in delays],
            "p99_us": [delay.p99_us for delay in delays],
            "answered": [delay.answered for delay in delays],
            "lost": [delay.lost for delay in delays],
            "backlog": [(queue["dev"], queue["backlog"], queue["drops"]) for queue in self.after.qdiscs],
            "verdict": [verdict.mechanism, verdict.aggressors, verdict.victims, verdict.notes],
        }
        return json.dumps(facts, default=str)


@dataclass
class Stage:
    """The lab at work, and the detector that follows it."""

    lab: Lab
    telemetry: Telemetry
    tenants: "subprocess.Popen[str]"
    storm: "subprocess.Popen[str]"
    detector: Detector = field(default_factory=lambda: Detector({f"vf{vf}": PROMISE for vf in range(VFS)}, NIC_BPS))
    intervals: list[Interval] = field(default_factory=list)
    storm_rate: float = FIRST_RATE
    """Packets per second of a storm; see `find_storm_rate`."""
    _last: Sample | None = None

    def begin(self, slos: dict[str, Slo] | None = None) -> None:
        """A new detector that knows nothing; the next reading is its first."""
        promises = {f"vf{vf}": PROMISE for vf in range(VFS)} | (slos or {})
        self.detector, self.intervals, self._last = Detector(promises, NIC_BPS), [], None

    def send(self, way: str, vf: int, rate: float, size: int) -> None:
        """Begin to send; `quiet` ends it."""
        self._order(self.storm, f"{way} {vf} {rate} {size}")

    def quiet(self) -> None:
        """Send nothing but the tenants' own requests."""
        self._order(self.storm, "in 0 0 0")

    def hold(self, vf: int, seconds: float) -> None:
        """Make one tenant answer late; 0 ends that."""
        self._order(self.tenants, f"hold {vf} {seconds}")

    def find_storm_rate(self) -> None:
        """Raise rate and price of packets until the CPU's queue overflows: it depends on the machine, and on what else runs on it."""
        for _ in range(MOST_RAISES):
            self.send("in", 0, self.storm_rate, STORM_BYTES)
            before = self.telemetry.sample()
            time.sleep(INTERVAL_S / 2)
            after = self.telemetry.sample()
            dropped, processed = after.dropped - before.dropped, after.processed - before.processed
            if dropped > OVERLOAD * (dropped + processed):
                break
            if self.storm_rate < HIGHEST_RATE:
                self.storm_rate = min(1.5 * self.storm_rate, HIGHEST_RATE)
            else:  # the sender can do no more
                self.lab.add_filters(FILTERS // 4)
        self.quiet()
        time.sleep(INTERVAL_S)

    def strengthen(self) -> None:
        """Make the next storm stronger, and each packet cost more, because the last one had no effect."""
        self.storm_rate = min(1.5 * self.storm_rate, HIGHEST_RATE)
        self.lab.add_filters(FILTERS // 4)

    def step(self, during: str) -> Interval | None:
        """Wait for the next reading; None after `begin`, when there is none before."""
        if self._last is not None:
            time.sleep(max(0.0, self._last.t + INTERVAL_S - time.monotonic()))
        for program in (self.tenants, self.storm):
            assert program.poll() is None, f"{program.args!r} ended with {program.returncode}"
        before, self._last = self._last, self.telemetry.sample()
        verdict = self.detector.step(self._last.reading())
        if before is None or verdict is None:
            return None
        self.intervals.append(Interval(before, self._last, verdict, during))
        return self.intervals[-1]

    def steps(self, during: str, count: int) -> list[Interval]:
        """The next `count` intervals."""
        taken: list[Interval] = []
        while len(taken) < count:
            interval = self.step(during)
            if interval is not None:
                taken.append(interval)
        return taken

    def report(self) -> str:
        """All intervals since `begin`, one a line."""
        return "\n".join(interval.line() for interval in self.intervals)

    @staticmethod
    def _order(program: "subprocess.Popen[str]", line: str) -> None:
        assert program.stdin is not None
        program.stdin.write(line + "\n")
        program.stdin.flush()


@contextmanager
def on_stage(lab: Lab, folder: Path) -> Iterator[Stage]:
    """Start the programs in a lab that is built; this process runs before others meanwhile, so that readings are in time."""
    names = [word for vf in range(VFS) for word in (lab.tenant(vf), address(vf))]
    delays = folder / "delays"
    delays.touch()
    with ExitStack() as stack:
        common = [lab.wire, WIRE_ADDRESS, *names]
        tenants = stack.enter_context(_program("tenants", str(lab.sender_cpu), str(delays), *common))
        storm = stack.enter_context(_program("storm", str(lab.sender_cpu), *common))
        stack.enter_context(_preferred())
        yield Stage(lab, Telemetry(lab, delays), tenants, storm)


@contextmanager
def _program(name: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    command = die_with_parent([sys.executable, "-S", "-m", f"{PROGRAMS}.{name}", *arguments], SIGKILL)
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd=REPOSITORY) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def _preferred() -> Iterator[None]:
    policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameter)
