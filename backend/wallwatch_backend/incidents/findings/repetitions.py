"""Messages that only repeat a finding: the majority while a fleet is in trouble, and news for nobody. Two statements apply many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import JSON, DateTime, Double, Text, column, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid

from wallwatch_backend.incidents.findings.schemas import Finding, dump
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.incidents.models import IncidentRow as I
from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of

Kind = Literal["nothing", "fresher", "news"]


@dataclass
class StoredFinding:
    """The part of a stored finding that decides whether a message has news."""

    incident_id: UUID
    pci: str
    severity: str
    cause: str | None
    last_at: datetime
    cleared: bool
    resolved: bool
    """Its incident is resolved: a finding that is still active may reopen it."""

    def kind(self, finding: Finding) -> Kind:
        """Whether a message brings nothing, only fresher evidence, or news that may change an incident."""
        if self.cleared or finding.at <= self.last_at:
            return "nothing"
        same = finding.severity == self.severity and (not finding.hypotheses or finding.top.cause == self.cause)
        same = same and finding.pci in ("", self.pci)  # a finding on a host gets its RNIC once an event names it
        return "fresher" if finding.state == "active" and same and not self.resolved else "news"


async def stored(session: ReadSession, finding_ids: Iterable[UUID]) -> dict[UUID, StoredFinding]:
    """Those of the findings that are stored already."""
    columns = (F.finding_id, F.incident_id, F.pci, F.severity, F.cause, F.last_at, F.cleared_at, I.state)
    query = select(*columns).join(I, I.id == F.incident_id).where(F.finding_id == any_of(finding_ids))
    return {
        row.finding_id: StoredFinding(
            row.incident_id,
            row.pci,
            row.severity,
            row.cause,
            row.last_at,
            cleared=row.cleared_at is not None,
            resolved=row.state == IncidentState.resolved,
        )
        for row in await session.execute(query)
    }


_TEXTS = ("rack", "model", "driver", "fw_ver", "explanation")
_LISTS = ("evidence", "hypotheses", "remedies")
_REPLACED = ("blast_radius", "rule", "title", "summary")


def _values(finding: Finding, incident_id: UUID) -> dict[str, Any]:
    """One message as a record of the statements; a field that it leaves empty is null."""
    return {
        "finding_id": str(finding.finding_id),
        "incident_id": str(incident_id),
        "last_at": finding.at.isoformat(),
        "posterior": finding.top.posterior if finding.hypotheses else None,
        **{name: getattr(finding, name) for name in _REPLACED},
        **{name: getattr(finding, name) or None for name in _TEXTS},
        **{name: dump(getattr(finding, name)) or None for name in _LISTS},
    }


async def refresh(session: WriteSession, fresher: Sequence[tuple[Finding, StoredFinding]]) -> None:
    """Store the evidence of messages with nothing else new, at most one per finding. The caller holds the grouping lock."""
    if not fresher:
        return
    message = (
        func.json_to_recordset(literal([_values(finding, row.incident_id) for finding, row in fresher], JSON))
        .table_valued(
            column("finding_id", PgUuid),
            column("incident_id", PgUuid),
            column("last_at", DateTime(timezone=True)),
            column("posterior", Double),
            *(column(name, Text) for name in (*_REPLACED, *_TEXTS)),
            *(column(name, JSONB) for name in _LISTS),
        )
        .render_derived(name="message", with_types=True)
    )
    new = message.c
    kept_if_empty = {name: func.coalesce(new[name], getattr(F, name)) for name in ("posterior", *_TEXTS, *_LISTS)}
    refreshed = (
        update(F).where(F.finding_id == new.finding_id).values(last_at=new.last_at, **{n: new[n] for n in _REPLACED}, **kept_if_empty)
    )
    await session.execute(refreshed.execution_options(synchronize_session=False))
    # An incident has the summary of its leading finding; its title stays.
    leading = (I.id == new.incident_id, I.finding_id == new.finding_id)
    summarized = update(I).where(*leading, I.summary.is_distinct_from(new.summary)).values(summary=new.summary)
    await session.execute(summarized.execution_options(synchronize_session=False))
