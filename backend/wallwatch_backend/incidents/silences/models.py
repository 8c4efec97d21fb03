"""Silences and maintenance windows. Expired ones are kept as a record."""

from sqlalchemy import Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, JsonList
from wallwatch_backend.kit.database import Base


class SilenceRow(Base):
    __tablename__ = "silence"
    __table_args__ = (Index("silence_ends", "ends_at", "id"),)

    id: Mapped[Id]
    kind: Mapped[str]
    matchers: Mapped[JsonList]
    starts_at: Mapped[At]
    ends_at: Mapped[At]
    reason: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_by: Mapped[str]
    updated_at: Mapped[At]
    version: Mapped[int] = mapped_column(Integer, default=1)
    applied: Mapped[bool] = mapped_column(default=False)  # whether incidents reflect that it is active
