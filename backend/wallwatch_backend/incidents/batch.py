"""Applies the findings of one poll: repetitions together, whatever has news by itself and in order."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from sqlalchemy.exc import DataError, IntegrityError

from wallwatch_backend.incidents import repetitions, repository
from wallwatch_backend.incidents.finding import Finding
from wallwatch_backend.incidents.findings import Applied, apply
from wallwatch_backend.incidents.repetitions import Known
from wallwatch_backend.kit.database import Database

Outcome = Applied | str
"""What came of a message, or why the database refused it."""


async def apply_all(database: Database, findings: Sequence[Finding], reopen_within: timedelta) -> list[Outcome]:
    """Apply messages in the order in which they came; return what came of each.

    Repetitions go first, in one transaction. They change nothing that decides about others, and of one finding none overtakes news.
    Whatever has news gets a transaction of its own: rows must not stay locked while others are worked on, or people would wait.
    """
    outcomes: list[Outcome] = [Applied.repeated] * len(findings)
    try:
        with_news = await _apply_repetitions(database, findings, outcomes)
    except (DataError, IntegrityError):  # one message's fault; by themselves the others are applied
        with_news = list(range(len(findings)))
    for place in with_news:
        try:
            async with database.write() as session:
                outcomes[place] = await apply(session, findings[place], reopen_within)
        except (DataError, IntegrityError) as bad:  # this message's fault; any other error is the database's, and raises
            outcomes[place] = f"the database refused it: {str(bad.orig).splitlines()[0]}"
    return outcomes


async def _apply_repetitions(database: Database, findings: Sequence[Finding], outcomes: list[Outcome]) -> list[int]:
    """Apply what only repeats and say so in `outcomes`; return the places of the messages that are left, in order."""
    async with database.write() as session:
        await repository.lock_grouping(session)
        known = await repetitions.known(session, {finding.finding_id for finding in findings})
        fresher: dict[UUID, tuple[Finding, Known]] = {}
        left: list[int] = []
        waiting: set[UUID] = set()  # findings that have news: what comes after it is looked at after it
        for place, finding in enumerate(findings):
            kept = known.get(finding.finding_id)
            kind = "news" if kept is None or finding.finding_id in waiting else kept.kind(finding)
            if kept is None or kind == "news":
                waiting.add(finding.finding_id)
                left.append(place)
            elif kind == "fresher":
                kept.last_at = finding.at
                fresher[finding.finding_id] = (finding, kept)
                outcomes[place] = Applied.refreshed
        await repetitions.refresh(session, list(fresher.values()))
    return left
