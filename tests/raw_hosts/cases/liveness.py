"""Entries that are deleted while their flows live, and entries that are deleted because their flows rest.

What is right: S1 where entries of flows that send all the time are deleted and come back again and again (paper, section 3.2 and Figure 3).
Late counters (C5) make the switch delete them: section 4.1 says that counters are not updated in time on large tables, so the switch takes
flows for idle. Entries that vanish without having been idle by the switch's own reading are C1. A flow that rested for longer than max-idle
was deleted rightly, however soon its next packet comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.raw_hosts.case import END, Case, Expected
from tests.raw_hosts.flow_table import Settings
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import BF3, CX5, CX6, CX6_DX, CX7, Model
from tests.raw_hosts.releases import OVS_2_17, OVS_3_1, OVS_3_5
from tests.raw_hosts.traffic import Pattern, bursts, busy, checkpoints, keepalive

LATE = (11.0, 18.0)
"""Times between two reads of a counter, s: the driver's round takes longer than max-idle."""


def _late(
    number: int, share: float = 1.0, since: float | None = None, model: Model = CX6, until: float | None = None
) -> Callable[[Host], None]:
    """Busy flows; the counters of a share of them are read late, from a time on or already before the collector starts."""

    def make(host: Host) -> None:
        flows = host.flows(host.add_card(model), number, busy(150.0), shapes=shapes(4))
        chosen = host.table.random.permutation(flows)[: int(len(flows) * share)]
        if since is None:
            host.table.read_counters_late(chosen, *LATE)
        else:
            host.at(since, lambda: host.table.read_counters_late(chosen, *LATE))
        if until is not None:
            host.at(until, lambda: host.table.read_counters_in_time(chosen))

    return make


def _steady(number: int, pattern: Pattern, busy_number: int = 0, model: Model = CX6) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, number, pattern, shapes=shapes(4))
        if busy_number:
            host.flows(card, busy_number, busy(150.0), shapes=shapes(4))

    return make


def _loses(number: int, per_s: float, share: float, since: float, model: Model = CX6) -> Callable[[Host], None]:
    """The RNIC loses entries of some containers again and again, without a word (C1); their next packets bring them back."""

    def make(host: Host) -> None:
        flows = host.flows(host.add_card(model), number, busy(150.0), shapes=shapes(4))
        victims = host.table.random.permutation(flows)[: int(len(flows) * share)]

        def lose() -> None:
            some = host.table.random.choice(victims, max(1, int(per_s / 2)), replace=False)
            host.table.lose(some)

        host.every(0.5, since, since + 700, lose)

    return make


S1_LATE = Expected("S1", causes=("C5",), until_s=END)
S1_LOST = Expected("S1", causes=("C1",), until_s=END)


