"""Masks that are tried one after another (S6, C6), and tables that only look like many masks.

What is right: S6 where the packets of flows match deep in the chain, so that the port cannot carry what is asked of it (paper, sections
3.2 and 4.2). The port carries what the paper's Table 3 leaves at the mean depth of the masks. Masks that hardly any packet matches harm
nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from tests.raw_hosts.card import Card
from tests.raw_hosts.case import END, Case, Expected
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import BCM57508, CX5, CX6, CX7, Model
from tests.raw_hosts.traffic import busy

TABLE_3 = {
    "ConnectX-5": (148.97, 42.34, -29.37, -45.14, 12.43),
    "ConnectX-6": (324.47, 42.13, -26.92, -49.71, 26.28),
    "ConnectX-7": (739.52, 48.66, -33.53, -52.88, 29.32),
}
"""u, v, m, n, w of the bandwidth model (paper, Table 3), with the bracket that the printed formula lacks."""
PACKET = 4150
"""Bytes of a RoCE packet with 4 KiB of data."""

S6 = Expected("S6", causes=("C6",), until_s=END)


def left_gbps(model: Model, local: float, remote: float) -> float:
    """What the RNIC carries at these mean depths."""
    u, v, m, n, w = TABLE_3[model.name]
    return u * math.exp(-((local - m) ** 2 + (remote - n) ** 2) / (2 * v * v)) + w


def _waits(host: Host, card: Card, since: float) -> None:
    """The port has more to send than it can, and the network's congestion control says so."""

    def wait() -> None:
        card.count("port_xmit_wait", 9_000_000)
        card.count("rp_cnp_handled", 4_000)

    host.every(1.0, since, 700.0, wait)


def deep(model: Model, number: int, masks: int, waits: bool = True) -> Callable[[Host], None]:
    """Flows spread evenly over masks in both directions, which ask for more than the port can carry at that depth."""

    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, number, busy(_rate(model, number, (masks - 1) / 2), PACKET), shapes=shapes(masks))
        if waits:
            _waits(host, card, -30.0)

    return make


def _tenant(model: Model, first: int, number: int, masks: int, at: float) -> Callable[[Host], None]:
    """Flows at the head of the chain fill the port; then a tenant's come, spread over many masks, and all share what is left."""

    def make(host: Host) -> None:
        card = host.add_card(model)
        head = host.flows(card, first, busy(0.97 * _rate(model, first, 0.5), PACKET), shapes=shapes(2))
        depth = (first * 0.5 + number * (masks - 1) / 2) / (first + number)
        shared = busy(_rate(model, first + number, depth), PACKET)

        def come() -> None:
            host.table.traffic.change(head, shared, host.now)
            host.flows(card, number, shared, shapes=shapes(masks), installed=False)

        host.at(at, come)
        _waits(host, card, at)

    return make


def _rate(model: Model, number: int, depth: float) -> float:
    """Packets per second of each of `number` flows, half of them egress, that fill what the model leaves at a mean depth."""
    return left_gbps(model, depth, 0) * 1e9 / 8 / PACKET / (number / 2)


def _idle_masks(model: Model, masks: int) -> Callable[[Host], None]:
    """Nearly all packets match the first two masks; 1 flow in 100 has one of the others and sends a packet now and then."""

    def make(host: Host) -> None:
        card = host.add_card(model)
        host.flows(card, 1_500, busy(0.6 * _rate(model, 1_500, 0.5), PACKET), shapes=shapes(2))
        host.flows(card, masks, busy(0.5, 200), shapes=shapes(masks))

    return make


def _geneve(number: int, masked: bool) -> Callable[[Host], None]:
    """OVN's tunnels: every flow has another value in the option of its logical ports.

    A mask of all ones is not printed (lib/odp-util.c, format_geneve_opts).
    """

    def make(host: Host) -> None:
        card = host.add_card(CX6)

        def option(index: int) -> str:
            value = 0x10000 + index % 4000
            return f",geneve({{class=0x102,type=0x80,len=4,{value:#x}{'/0x7fffffff' if masked else ''}}})"

        host.flows(card, number, busy(_rate(CX6, number, 2) * 0.7, PACKET), shapes=shapes(5), option=option)

    return make


def cases() -> list[Case]:
    """All cases of this subject."""
    return [
        Case("ninety masks used evenly, ConnectX-6", deep(CX6, 4_000, 90), (S6,), length_s=120, seed=71),
        Case(
            "ninety masks used evenly, ConnectX-7, 10 s",
            deep(CX7, 5_000, 90),
            (replace(S6, by_s=180),),
            interval_s=10,
            jitter_s=1,
            length_s=300,
            seed=72,
        ),
        Case(
            "a tenant brings sixty masks after a minute, ConnectX-5",
            _tenant(CX5, 240, 2_400, 60, 60.0),
            (replace(S6, from_s=60.0),),
            length_s=200,
            seed=73,
        ),
        Case(
            "ninety masks used evenly, no counter of waits or congestion moves",
            deep(CX6, 3_000, 90, waits=False),
            (S6,),
            length_s=120,
            seed=74,
        ),
        Case("sixty masks on a small table", deep(CX6, 400, 60), (S6,), length_s=70, seed=75, quick=True),
        Case("ninety masks with hardly any traffic", _idle_masks(CX6, 90), length_s=120, seed=76),
        Case("five masks with Geneve options matched on all bits", _geneve(1_600, masked=False), length_s=120, seed=77),
        Case("five masks with masked Geneve options", _geneve(1_600, masked=True), length_s=120, seed=78),
        Case("Geneve options matched on all bits, small table", _geneve(400, masked=False), length_s=50, seed=79, quick=True),
        Case("a Broadcom card at the head of its masks", _broadcom(), length_s=120, seed=80),
    ]


def _broadcom() -> Callable[[Host], None]:
    def make(host: Host) -> None:
        host.flows(host.add_card(BCM57508), 1_200, busy(500.0, PACKET), shapes=shapes(6))

    return make
