"""Network functions in the store: their minutes, the active models, what is promised to them, and findings that have not ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg

_MINUTES = """
SELECT r.host, r.pci, r.rack, coalesce(r.model, ''), coalesce(r.driver, ''), coalesce(r.fw_ver, ''), m.*
FROM (
    SELECT rnic_id, function, container, max(pod) AS pod, (extract(epoch FROM time)::bigint / 60) AS minute,
           avg(instructions_per_cycle), avg(instructions_per_s), avg(cache_reads_per_s), avg(cache_writes_per_s), avg(memory_reads_per_s),
           avg(memory_writes_per_s), avg(working_set_mb), avg(flows)::float8, avg(packet_bytes), avg(mtbr_per_mb), avg(throughput_kpps),
           avg(offered_kpps)
    FROM function_sample WHERE time >= %s AND time < %s
    GROUP BY rnic_id, function, container, minute
) m JOIN rnic r USING (rnic_id)
ORDER BY m.minute, r.host, r.pci, m.function, m.container
"""

_ACTIVE = "SELECT id, function, nic_model, firmware, own_load FROM nf_model_version WHERE state = 'active'"
_MODEL = "SELECT model FROM nf_model_version WHERE id = %s"
_TERMS = "SELECT name, sla_drop FROM network_function"

_LASTING = """
SELECT s.host, s.pci, coalesce(s.rack, ''), coalesce(f.model, ''), coalesce(f.driver, ''), coalesce(f.fw_ver, ''), f.started_at, f.time
FROM rnic_state s CROSS JOIN LATERAL (
  SELECT * FROM finding WHERE finding_id = (s.symptoms -> %(symptom)s ->> 'finding_id')::uuid ORDER BY time DESC LIMIT 1
) f
WHERE s.symptoms ? %(symptom)s AND s.symptoms -> %(symptom)s ->> 'until' IS NULL AND f.rule = %(rule)s AND f.state = 'active'
"""


@dataclass(frozen=True, slots=True)
class FunctionMinute:
    """Means of one function over one minute; None is unknown."""

    host: str
    pci: str
    rack: str
    model: str
    driver: str
    firmware: str
    function: str
    container: str
    pod: str
    minute: int
    counters: tuple[float, ...] | None
    """All seven, or None."""
    flows: float | None
    packet_bytes: float | None
    mtbr: float | None
    throughput: float | None
    offered: float | None


@dataclass(frozen=True, slots=True)
class ActiveModel:
    id: UUID
    own_load: list[dict[str, Any]] | None


@dataclass(frozen=True, slots=True)
class LastingFinding:
    host: str
    pci: str
    rack: str
    model: str
    driver: str
    firmware: str
    started_ms: int
    at_ms: int


def minutes(connection: psycopg.Connection[Any], first: int, last: int) -> list[FunctionMinute]:
    """Every function in the minutes `first` to `last`, the last one included, by minute and card."""
    span = [datetime.fromtimestamp(minute * 60, UTC) for minute in (first, last + 1)]
    found = []
    for row in connection.execute(_MINUTES, span):
        host, pci, rack, model, driver, firmware, _, function, container, pod, minute = row[:11]
        counters = None if None in row[11:18] else tuple(map(float, row[11:18]))
        found.append(
            FunctionMinute(host, pci, rack or "", model, driver, firmware, function, container, pod or "", minute, counters, *row[18:23])
        )
    return found


def active_models(connection: psycopg.Connection[Any]) -> dict[tuple[str, str, str], ActiveModel]:
    """Active versions by function, card model and firmware ('' is any)."""
    return {
        (function, nic_model, firmware): ActiveModel(id, own_load)
        for id, function, nic_model, firmware, own_load in connection.execute(_ACTIVE)
    }


def model_text(connection: psycopg.Connection[Any], id: UUID) -> str | None:
    """A version's model as JSON; None when it was deleted meanwhile."""
    row = connection.execute(_MODEL, [id]).fetchone()
    return None if row is None else str(row[0])


def sla_drops(connection: psycopg.Connection[Any]) -> dict[str, float]:
    """What functions may lose, as a share of their solo throughput; those without an SLA are left out."""
    return {name: float(drop) for name, drop in connection.execute(_TERMS) if drop is not None}


def lasting(connection: psycopg.Connection[Any], symptom: str, rule: str) -> list[LastingFinding]:
    """Findings of a rule that have not ended."""
    return [
        LastingFinding(host, pci, rack, model, driver, firmware, round(started_at.timestamp() * 1000), round(at.timestamp() * 1000))
        for host, pci, rack, model, driver, firmware, started_at, at in connection.execute(_LASTING, {"symptom": symptom, "rule": rule})
    ]
