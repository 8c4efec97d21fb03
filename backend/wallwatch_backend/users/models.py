"""Local accounts."""

from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id
from wallwatch_backend.kit.database import Base


class UserRow(Base):
    __tablename__ = "user_account"

    id: Mapped[Id]
    username: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str]
    role: Mapped[str]
    disabled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[Created]
    last_sign_in_at: Mapped[At | None]
