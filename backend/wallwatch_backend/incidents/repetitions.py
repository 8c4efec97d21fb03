"""Findings that say again what is known: most of a fleet that burns, and told to nobody. Many are applied in two statements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import JSON, DateTime, Double, Text, column, func, literal, select, tuple_, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid

from wallwatch_backend.incidents.finding import Finding, dump
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.incidents.models import IncidentRow as I
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.kit.rows import any_of

Kind = Literal["nothing", "fresher", "news"]


@dataclass
class Known:
    """What is kept of a finding, as far as it tells whether a message has news."""

    incident_id: UUID
    severity: str
    cause: str | None
    last_at: datetime
    over: bool
    resolved: bool
    """Its incident is: a finding that goes on may reopen it."""

    def kind(self, finding: Finding) -> Kind:
        """What a message brings: nothing, fresher evidence only, or something that an incident may change with."""
        if self.over or finding.at <= self.last_at:
            return "nothing"
        same = finding.severity == self.severity and (not finding.hypotheses or finding.top.cause == self.cause)
        return "fresher" if finding.state == "active" and same and not self.resolved else "news"


async def known(session: ReadSession, finding_ids: Iterable[UUID]) -> dict[UUID, Known]:
    """What is kept of these findings; those that are new are not in it."""
    columns = (F.finding_id, F.incident_id, F.severity, F.cause, F.last_at, F.cleared_at, I.state)
    query = select(*columns).join(I, I.id == F.incident_id).where(F.finding_id == any_of(finding_ids))
    return {
        row.finding_id: Known(row.incident_id, row.severity, row.cause, row.last_at, row.cleared_at is not None, row.state == "resolved")
        for row in await session.execute(query)
    }


_TEXTS = ("rack", "model", "driver", "fw_ver", "explanation")
_LISTS = ("evidence", "hypotheses", "remedies")
_REPLACED = ("blast_radius", "rule", "title", "summary")


def _values(finding: Finding, incident_id: UUID) -> dict[str, Any]:
    """One message as the statements want it. What it leaves empty says nothing new (null)."""
    return {
        "finding_id": str(finding.finding_id),
        "incident_id": str(incident_id),
        "last_at": finding.at.isoformat(),
        "posterior": finding.top.posterior if finding.hypotheses else None,
        **{name: getattr(finding, name) for name in _REPLACED},
        **{name: getattr(finding, name) or None for name in _TEXTS},
        **{name: dump(getattr(finding, name)) or None for name in _LISTS},
    }


async def refresh(session: WriteSession, fresher: Sequence[tuple[Finding, Known]]) -> None:
    """Keep the evidence of messages that bring nothing else, at most one of each finding. The caller holds the lock of grouping."""
    if not fresher:
        return
    given = (
        func.json_to_recordset(literal([_values(finding, kept.incident_id) for finding, kept in fresher], JSON))
        .table_valued(
            column("finding_id", PgUuid),
            column("incident_id", PgUuid),
            column("last_at", DateTime(timezone=True)),
            column("posterior", Double),
            *(column(name, Text) for name in (*_REPLACED, *_TEXTS)),
            *(column(name, JSONB) for name in _LISTS),
        )
        .render_derived(name="given", with_types=True)
    )
    new = given.c
    kept = {name: func.coalesce(new[name], getattr(F, name)) for name in ("posterior", *_TEXTS, *_LISTS)}
    refreshed = update(F).where(F.finding_id == new.finding_id).values(last_at=new.last_at, **{n: new[n] for n in _REPLACED}, **kept)
    await session.execute(refreshed.execution_options(synchronize_session=False))
    # An incident speaks with its leading finding's words.
    leading = (I.id == new.incident_id, I.finding_id == new.finding_id)
    differs = tuple_(I.title, I.summary).is_distinct_from(tuple_(new.title, new.summary))
    said = update(I).where(*leading, differs).values(title=new.title, summary=new.summary)
    await session.execute(said.execution_options(synchronize_session=False))
