"""The monthly SLO report."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from wallwatch_backend.isolation.reports import repository
from wallwatch_backend.isolation.reports.schemas import ReportRow, SloReport
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import InvalidInput


def month_of(text: str | None, at: datetime) -> tuple[str, datetime, datetime]:
    """Name, begin and end of a month (UTC); the current one ends now.

    >>> now = datetime(2026, 11, 23, 18, tzinfo=UTC)
    >>> month_of("2026-02", now)[1:]
    (datetime.datetime(2026, 2, 1, 0, 0, tzinfo=datetime.timezone.utc), datetime.datetime(2026, 3, 1, 0, 0, tzinfo=datetime.timezone.utc))
    >>> month_of(None, now)[0], month_of(None, now)[2] == now
    ('2026-11', True)
    """
    name = text or f"{at:%Y-%m}"
    year, month = int(name[:4]), int(name[5:])
    begin = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    if begin > at:
        raise InvalidInput(f"The month {name} has not begun yet.")
    return name, begin, min(end, at)


async def report(session: ReadSession, month: str | None, by: str, objective: float) -> SloReport:
    name, since, until = month_of(month, clock.now())
    rows = [_row(row, objective) for row in await repository.sums(session, since, until, by)]
    rows.sort(key=lambda row: (row.budget_left_s, row.tenant or "", row.host or "", row.pci or "", row.vf or 0))
    return SloReport(month=name, since=since, until=until, by=by, objective=objective, rows=rows)


def _row(row: Row[Any], objective: float) -> ReportRow:
    judged = row.kept_s + row.broken_s
    budget = (1.0 - objective) * judged
    return ReportRow(
        tenant=row.tenant or None,
        host=row.host,
        pci=row.pci,
        vf=row.vf,
        pods=row.pods or [],
        owners=row.owners or [],
        vfs=row.vfs,
        kept_s=row.kept_s,
        broken_s=row.broken_s,
        unknown_s=row.unknown_s,
        not_promised_s=row.not_promised_s,
        aggressor_s=row.aggressor_s,
        kept_share=row.kept_s / judged if judged else None,
        budget_s=budget,
        budget_left_s=budget - row.broken_s,
        met=row.broken_s <= budget if judged else None,
    )
