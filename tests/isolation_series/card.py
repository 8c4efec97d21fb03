"""The RNIC that the VFs share: what work costs it, how much it can hold, and where it counts what it drops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

REFERENCE_BYTES = 1500.0
"""Size of the packets for which `byte_rate` of `draw_card` is meant."""


class DropsAt(StrEnum):
    """Which counters move when the shared queue overflows."""

    PORT = "port only"
    BOTH = "port and VFs"
    VFS = "VFs only"
    VICTIMS = "port and victims"
    """What the aggressors lose is counted at the port only."""


@dataclass(frozen=True)
class Card:
    """An RNIC; its constants are hidden from whoever reads the CSV, except `nic_bps`."""

    nic_bps: float
    packet_s: float
    """Engine time per packet, s."""
    byte_s: float
    """Engine time per byte, s."""
    tx_cost: float
    """What a sent packet costs the same engine, as a part of a received one; 0: its own engine."""
    buffer_s: float
    """Length of the shared ingress queue, in seconds of the engine's work."""
    burstiness: float
    """How far packets come in bunches: mean wait at half load, in service times of a packet."""
    descriptors: int
    """Egress descriptors that all VFs share, completed in order."""
    drops_at: DropsAt
    port_row: bool
    """Whether the file has rows of the port."""
    port_counts_dropped: bool
    """Whether the port's rx_packets include what it dropped."""
    ports: int
    """Two for a LAG: the fabric can deliver twice `nic_bps`."""

    def cost(self, size: float) -> float:
        """Engine seconds for one packet of `size` bytes."""
        return self.packet_s + self.byte_s * size

    def load(self, packets: np.ndarray, size: np.ndarray | float) -> np.ndarray:
        """Engine seconds for `packets` packets of `size` bytes."""
        return packets * (self.packet_s + self.byte_s * size)

    @property
    def crossover_bytes(self) -> float:
        """Size at which a packet's bytes cost as much as the packet itself."""
        return self.packet_s / self.byte_s


def draw_card(rng: np.random.Generator, byte_rate: tuple[float, float] = (0.6, 1.2), ports: int = 1) -> Card:
    """Draw an RNIC whose engine carries packets of 1,500 bytes at `byte_rate` (from, to) of the port's rate."""
    nic_bps = float(rng.choice([10e9, 25e9, 40e9, 50e9, 100e9, 200e9]))
    crossover = float(rng.uniform(250, 650))
    bytes_per_s = float(rng.uniform(*byte_rate)) * nic_bps / 8
    byte_s = REFERENCE_BYTES / bytes_per_s / (REFERENCE_BYTES + crossover)
    drops_at = DropsAt(rng.choice([DropsAt.PORT, DropsAt.BOTH, DropsAt.BOTH, DropsAt.VFS]))
    return Card(
        nic_bps=nic_bps,
        packet_s=crossover * byte_s,
        byte_s=byte_s,
        tx_cost=float(rng.choice([0.0, 0.0, 0.0, 0.3, 1.0])),
        buffer_s=float(10 ** rng.uniform(-3.7, -2.3)),
        burstiness=float(rng.uniform(0.05e-6, 0.5e-6)) / (crossover * byte_s),
        descriptors=int(rng.choice([1024, 2048, 4096, 8192])),
        drops_at=drops_at,
        port_row=drops_at != DropsAt.VFS or bool(rng.random() < 0.5),
        port_counts_dropped=bool(rng.random() < 0.5),
        ports=ports,
    )
