"""The secured broker of the demo: TLS with an authority of its own, a user for each role, and nothing allowed that is not granted.

Everything is in one private folder: `ca.pem`, `broker.pem` (certificate and key), and a password for each user.
"""

import ipaddress
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.jobs.kafka_access import ITERATIONS, passwords_of
from wallwatch_local import ports

LIFE = timedelta(days=3650)
BROKER = "wallwatch-broker"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True)
class Security:
    """A folder with the authority, the broker's certificate and the passwords; made on first use."""

    folder: Path

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def broker_file(self) -> Path:
        return self.folder / "broker.pem"

    def password_file(self, role: KafkaRole) -> Path:
        return self.passwords / role.user

    @property
    def passwords(self) -> Path:
        return self.folder / "passwords"

    def prepare(self) -> None:
        """Create what is missing."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        passwords_of(self.passwords)
        if not self.broker_file.exists() or not self.ca_file.exists():
            self._issue()

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
        keys = {f"ssl.{store}.type": "PEM" for store in ("keystore", "truststore")}
        return keys | {
            "ssl.keystore.location": str(self.broker_file),
            "ssl.truststore.location": str(self.ca_file),
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

    def _issue(self) -> None:
        now = datetime.now(UTC)
        ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Wallwatch demo: Kafka")])
        base = x509.CertificateBuilder().issuer_name(ca_name).not_valid_before(now - timedelta(hours=1)).not_valid_after(now + LIFE)
        authority = (
            base.subject_name(ca_name)
            .public_key(ca_key.public_key())
            .serial_number(x509.random_serial_number())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(ca_key, hashes.SHA256())
        )
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(ports.LOOPBACK))]
        certificate = (
            base.subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, BROKER)]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
            .sign(ca_key, hashes.SHA256())
        )
        pem, unencrypted = serialization.Encoding.PEM, serialization.NoEncryption()
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, unencrypted)
        # The authority's key is not kept: this broker has the only certificate that it ever signs.
        _write(self.ca_file, authority.public_bytes(pem))
        _write(self.broker_file, private + certificate.public_bytes(pem) + authority.public_bytes(pem))


def _write(file: Path, content: bytes) -> None:
    new = file.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        handle.write(content)
    new.replace(file)
