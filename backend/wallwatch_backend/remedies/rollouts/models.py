"""Rollouts: one remedy on many hosts."""

from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Id, Json, Ref
from wallwatch_backend.kit.database import Base
from wallwatch_backend.kit.states import sql_list
from wallwatch_backend.remedies.rollouts.states import DRIVEN


class RolloutRow(Base):
    __tablename__ = "rollout"
    __table_args__ = (
        Index("rollout_created", "created_at", "id"),
        Index("rollout_under_way", "state", postgresql_where=text(f"state IN ({sql_list(DRIVEN)})")),
    )

    id: Mapped[Id]
    action: Mapped[str]
    params: Mapped[Json]
    waves: Mapped[list[list[dict[str, Any]]]] = mapped_column(JSONB)  # of targets: {host, pci}
    state: Mapped[str]
    wave: Mapped[int]  # the present one, from 0
    wave_began_at: Mapped[At | None]
    incident_id: Mapped[Ref | None] = mapped_column(ForeignKey("incident.id", ondelete="SET NULL"), index=True)
    reason: Mapped[str]
    message: Mapped[str | None]
    undo_on_stop: Mapped[bool]
    not_before: Mapped[At | None]
    not_after: Mapped[At | None]
    requested_by: Mapped[str]
    requester_ids: Mapped[list[UUID]] = mapped_column(ARRAY(PgUuid(as_uuid=True)), default=list)  # accounts of the persons behind it
    decided_by: Mapped[str | None]
    decided_at: Mapped[At | None]
    decision_comment: Mapped[str | None]
    undo: Mapped[Json | None]  # the newest request to roll it back: {by, reason, began_at, despite_failures, message}
    created_at: Mapped[At]
    updated_at: Mapped[At]
