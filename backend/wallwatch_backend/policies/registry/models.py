"""Policies of operators with their versions, disabled ones of the catalogue, and what was delivered to agents."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Integer
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Json
from wallwatch_backend.kit.database import Base


class PolicyRow(Base):
    """`own` is false for a policy of the catalogue: it has a row once someone has switched it, and no versions."""

    __tablename__ = "policy"

    id: Mapped[str] = mapped_column(primary_key=True)
    own: Mapped[bool]
    enabled: Mapped[bool]
    running: Mapped[int | None] = mapped_column(Integer)  # the version that was enabled last
    newest: Mapped[int] = mapped_column(Integer)  # beyond `running`: a draft
    version: Mapped[int] = mapped_column(Integer, default=1)  # of the row, for its ETag
    created_by: Mapped[str]
    created_at: Mapped[Created]
    updated_by: Mapped[str]
    updated_at: Mapped[At]


class PolicyVersionRow(Base):
    """A version of a policy's definition. It never changes once it was enabled."""

    __tablename__ = "policy_version"

    policy_id: Mapped[str] = mapped_column(ForeignKey("policy.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    definition: Mapped[Json]
    note: Mapped[str]
    saved_by: Mapped[str]
    saved_at: Mapped[At]
    enabled_by: Mapped[str | None]
    enabled_at: Mapped[At | None]


class PolicyTablesRow(Base):
    """Compiled policies that agents may have: which versions are behind a hash. The catalogue's have version 0."""

    __tablename__ = "policy_tables"

    hash: Mapped[str] = mapped_column(primary_key=True)
    made_at: Mapped[At]
    policies: Mapped[dict[str, Any]] = mapped_column(JSONB)


def is_draft(version: PolicyVersionRow) -> bool:
    """Return whether the version may still be changed."""
    at: datetime | None = version.enabled_at
    return at is None
