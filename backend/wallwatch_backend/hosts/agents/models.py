"""The table of agents: one row per enrolled host."""

from sqlalchemy import LargeBinary, Text, false
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from wallwatch_backend.kit.columns import At, Created, Id, Ref
from wallwatch_backend.kit.database import Base


class AgentRow(Base):
    __tablename__ = "agent"

    id: Mapped[Id]
    host: Mapped[str] = mapped_column(unique=True)
    secret_hash: Mapped[bytes | None] = mapped_column(LargeBinary)  # null: it has a certificate
    instance_uid: Mapped[str]
    version: Mapped[str | None]
    enrolled_at: Mapped[Created]  # the last time: older credentials are not valid
    connection_id: Mapped[Ref | None]  # of the newest connection; null while disconnected
    healthy: Mapped[bool | None]
    health_error: Mapped[str | None]
    last_seen_at: Mapped[At | None]
    accepts_config: Mapped[bool] = mapped_column(default=False, server_default=false())
    config_hash: Mapped[str | None]  # of the OpAMP remote configuration that it runs
    config_at: Mapped[At | None]
    config_refused_hash: Mapped[str | None]  # of the configuration that it refused, until it applies another
    config_refused_at: Mapped[At | None]
    config_error: Mapped[str | None]
    command_kids: Mapped[list[str] | None] = mapped_column(ARRAY(Text))  # keys that it trusts; null: not reported yet

    @property
    def connected(self) -> bool:
        return self.connection_id is not None
