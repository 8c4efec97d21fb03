"""Every setting of the backend: one class, read once from the environment (prefix ``WALLWATCH_``) and passed down."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, HttpUrl, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings of one backend process; each has the unit in its name."""

    model_config = SettingsConfigDict(env_prefix="WALLWATCH_", extra="ignore")

    database_url: Annotated[str, Field(description="postgresql+psycopg://user:password@host/database")] = (
        "postgresql+psycopg://wallwatch@127.0.0.1:5432/wallwatch"
    )
    database_pool_size: Annotated[
        int, Field(ge=2, le=200, description="Connections for reading, and as many for writing, in a rush twice")
    ] = 12
    kafka_bootstrap: Annotated[str, Field(description="host:port of Kafka's bootstrap brokers")] = "127.0.0.1:9092"
    kafka_group: str = "wallwatch-backend"
    secrets_dir: Annotated[Path, Field(description="Signing and encryption keys are made here on the first start, mode 0600")] = Path(
        ".local/secrets"
    )
    ui_dir: Annotated[Path | None, Field(description="Built web UI to serve; none when a proxy serves it")] = None
    public_url: Annotated[
        HttpUrl | None, Field(description="How browsers and agents reach this server; taken from the request when unset")
    ] = None

    session_hours: Annotated[float, Field(gt=0, le=720)] = 12
    sign_in_window_s: Annotated[int, Field(ge=1, description="Window in which failed sign-ins are counted")] = 300
    sign_in_failures_per_account: Annotated[int, Field(ge=1, description="Failures of one account from one address in the window")] = 5
    sign_in_failures_per_address: Annotated[int, Field(ge=1, description="Failures of one address, over all accounts, in the window")] = 30

    command_ttl_s: Annotated[int, Field(ge=5, le=3600, description="An agent refuses a command that is older")] = 60
    command_grace_s: Annotated[int, Field(ge=0, description="How much longer a result of a sent command is awaited")] = 30
    remedy_approval_risk: Annotated[
        Literal["low", "medium", "high", "never"], Field(description="From this risk on a remedy needs a second person's approval")
    ] = "high"
    remedy_proposal_ttl_s: Annotated[int, Field(ge=60, description="How long a proposed remedy waits for approval")] = 86400
    remedy_watch_s: Annotated[float, Field(gt=0, le=60, description="How often remedies and rollouts that are under way are looked at")] = 2
    remedy_max_fleet_percent: Annotated[
        float, Field(gt=0, le=100, description="Share of the fleet's hosts with remedies under way at once")
    ] = 25
    remedy_max_hosts: Annotated[int, Field(ge=1, description="Most hosts with remedies under way at once, however large the fleet")] = 50
    remedy_always_hosts: Annotated[int, Field(ge=1, description="So many hosts at once are always allowed, however small the fleet")] = 3
    remedy_max_racks: Annotated[int, Field(ge=1, description="Most racks with remedies under way at once")] = 8
    remedy_breaker_failures: Annotated[
        int, Field(ge=1, description="A remedy that failed so often in the window, and at least every second time, is not applied any more")
    ] = 5
    remedy_breaker_window_s: Annotated[int, Field(ge=60, description="Window in which failures are counted")] = 3600
    plan_ttl_s: Annotated[int, Field(ge=10, le=86400, description="How long a mask plan may be applied after its flows were read")] = 600
    plan_read_s: Annotated[
        int,
        Field(ge=0, le=10, description="Time between the two dumps of flows that a mask plan is made of; flows that rest show in 10 s"),
    ] = 10
    plan_on_decline: Annotated[
        bool, Field(description="Make a mask plan when a forecast sees the bandwidth fall by 5 % or more; somebody still has to apply it")
    ] = False
    agent_port: Annotated[
        int | None,
        Field(ge=0, le=65535, description="TLS port of agents (mutual TLS); unset: agents connect to the HTTP port and show a secret"),
    ] = None
    agent_bind: Annotated[str, Field(description="Address on which the TLS port of agents listens")] = "127.0.0.1"
    agent_url: Annotated[
        HttpUrl | None, Field(description="How agents reach their port, such as https://wallwatch.example.net:8443; it needs agent_port")
    ] = None
    agent_certificate_s: Annotated[
        int,
        Field(ge=2, le=366 * 86400, description="Life of an agent's certificate, renewed at half; an agent away for longer enrols anew"),
    ] = 7 * 86400
    agent_secrets: Annotated[
        bool,
        Field(description="Let agents in that show the secret of a former enrolment; agent_port moves them to certificates"),
    ] = True
    agent_silent_after_s: Annotated[int, Field(ge=5, description="A connected agent that said nothing for so long is disconnected")] = 90
    incident_hold_s: Annotated[
        float, Field(ge=0, le=86400, description="How long an incident whose symptoms are over stays in the list before it is resolved")
    ] = 900
    reopen_within_s: Annotated[
        int, Field(ge=0, description="The same symptom again this soon after its incident was resolved reopens it")
    ] = 600

    webhook_timeout_s: Annotated[float, Field(gt=0, le=60)] = 10
    webhook_max_attempts: Annotated[int, Field(ge=1, le=50)] = 12
    webhook_retry_base_s: Annotated[float, Field(gt=0)] = 5
    webhook_retry_max_s: Annotated[float, Field(gt=0)] = 3600
    webhook_disable_after_h: Annotated[float, Field(gt=0, description="A webhook that failed for so long is switched off")] = 72
    webhook_allow_private: Annotated[
        bool,
        Field(
            description="Receivers on private addresses are usual on premises; set false where users are not trusted with the inner network"
        ),
    ] = True

    stream_coalesce_s: Annotated[float, Field(gt=0, le=5)] = 0.2
    stream_heartbeat_s: Annotated[float, Field(gt=0, le=120)] = 15
    stream_queue_size: Annotated[int, Field(ge=8)] = 256
    stream_max_clients: Annotated[int, Field(ge=1)] = 500
    background: Annotated[bool, Field(description="Run consumers and dispatchers in this process (one replica at a time does)")] = True
    log_level: str = "INFO"

    @model_validator(mode="after")
    def _agents_have_a_way_in(self) -> "Settings":
        if self.agent_port is not None and (self.agent_url is None or self.agent_url.scheme != "https"):
            raise ValueError(
                "agent_port needs agent_url, the https:// address by which agents reach it and for which its certificate is made"
            )
        if self.agent_port is None and not self.agent_secrets:
            raise ValueError("without agent_port agents can only show secrets: set agent_port and agent_url, or agent_secrets=true")
        return self
