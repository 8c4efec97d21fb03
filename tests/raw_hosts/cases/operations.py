"""Healthy hosts on which much happens: restarts, storms of pods, counters that wrap, dumps that break off, clocks that are set.

What is right: nothing is found on these, unless a symptom is played on top of them.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.raw_hosts.case import Case, Expected
from tests.raw_hosts.flow_table import Settings
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import BF3, CX5, CX6, CX6_DX, CX7, E810, Model
from tests.raw_hosts.releases import OVS_2_17, OVS_3_5
from tests.raw_hosts.traffic import bursts, busy


def _usual(host: Host, model: Model = CX6, number: int = 1_500) -> None:
    card = host.add_card(model)
    host.flows(card, number * 2 // 3, busy(200.0), shapes=shapes(5))
    host.flows(card, number // 3, bursts(30.0, 20.0, 500.0), shapes=shapes(5))
    host.flows(card, 40, busy(5.0), placed="dp:ovs")


def _reboot(at: float) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        _usual(host)

        def go() -> None:
            # systemd's last words, and kernel/reboot.c, kernel_restart.
            host.kernel.say(host.now - 1, "systemd-shutdown[1]: Syncing filesystems and block devices.", priority=30)
            host.kernel.say(host.now, "reboot: Restarting system", priority=5)
            for card in host.cards:
                for vf in range(card.vf_count):
                    host.cni("DEL", card, vf)
            host.reboot(60.0)

        host.at(at, go)

    return make


def _ovs_restart(at: float, down: float, model: Model = CX6, number: int = 4_000) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        _usual(host, model, number)

        def stop() -> None:
            host.switch.stop()
            host.table.flush()
            host.table.stuck_until = host.now + down

        host.at(at, stop)
        host.at(at + down, host.switch.restart)

    return make


def _pod_storm(at: float, per_s: int, seconds: int) -> Callable[[Host], None]:
    """Pods start: calls of ADD, flows at a rate that the driver bears."""

    def make(host: Host) -> None:
        _usual(host, CX7, 600)
        card = host.cards[0]
        host.every(1.0, at, at + seconds, lambda: host.flows(card, per_s, busy(80.0), shapes=shapes(5), installed=False))
        for vf in range(card.vf_count):
            host.at(at + 0.3 * vf, lambda vf=vf: host.cni("ADD", card, vf))  # type: ignore[misc]

    return make


def _wraps() -> Callable[[Host], None]:
    """Words of the port wrap at 32 bits every few seconds."""

    def make(host: Host) -> None:
        card = host.add_card(CX5)
        card.wrap_32_bits = True
        host.flows(card, 800, busy(4_000.0, 4_100), shapes=shapes(4))

    return make


def _broken_dumps(at: float, length: float) -> Callable[[Host], None]:
    """The connection breaks in the middle of dumps: the daemon's peer was slow, or the daemon was killed."""

    def make(host: Host) -> None:
        _usual(host, number=3_000)

        def cut() -> None:
            assert host.switch.socket is not None
            host.switch.socket.cut_dump_after = 0.3 + 0.6 * host.random.random()

        def whole() -> None:
            assert host.switch.socket is not None
            host.switch.socket.cut_dump_after = None

        for second in range(int(at), int(at + length), 4):
            host.at(second + 0.0, cut)
            host.at(second + 2.5, whole)

    return make


def _slow_dumps(takes: float, late: bool = False) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        _usual(host, BF3, 5_000)
        host.dump_takes_s = takes
        if late:
            host.table.read_counters_late(host.table.random.permutation(5_000), 11.0, 17.0)

    return make


def _clock_set(at: float, by: float, late_since: float | None = None) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        _usual(host, number=3_000)

        def step() -> None:
            host.clock_offset_s += by

        host.at(at, step)
        if late_since is not None:
            flows = host.table.random.permutation(2_000)
            host.at(late_since, lambda: host.table.read_counters_late(flows, 11.0, 17.0))

    return make


def _collector_dies(at: float, times: int) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        _usual(host, CX6_DX, 3_000)

        def end() -> None:
            host.collector_runs, host.collector_ends = False, "kill"

        def begin() -> None:
            host.collector_runs = True

        for number in range(times):
            host.at(at + 30 * number, end)
            host.at(at + 30 * number + 6, begin)

    return make


def _frozen_collector(at: float, length: float) -> Callable[[Host], None]:
    """The collector is stopped (SIGSTOP), and goes on later; the host lives on."""

    def make(host: Host) -> None:
        _usual(host, number=3_000)

        def stop() -> None:
            host.stalled = True

        def go_on() -> None:
            host.stalled = False

        host.at(at, stop)
        host.at(at + length, go_on)

    return make


