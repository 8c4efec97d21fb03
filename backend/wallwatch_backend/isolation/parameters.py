"""Parameters that several routes of isolation share."""

from datetime import datetime
from typing import Annotated

from fastapi import Path, Query

from wallwatch_backend.kit import clock
from wallwatch_backend.kit.problems import InvalidInput
from wallwatch_backend.kit.times import Moment

Since = Annotated[Moment | None, Query(description="Default: midnight UTC before `until`")]
Until = Annotated[Moment | None, Query(description="Default: now")]
Vf = Annotated[int, Path(ge=0, le=4095, description="Number of the virtual function")]


def interval(since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
    """Fill in the defaults: until now, since the midnight (UTC) before.

    Raises
    ------
    InvalidInput
        When the interval is empty.
    """
    end = until or clock.now()
    start = since or end.replace(hour=0, minute=0, second=0, microsecond=0)
    if start > end or (since is not None and start == end):
        raise InvalidInput("`since` must be before `until`.")
    return start, end
