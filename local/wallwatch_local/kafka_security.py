"""The secured broker of the demo: TLS with an authority of its own, a user for each role, and nothing allowed that is not granted.

Everything is in one private folder: the certificates as `wallwatch kafka certificates` makes them, and a password for each user.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.jobs.kafka_access import ITERATIONS, passwords_of
from wallwatch.store.kafka_authority import BROKER
from wallwatch.store.kafka_certificates import KafkaCertificates
from wallwatch_local import ports

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
NAMES = ("localhost", ports.LOOPBACK)


@dataclass(frozen=True)
class Security:
    """A folder with the authority, the broker's certificate and the passwords; made on first use."""

    folder: Path

    @property
    def certificates(self) -> KafkaCertificates:
        return KafkaCertificates(self.folder)

    @property
    def ca_file(self) -> Path:
        return self.certificates.ca_file

    def password_file(self, role: KafkaRole) -> Path:
        return self.passwords / role.user

    @property
    def passwords(self) -> Path:
        return self.folder / "passwords"

    def prepare(self) -> None:
        """Create what is missing, and renew a certificate that ends soon."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        passwords_of(self.passwords)
        self.certificates.ensure(NAMES, datetime.now(UTC))

    def environment(self, role: KafkaRole) -> dict[str, str]:
        """Settings of a process that signs in with a role."""
        return {
            "WALLWATCH_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
            "WALLWATCH_KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
            "WALLWATCH_KAFKA_SASL_USERNAME": role.user,
            "WALLWATCH_KAFKA_SASL_PASSWORD_FILE": str(self.password_file(role)),
            "WALLWATCH_KAFKA_CA_FILE": str(self.ca_file),
        }

    def telegraf(self) -> str:
        """The same for a collector, as lines of its configuration."""
        password = self.password_file(KafkaRole.host).read_text().strip()
        lines = {
            "enable_tls": "true",
            "tls_ca": f'"{self.ca_file}"',
            "sasl_mechanism": '"SCRAM-SHA-512"',
            "sasl_username": f'"{KafkaRole.host.user}"',
            "sasl_password": f'"{password}"',
        }
        return "".join(f"  {name} = {value}\n" for name, value in lines.items())

    def broker_settings(self, port: int, controller_port: int) -> dict[str, str]:
        """Settings of the broker: clients sign in by SCRAM over TLS, the controller is reached by mutual TLS only."""
        password = self.password_file(KafkaRole.admin).read_text().strip()
        broker = self.certificates.broker
        keys = {f"ssl.{store}.type": "PEM" for store in ("keystore", "truststore")}
        return keys | {
            # Read by Kafka itself: settings and log do not hold the key.
            "config.providers": "dir",
            "config.providers.dir.class": "org.apache.kafka.common.config.provider.DirectoryConfigProvider",
            "ssl.keystore.key": f"${{dir:{broker}:tls.key}}",
            "ssl.keystore.certificate.chain": f"${{dir:{broker}:tls.crt}}",
            "ssl.truststore.certificates": f"${{dir:{broker}:ca.crt}}",
            "listeners": f"CLIENTS://{ports.LOOPBACK}:{port},CONTROLLER://{ports.LOOPBACK}:{controller_port}",
            "advertised.listeners": f"CLIENTS://{ports.LOOPBACK}:{port}",
            "listener.security.protocol.map": "CLIENTS:SASL_SSL,CONTROLLER:SSL",
            "listener.name.controller.ssl.client.auth": "required",
            "inter.broker.listener.name": "CLIENTS",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512",
            "listener.name.clients.scram-sha-512.sasl.jaas.config": (
                f'{SCRAM} required username="{KafkaRole.admin.user}" password="{password}";'
            ),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "allow.everyone.if.no.acl.found": "false",
            "super.users": f"User:{KafkaRole.admin.user};User:CN={BROKER}",
        }

    def format_arguments(self) -> list[str]:
        """The first user, which creates the others; it has to be there before the broker starts."""
        password = self.password_file(KafkaRole.admin).read_text().strip()
        return ["--add-scram", f"SCRAM-SHA-512=[name={KafkaRole.admin.user},iterations={ITERATIONS},password={password}]"]
