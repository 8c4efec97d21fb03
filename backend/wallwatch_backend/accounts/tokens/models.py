"""API tokens, by hash."""

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id
from wallwatch_backend.kit.database import Base


class TokenRow(Base):
    __tablename__ = "api_token"

    id: Mapped[Id]
    name: Mapped[str]
    role: Mapped[str]
    prefix: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_by: Mapped[str]
    created_at: Mapped[Created]
    expires_at: Mapped[At | None]
    last_used_at: Mapped[At | None]
