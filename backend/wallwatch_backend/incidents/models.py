"""Incidents, their findings and timelines, and the notices of bulk changes that webhooks have not got yet."""

from typing import Any

from sqlalchemy import BigInteger, Double, ForeignKey, Identity, Index, Integer, Sequence, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.incidents.states import IncidentState
from wallwatch_backend.kit.columns import At, Created, Id, Json, JsonList, Ref
from wallwatch_backend.kit.database import Base

CHANGE_SEQ = Sequence("incident_change_seq", metadata=Base.metadata)
_UNRESOLVED = f"state <> '{IncidentState.resolved}'"


class IncidentRow(Base):
    """One incident; host, pci, symptom and the like are copied from its leading finding, the title from the one that opened it."""

    __tablename__ = "incident"
    __table_args__ = (
        Index("incident_opened", "opened_at", "id"),
        Index("incident_unresolved", "opened_at", "id", postgresql_where=text(_UNRESOLVED)),
        Index("incident_cleared", "cleared_at", postgresql_where=text(f"{_UNRESOLVED} AND NOT active")),
        Index("incident_updated", "updated_at", "id"),
        Index("incident_seq", "seq"),
        Index("incident_merged", "merged_into", postgresql_where=text("merged_into IS NOT NULL")),
        Index("incident_alike", "symptom", "resolved_at"),
    )

    id: Mapped[Id]
    host: Mapped[str]
    pci: Mapped[str]
    rack: Mapped[str | None]
    symptom: Mapped[str]
    state: Mapped[str]
    severity: Mapped[str]
    blast_radius: Mapped[str]
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
    scope: Mapped[str] = mapped_column(default="rnic")
    subject: Mapped[str] = mapped_column(default="")
    symptoms: Mapped[list[str]] = mapped_column(ARRAY(Text), default=list)
    hosts: Mapped[list[str]] = mapped_column(ARRAY(Text), default=list)
    rnics: Mapped[int] = mapped_column(Integer, default=1)
    model: Mapped[str | None]
    fw_ver: Mapped[str | None]
    assignee: Mapped[str | None]
    external_refs: Mapped[JsonList] = mapped_column(default=list)
    cleared_at: Mapped[At | None]  # event time at which the last symptom cleared; null while one is active, or if reopened by hand
    recommended: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))  # values of remedies, see `recommended`
    created_at: Mapped[Created]
    suppressed_by: Mapped[Ref | None]  # a silence, perhaps deleted since
    suppressed_at: Mapped[At | None]
    inhibited_by: Mapped[Ref | None]  # the remedy that caused all its findings; kept when it is resolved
    merged_into: Mapped[Ref | None] = mapped_column(ForeignKey("incident.id", ondelete="SET NULL"))
    apart: Mapped[bool] = mapped_column(default=False)  # someone split it: never grouped automatically again
    version: Mapped[int] = mapped_column(Integer, default=1)
    seq: Mapped[int] = mapped_column(BigInteger, server_default=CHANGE_SEQ.next_value())


class IncidentFindingRow(Base):
    """A finding as of its newest message, with the incident that it belongs to and the one that it first joined (`origin_id`)."""

    __tablename__ = "incident_finding"
    __table_args__ = (
        Index("incident_finding_rnic", "host", "pci", "symptom"),
        Index("incident_finding_fleet", "symptom", "cause", "started_at"),
        Index(
            "incident_finding_active_inhibited",  # queried every second for findings that are due
            "started_at",
            "finding_id",
            postgresql_where=text("inhibited_by IS NOT NULL AND inhibited AND cleared_at IS NULL"),
        ),
        Index("incident_finding_inhibited", "inhibited_by", "incident_id", postgresql_where=text("inhibited_by IS NOT NULL")),
    )

    finding_id: Mapped[Ref] = mapped_column(primary_key=True)
    incident_id: Mapped[Ref] = mapped_column(ForeignKey("incident.id", ondelete="CASCADE"), index=True)
    started_at: Mapped[At]
    last_at: Mapped[At]
    cleared_at: Mapped[At | None]
    origin_id: Mapped[Ref]
    host: Mapped[str]
    pci: Mapped[str]
    rack: Mapped[str]
    model: Mapped[str]
    driver: Mapped[str]
    fw_ver: Mapped[str]
    symptom: Mapped[str]
    cause: Mapped[str | None]
    posterior: Mapped[float | None] = mapped_column(Double)
    severity: Mapped[str]
    blast_radius: Mapped[str]
    rule: Mapped[str]
    title: Mapped[str]
    summary: Mapped[str]
    explanation: Mapped[str]
    inhibited: Mapped[bool] = mapped_column(default=False)
    inhibited_by: Mapped[Ref | None]  # the remedy during which it started; null also if a crashed or silent host inhibits it
    inhibited_at: Mapped[At | None]  # when the inhibition was decided, by our clock
    evidence: Mapped[JsonList]
    hypotheses: Mapped[JsonList]
    remedies: Mapped[JsonList]


class TimelineRow(Base):
    __tablename__ = "incident_timeline"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    incident_id: Mapped[Ref] = mapped_column(ForeignKey("incident.id", ondelete="CASCADE"), index=True)
    at: Mapped[Created]
    kind: Mapped[str]
    actor: Mapped[str]
    text: Mapped[str]
    data: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict)


class NoticeRow(Base):
    """A bulk change, per incident: written in its transaction, turned into a webhook event afterwards."""

    __tablename__ = "incident_notice"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    incident_id: Mapped[Ref] = mapped_column(ForeignKey("incident.id", ondelete="CASCADE"))
    event: Mapped[str]
    at: Mapped[At]
