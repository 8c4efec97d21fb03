"""API tokens, by hash."""

from uuid import UUID

from sqlalchemy import ForeignKey, LargeBinary, Text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Ref
from wallwatch_backend.kit.database import Base


class TokenRow(Base):
    __tablename__ = "api_token"

    id: Mapped[Id]
    name: Mapped[str]
    role: Mapped[str]
    prefix: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    owner_id: Mapped[Ref | None] = mapped_column(ForeignKey("user_account.id", ondelete="SET NULL"), index=True)  # null: valid no more
    creator_ids: Mapped[list[UUID]] = mapped_column(ARRAY(PgUuid(as_uuid=True)), default=list)  # accounts that have seen the token
    scopes: Mapped[list[str]] = mapped_column(ARRAY(Text))
    hosts: Mapped[list[str]] = mapped_column(ARRAY(Text), default=list)  # with `racks`: the only ones it may use; both empty: all
    racks: Mapped[list[str]] = mapped_column(ARRAY(Text), default=list)
    created_by: Mapped[str]
    created_at: Mapped[Created]
    expires_at: Mapped[At | None]
    last_used_at: Mapped[At | None]
    last_used_address: Mapped[str | None]
