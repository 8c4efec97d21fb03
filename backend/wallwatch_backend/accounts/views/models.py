"""Saved views."""

from sqlalchemy import Index
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id
from wallwatch_backend.kit.database import Base


class ViewRow(Base):
    __tablename__ = "saved_view"
    __table_args__ = (Index("saved_view_name", "owner", "name", unique=True),)

    id: Mapped[Id]
    owner: Mapped[str]  # as timelines name the caller: a user, or a token
    name: Mapped[str]
    query: Mapped[str]
    shared: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[Created]
    updated_at: Mapped[At]