def _counters_vanish(at: float) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        _usual(host, E810, 800)
        card = host.cards[0]
        host.at(at, lambda: card.unreadable.update(card.model.counters))
        host.at(at + 30, card.unreadable.clear)

    return make


def _settings_change(at: float) -> Callable[[Host], None]:
    """An operator sets max-idle to 60 s, and later back."""

    def make(host: Host) -> None:
        _usual(host, number=3_000)

        def raise_() -> None:
            host.settings = {**host.settings, "max-idle": "60000"}
            host.table.settings.max_idle_s = 60.0

        def lower() -> None:
            host.settings = {key: value for key, value in host.settings.items() if key != "max-idle"}
            host.table.settings.max_idle_s = 10.0

        host.at(at, raise_)
        host.at(at + 60, lower)

    return make


def _migrating_pods() -> Callable[[Host], None]:
    """Containers end and start again elsewhere on the host: flows end, and others with new identities come, at 25 flows a second."""

    def make(host: Host) -> None:
        _usual(host, CX6, 2_000)
        card = host.cards[0]

        def move() -> None:
            host.table.end(host.table.random.choice(1_300, 50, replace=False))
            host.flows(card, 50, busy(200.0), shapes=shapes(5), installed=False)

        host.every(2.0, 10.0, 300.0, move)

    return make


def _two_cards(late_card: int) -> Callable[[Host], None]:
    """Two RNICs; the counters of one are read late."""

    def make(host: Host) -> None:
        cards = [host.add_card(CX6), host.add_card(CX7)]
        for number, card in enumerate(cards):
            flows = host.flows(card, 3_600, busy(150.0), shapes=shapes(4))
            if number == late_card:
                host.table.read_counters_late(flows, 11.0, 18.0)

    return make


def cases() -> list[Case]:
    """All cases of this subject."""
    return [
        Case(
            "an operator has lowered the flow limit below the flows that there are",
            lambda host: _usual(host, number=3_000),
            settings=lambda: Settings(most_flows=1_500.0, flow_limit=1_500.0),
            length_s=150,
            seed=240,
        ),
        Case(
            "an operator has lowered the flow limit below half of the flows that there are, 10 s",
            lambda host: _usual(host, CX7, 4_000),
            settings=lambda: Settings(most_flows=1_500.0, flow_limit=1_500.0),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=241,
        ),
        Case("orderly reboot", _reboot(60.0), length_s=240, seed=141),
        Case("orderly reboot, 10 s", _reboot(60.0), interval_s=10, jitter_s=1, length_s=300, seed=142),
        Case("Open vSwitch restarted", _ovs_restart(60.0, 4.0), length_s=150, seed=143),
        Case(
            "Open vSwitch restarted, 10 s, old release",
            _ovs_restart(60.0, 4.0, CX7, 6_000),
            interval_s=10,
            jitter_s=1,
            length_s=240,
            release=OVS_2_17,
            seed=144,
        ),
        Case("Open vSwitch restarted, small table", _ovs_restart(20.0, 3.0, CX6, 400), length_s=60, release=OVS_3_5, seed=145, quick=True),
        Case("storm of pods", _pod_storm(30.0, 300, 15), length_s=120, seed=146),
        Case("counters of 32 bits that wrap", _wraps(), length_s=120, seed=147),
        Case("dumps that break off", _broken_dumps(20.0, 60.0), length_s=120, seed=148),
        Case("dumps that take six seconds, 10 s", _slow_dumps(6.0), interval_s=10, jitter_s=1, length_s=300, seed=149),
        Case("clock set forward by an hour", _clock_set(60.0, 3600.0), length_s=150, seed=150),
        Case("clock set back by 30 s", _clock_set(60.0, -30.0), length_s=150, seed=151),
        Case(
            "clock set back by 30 s, and counters late right after",
            _clock_set(60.0, -30.0, 62.0),
            (Expected("S1", 40.0, ("C5",), by_s=60),),
            length_s=170,
            seed=152,
        ),
        Case("collector killed again and again", _collector_dies(40.0, 4), length_s=200, seed=153),
        Case("collector stopped for 20 s and continued", _frozen_collector(60.0, 20.0), length_s=150, seed=154),
        Case("hardware counters vanish for 30 s", _counters_vanish(40.0), length_s=120, seed=155),
        Case("max-idle raised and lowered", _settings_change(40.0), length_s=180, seed=156),
        Case("containers move all the time", _migrating_pods(), length_s=180, seed=157),
        Case(
            "two RNICs, late counters of the second",
            _two_cards(1),
            (Expected("S1", 0.0, ("C5",), pci="0000:5e:00.0"),),
            length_s=150,
            seed=158,
        ),
        Case(
            "late counters and dumps that take six seconds, 10 s",
            _slow_dumps(6.0, late=True),
            (Expected("S1", 0.0, ("C5",), by_s=180),),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=159,
        ),
    ]
