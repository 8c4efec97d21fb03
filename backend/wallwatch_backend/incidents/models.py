"""Incidents, the findings that belong to them, and what happened in each."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, Integer, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, JsonList, Ref
from wallwatch_backend.kit.database import Base


class IncidentRow(Base):
    __tablename__ = "incident"
    __table_args__ = (
        Index("incident_one_open", "host", "pci", "symptom", unique=True, postgresql_where=text("state <> 'resolved'")),
        Index("incident_opened", "opened_at", "id"),
        Index("incident_rnic", "host", "pci", "symptom", "resolved_at"),
    )

    id: Mapped[Id]
    host: Mapped[str]
    pci: Mapped[str]
    rack: Mapped[str | None]
    symptom: Mapped[str]
    state: Mapped[str]
    severity: Mapped[str]
    blast_radius: Mapped[str]
    rule: Mapped[str]
    title: Mapped[str]
    summary: Mapped[str]
    finding_id: Mapped[Ref]
    active: Mapped[bool]
    opened_at: Mapped[At]
    updated_at: Mapped[At]
    acknowledged_at: Mapped[At | None]
    acknowledged_by: Mapped[str | None]
    resolved_at: Mapped[At | None]
    resolved_by: Mapped[str | None]
    reopened: Mapped[int] = mapped_column(Integer, default=0)
    top_cause: Mapped[str | None]
    evidence: Mapped[JsonList]
    hypotheses: Mapped[JsonList]
    remedies: Mapped[JsonList]


class IncidentFindingRow(Base):
    """Which incident a finding belongs to, and how far its messages have been applied."""

    __tablename__ = "incident_finding"

    finding_id: Mapped[Ref] = mapped_column(primary_key=True)
    incident_id: Mapped[Ref] = mapped_column(ForeignKey("incident.id", ondelete="CASCADE"), index=True)
    started_at: Mapped[At]
    last_at: Mapped[At]
    cleared_at: Mapped[At | None]


class TimelineRow(Base):
    __tablename__ = "incident_timeline"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    incident_id: Mapped[Ref] = mapped_column(ForeignKey("incident.id", ondelete="CASCADE"), index=True)
    at: Mapped[Created]
    kind: Mapped[str]
    actor: Mapped[str]
    text: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict)
