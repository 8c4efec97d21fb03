"""Violations that a remedy of one's own has brought about: shown with it, and not counted.

The same rule as for findings (`incidents.inhibition`), but for an instant: a violation does not last, so nothing is raised later.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch.domain.policies.load import policies as catalogue
from wallwatch_backend.incidents import inhibition_repository as repository
from wallwatch_backend.incidents.inhibition import Run
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.policies import repository as policies
from wallwatch_backend.policies import telemetry_repository


def _disturbed() -> frozenset[str]:
    """Subjects whose policies some remedy violates."""
    return frozenset(subject for disturbance in repository.disturbing().values() for subject in disturbance.policies_of)


async def _subjects(session: ReadSession) -> Mapping[str, str]:
    """Policy -> its subject, of the catalogue's and operators' own."""
    own = {id: version.definition["subject"] for id, version in (await policies.shown_versions(session)).items()}
    return {**{policy.id: policy.subject for policy in catalogue().values()}, **own}


def _has_done(run: Run, host: str, pci: str, subject: str, at: datetime) -> bool:
    there = run.pci in (None, pci) or not pci  # of a flood a host tells the rest in one row, without its RNICs
    return subject in repository.disturbing()[run.action].policies_of and run.host == host and there and run.covers(at)


async def remedies_of(session: ReadSession, policy_id: str, rows: Sequence[Any]) -> list[UUID | None]:
    """The remedy that has brought each violation (`time`, `host`, `pci`) of a policy about; None where it is in earnest."""
    subject = (await _subjects(session)).get(policy_id, "")
    if not rows or subject not in _disturbed():
        return [None] * len(rows)
    runs = await repository.runs_on(session, sorted({row.host for row in rows}), min(row.time for row in rows))
    newest = list(reversed(runs))
    return [next((run.remedy_id for run in newest if _has_done(run, row.host, row.pci, subject, row.time)), None) for row in rows]


async def by_hour(session: ReadSession, since: datetime, policy_id: str | None = None) -> Iterable[Any]:
    """(policy, hour, violations) that remedies have brought about, hours counted from `since`."""
    subjects = await _subjects(session)
    wanted = [id for id, subject in subjects.items() if subject in _disturbed() and policy_id in (None, id)]
    runs = await repository.runs_on(session, None, since) if wanted else []
    if not runs:
        return []
    return await telemetry_repository.violations_within(
        session, since, wanted, [(r.host, r.pci, r.began_at, r.covered_until) for r in runs]
    )
