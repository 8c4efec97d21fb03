"""RNICs that stop answering (S8), with a full buffer of encapsulation contexts and without, and pauses that are none.

What is right: S8 where the RNIC forwards nothing although work waits, and the driver finds it dead; C8 where the contexts are at the
model's limit just beforehand (paper, section 3.2: 10,000 on BlueField-3). A pause of all traffic is no symptom by itself, whatever the
contexts are. S2 may come with it: the driver waits for commands that nobody answers.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.raw_hosts.case import Case, Expected
from tests.raw_hosts.cases.kernel import command_timeout
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import BF3, CX6, CX6_DX, Model
from tests.raw_hosts.traffic import busy


def _contexts(host: Host, model: Model, number: int) -> None:
    """As many egress flows, each to another endpoint or in another network."""
    host.flows(host.add_card(model), number, busy(40.0), egress_share=1.0, shapes=shapes(4), peers=500, networks=number // 500 + 1)
    host.flows(host.cards[0], 400, busy(60.0), egress_share=0.0, shapes=shapes(4))


def _dies(model: Model, contexts: int, at: float, length: float, recovers: bool = True) -> Callable[[Host], None]:
    """The RNIC stands still: its health counter stops, commands are not answered, nothing is sent; later the driver resets it."""

    def make(host: Host) -> None:
        _contexts(host, model, contexts)
        card = host.cards[0]

        def stop() -> None:
            host.table.frozen_until = host.table.stuck_until = at + length

        def miss() -> None:
            # drivers/net/ethernet/mellanox/mlx5/core/health.c, poll_health: three polls of 2 s without a change.
            host.kernel.say(
                host.now, f"mlx5_core {card.pci}: poll_health:823:(pid 0): device's health compromised - reached miss count", priority=3
            )

        def time_out() -> None:
            # drivers/net/ethernet/mellanox/mlx5/core/cmd.c, wait_func; commands have 60 s, and 10 s in recent kernels' health checks.
            host.kernel.say(host.now, command_timeout(card))

        host.at(at, stop)
        host.at(at + 8, miss)
        host.at(at + 21, time_out)
        if recovers:
            host.at(
                at + length,
                lambda: host.kernel.say(
                    host.now, f"mlx5_core {card.pci}: mlx5_health_try_recover:335:(pid 3174): health recovery succeeded"
                ),
            )

    return make


def _pause(model: Model, contexts: int, at: float, length: float) -> Callable[[Host], None]:
    """The job pauses: nobody sends, and nobody waits."""

    def make(host: Host) -> None:
        _contexts(host, model, contexts)

        def rest() -> None:
            host.table.traffic.on[:] = False

        def go_on() -> None:
            host.table.traffic.on[:] = True

        host.at(at, rest)
        host.at(at + length, go_on)

    return make


def _steady(model: Model, contexts: int) -> Callable[[Host], None]:
    return lambda host: _contexts(host, model, contexts)


def cases() -> list[Case]:
    """All cases of this subject."""
    return [
        Case(
            "a full encapsulation buffer stops a BlueField-3",
            _dies(BF3, 9_990, 60.0, 40.0),
            (Expected("S8", 60.0, ("C8",), by_s=60),),
            ("S2",),
            length_s=150,
            seed=81,
        ),
        Case(
            "a full encapsulation buffer stops a BlueField-3, 10 s",
            _dies(BF3, 9_990, 120.0, 70.0),
            (Expected("S8", 120.0, ("C8",), by_s=90),),
            ("S2",),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=82,
        ),
        Case(
            "an RNIC with few contexts dies",
            _dies(CX6, 800, 30.0, 40.0),
            (Expected("S8", 30.0, by_s=60),),
            ("S2",),
            length_s=110,
            seed=83,
            quick=True,
        ),
        Case(
            "an RNIC dies and stays dead",
            _dies(CX6_DX, 2_000, 60.0, 500.0, recovers=False),
            (Expected("S8", 60.0, by_s=60),),
            ("S2",),
            length_s=180,
            seed=84,
        ),
        Case("all traffic pauses for 12 s with 97% of the contexts in use", _pause(BF3, 9_700, 60.0, 12.0), length_s=150, seed=85),
        Case("all traffic pauses for 9 s with few contexts", _pause(CX6, 600, 30.0, 9.0), length_s=80, seed=86, quick=True),
        Case("97% of the contexts in use, all well, 10 s", _steady(BF3, 9_700), interval_s=10, jitter_s=1, length_s=300, seed=87),
    ]
