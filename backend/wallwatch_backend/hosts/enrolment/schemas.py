"""Agents and their enrolment."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, Field

from wallwatch_backend.hosts.command_keys.schemas import CommandKey
from wallwatch_backend.kit.text import HostName, SafeText


class AgentCertificate(BaseModel):
    expires_at: datetime
    renews_at: datetime = Field(description="When a connected agent gets a new one: after half of its lifetime")
    late_at: datetime = Field(description="When the renewal counts as overdue: after three quarters of its lifetime")


class Agent(BaseModel):
    id: UUID
    host: str
    version: str | None
    connected: bool
    healthy: bool | None = Field(description="As the agent last reported; null before its first report")
    health_error: str | None
    enrolled_at: datetime
    last_seen_at: datetime | None
    certificate: AgentCertificate | None = Field(description="Its newest certificate; null for an agent that authenticates with a secret")


class NewEnrolmentToken(BaseModel):
    host: HostName | None = Field(default=None, description="The only host that can use the token; null: any host that has no agent yet")
    ttl_s: int = Field(default=3600, ge=60, le=30 * 86400, description="Seconds until it expires")


class EnrolmentToken(BaseModel):
    token: str = Field(description="Works once. It is shown only in this answer")
    server_url: str = Field(description="Where the agent enrols: `wallwatch-agent enrol --url`")
    host: str | None
    expires_at: datetime


class Enrolment(BaseModel):
    """What an agent sends to enrol."""

    token: SafeText = Field(
        min_length=1, max_length=8000, description="An enrolment token, or in Kubernetes the token of the agent's service account"
    )
    host: HostName
    version: SafeText = Field(min_length=1, max_length=100)
    instance_uid: UUID
    csr: SafeText | None = Field(default=None, max_length=8000, description="PKCS #10 CSR in PEM for a P-256 key of the agent")


class EnrolledAgent(BaseModel):
    agent_id: UUID
    secret: str | None = Field(description="Null if the agent got a certificate")
    opamp_url: str
    command_keys: list[CommandKey]
    certificate: str | None = Field(description="PEM; null if this server's agents authenticate with secrets")
    authorities: list[str] = Field(description="PEM: the authorities that may sign the server's certificate, oldest first")
    telemetry_key: str | None = Field(description="Proves the host's name in its telemetry; null if this server does not check it")
