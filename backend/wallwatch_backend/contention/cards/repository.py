"""Queries of the samples of functions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text

from wallwatch_backend.kit.database import ReadSession

_NEWEST = text(
    """
    SELECT r.host, r.pci, r.model, r.fw_ver, s.time AS at, s.function, s.container, s.pod, s.instructions_per_cycle AS ipc,
           s.instructions_per_s AS instructions, s.cache_reads_per_s AS l2_reads, s.cache_writes_per_s AS l2_writes,
           s.memory_reads_per_s AS memory_reads, s.memory_writes_per_s AS memory_writes, s.working_set_mb, s.cpu_share, s.cores,
           s.flows, s.packet_bytes, s.mtbr_per_mb AS mtbr, s.throughput_kpps, s.offered_kpps, s.other ->> 'host_limits' AS host_limits
    FROM (
        SELECT DISTINCT ON (rnic_id, function, container) * FROM function_sample
        WHERE time >= :since ORDER BY rnic_id, function, container, time DESC
    ) s
    JOIN rnic r USING (rnic_id)
    ORDER BY r.host, r.pci, s.function, s.container
    LIMIT :most
    """
)


async def newest(session: ReadSession, since: datetime, most: int) -> Sequence[Row[Any]]:
    """The newest sample of each function that was measured since a time, by card."""
    return (await session.execute(_NEWEST, {"since": since, "most": most})).all()
