"""Which assumptions are changed, one at a time, and which kinds of series are made under each."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
from tests.isolation_assumptions.events import BYTES, PACKETS, block, few_drops, overload, policed, rise_together
from tests.isolation_assumptions.play import Played, play
from tests.isolation_assumptions.world import Assumptions, World, draw

BASE = Assumptions()

VARIATIONS: dict[str, Assumptions] = {
    "base case": BASE,
    "2 VFs": replace(BASE, vfs=2),
    "3 VFs": replace(BASE, vfs=3),
    "4 VFs": replace(BASE, vfs=4),
    "16 VFs": replace(BASE, vfs=16),
    "32 VFs": replace(BASE, vfs=32),
    "a VF heavy by right": replace(BASE, heavy=True),
    "one or two aggressors, heavy by right, 16 VFs": replace(BASE, vfs=16, heavy=True, aggressors=(1, 2), lengths_s=(1.0, 8.0)),
    "two aggressors": replace(BASE, aggressors=(2,)),
    "packet costs 60 bytes": replace(BASE, packet_bytes=60.0, storm_bytes=(64.0, 64.0)),
    "packet costs 1,000 bytes": replace(BASE, packet_bytes=1000.0),
    "slow engine: 0.3 of the line rate": replace(BASE, engine=0.3),
    "fast engine: 1.5 of the line rate": replace(BASE, engine=1.5),
    "100 Gbit/s": replace(BASE, nic_bps=100e9),
    "10 Gbit/s": replace(BASE, nic_bps=10e9),
    "small packets everywhere": replace(BASE, sizes=(90.0, 300.0)),
    "large packets everywhere": replace(BASE, sizes=(1200.0, 1500.0)),
    "storms of 200 to 300 bytes": replace(BASE, storm_bytes=(200.0, 300.0), packet_bytes=600.0),
    "jumbo frames burst": replace(BASE, burst_bytes=(4000.0, 9000.0)),
    "slight overloads": replace(BASE, loads=(1.05, 1.2)),
    "strong overloads": replace(BASE, loads=(2.5, 8.0)),
    "whole seconds": replace(BASE, whole_seconds=True),
    "short incidents": replace(BASE, lengths_s=(0.4, 2.0)),
    "long incidents": replace(BASE, lengths_s=(30.0, 100.0)),
    "busy engine": replace(BASE, busy=(0.5, 0.7)),
    "nearly idle engine": replace(BASE, busy=(0.03, 0.1)),
    "traffic varies by a quarter": replace(BASE, spread=0.25),
    "victims back off": replace(BASE, back_off=0.4),
    "uneven losses": replace(BASE, uneven=0.5),
    "drops at the port only": replace(BASE, drops_at="port"),
    "drops at the VFs only": replace(BASE, drops_at="vfs"),
    "drops at the VFs, no rows of the port": replace(BASE, drops_at="vfs without port"),
    "rx counters include the lost packets": replace(BASE, received_with_lost=True),
    "rx counters include the lost packets, drops at the port only": replace(BASE, received_with_lost=True, drops_at="port"),
    "no delays": replace(BASE, delays=False),
    "no delays, drops at the port only": replace(BASE, delays=False, drops_at="port"),
    "noisy delays": replace(BASE, noise=0.3, base=(0.2, 0.35)),
    "many blips": replace(BASE, blips=0.05),
    "delay rises before drops": replace(BASE, knee=0.1),
    "short queue": replace(BASE, queue_us=(20.0, 60.0)),
    "readings jitter by 20 ms": replace(BASE, jitter_s=0.02),
    "readings jitter by 100 ms": replace(BASE, jitter_s=0.1),
    "time since 1970, counters from 0": replace(BASE, t0=1_790_000_000.0, random_start=False),
    "egress: limit not stated": replace(BASE, egress_stated=False),
    "egress: the VF floods": replace(BASE, egress_wants="floods"),
    "egress: late by 2 to 5 promises": replace(BASE, egress_delay=(2.0, 5.0)),
    "egress: the others keep their rate": replace(BASE, egress_passes=(0.95, 1.0)),
    "egress: keep their rate, late by 2 to 5": replace(BASE, egress_passes=(0.95, 1.0), egress_delay=(2.0, 5.0)),
    "egress: the others receive less too": replace(BASE, egress_receives=False),
    "egress: receive less too, late by 2 to 5": replace(BASE, egress_receives=False, egress_delay=(2.0, 5.0)),
    "egress: not stated, receive less too, late by 2 to 10": replace(
        BASE, egress_stated=False, egress_receives=False, egress_delay=(2.0, 10.0)
    ),
    "egress: not stated, keep their rate": replace(BASE, egress_stated=False, egress_passes=(0.95, 1.0), egress_delay=(4.0, 20.0)),
}

KINDS = ("storm", "burst", "egress", "near miss")


def kinds_of(variation: str) -> tuple[str, ...]:
    """The kinds that an assumption matters for: one of blocked buffers for these only, and these need delays."""
    if variation.startswith("egress"):
        return ("egress",)
    return KINDS if VARIATIONS[variation].delays else tuple(kind for kind in KINDS if kind != "egress")


def make(variation: str, kind: str, seed: int) -> tuple[World, Played]:
    """The series of a variation, a kind and a seed: always the same."""
    rng = np.random.default_rng([zlib.crc32(variation.encode()), KINDS.index(kind), seed])
    world = draw(VARIATIONS[variation], rng)
    if kind in ("storm", "burst"):
        overload(world, PACKETS if kind == "storm" else BYTES, int(rng.integers(3, 8)))
    elif kind == "egress":
        block(world, int(rng.integers(1, 4)))
    else:
        policed(world)
        rise_together(world)
    few_drops(world)
    return world, play(world)


def promises(world: World) -> dict[str, object]:
    """The SLO file of a series."""
    slo: dict[str, dict[str, float]] = {}
    for vf in range(world.given.vfs):
        slo[f"vf{vf}"] = {
            "min_bps": float(world.min_bps[vf]), "max_bps": float(world.max_bps[vf]),
            "p50_us": world.p99_us / 3, "p99_us": world.p99_us, "loss": 0.0,
        }  # fmt: skip
        if vf in world.policed_bps:
            slo[f"vf{vf}"]["policed_bps"] = world.policed_bps[vf]
    return {"nic_bps": world.given.nic_bps, "slo": slo}
