"""Queries of one minute of the whole fleet."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text

from wallwatch.domain.catalogue.load import walls
from wallwatch_backend.kit.database import ReadSession

WALLS = tuple(walls().values())
MINUTE = timedelta(minutes=1)

_MINUTE = text(f"""
    SELECT s.host, s.pci, s.walls, r.tx_gbps_avg AS tx_gbps, r.rx_gbps_avg AS rx_gbps,
      {", ".join(f"o.{wall.signal}_max AS {wall.id}" for wall in WALLS)}
    FROM rnic_state s
    LEFT JOIN (SELECT * FROM rnic_1m WHERE bucket = :minute) r ON r.rnic_id = s.rnic_id
    LEFT JOIN (SELECT * FROM offload_1m WHERE bucket = :minute) o ON o.rnic_id = s.rnic_id
    ORDER BY s.rack, s.host, s.pci
""")  # noqa: S608 - names of the catalogue

_SYMPTOMS = text("""
    SELECT s.host, s.pci, array_agg(DISTINCT f.symptom ORDER BY f.symptom) AS symptoms
    FROM (
      SELECT finding_id, symptom, host_id, CASE WHEN blast_radius = 'host' THEN NULL ELSE rnic_id END AS rnic_id
      FROM finding WHERE time >= :since
      GROUP BY 1, 2, 3, 4
      HAVING min(started_at) <= :at AND coalesce(max(time) FILTER (WHERE state = 'cleared'), 'infinity') > :at
        AND (max(time) FILTER (WHERE state = 'cleared') IS NOT NULL OR max(time) >= :heard)
    ) f
    JOIN host h ON h.host_id = f.host_id
    JOIN rnic_state s ON s.host = h.host AND (f.rnic_id IS NULL OR f.rnic_id = s.rnic_id)
    GROUP BY s.host, s.pci
""")


async def minute(session: ReadSession, at: datetime) -> Sequence[Any]:
    """(host, pci, walls as they are today, rates, and the largest value of each wall's signal) of every RNIC, in the fleet's order."""
    return (await session.execute(_MINUTE, {"minute": at})).all()


async def symptoms(session: ReadSession, at: datetime, since: datetime, heard: datetime) -> dict[tuple[str, str], list[str]]:
    """Symptoms that were active at a moment, by (host, pci).

    Parameters
    ----------
    since
        Findings without a message since then are forgotten.
    heard
        One that never cleared counts if a later message of it came.
    """
    values = {"at": at, "since": since, "heard": heard}
    return {(row.host, row.pci): row.symptoms for row in await session.execute(_SYMPTOMS, values)}
