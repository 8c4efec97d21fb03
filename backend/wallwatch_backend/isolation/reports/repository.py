"""Queries of the monthly report, from the roll-up by day."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text

from wallwatch_backend.kit.database import ReadSession

_SUMS = """
    sum(d.kept_s) AS kept_s, sum(d.broken_s) AS broken_s, sum(d.unknown_s) AS unknown_s, sum(d.not_promised_s) AS not_promised_s,
    sum(d.aggressor_s) AS aggressor_s
"""
_BY_VF = text(f"""
    SELECT r.host, r.pci, d.vf, d.tenant, 1 AS vfs, {_SUMS},
      (array_agg(DISTINCT d.pod ORDER BY d.pod) FILTER (WHERE d.pod <> ''))[1:10] AS pods,
      (array_agg(DISTINCT k.owner ORDER BY k.owner) FILTER (WHERE k.owner IS NOT NULL))[1:10] AS owners
    FROM vf_day d JOIN rnic r USING (rnic_id) LEFT JOIN kubernetes_pod k ON k.pod = d.pod
    WHERE d.bucket >= :since AND d.bucket < :until GROUP BY r.host, r.pci, d.vf, d.tenant
""")  # noqa: S608 - put together from constants of this file
_BY_TENANT = text(f"""
    SELECT NULL AS host, NULL AS pci, NULL AS vf, d.tenant, count(DISTINCT (d.rnic_id, d.vf)) AS vfs, NULL AS pods, NULL AS owners, {_SUMS}
    FROM vf_day d WHERE d.bucket >= :since AND d.bucket < :until GROUP BY d.tenant
""")  # noqa: S608 - put together from constants of this file


async def sums(session: ReadSession, since: datetime, until: datetime, by: str) -> Sequence[Row[Any]]:
    """Seconds by state of each VF and tenant, or of each tenant."""
    return (await session.execute(_BY_VF if by == "vf" else _BY_TENANT, {"since": since, "until": until})).all()
