"""Sign-in sessions. Only the hash of a session's secret is kept, so a copy of the database signs nobody in."""

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Ref
from wallwatch_backend.kit.database import Base


class SessionRow(Base):
    __tablename__ = "user_session"

    secret_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    user_id: Mapped[Ref] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[Created]
    expires_at: Mapped[At] = mapped_column(index=True)
    address: Mapped[str | None]
