"""Queries of what remedies ran where, and of the findings that they inhibit."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import select

from wallwatch.domain.catalogue import load
from wallwatch.domain.catalogue.remedy_models import Disturbance
from wallwatch_backend.incidents.inhibition.rules import CLOCKS_DIFFER, LONGEST, Run
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.incidents.remedy_history import CommandRun, remedy_history
from wallwatch_backend.kit.database import ReadSession


@cache
def disturbing() -> dict[str, Disturbance]:
    """Actions that have side effects, with these."""
    return {action.id: action.disturbs for action in load.remedies().values() if action.disturbs is not None}


@cache
def _symptoms() -> frozenset[str]:
    return frozenset(symptom for disturbance in disturbing().values() for symptom in disturbance.symptoms)


async def runs_that_may_cause(session: ReadSession, host: str, pci: str, symptom: str, since: datetime) -> list[Run]:
    """Runs of actions and undos that may cause a symptom at a place and that had not settled at `since`; oldest first."""
    if symptom not in _symptoms():  # most findings; saves the query
        return []
    return [run for run in await runs_on(session, [host], since) if run.may_cause(host, pci, symptom)]


async def runs_on(session: ReadSession, hosts: Sequence[str] | None, since: datetime) -> list[Run]:
    """Runs with side effects on these hosts (None: on all) that had not settled at `since`; oldest first."""
    commands = await remedy_history().command_runs(session, disturbing().keys(), hosts, since - LONGEST - CLOCKS_DIFFER)
    return [_run(command) for command in commands]


def _run(command: CommandRun) -> Run:
    disturbance = disturbing()[command.action]
    return Run(
        remedy_id=command.remedy_id,
        action=command.action,
        host=command.host,
        # A host's action may have been requested on the page of one of its RNICs.
        pci=command.pci if load.remedies()[command.action].scope == "rnic" else None,
        symptoms=frozenset(disturbance.symptoms),
        settle=timedelta(seconds=disturbance.settle_s),
        began_at=command.sent_at,
        ended_at=command.finished_at,
    )


async def active_inhibited(session: ReadSession) -> Sequence[Any]:
    """Active findings that a remedy inhibits, oldest first."""
    columns = (F.finding_id, F.host, F.pci, F.symptom, F.started_at, F.last_at, F.inhibited_by, F.inhibited_at)
    query = select(*columns).where(F.inhibited_by.is_not(None), F.inhibited, F.cleared_at.is_(None))
    return (await session.execute(query.order_by(F.started_at, F.finding_id))).all()


async def findings_of_remedies(session: ReadSession, remedy_ids: Sequence[UUID]) -> Sequence[Any]:
    """Findings that began during these remedies, oldest first: still inhibited, cleared or raised."""
    columns = (F.finding_id, F.incident_id, F.inhibited_by, F.inhibited, F.host, F.pci, F.symptom, F.title, F.started_at, F.cleared_at)
    return (await session.execute(select(*columns).where(F.inhibited_by.in_(remedy_ids)).order_by(F.started_at, F.finding_id))).all()
