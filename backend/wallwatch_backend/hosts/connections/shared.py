"""What all connections of a process share, so that a thousand agents do not each query the database."""

from collections.abc import Sequence
from dataclasses import dataclass

from wallwatch_backend.hosts.connections.abuse import AbuseGuard
from wallwatch_backend.hosts.connections.capabilities import Capability, RemoteConfiguration
from wallwatch_backend.hosts.connections.presence import Presence
from wallwatch_backend.hosts.connections.rejections import RejectionLog
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import Database
from wallwatch_backend.kit.telemetry_keys import HostKeys
from wallwatch_backend.settings import Settings


@dataclass(frozen=True)
class Shared:
    settings: Settings
    database: Database
    cipher: SecretCipher
    rejections: RejectionLog
    abuse: AbuseGuard
    presence: Presence
    telemetry_keys: HostKeys
    capabilities: Sequence[Capability]
    configuration: RemoteConfiguration
