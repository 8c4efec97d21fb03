"""Violations that are a side effect of a remedy: shown with the remedy, and not counted.

The same rule as for findings (`incidents.inhibition`), but for an instant: a violation does not last, so nothing is raised later.
`subjects` in this module maps each policy to its subject.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents.inhibition import repository
from wallwatch_backend.incidents.inhibition.rules import Run
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.policies.reports import repository as telemetry_repository


def _disturbed() -> frozenset[str]:
    """Subjects whose policies some remedy violates as a side effect."""
    return frozenset(subject for disturbance in repository.disturbing().values() for subject in disturbance.policies_of)


def _caused(run: Run, host: str, pci: str, subject: str, at: datetime) -> bool:
    same_rnic = run.pci in (None, pci) or not pci  # of a flood a host reports the rest in one row, without its RNICs
    return subject in repository.disturbing()[run.action].policies_of and run.host == host and same_rnic and run.covers(at)


async def remedies_of(session: ReadSession, subject: str, rows: Sequence[Any]) -> list[UUID | None]:
    """Return the remedy that caused each violation (`time`, `host`, `pci`) of a policy on that subject; None where no remedy did."""
    if not rows or subject not in _disturbed():
        return [None] * len(rows)
    runs = await repository.runs_on(session, sorted({row.host for row in rows}), min(row.time for row in rows))
    newest = list(reversed(runs))
    return [next((run.remedy_id for run in newest if _caused(run, row.host, row.pci, subject, row.time)), None) for row in rows]


async def by_hour(session: ReadSession, since: datetime, subjects: Mapping[str, str]) -> Iterable[Any]:
    """(policy, hour, violations) that remedies caused, of the policies in `subjects`; hours counted from `since`."""
    wanted = [id for id, subject in subjects.items() if subject in _disturbed()]
    runs = await repository.runs_on(session, None, since) if wanted else []
    if not runs:
        return []
    return await telemetry_repository.violations_within(
        session, since, wanted, [(r.host, r.pci, r.began_at, r.covered_until) for r in runs]
    )
