"""Devices, campaigns and their journals. The runner (`wallwatch job lab`) writes devices, journals and the course of campaigns."""

from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Integer, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import Mapped, deferred, mapped_column

from wallwatch_backend.kit.columns import At, Id, Json, Ref
from wallwatch_backend.kit.database import Base
from wallwatch_backend.kit.states import sql_list
from wallwatch_backend.lab.states import OPEN


class DeviceRow(Base):
    """A device that some runner offers. Its command is in the runner's settings only; `command_key` is a hash of it."""

    __tablename__ = "lab_device"

    name: Mapped[str] = mapped_column(primary_key=True)
    command_key: Mapped[str]
    model: Mapped[str | None]
    host: Mapped[str | None]
    pci: Mapped[str | None]
    description: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    problem: Mapped[str | None]
    runner: Mapped[str]
    seen_at: Mapped[At]


class CampaignRow(Base):
    """One campaign, from the request to the report."""

    __tablename__ = "lab_campaign"
    __table_args__ = (
        Index("lab_campaign_created", "created_at", "id"),
        Index("lab_campaign_open", "state", "created_at", postgresql_where=text(f"state IN ({sql_list(OPEN)})")),
        Index("lab_campaign_device_running", "device", unique=True, postgresql_where=text("state = 'running'")),
        Index("lab_campaign_unannounced", "ended_at", postgresql_where=text("ended_at IS NOT NULL AND announced_at IS NULL")),
    )

    id: Mapped[Id]
    device: Mapped[str] = mapped_column(ForeignKey("lab_device.name"))
    options: Mapped[Json]
    state: Mapped[str]
    requested_by: Mapped[str]
    requester_ids: Mapped[list[UUID]] = mapped_column(ARRAY(PgUuid(as_uuid=True)), default=list)  # accounts of the persons behind it
    decided_by: Mapped[str | None]
    decided_at: Mapped[At | None]
    decision_comment: Mapped[str | None]
    created_at: Mapped[At]
    updated_at: Mapped[At]
    started_at: Mapped[At | None]
    ended_at: Mapped[At | None]
    incident_id: Mapped[Ref | None] = mapped_column(ForeignKey("incident.id", ondelete="SET NULL"), index=True)
    runner: Mapped[str | None]
    heartbeat_at: Mapped[At | None]
    stop_requested_at: Mapped[At | None]
    stop_requested_by: Mapped[str | None]
    stop_reason: Mapped[str | None]
    message: Mapped[str | None]
    progress: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    report: Mapped[Json | None] = deferred(mapped_column(JSONB(none_as_null=True)))
    announced_at: Mapped[At | None]


class TestRow(Base):
    """One line of a campaign's journal; line 0 is its head."""

    __tablename__ = "lab_test"
    __test__ = False  # not a test of pytest

    campaign_id: Mapped[Ref] = mapped_column(ForeignKey("lab_campaign.id", ondelete="CASCADE"), primary_key=True)
    line: Mapped[int] = mapped_column(Integer, primary_key=True)
    entry: Mapped[Json]
