"""What became of one attempt to deliver."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Outcome:
    """The result of one attempt."""

    at: datetime
    status: int | None
    duration_ms: int
    error: str | None

    @property
    def delivered(self) -> bool:
        return self.error is None
