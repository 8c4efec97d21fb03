"""The rule that needs no mechanism: any drop, or any VF later than promised, is a broken second; the VF with most packets did it."""

from __future__ import annotations

import itertools

from tests.isolation_series.product import Answer, Said
from tests.isolation_series.rows import PORT, Row
from tests.isolation_series.scene import PACKETS
from tests.isolation_series.series import Series

RX_PACKETS, RX_DROPPED, TX_PACKETS, TX_DROPPED = 1, 2, 4, 5


def naive(series: Series) -> Answer:
    """What this rule says of a series; counters that fall count as nothing."""
    promised = {one.name: one.slo_p99_us for one in series.tenants}
    said = {}
    readings = [entry.reading for entry in series.telemetry.entries]
    for before, after in itertools.pairwise(readings):
        old = {row.entity: row for row in before.rows}
        rows = [row for row in after.rows if row.entity in old]
        dropped = any(grew(old[row.entity], row, RX_DROPPED) or grew(old[row.entity], row, TX_DROPPED) for row in rows)
        late = [row.entity for row in rows if row.delay_p99_us is not None and row.delay_p99_us > promised[row.entity]]
        if dropped or late:
            said[after.t] = Said(tuple(late), (busiest(old, rows),), PACKETS)
    return Answer(said, frozenset(), ())


def grew(old: Row, new: Row, column: int) -> int:
    """By how much a counter grew; 0 where it fell."""
    return max(new.counters[column] - old.counters[column], 0)


def busiest(old: dict[str, Row], rows: list[Row]) -> str:
    """The VF with most packets."""
    vfs = [row for row in rows if row.entity != PORT]
    return max(vfs, key=lambda row: grew(old[row.entity], row, RX_PACKETS) + grew(old[row.entity], row, TX_PACKETS)).entity
