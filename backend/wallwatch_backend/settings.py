"""Every setting of the backend: one class, read once from the environment (prefix ``WALLWATCH_``) and passed down."""

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, HttpUrl, SecretStr, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from wallwatch.settings import SharedSettings


def _networks(value: Any) -> Any:
    """Return networks from a text such as `10.0.0.0/8, ::1`."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(ip_network(each.strip()) for each in value.split(",") if each.strip())
    except ValueError as error:
        raise ValueError(f"{error}; write networks such as 10.0.0.0/8 or addresses, separated by commas") from error


Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], BeforeValidator(_networks)]


def _names(value: Any) -> Any:
    return tuple(each.strip() for each in value.split(",") if each.strip()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]


class Settings(SharedSettings):
    """Settings of one backend process; each has the unit in its name. A variable that is set to nothing counts as unset."""

    model_config = SettingsConfigDict(env_ignore_empty=True)

    database_pool_size: Annotated[
        int, Field(ge=2, le=200, description="Connections for reading, and as many for writing; twice as many under load")
    ] = 12
    kafka_group: str = "wallwatch-backend"
    secrets_dir: Annotated[Path, Field(description="Signing and encryption keys are created here on the first start, mode 0600")] = Path(
        ".local/secrets"
    )
    ui_dir: Annotated[Path | None, Field(description="Built web UI to serve; none when a proxy serves it")] = None
    public_url: Annotated[
        HttpUrl | None,
        Field(description="How browsers and agents reach this server; links and enrolment URLs come from it; unset: from the request"),
    ] = None
    traces_endpoint: Annotated[
        HttpUrl | None,
        Field(
            description="Where requests are traced to, by OTLP over HTTP, such as http://otel-collector:4318/v1/traces; unset: no traces. "
            "The SDK's own variables count, too (OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS)"
        ),
    ] = None
    allowed_hosts: Annotated[
        Names,
        NoDecode,
        Field(
            description="Further names of this server, by commas; those of public_url and agent_url, IP addresses and localhost are always "
            "accepted. Without it and public_url every name is"
        ),
    ] = ()
    hsts_s: Annotated[
        int,
        Field(ge=0, description="How long browsers must use https only (Strict-Transport-Security), where it is served by https; 0: off"),
    ] = 31_536_000

    http_header_bytes: Annotated[int, Field(ge=4096, le=1_000_000, description="Largest header of a request, in bytes")] = 32_768
    http_headers: Annotated[int, Field(ge=20, le=1000, description="Most header fields of a request")] = 100
    http_header_s: Annotated[float, Field(gt=0, le=300, description="How long the header of a request may take")] = 10
    http_body_s: Annotated[float, Field(gt=0, le=300, description="How long a body may take; longer only at 4 kB/s or more")] = 10
    http_idle_s: Annotated[
        float, Field(gt=0, le=3600, description="How long a connection may wait for its next request; keep it above that of a proxy")
    ] = 65
    http_connections: Annotated[int, Field(ge=10, description="Most connections of each port; event streams and agents not counted")] = 2000
    http_connections_per_address: Annotated[
        int, Field(ge=4, description="Most of them from one address (IPv6: /64); trusted proxies and this machine are exempt")
    ] = 300

    captures_dir: Annotated[
        Path, Field(description="Where uploaded packet captures lie until they are analysed; they are deleted afterwards")
    ] = Path(".local/captures")
    capture_max_bytes: Annotated[int, Field(ge=1_000_000, description="Largest packet capture that may be uploaded")] = 1_000_000_000
    capture_queue: Annotated[int, Field(ge=1, le=100, description="Most captures that a replica receives, holds and analyses at once")] = 4
    capture_memory_mb: Annotated[int, Field(ge=512, description="Most memory of the process that analyses a capture")] = 768
    capture_cpu_s: Annotated[int, Field(ge=5, description="Most CPU time of one analysis; three times as long by the clock")] = 600
    capture_retention_days: Annotated[int, Field(ge=1, le=3650, description="How long analyses of captures are kept")] = 90

    sampling_interval_s: Annotated[
        float, Field(gt=0, le=3600, description="Interval at which collectors sample RNICs (Telegraf's `interval`): decides what is stale")
    ] = 10
    vf_sampling_interval_s: Annotated[
        float, Field(gt=0, le=86400, description="Interval at which collectors sample virtual functions (`vf_interval` of inputs.rnic)")
    ] = 120

    session_hours: Annotated[float, Field(gt=0, le=720)] = 12
    sign_in_window_s: Annotated[int, Field(ge=1, description="Window in which failed sign-ins are counted")] = 300
    sign_in_failures_per_account: Annotated[int, Field(ge=1, description="Failures of one account from one network in the window")] = 5
    sign_in_failures_per_address: Annotated[
        int, Field(ge=1, description="Failures from one network (an IPv4 address, an IPv6 /64), over all accounts, in the window")
    ] = 30
    sign_in_slow_after: Annotated[
        int, Field(ge=1, description="Failures of one account from all networks in the window after which its sign-ins are delayed")
    ] = 20
    trusted_proxies: Annotated[
        Networks,
        NoDecode,
        Field(description="Networks of the proxies in front, by commas; only these may name the client in X-Forwarded-For; unset: none"),
    ] = ()

    local_sign_in: Annotated[
        Literal["all", "admins"],
        Field(description="Who may sign in with a password of Wallwatch: all local accounts, or administrators only (for emergencies)"),
    ] = "all"
    oidc_issuer: Annotated[
        str | None,
        Field(description="Issuer of the OpenID Connect provider, exactly as its discovery document names it; unset: no single sign-on"),
    ] = None
    oidc_client_id: Annotated[str, Field(description="Client id of Wallwatch at the provider")] = ""
    oidc_client_secret_file: Annotated[
        Path | None, Field(description="File with the client's secret; unset: a public client, protected by PKCE alone")
    ] = None
    oidc_scopes: Annotated[str, Field(description="Scopes to request, separated by spaces; `openid` must be one of them")] = (
        "openid profile email"
    )
    oidc_groups_claim: Annotated[
        str, Field(description="Claim of the ID token with the groups or roles of a person; dots lead into objects (`realm_access.roles`)")
    ] = "groups"
    oidc_username_claim: Annotated[str, Field(description="Claim from which the name of a new account is taken")] = "preferred_username"
    oidc_roles: Annotated[
        dict[str, Literal["viewer", "operator", "admin"]],
        Field(description='Group to role, as JSON: `{"wallwatch-admins": "admin"}`; the highest role counts'),
    ] = Field(default_factory=dict)
    oidc_default_role: Annotated[
        Literal["viewer", "operator", "admin"] | None, Field(description="Role of people in none of these groups; unset: they are refused")
    ] = None
    oidc_label: Annotated[str, Field(min_length=1, max_length=60, description="Name of the provider on the sign-in page")] = (
        "single sign-on"
    )

    command_ttl_s: Annotated[int, Field(ge=5, le=3600, description="An agent refuses a command that is older")] = 60
    command_grace_s: Annotated[int, Field(ge=0, description="How much longer to wait for the result of a command that was sent")] = 30
    remedy_approval_risk: Annotated[
        Literal["low", "medium", "high", "never"], Field(description="Remedies of at least this risk need a second person's approval")
    ] = "high"
    remedy_proposal_ttl_s: Annotated[int, Field(ge=60, description="How long a proposed remedy waits for approval")] = 86400
    remedy_watch_s: Annotated[float, Field(gt=0, le=60, description="How often open remedies and rollouts are checked")] = 2
    remedy_max_fleet_percent: Annotated[float, Field(gt=0, le=100, description="Largest share of the fleet's hosts with open remedies")] = (
        25
    )
    remedy_max_hosts: Annotated[int, Field(ge=1, description="Most hosts with open remedies, however large the fleet")] = 50
    remedy_always_hosts: Annotated[int, Field(ge=1, description="Hosts with open remedies always allowed, however small the fleet")] = 3
    remedy_max_racks: Annotated[int, Field(ge=1, description="Most racks with open remedies")] = 8
    remedy_breaker_failures: Annotated[
        int, Field(ge=1, description="A remedy that failed this often in the window, and in at least half of all cases, is blocked")
    ] = 5
    remedy_breaker_window_s: Annotated[int, Field(ge=60, description="Window in which failures are counted")] = 3600
    lab_run_role: Annotated[
        Literal["operator", "admin"],
        Field(description="Least role with the permission lab:run (campaigns of the lab); on RNICs of the fleet it is always admin"),
    ] = "operator"
    ticket_url: Annotated[
        str | None,
        Field(
            pattern=r"^https?://[^\s{}]+(\{(title|text)\}[^\s{}]*)+$",
            description="Address that opens a new ticket, with {title} and {text} where they go, such as "
            "https://tracker.example/new?summary={title}&description={text}; pages offer no such link without it",
        ),
    ] = None
    plan_ttl_s: Annotated[int, Field(ge=10, le=86400, description="How long a mask plan can be applied after its flows were read")] = 600
    plan_read_s: Annotated[
        int,
        Field(ge=0, le=10, description="Time between the two dumps of flows behind a mask plan; 10 s reveal idle flows"),
    ] = 10
    plan_on_decline: Annotated[
        bool, Field(description="Create a mask plan when a decline of 5% or more is predicted; an operator still has to apply it")
    ] = False
    agent_port: Annotated[
        int | None,
        Field(ge=0, le=65535, description="TLS port of agents (mutual TLS); unset: agents connect to the HTTP port and use a secret"),
    ] = None
    agent_bind: Annotated[str, Field(description="Address on which the TLS port of agents listens")] = "127.0.0.1"
    agent_url: Annotated[
        HttpUrl | None, Field(description="How agents reach their port, such as https://wallwatch.example.net:8443; it needs agent_port")
    ] = None
    agent_certificate_s: Annotated[
        int,
        Field(ge=2, le=366 * 86400, description="Life of agents' certificates, renewed at half; an agent offline for longer enrols again"),
    ] = 7 * 86400
    agent_secrets: Annotated[
        bool,
        Field(description="Accept agents with the secret of an earlier enrolment; agent_port moves them to certificates"),
    ] = True
    kubernetes_service_account: Annotated[
        str | None,
        Field(
            pattern=r"^[a-z0-9.-]+/[a-z0-9.-]+$",
            description="namespace/name of the service account whose pods may enrol as the agent of the node that they run on; unset: none",
        ),
    ] = None
    kubernetes_api_url: Annotated[str, Field(pattern=r"^https://", description="Address of the Kubernetes API server")] = (
        "https://kubernetes.default.svc"
    )
    kubernetes_token_file: Annotated[Path, Field(description="Token with which this server asks the API server")] = Path(
        "/var/run/secrets/kubernetes.io/serviceaccount/token"
    )
    kubernetes_ca_file: Annotated[Path, Field(description="Authority of the API server's certificate")] = Path(
        "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
    )
    kubernetes_nodes: Annotated[
        bool,
        Field(
            description="Set the condition WallwatchRnicHealthy of nodes that are hosts, "
            "and write Events on them when incidents open and are resolved"
        ),
    ] = False
    kubernetes_taint: Annotated[
        Literal["never", "all", "any"],
        Field(description="Taint a node (NoSchedule) while all, or any, of its RNICs are cordoned by the remedy cordon-rnic"),
    ] = "never"
    kubernetes_pods: Annotated[
        bool, Field(description="Read the labels and owners of pods that have virtual functions, for pages and the search")
    ] = False
    kubernetes_nvsentinel: Annotated[
        bool,
        Field(description="Read what NVSentinel says of nodes that are hosts: checks that found one unhealthy, and its cordons"),
    ] = False
    agent_silent_after_s: Annotated[int, Field(ge=5, description="A connected agent that was silent for so long is disconnected")] = 90
    incident_hold_s: Annotated[
        float, Field(ge=0, le=86400, description="How long an incident whose symptoms have cleared stays open before it is resolved")
    ] = 900
    reopen_within_s: Annotated[
        int, Field(ge=0, description="The same symptom within this time after its incident was resolved reopens it")
    ] = 600

    webhook_timeout_s: Annotated[float, Field(gt=0, le=60)] = 10
    webhook_max_attempts: Annotated[int, Field(ge=1, le=50)] = 12
    webhook_retry_base_s: Annotated[float, Field(gt=0)] = 5
    webhook_retry_max_s: Annotated[float, Field(gt=0)] = 3600
    webhook_disable_after_h: Annotated[float, Field(gt=0, description="A webhook that failed for so long is disabled")] = 72
    webhook_allow_private: Annotated[
        bool,
        Field(
            description="Allow receivers on private addresses, as is usual on premises; false: users must not reach the internal network"
        ),
    ] = True

    smtp_host: Annotated[str | None, Field(description="Mail server for webhooks of the format email; unset: none can be created")] = None
    smtp_port: Annotated[int, Field(ge=1, le=65535, description="Port of the mail server: 587 for starttls, 465 for tls")] = 587
    smtp_security: Annotated[
        Literal["starttls", "tls", "none"], Field(description="How the connection is encrypted; none only on a trusted network")
    ] = "starttls"
    smtp_username: Annotated[str | None, Field(description="User at the mail server; unset: no sign-in")] = None
    smtp_password: Annotated[SecretStr | None, Field(description="Password of that user")] = None
    smtp_from: Annotated[
        str,
        Field(pattern=r"^[^\r\n]*@[^\r\n]+$", description="Sender of e-mails, such as Wallwatch <wallwatch@example.org>"),
    ] = "wallwatch@localhost"

    stream_coalesce_s: Annotated[float, Field(gt=0, le=5)] = 0.2
    stream_heartbeat_s: Annotated[float, Field(gt=0, le=120)] = 15
    stream_queue_size: Annotated[int, Field(ge=8)] = 256
    stream_max_clients: Annotated[int, Field(ge=1)] = 500
    background: Annotated[bool, Field(description="Run consumers and dispatchers in this process (one replica at a time runs them)")] = True

    @model_validator(mode="after")
    def _agents_have_a_way_in(self) -> "Settings":
        if self.agent_port is not None and (self.agent_url is None or self.agent_url.scheme != "https"):
            raise ValueError(
                "agent_port needs agent_url, the https:// address by which agents reach it and for which its certificate is issued"
            )
        if self.agent_port is None and not self.agent_secrets:
            raise ValueError("without agent_port agents can only use secrets: set agent_port and agent_url, or agent_secrets=true")
        return self

    @model_validator(mode="after")
    def _single_sign_on_is_complete(self) -> "Settings":
        if self.oidc_issuer is None:
            if self.local_sign_in == "admins":
                raise ValueError("local_sign_in=admins needs oidc_issuer: otherwise nobody else could sign in")
            return self
        parts = urlsplit(self.oidc_issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
            raise ValueError("oidc_issuer must be an https:// address (http:// only on this machine)")
        if not self.oidc_client_id:
            raise ValueError("oidc_issuer needs oidc_client_id, the id of Wallwatch at the provider")
        if self.public_url is None:
            raise ValueError("oidc_issuer needs public_url: the provider sends browsers back to this address and no other")
        if "openid" not in self.oidc_scopes.split():
            raise ValueError("oidc_scopes must contain openid")
        return self
