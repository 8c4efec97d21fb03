"""Says in the log who was not let in and why: each peer and reason at once, then ever more rarely, so that a fleet that tries again and
again leaves lines that can be read."""

from datetime import datetime, timedelta

import structlog

from wallwatch_backend.agents.conduct import Repetitions
from wallwatch_backend.kit import clock

log = structlog.get_logger(__name__)

MOST_PEERS = 1000
"""Peers that are told of one by one; those beyond share one wait a reason, so that many addresses fill neither the log nor the memory."""
_ANEW = timedelta(days=1)


class TurnedAway:
    """One for a process: connecting again starts nothing anew."""

    def __init__(self) -> None:
        self._began = clock.now()
        self._peers: set[str] = set()
        self._told, self._others = Repetitions(), Repetitions()

    def note(self, event: str, peer: str, code: str, **detail: str | None) -> None:
        """Log one refusal of a peer (its host where that is known, else its address), unless the same was said lately."""
        at = clock.now()
        left_out = self._left_out(peer, code, at)
        if left_out is None:
            return
        more = {name: value for name, value in detail.items() if value}
        log.warning(event, code=code, **more, **({"left_out": left_out} if left_out else {}))

    def _left_out(self, peer: str, code: str, at: datetime) -> int | None:
        if at - self._began >= _ANEW:
            self._began, self._peers = at, set()
            self._told, self._others = Repetitions(), Repetitions()
        if peer not in self._peers and len(self._peers) >= MOST_PEERS:
            return self._others.due(code, at)
        self._peers.add(peer)
        return self._told.due(f"{peer}|{code}", at)
