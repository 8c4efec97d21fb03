"""What became of one attempt to deliver."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Outcome:
    """The result of one attempt.

    `refused`: the receiver will not take this delivery however often it is sent.
    `retry_after_s`: the pause that the receiver asked for.
    """

    at: datetime
    status: int | None
    duration_ms: int
    error: str | None
    refused: bool = False
    retry_after_s: float | None = None

    @property
    def delivered(self) -> bool:
        return self.error is None
