"""Q_r of an RNIC: the ingress queries of its peers, weighted by the packets that it sends to each."""

from collections.abc import Sequence
from datetime import datetime

from wallwatch_backend.kit.database import ReadSession


async def remote_queries(session: ReadSession, rnic_ids: Sequence[int], since: datetime) -> dict[int, float]:
    """RNIC -> Q_r, for those whose peers are known."""
    return {}
