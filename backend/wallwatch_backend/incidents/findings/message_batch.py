"""Applies the messages of one poll: repetitions together, those with news one by one and in order."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy.exc import DataError, IntegrityError

from wallwatch_backend.incidents import repository
from wallwatch_backend.incidents.findings import repetitions
from wallwatch_backend.incidents.findings.outcomes import Applied
from wallwatch_backend.incidents.findings.repetitions import StoredFinding
from wallwatch_backend.incidents.findings.schemas import Finding
from wallwatch_backend.incidents.findings.service import apply
from wallwatch_backend.kit.database import Database

Outcome = Applied | str
"""The result of a message, or why the database rejected it."""


async def apply_all(database: Database, findings: Sequence[Finding], reopen_within: timedelta) -> list[Outcome]:
    """Apply messages in order of arrival; return the outcome of each.

    Repetitions go first, in one transaction: they change nothing that decides about others, and a repetition never overtakes news of the
    same finding. Each message with news gets its own transaction, so that people do not wait for rows that a whole batch keeps locked.
    """
    outcomes: list[Outcome] = [Applied.repeated] * len(findings)
    try:
        with_news = await _apply_repetitions(database, findings, outcomes)
    except (DataError, IntegrityError):  # one message is bad; one by one the others still apply
        with_news = list(range(len(findings)))
    for place in with_news:
        try:
            async with database.write() as session:
                outcomes[place] = await apply(session, findings[place], reopen_within)
        except (DataError, IntegrityError) as bad:  # this message is bad; any other error is the database's, and raises
            outcomes[place] = f"the database rejected it: {str(bad.orig).splitlines()[0]}"
    return outcomes


async def _apply_repetitions(database: Database, findings: Sequence[Finding], outcomes: list[Outcome]) -> list[int]:
    """Apply repetitions and set their `outcomes`; return the positions of the remaining messages, in order."""
    async with database.write() as session:
        await repository.lock_grouping(session)
        stored = await repetitions.stored(session, {finding.finding_id for finding in findings})
        fresher: dict[UUID, tuple[Finding, StoredFinding]] = {}
        remaining: list[int] = []
        with_news: set[UUID] = set()  # later messages of these findings must not overtake the news
        for place, finding in enumerate(findings):
            row = stored.get(finding.finding_id)
            kind = "news" if row is None or finding.finding_id in with_news else row.kind(finding)
            if row is None or kind == "news":
                with_news.add(finding.finding_id)
                remaining.append(place)
            elif kind == "fresher":
                row.last_at = finding.at
                fresher[finding.finding_id] = (finding, row)
                outcomes[place] = Applied.refreshed
        await repetitions.refresh(session, list(fresher.values()))
    return remaining
