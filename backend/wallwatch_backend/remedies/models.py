"""Remedies and the commands that carry them to agents."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Json, JsonList, Ref
from wallwatch_backend.kit.database import Base
from wallwatch_backend.kit.states import sql_list
from wallwatch_backend.remedies.states import OPEN_COMMAND, RemedyState


class RemedyRow(Base):
    __tablename__ = "remedy"
    __table_args__ = (
        Index("remedy_created", "created_at", "id"),
        Index("remedy_host", "host", "pci"),
        Index("remedy_idempotency", "requested_by", "idempotency_key", unique=True, postgresql_where=text("idempotency_key IS NOT NULL")),
        Index("remedy_pending", "created_at", postgresql_where=text(f"state = '{RemedyState.pending}'")),
        Index("remedy_judged", "action", "updated_at", postgresql_where=text("mode = 'apply'")),
        Index("remedy_to_verify", "state", postgresql_where=text(f"state = '{RemedyState.verifying}'")),
    )

    id: Mapped[Id]
    action: Mapped[str]
    host: Mapped[str]
    pci: Mapped[str | None]
    params: Mapped[Json]
    mode: Mapped[str]
    state: Mapped[str]
    incident_id: Mapped[Ref | None] = mapped_column(ForeignKey("incident.id", ondelete="SET NULL"), index=True)
    rollout_id: Mapped[Ref | None] = mapped_column(ForeignKey("rollout.id", ondelete="SET NULL"), index=True)
    rollout_wave: Mapped[int | None]
    requested_by: Mapped[str]
    requester_ids: Mapped[list[UUID]] = mapped_column(ARRAY(PgUuid(as_uuid=True)), default=list)  # accounts of the persons behind it
    decided_by: Mapped[str | None]  # who approved or rejected it, where that was needed
    decided_at: Mapped[At | None]
    decision_comment: Mapped[str | None]  # in the words of who decided
    created_at: Mapped[At]
    updated_at: Mapped[At]
    applied_at: Mapped[At | None]
    code: Mapped[str | None]
    message: Mapped[str | None]
    operations: Mapped[JsonList] = mapped_column(default=list)
    change: Mapped[Json | None]  # whether the host has it
    effect: Mapped[Json | None]  # what it does to the symptom; null where nothing can show that
    effect_samples: Mapped[Json | None] = mapped_column(JSONB, deferred=True)
    idempotency_key: Mapped[str | None]
    request_hash: Mapped[str]


class CommandRow(Base):
    """One signed order. It is sent again, unchanged, until a result comes or it expires; the agent never runs an id twice."""

    __tablename__ = "remedy_command"
    __table_args__ = (Index("remedy_command_open", "host", postgresql_where=text(f"state IN ({sql_list(OPEN_COMMAND)})")),)

    id: Mapped[Id]
    remedy_id: Mapped[Ref] = mapped_column(ForeignKey("remedy.id", ondelete="CASCADE"), index=True)
    host: Mapped[str]
    operation: Mapped[str]
    state: Mapped[str]
    jws: Mapped[str]
    issued_at: Mapped[At]
    expires_at: Mapped[At]
    sent_at: Mapped[At | None]
    finished_at: Mapped[At | None]
    code: Mapped[str | None]
    message: Mapped[str | None]
    result: Mapped[Json | None] = mapped_column(JSONB)
    created_at: Mapped[Created]
