"""The counters as a collector would write them: cumulative, one row per VF and port and time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np
from tests.isolation_series.card import DropsAt
from tests.isolation_series.play import Played
from tests.isolation_series.scene import Scene
from tests.isolation_series.truth import shared_p50_us, shared_p99_us

COLUMNS = ("rx_bytes", "rx_packets", "rx_dropped", "tx_bytes", "tx_packets", "tx_dropped")
HEADER = ",".join(("t", "entity", *COLUMNS, "delay_p50_us", "delay_p99_us"))
PORT = "port"


class Delays(StrEnum):
    """Which delays the file has."""

    ALL = "all"
    ACTIVE = "of active VFs"
    MISSING = "none"


@dataclass(frozen=True)
class Row:
    """One row; counters in the order of `COLUMNS`."""

    entity: str
    counters: tuple[int, ...]
    delay_p50_us: float | None
    delay_p99_us: float | None


@dataclass(frozen=True)
class Snapshot:
    """All rows of one reading."""

    t: float
    rows: tuple[Row, ...]

    def at(self, t: float) -> Snapshot:
        """The same counters with another time."""
        return replace(self, t=t)


def summed(values: np.ndarray, steps_per_interval: int) -> np.ndarray:
    """Sums per interval, cumulative, with a first row of zeros; shape (intervals + 1, ...)."""
    per_interval = values.reshape(-1, steps_per_interval, *values.shape[1:]).sum(axis=1)
    first = np.zeros((1, *per_interval.shape[1:]))
    return np.concatenate([first, np.cumsum(per_interval, axis=0)])


def vf_counters(scene: Scene, played: Played, steps_per_interval: int) -> np.ndarray:
    """Counters of the VFs, shape (intervals + 1, VFs, 6)."""
    seen = played.own_rx_drops.copy()
    if scene.card.drops_at == DropsAt.VICTIMS:
        seen += played.lost * ~scene.overloading()
    elif scene.card.drops_at != DropsAt.PORT:
        seen += played.lost
    if scene.card.drops_at == DropsAt.VFS:
        seen += split(scene.rng, played.stray_drops, played.arrived)
    columns = (played.rx_bytes, played.arrived - played.lost, seen, played.tx_bytes, played.sent, played.own_tx_drops)
    return np.stack([summed(one, steps_per_interval) for one in columns], axis=-1)


def split(rng: np.random.Generator, drops: np.ndarray, arrived: np.ndarray) -> np.ndarray:
    """Give each step's stray drops to one VF, by chance in proportion to what it received."""
    found = np.zeros_like(arrived)
    for step in np.nonzero(drops)[0]:
        total = arrived[step].sum()
        if total:
            found[step, rng.choice(arrived.shape[1], p=arrived[step] / total)] += drops[step]
    return found


def port_counters(scene: Scene, played: Played, steps_per_interval: int) -> np.ndarray:
    """Counters of the port, shape (intervals + 1, 6)."""
    lost = played.lost.sum(axis=1) + played.stray_drops
    packets, octets = (played.arrived - played.lost).sum(axis=1), played.rx_bytes.sum(axis=1)
    if scene.card.port_counts_dropped:
        packets = packets + lost
        octets = octets + np.floor((played.lost * scene.demand.rx_size).sum(axis=1))
    dropped = np.zeros_like(lost) if scene.card.drops_at == DropsAt.VFS else lost
    columns = (packets, octets, dropped, played.sent.sum(axis=1), played.tx_bytes.sum(axis=1), np.zeros_like(lost))
    order = (columns[1], columns[0], columns[2], columns[4], columns[3], columns[5])
    return np.stack([summed(one, steps_per_interval) for one in order], axis=-1)


def delays(scene: Scene, played: Played, steps_per_interval: int) -> tuple[np.ndarray, np.ndarray]:
    """Measured p50 and p99 per interval and VF, with the noise of few probes; shape (intervals, VFs)."""
    rng = scene.rng
    count, vfs = scene.demand.steps // steps_per_interval, len(scene.tenants)
    own = scene.demand.own_delay_us.reshape(count, steps_per_interval, vfs).max(axis=1)
    base50 = np.array([one.base_p50_us for one in scene.tenants])
    base99 = np.array([one.base_p99_us for one in scene.tenants])
    noise = scene.probe_noise
    probes = np.clip(np.exp(rng.normal(0, noise, (count, vfs))), 1 - 2.5 * noise, 1 + 2.5 * noise)
    p50 = (base50 + shared_p50_us(played, steps_per_interval)[:, None] + 0.5 * own) * np.clip(rng.normal(1, 0.03, (count, vfs)), 0.9, 1.1)
    p99 = (base99 + shared_p99_us(played, steps_per_interval)[:, None] + own) * probes
    return p50, np.maximum(p99, p50)


def snapshots(scene: Scene, played: Played, steps_per_interval: int, shown: Delays) -> list[Snapshot]:
    """The readings from t = 0 on; the first is the baseline of the counters."""
    rng = scene.rng
    length = steps_per_interval / 20
    vfs = vf_counters(scene, played, steps_per_interval)
    port = port_counters(scene, played, steps_per_interval)
    start = rng.integers(0, 2**44, (len(scene.tenants), len(COLUMNS)))
    start[:, 2] = rng.integers(0, 10**6, len(scene.tenants))
    start[:, 5] = rng.integers(0, 10**4, len(scene.tenants))
    if rng.random() < 0.4:
        start[:] = 0
    port_start = start.sum(axis=0)
    port_first = rng.random() < 0.3
    p50, p99 = delays(scene, played, steps_per_interval)
    active = np.diff(vfs[:, :, 1] + vfs[:, :, 4], axis=0) > 0
    found = []
    for place in range(len(vfs)):
        rows = []
        for vf, tenant in enumerate(scene.tenants):
            seen = place > 0 and shown != Delays.MISSING and (shown == Delays.ALL or bool(active[place - 1, vf]))
            rows.append(
                Row(
                    tenant.name,
                    tuple(int(value) for value in vfs[place, vf].astype(np.int64) + start[vf]),
                    round(float(p50[place - 1, vf]), 1) if seen else None,
                    round(float(p99[place - 1, vf]), 1) if seen else None,
                )
            )
        if scene.card.port_row:
            row = Row(PORT, tuple(int(value) for value in port[place].astype(np.int64) + port_start), None, None)
            rows.insert(0 if port_first else len(rows), row)
        found.append(Snapshot(place * length, tuple(rows)))
    return found


def write_csv(file: Path, readings: Iterable[Snapshot], empty: str, t_format: str) -> None:
    """Write readings; `empty` stands for a delay that nobody measured."""
    lines = [HEADER]
    for reading in readings:
        t = format(reading.t, t_format)
        for row in reading.rows:
            late = ",".join(empty if value is None else f"{value:.1f}" for value in (row.delay_p50_us, row.delay_p99_us))
            lines.append(f"{t},{row.entity},{','.join(map(str, row.counters))},{late}")
    file.write_text("\n".join(lines) + "\n")