def cases() -> list[Case]:
    """All cases of this subject."""
    made = [
        Case("late counters of all flows, under way at the start, 1 s", _late(7_700), (S1_LATE,), seed=11),
        Case(
            "late counters of all flows, under way at the start, 10 s",
            _late(7_700),
            (replace(S1_LATE, by_s=180),),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=12,
        ),
        Case(
            "late counters of all flows, under way at the start, ConnectX-7, old Open vSwitch",
            _late(7_600, model=CX7),
            (S1_LATE,),
            release=OVS_2_17,
            seed=13,
        ),
        Case(
            "late counters of all flows, under way at the start, BlueField-3, 10 s, ten minutes",
            _late(7_300, model=BF3),
            (replace(S1_LATE, by_s=180),),
            interval_s=10,
            jitter_s=2,
            length_s=600,
            seed=14,
        ),
        Case("late counters of a quarter of the flows, under way at the start", _late(7_500, 0.25), (S1_LATE,), seed=15),
        Case(
            "late counters of a quarter of the flows, 10 s",
            _late(7_500, 0.25),
            (replace(S1_LATE, by_s=180),),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=16,
        ),
        Case(
            "late counters of a quarter of the flows that begin after a minute",
            _late(7_500, 0.25, 60.0),
            (replace(S1_LATE, from_s=70.0),),
            length_s=200,
            seed=17,
        ),
        Case(
            "late counters of all flows that begin after a minute",
            _late(7_700, since=60.0, model=CX6_DX),
            (replace(S1_LATE, from_s=70.0),),
            length_s=200,
            seed=18,
        ),
        Case(
            "late counters of all flows for two minutes, ten minutes",
            _late(7_400, since=120.0, until=240.0),
            (replace(S1_LATE, from_s=130.0, until_s=245.0),),
            length_s=600,
            seed=19,
        ),
        Case(
            "late counters, and the collector restarts in the middle",
            _restarted(_late(7_500, since=30.0)),
            (replace(S1_LATE, from_s=40.0),),
            length_s=240,
            seed=20,
        ),
        Case("late counters on a small table", _late(1_200), (S1_LATE,), seed=21, quick=True),
        Case("lost entries of a third of the flows, under way at the start", _loses(7_300, 160, 0.33, -30.0), (S1_LOST,), seed=22),
        Case(
            "lost entries of a third of the flows, 10 s",
            _loses(7_300, 160, 0.33, -30.0),
            (replace(S1_LOST, by_s=180),),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=23,
        ),
        Case(
            "lost entries that begin after a minute, ConnectX-5",
            _loses(7_100, 240, 0.5, 60.0, CX5),
            (replace(S1_LOST, from_s=61.0),),
            length_s=180,
            release=OVS_3_1,
            seed=24,
        ),
        Case(
            "lost entries on a small table", _loses(900, 60, 0.5, 20.0), (replace(S1_LOST, from_s=21.0),), length_s=100, seed=25, quick=True
        ),
        Case("busy flows, none deleted", _steady(7_200, busy(150.0)), seed=31),
        Case(
            "busy flows, none deleted, 10 s, ten minutes",
            _steady(7_200, busy(150.0)),
            interval_s=10,
            jitter_s=2,
            length_s=600,
            release=OVS_2_17,
            seed=32,
        ),
        Case("bursts with rests of 15 s on average", _steady(3_950, bursts(8.0, 15.0)), length_s=240, seed=33),
        Case(
            "bursts with rests of 15 s on average, 10 s",
            _steady(3_950, bursts(8.0, 15.0)),
            interval_s=10,
            jitter_s=1,
            length_s=400,
            seed=34,
        ),
        Case(
            "bursts with rests of 15 s on average, old Open vSwitch, ten minutes",
            _steady(3_950, bursts(6.0, 15.0)),
            length_s=600,
            release=OVS_2_17,
            seed=35,
        ),
        Case("bursts on a small table", _steady(700, bursts(6.0, 15.0)), length_s=100, seed=36, quick=True),
        Case("checkpoints: all flows rest for 13 s again and again", _steady(3_950, checkpoints(20.0, 13.0)), length_s=240, seed=37),
        Case(
            "checkpoints: all flows rest for 13 s, 10 s",
            _steady(3_950, checkpoints(20.0, 13.0)),
            interval_s=10,
            jitter_s=1,
            length_s=400,
            seed=38,
        ),
        Case("checkpoints in step: the whole job rests for 13 s", _in_step(4_200), length_s=240, seed=39),
        Case("keep-alives a little longer than max-idle", _steady(3_950, keepalive(10.8)), length_s=240, seed=40),
        Case(
            "keep-alives a little longer than max-idle, 10 s",
            _steady(3_950, keepalive(10.8)),
            interval_s=10,
            jitter_s=1,
            length_s=400,
            seed=41,
        ),
        Case(
            "keep-alives a little longer than max-idle next to busy flows",
            _steady(2_500, keepalive(11.5), 4_000),
            length_s=240,
            release=OVS_3_5,
            seed=42,
        ),
        Case("keep-alives on a small table", _steady(600, keepalive(10.8), 200), length_s=100, seed=43, quick=True),
        Case("bursts next to busy flows, ConnectX-6 Dx", _steady(2_500, bursts(10.0, 15.0), 4_000, CX6_DX), length_s=240, seed=44),
        Case("short max-idle: flows that rest for 3 s", _short_idle(), length_s=200, settings=lambda: Settings(max_idle_s=2.0), seed=45),
    ]
    return made


def _restarted(make: Callable[[Host], None]) -> Callable[[Host], None]:
    def both(host: Host) -> None:
        make(host)

        def end() -> None:
            host.collector_runs, host.collector_ends = False, "kill"

        def begin() -> None:
            host.collector_runs = True

        host.at(120.0, end)
        host.at(125.0, begin)

    return both


def _in_step(number: int) -> Callable[[Host], None]:
    """All flows of a job rest at the same time: each training step ends with a checkpoint of 13 s."""

    def make(host: Host) -> None:
        flows = host.flows(host.add_card(), number, busy(200.0), shapes=shapes(4))

        def rest() -> None:
            host.table.end(flows)

        def go_on() -> None:
            host.table.traffic.change(flows, busy(200.0), host.now)

        for begin in range(15, 600, 40):
            host.at(float(begin), rest)
            host.at(begin + 13.0, go_on)

    return make


def _short_idle() -> Callable[[Host], None]:
    def make(host: Host) -> None:
        host.settings["max-idle"] = "2000"
        host.flows(host.add_card(), 3_000, bursts(4.0, 3.0), shapes=shapes(4))

    return make
