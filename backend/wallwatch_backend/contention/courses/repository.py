"""Queries of the minutes of functions, and of the models that are active."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text

from wallwatch_backend.contention.models.models import NfModelVersionRow
from wallwatch_backend.kit.database import ReadSession

_CARD = text("SELECT coalesce(model, '') AS model, coalesce(fw_ver, '') AS fw_ver FROM rnic WHERE host = :host AND pci = :pci")
_MINUTES = text(
    """
    SELECT extract(epoch FROM s.time)::bigint / 60 AS minute, s.function, s.container, max(s.pod) AS pod,
           avg(s.instructions_per_cycle) AS ipc, avg(s.instructions_per_s) AS instructions, avg(s.cache_reads_per_s) AS l2_reads,
           avg(s.cache_writes_per_s) AS l2_writes, avg(s.memory_reads_per_s) AS memory_reads, avg(s.memory_writes_per_s) AS memory_writes,
           avg(s.working_set_mb) AS working_set_mb, avg(s.flows)::float8 AS flows, avg(s.packet_bytes) AS packet_bytes,
           avg(s.mtbr_per_mb) AS mtbr, avg(s.throughput_kpps) AS throughput_kpps, avg(s.offered_kpps) AS offered_kpps
    FROM function_sample s JOIN rnic r USING (rnic_id)
    WHERE r.host = :host AND r.pci = :pci AND s.time >= :since
    GROUP BY s.function, s.container, minute
    ORDER BY minute, s.function, s.container
    """
)


async def card(session: ReadSession, host: str, pci: str) -> Row[Any] | None:
    """Model and firmware of a card."""
    return (await session.execute(_CARD, {"host": host, "pci": pci})).one_or_none()


async def minutes(session: ReadSession, host: str, pci: str, since: datetime) -> Sequence[Row[Any]]:
    """Means of each function of a card by minute."""
    return (await session.execute(_MINUTES, {"host": host, "pci": pci, "since": since})).all()


async def active(session: ReadSession, functions: Iterable[str]) -> Mapping[tuple[str, str, str], NfModelVersionRow]:
    """Active versions by function, card model and firmware ('' is any)."""
    query = select(NfModelVersionRow).where(NfModelVersionRow.function.in_(set(functions)), NfModelVersionRow.state == "active")
    return {(row.function, row.nic_model, row.firmware): row for row in await session.scalars(query)}
