"""Logs which peers were rejected and why: each peer and reason immediately, repeats ever less often, so that a fleet
that retries all the time leaves a readable log."""

from datetime import datetime, timedelta

import structlog

from wallwatch_backend.hosts.connections.abuse import RepeatLimiter
from wallwatch_backend.kit import clock

log = structlog.get_logger(__name__)

MAX_PEERS = 1000
"""Peers with pauses of their own; all others share one pause per reason, so that many addresses fill neither the log
nor the memory."""
_RESET_AFTER = timedelta(days=1)


class RejectionLog:
    """There is one per process, so that a new connection does not reset the pauses."""

    def __init__(self) -> None:
        self._started_at = clock.now()
        self._peers: set[str] = set()
        self._by_peer, self._others = RepeatLimiter(), RepeatLimiter()

    def add(self, event: str, peer: str, code: str, **detail: str | None) -> None:
        """Log a rejection of a peer (its host if known, else its address), unless the same was logged recently."""
        suppressed = self._suppressed_since(peer, code, clock.now())
        if suppressed is None:
            return
        details = {name: value for name, value in detail.items() if value}
        log.warning(event, code=code, **details, **({"suppressed": suppressed} if suppressed else {}))

    def _suppressed_since(self, peer: str, code: str, at: datetime) -> int | None:
        if at - self._started_at >= _RESET_AFTER:
            self._started_at, self._peers = at, set()
            self._by_peer, self._others = RepeatLimiter(), RepeatLimiter()
        if peer not in self._peers and len(self._peers) >= MAX_PEERS:
            return self._others.suppressed_since(code, at)
        self._peers.add(peer)
        return self._by_peer.suppressed_since(f"{peer}|{code}", at)
