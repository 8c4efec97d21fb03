"""The composition root: creates the objects that live as long as the process and connects the contexts.

Nothing else knows all of them.
"""

from dataclasses import dataclass

from fastapi import FastAPI

from wallwatch_backend.accounts.session.watch import AccessWatch
from wallwatch_backend.captures.analyser import CaptureAnalyser
from wallwatch_backend.fleet.overview.answers import FleetAnswers
from wallwatch_backend.fleet.stream.hub import StreamHub
from wallwatch_backend.hosts.command_keys.signing import CommandSigner
from wallwatch_backend.hosts.connections.abuse import AbuseGuard
from wallwatch_backend.hosts.connections.port import AgentPort
from wallwatch_backend.hosts.connections.presence import Presence
from wallwatch_backend.hosts.connections.registry import Connections
from wallwatch_backend.hosts.connections.rejections import RejectionLog
from wallwatch_backend.hosts.connections.shared import Shared
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.telemetry_keys import HostKeys
from wallwatch_backend.kit.wakeups import Wakeups
from wallwatch_backend.policies.delivery.agent_config import PolicyFile
from wallwatch_backend.policies.reports.standing import Standing
from wallwatch_backend.remedies.delivery.capability import RemedyCapability
from wallwatch_backend.remedies.orders.intake import Intake
from wallwatch_backend.settings import Settings


@dataclass(frozen=True)
class Services:
    """The long-lived objects of a process.

    Endpoints get them through the dependencies of their contexts, from `app.state`.
    """

    settings: Settings
    database: Database
    cipher: SecretCipher
    signer: CommandSigner
    hub: StreamHub
    incident_wakeups: Wakeups
    access: AccessWatch
    connections: Connections
    agent_port: AgentPort | None
    intake: Intake
    remedies: RemedyCapability
    policy_file: PolicyFile
    policy_standing: Standing
    captures: CaptureAnalyser


def connect(app: FastAPI) -> Services:
    """Create the services of an application that has settings and a database, and hand them to its endpoints."""
    settings: Settings = app.state.settings
    database: Database = app.state.database
    cipher, signer = SecretCipher.load(settings.secrets_dir), CommandSigner.load(settings.secrets_dir)
    telemetry_keys = HostKeys(settings.telemetry_secret_file)
    remedies, policy_file = RemedyCapability(database), PolicyFile(database)
    shared = Shared(
        settings=settings,
        database=database,
        cipher=cipher,
        rejections=RejectionLog(),
        abuse=AbuseGuard(database),
        presence=Presence(database),
        telemetry_keys=telemetry_keys,
        capabilities=[remedies],
        configuration=policy_file,
    )
    services = Services(
        settings=settings,
        database=database,
        cipher=cipher,
        signer=signer,
        hub=StreamHub(database, settings),
        incident_wakeups=Wakeups(settings.stream_max_clients),
        access=AccessWatch(database),
        connections=Connections(shared),
        agent_port=AgentPort(app, database, cipher, settings, shared.rejections) if settings.agent_port is not None else None,
        intake=Intake(database, settings, signer),
        remedies=remedies,
        policy_file=policy_file,
        policy_standing=Standing(database),
        captures=CaptureAnalyser(database, settings),
    )
    state = app.state
    state.cipher, state.signer, state.hub, state.connections = cipher, signer, services.hub, services.connections
    state.access_watch = services.access
    state.incident_wakeups = services.incident_wakeups
    state.telemetry_keys = telemetry_keys
    state.fleet_answers = FleetAnswers(database)
    state.captures = services.captures
    state.intake, state.policy_file, state.policy_standing = services.intake, policy_file, services.policy_standing
    return services
