"""PCIe links that go down when virtual functions are unbound (S7), and links, ports and cards that go down for other reasons.

What is right: S7 where the link goes down, or comes back slower, within seconds of unbinding functions (paper, section 3.2; C7, a race
while the RNIC releases resources). A link that goes down in a running system without that is no known symptom, and is reported as
unexplained (domain: a performance issue with no symptom is never silently dropped). What an operator does is none.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.raw_hosts.card import Card
from tests.raw_hosts.case import Case, Expected
from tests.raw_hosts.cases.masks import deep
from tests.raw_hosts.flow_text import shapes
from tests.raw_hosts.host import Host
from tests.raw_hosts.models import CX5, CX6, CX7, E810, Model
from tests.raw_hosts.traffic import busy


def link_down(host: Host, card: Card, dpc: bool = True) -> None:
    """drivers/pci/pcie/dpc.c, dpc_process_error; pciehp_ctrl.c, pciehp_handle_presence_or_link_change; aer.c, aer_print_error."""
    if dpc:
        host.kernel.say(host.now, f"pcieport {card.upstream}: DPC: containment event, status:0x1f01 source:0x0000", priority=3)
        host.kernel.say(host.now + 0.01, f"pcieport {card.upstream}: AER: Uncorrected (Fatal) error received: {card.pci}", priority=3)
        card.fatal["DLP"] = card.fatal.get("DLP", 0) + 1
    host.kernel.say(host.now + 0.02, f"pcieport {card.upstream}: pciehp: Slot(3): Link Down", priority=6)


def link_up(host: Host, card: Card) -> None:
    """The link is trained again."""
    host.kernel.say(host.now, f"pcieport {card.upstream}: pciehp: Slot(3): Link Up", priority=6)


def _traffic(host: Host, model: Model, number: int = 600, vfs: int = 16) -> Card:
    card = host.add_card(model, vfs)
    host.flows(card, number, busy(200.0), shapes=shapes(4))
    return card


def _releases_race(model: Model, at: float, width_after: int = 16) -> Callable[[Host], None]:
    """Eight containers end within 2 s, and the link goes down a second later."""

    def make(host: Host) -> None:
        card = _traffic(host, model)
        for vf in range(8):
            host.at(at + 0.25 * vf, lambda vf=vf: host.release(card, vf))  # type: ignore[misc]
        host.at(at + 3, lambda: link_down(host, card))

        def again() -> None:
            card.width = width_after
            link_up(host, card)

        host.at(at + 8, again)

    return make


def _narrow_after_releases(model: Model, at: float) -> Callable[[Host], None]:
    """As above, but the kernel reports nothing: the link is trained again, with half of its lanes and a slower speed."""

    def make(host: Host) -> None:
        card = _traffic(host, model)
        for vf in range(6):
            host.at(at + 0.3 * vf, lambda vf=vf: host.release(card, vf))  # type: ignore[misc]

        def narrow() -> None:
            card.width, card.speed = 8, "8.0"
            card.fatal["DLP"] = 1

        host.at(at + 3, narrow)

    return make


def _all_functions_removed(at: float, breaks: bool) -> Callable[[Host], None]:
    """sriov_numvfs = 0: the functions vanish at once, without any call of the CNI chain."""

    def make(host: Host) -> None:
        card = _traffic(host, CX6, vfs=12)

        def remove() -> None:
            host.table.remove(host.table.random.permutation(600))
            card.set_vfs(0)

        host.at(at, remove)
        if breaks:
            host.at(at + 2, lambda: link_down(host, card))
            host.at(at + 9, lambda: link_up(host, card))

    return make


def _goes_down_alone(at: float) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        card = _traffic(host, CX6)
        host.at(at, lambda: link_down(host, card))

        def again() -> None:
            card.width = 8
            link_up(host, card)

        host.at(at + 5, again)

    return make


def _attach(host: Host, card: Card, vf: int) -> None:
    host.cni("ADD", card, vf)
    card.bind(vf, True)


def _released(number: int, at: float, pause: float) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        card = _traffic(host, CX7)
        for vf in range(number):
            host.at(at + pause * vf, lambda vf=vf: host.release(card, vf))  # type: ignore[misc]
            host.at(at + pause * vf + 10, lambda vf=vf: _attach(host, card, vf))  # type: ignore[misc]

    return make


def _port(at: float, length: float, admin: bool, model: Model = CX6) -> Callable[[Host], None]:
    """The port is disabled by an operator, or loses its cable: its flows stop, and age."""

    def make(host: Host) -> None:
        card = _traffic(host, model, 800)

        def down() -> None:
            if admin:
                card.admin_up = False
            else:
                card.port_up = False
            card.link_downed += 1
            host.table.traffic.on[:] = False
            if not admin and model.driver == "mlx5_core":
                # drivers/net/ethernet/mellanox/mlx5/core/events.c, port_module.
                host.kernel.say(host.now, "mlx5_core 0000:3b:00.0: Port module event: module 0, Cable unplugged", priority=6)

        def up() -> None:
            card.admin_up = card.port_up = True
            host.table.traffic.on[:] = True

        host.at(at, down)
        host.at(at + length, up)

    return make


def _driver_reload(at: float, model: Model = CX6) -> Callable[[Host], None]:
    """The functions are released, the driver is unloaded and loaded again: the card vanishes for 15 s, its counters start again."""

    def make(host: Host) -> None:
        card = _traffic(host, model, 800, 8)
        for vf in range(8):
            host.at(at - 20 + vf, lambda vf=vf: host.release(card, vf))  # type: ignore[misc]

        def unload() -> None:
            host.table.remove(host.table.random.permutation(800))
            host.kernel.say(
                host.now, f"mlx5_core {card.pci}: E-Switch: Disable: mode(OFFLOADS), nvfs(8), necvfs(0), active vports(8)", priority=6
            )
            card.vanish()

        def load() -> None:
            host.kernel.say(
                host.now,
                f"mlx5_core {card.pci}: firmware version: {model.firmware}",
                f"mlx5_core {card.pci}: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)",
                priority=6,
            )
            card.return_(8)

        host.at(at, unload)
        host.at(at + 15, load)
        host.at(at + 30, lambda: host.flows(card, 500, busy(200.0), shapes=shapes(4), installed=False))

    return make


def _corrected_errors(at: float) -> Callable[[Host], None]:
    def make(host: Host) -> None:
        card = _traffic(host, CX5)

        def error() -> None:
            card.correctable["BadTLP"] = card.correctable.get("BadTLP", 0) + 1
            host.kernel.say(
                host.now,
                f"pcieport {card.upstream}: AER: Corrected error message received from {card.pci}",
                f"mlx5_core {card.pci}: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)",
                priority=4,
            )

        host.every(4.0, at, at + 60, error)

    return make


def _deep_and_released(at: float) -> Callable[[Host], None]:
    """Ninety masks are used evenly, and then the link goes down after releases: two symptoms of one RNIC."""

    def make(host: Host) -> None:
        deep(CX6, 2_000, 90)(host)
        card = host.cards[0]
        for vf in range(6):
            host.at(at + 0.3 * vf, lambda vf=vf: host.release(card, vf))  # type: ignore[misc]
        host.at(at + 3, lambda: link_down(host, card))
        host.at(at + 7, lambda: link_up(host, card))

    return make


def cases() -> list[Case]:
    """All cases of this subject."""
    return [
        Case(
            "link down after eight releases",
            _releases_race(CX6, 40.0),
            (Expected("S7", 42.0, ("C7",), by_s=40),),
            length_s=110,
            seed=121,
            quick=True,
        ),
        Case(
            "link down after eight releases, back at half width, 10 s",
            _releases_race(CX7, 60.0, 8),
            (Expected("S7", 62.0, ("C7",), by_s=60),),
            interval_s=10,
            jitter_s=1,
            length_s=200,
            seed=122,
        ),
        Case(
            "link narrower after six releases, no word of the kernel",
            _narrow_after_releases(CX5, 40.0),
            (Expected("S7", 42.0, ("C7",), by_s=40),),
            length_s=110,
            seed=123,
        ),
        Case(
            "link down after all functions were removed at once",
            _all_functions_removed(40.0, breaks=True),
            (Expected("S7", 41.0, ("C7",), by_s=40),),
            length_s=110,
            seed=124,
        ),
        Case(
            "link of an E810 down after releases",
            _releases_race(E810, 40.0),
            (Expected("S7", 42.0, ("C7",), by_s=40),),
            length_s=110,
            seed=125,
        ),
        Case(
            "link down although nobody released anything",
            _goes_down_alone(40.0),
            (Expected("unexplained", 40.0, by_s=60),),
            length_s=120,
            seed=126,
        ),
        Case("all functions removed, and the link stays up", _all_functions_removed(40.0, breaks=False), length_s=100, seed=127),
        Case("twelve releases and new containers, link untouched", _released(12, 30.0, 0.3), length_s=100, seed=128),
        Case("port disabled on purpose", _port(40.0, 40.0, admin=True), length_s=130, seed=129),
        Case("cable pulled and put back", _port(40.0, 40.0, admin=False), length_s=130, seed=130),
        Case(
            "cable pulled and put back, E810, 10 s",
            _port(60.0, 60.0, admin=False, model=E810),
            interval_s=10,
            jitter_s=1,
            length_s=240,
            seed=131,
        ),
        Case("driver reloaded", _driver_reload(60.0), length_s=150, seed=132),
        Case("corrected PCIe errors", _corrected_errors(30.0), length_s=120, seed=133),
        Case("port disabled on purpose, small", _port(15.0, 15.0, admin=True, model=CX7), length_s=50, seed=134, quick=True),
        Case(
            "ninety masks used evenly, and the link goes down after six releases",
            _deep_and_released(60.0),
            (Expected("S6", 0.0, ("C6",)), Expected("S7", 62.0, ("C7",), by_s=40)),
            length_s=130,
            seed=135,
        ),
    ]
