"""Times in requests: RFC 3339 with a zone, within the range of PostgreSQL and the charts."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def _sensible(value: datetime) -> datetime:
    if not _EARLIEST <= value <= _LATEST:
        raise ValueError("must be between the years 2000 and 2200")
    return value.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_sensible)]
