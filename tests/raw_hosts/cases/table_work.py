"""Deletions that take long (S4), flows that software forwards although they are offloaded (S5), and what looks like them.

What is right: S4 where deletions take so much longer than usual that aged entries pile up (paper, section 4.1 and Table 1: C4, the RNIC
searches the table); a sweep that is long only because very many flows ended at once is none. S5 where packets of offloaded flows are
forwarded by software now and then while the entries stay (paper, section 3.2; C5: counters are not updated in time).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.raw_hosts.case import END, Case, Expected
from tests.raw_hosts.flow_table import Settings
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import BF3, CX5, CX6, CX6_DX, CX7, E810, Model
from tests.raw_hosts.releases import OVS_2_17
from tests.raw_hosts.traffic import bursts, busy

S4 = Expected("S4", causes=("C4",), until_s=END)
S5 = Expected("S5", causes=("C5",))


def _slow(deletion_s: float) -> Callable[[], Settings]:
    return lambda: Settings(deletion_s=deletion_s)


def _churn(model: Model = CX6, slow_since: float | None = None, to_s: float = 0.0, share: float = 1.0) -> Callable[[Host], None]:
    """A large table: 5,600 flows stay, and about 1,500 entries belong to flows that rest after a few seconds: 75 deletions a second."""

    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, int(5_600 * share), busy(120.0), shapes=shapes(6))
        host.flows(card, int(3_600 * share), bursts(5.0, 30.0, 400.0), shapes=shapes(6))
        if slow_since is not None:

            def become_slow() -> None:
                host.table.settings.deletion_s = to_s

            host.at(slow_since, become_slow)

    return make


def _job_ends(number: int, at: float, model: Model = CX6, others: int = 1500) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, others, busy(200.0), shapes=shapes(6))
        job = host.flows(card, number, busy(200.0), shapes=shapes(6))
        host.at(at, lambda: host.table.end(job))

    return make


def _software_episodes(number: int, since: float, length: float, pause: float, share: float, model: Model = CX6) -> Callable[[Host], None]:
    """Now and then the counters of some flows stand still for some seconds, and part of their packets shows up in the software datapath."""

    def make(host: Host) -> None:
        flows = host.flows(host.add_card(model), number, busy(300.0), shapes=shapes(6))
        table = host.table

        def begin() -> None:
            chosen = table.random.choice(flows, int(len(flows) * share), replace=False)
            table.next_read[chosen] = host.now + length

            def forward() -> None:
                for flow in chosen.tolist():
                    table.software_copies[flow] = table.software_copies.get(flow, 0.0) + 0.4 * table.traffic.rate[flow] * 0.5
                table.hit += int(0.4 * 150 * len(chosen))

            host.every(0.5, host.now, host.now + length, forward)

        for start in range(int(since), 700, int(length + pause)):
            host.at(float(start), begin)

    return make


def _only_software(number: int, placed: str) -> Callable[[Host], None]:
    """Flows that the RNIC never took: with an action that it cannot do, or of a kind that is not offloaded."""

    def make(host: Host) -> None:
        card = host.add_card(E810)
        host.flows(card, 800, busy(300.0), shapes=shapes(3))
        host.flows(card, number, busy(80.0), shapes=shapes(2), placed=placed)

    return make


def _port_comes_back(down_at: float, length: float) -> Callable[[Host], None]:
    """An operator disables a port while idle flows are kept for minutes. The kernel gives connections whose counters stand still back to
    software after 30 s (nf_flowtable_udp_timeout), and offloads them again once the port is back.
    """

    def make(host: Host) -> None:
        card = host.add_card(CX6_DX)
        flows = host.flows(card, 1_200, busy(300.0), shapes=shapes(4))
        table = host.table

        def down() -> None:
            card.admin_up = False
            table.traffic.on[:] = False

        def up() -> None:
            card.admin_up = True
            table.traffic.on[:] = True
            taken = table.random.choice(flows, len(flows) // 2, replace=False).tolist()

            def forward() -> None:
                for flow in taken:
                    table.software_copies[flow] = table.software_copies.get(flow, 0.0) + 0.3 * table.traffic.rate[flow] * 0.5
                table.hit += 60 * len(taken)

            host.every(0.5, host.now, host.now + 9.0, forward)

        host.at(down_at, down)
        host.at(down_at + length, up)

    return make


def cases() -> list[Case]:
    """All cases of this subject."""
    return [
        Case(
            "deletions nine times slower under churn, under way at the start", _churn(), (S4,), settings=_slow(0.009), length_s=150, seed=51
        ),
        Case(
            "deletions nine times slower under churn, 10 s, BlueField-3",
            _churn(BF3),
            (replace(S4, by_s=180),),
            settings=_slow(0.009),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=52,
        ),
        Case("deletions slower than flows age", _churn(CX6_DX), (replace(S4, until_s=None),), settings=_slow(0.016), length_s=150, seed=50),
        Case(
            "deletions become slow after a minute",
            _churn(CX7, 60.0, 0.011),
            (replace(S4, from_s=60.0),),
            settings=_slow(0.001),
            length_s=200,
            seed=53,
        ),
        Case(
            "a job of 4,000 flows ends while deletions are slow",
            _job_ends(4_000, 40.0),
            (replace(S4, from_s=50.0, by_s=60, until_s=None),),
            settings=_slow(0.009),
            length_s=180,
            release=OVS_2_17,
            seed=54,
        ),
        Case(
            "a job of 1,800 flows ends in a large table with slow deletions",
            _job_ends(1_800, 10.0, CX6, 4_600),
            (replace(S4, from_s=20.0, by_s=40, until_s=None),),
            settings=_slow(0.012),
            length_s=50,
            seed=55,
            quick=True,
        ),
        Case("a large job ends and its flows age at once", _job_ends(5_500, 40.0), settings=_slow(0.0003), length_s=150, seed=56),
        Case(
            "a large job ends, 10 s", _job_ends(5_500, 40.0, CX5), settings=_slow(0.0003), interval_s=10, jitter_s=1, length_s=200, seed=57
        ),
        Case("churn with deletions of usual length", _churn(), settings=_slow(0.001), length_s=240, seed=58),
        Case(
            "software forwards offloaded flows now and then",
            _software_episodes(3_000, 20.0, 8.0, 22.0, 0.5),
            (replace(S5, from_s=20.0),),
            length_s=160,
            seed=61,
        ),
        Case(
            "software forwards offloaded flows now and then, 10 s, ConnectX-6 Dx",
            _software_episodes(3_000, 20.0, 9.0, 21.0, 0.5, CX6_DX),
            (replace(S5, from_s=20.0, by_s=180),),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=62,
        ),
        Case(
            "software forwards offloaded flows, small table",
            _software_episodes(300, 15.0, 8.0, 17.0, 0.5),
            (replace(S5, from_s=15.0),),
            length_s=80,
            seed=63,
            quick=True,
        ),
        Case(
            "a port is disabled for 80 s, and its flows take some seconds to return to the RNIC, 10 s",
            _port_comes_back(60.0, 80.0),
            settings=lambda: Settings(max_idle_s=270.0),
            interval_s=10,
            jitter_s=1,
            length_s=240,
            seed=66,
        ),
        Case("flows that only the software datapath has", _only_software(1_500, "dp:ovs"), length_s=120, seed=64),
        Case("flows that TC has and the RNIC refused", _only_software(900, "dp:tc"), length_s=120, seed=65),
    ]
