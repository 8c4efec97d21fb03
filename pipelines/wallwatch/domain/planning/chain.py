"""The chain of masks that one direction of the eSwitch tries, as a dump shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.traffic import Traffic, locality

Direction = Literal["egress", "ingress"]


@dataclass(frozen=True)
class ChainMask:
    """One mask of a chain, with the flows under it."""

    position: int
    mask: int
    recirculated: bool
    length_bits: int
    rows: tuple[int, ...]
    """Its flows, by their row in the dump."""
    packets: float
    """Packets of the last minute."""
    idle_s: float
    """How long ago any of its flows was used."""

    @property
    def score(self) -> float:
        """The locality score."""
        return locality(self.packets, self.length_bits)


@dataclass(frozen=True)
class Chain:
    """The masks of one direction, in the order in which they are tried."""

    direction: Direction
    masks: tuple[ChainMask, ...]

    @property
    def packets(self) -> float:
        """Packets of the last minute."""
        return sum(one.packets for one in self.masks)

    @property
    def queries(self) -> float | None:
        """Mean mask lookups per packet, `Q`; None without packets."""
        return sum(one.position * one.packets for one in self.masks) / self.packets if self.packets else None


def chains(flows: Sequence[Flow], space: HeaderSpace, traffic: Traffic) -> dict[Direction, Chain]:
    """Both chains. Flows that match what came out of a tunnel are the ingress side, where packets are decapsulated."""
    tunnel = space.mask_of("tunnel")
    rows: dict[tuple[Direction, int, bool], list[int]] = {}
    for row, flow in enumerate(flows):
        side: Direction = "ingress" if flow.mask & tunnel else "egress"
        rows.setdefault((side, flow.mask, flow.recirculated), []).append(row)
    found: dict[Direction, list[ChainMask]] = {"egress": [], "ingress": []}
    every = np.fromiter(chain.from_iterable(rows.values()), dtype=np.int64, count=len(flows))
    starts = np.cumsum([0, *(len(members) for members in rows.values())])[:-1]
    packets = np.add.reduceat(traffic.packets[every], starts).tolist() if rows else []
    idle = np.minimum.reduceat(traffic.idle_s[every], starts).tolist() if rows else []
    for ((side, mask, recirculated), members), count, idle_s in zip(rows.items(), packets, idle, strict=True):
        one = ChainMask(
            position=len(found[side]),
            mask=mask,
            recirculated=recirculated,
            length_bits=space.length_bits(mask),
            rows=tuple(members),
            packets=count,
            idle_s=idle_s,
        )
        found[side].append(one)
    return {side: Chain(side, tuple(masks)) for side, masks in found.items()}
