"""Mask plans, from the order to read the flows to the proof of what was carried out."""

from uuid import UUID

from sqlalchemy import ForeignKey, Index, Integer, LargeBinary, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import Mapped, deferred, mapped_column

from wallwatch_backend.kit.columns import At, Id, Json, JsonList, Ref
from wallwatch_backend.kit.database import Base
from wallwatch_backend.kit.states import sql_list
from wallwatch_backend.remedies.plans.states import OPEN


class PlanRow(Base):
    """One plan of one RNIC. Dumps are gzip as they came, and are forgotten after a day."""

    __tablename__ = "mask_plan"
    __table_args__ = (
        Index("mask_plan_created", "created_at", "id"),
        Index("mask_plan_rnic", "host", "pci"),
        Index("mask_plan_open", "state", postgresql_where=text(f"state IN ({sql_list(OPEN)})")),
        Index("mask_plan_to_check", "updated_at", postgresql_where=text("flows_after IS NOT NULL")),
    )

    id: Mapped[Id]
    host: Mapped[str]
    pci: Mapped[str]
    model: Mapped[str]
    state: Mapped[str]
    trigger: Mapped[str]
    then: Mapped[str]
    requested_by: Mapped[str]
    requester_ids: Mapped[list[UUID]] = mapped_column(ARRAY(PgUuid(as_uuid=True)), default=list)  # accounts of the persons behind it
    incident_id: Mapped[Ref | None] = mapped_column(ForeignKey("incident.id", ondelete="SET NULL"), index=True)
    hyper_capacity: Mapped[int | None] = mapped_column(Integer)
    read_remedy_id: Mapped[Ref] = mapped_column(ForeignKey("remedy.id", ondelete="CASCADE"), index=True)
    applied_by: Mapped[Ref | None]
    created_at: Mapped[At]
    updated_at: Mapped[At]
    flows_at: Mapped[At | None]
    expires_at: Mapped[At | None]
    code: Mapped[str | None]
    message: Mapped[str | None]
    ports: Mapped[JsonList]
    report: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    flows_sha256: Mapped[str | None]
    operations_sha256: Mapped[str | None]
    flows: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    operations: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    flows_after: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    progress: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
    aftermath: Mapped[Json | None] = mapped_column(JSONB(none_as_null=True))
