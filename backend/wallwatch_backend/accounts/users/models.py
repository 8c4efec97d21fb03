"""Accounts, local or of an OpenID Connect provider, and their sign-in sessions."""

from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import UUID as PgUuid
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Ref
from wallwatch_backend.kit.database import Base


class UserRow(Base):
    __tablename__ = "user_account"
    __table_args__ = (
        UniqueConstraint("oidc_issuer", "oidc_subject", name="user_account_identity"),
        CheckConstraint("(oidc_issuer IS NULL) = (oidc_subject IS NULL)", name="user_account_identity_check"),
        CheckConstraint("totp_since IS NULL OR (totp_secret IS NOT NULL AND totp_step IS NOT NULL)", name="user_account_totp_check"),
    )

    id: Mapped[Id]
    username: Mapped[str] = mapped_column(unique=True)
    password_hash: Mapped[str | None]  # None: signs in at the OpenID Connect provider only
    role: Mapped[str]
    disabled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[Created]
    last_sign_in_at: Mapped[At | None]
    oidc_issuer: Mapped[str | None]
    oidc_subject: Mapped[str | None]
    totp_secret: Mapped[bytes | None] = mapped_column(LargeBinary)  # encrypted
    totp_since: Mapped[At | None]  # None: there is no second factor, or it was not confirmed yet
    totp_step: Mapped[int | None] = mapped_column(BigInteger)  # time step of the last code that was accepted: none is accepted twice

    @property
    def second_factor(self) -> bool:
        """Whether signing in needs a code, too."""
        return self.totp_since is not None


class RecoveryCodeRow(Base):
    """A code that stands in for the authenticator app, once. Only its hash is stored."""

    __tablename__ = "recovery_code"

    user_id: Mapped[Ref] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), primary_key=True)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)


class SessionRow(Base):
    """Only the hash of a session's secret is stored, so a copy of the database signs nobody in."""

    __tablename__ = "user_session"

    secret_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    id: Mapped[UUID] = mapped_column(PgUuid(as_uuid=True), unique=True, default=uuid4, server_default=text("gen_random_uuid()"))
    user_id: Mapped[Ref] = mapped_column(ForeignKey("user_account.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[Created]
    expires_at: Mapped[At] = mapped_column(index=True)
    last_used_at: Mapped[At | None]
    address: Mapped[str | None]


class SignInAttemptRow(Base):
    """A sign-in that failed, or is being judged; a good one is deleted."""

    __tablename__ = "sign_in_attempt"
    __table_args__ = (Index("sign_in_attempt_network", "network", "at"), Index("sign_in_attempt_account", "account", "at"))

    id: Mapped[Id]
    at: Mapped[At]
    account: Mapped[str]
    network: Mapped[str]
    failed: Mapped[bool]
