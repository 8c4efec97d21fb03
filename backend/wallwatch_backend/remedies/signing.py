"""Signs commands to agents: compact JWS, Ed25519 (docs/contracts.md, "Backend ↔ agent")."""

import base64
import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from wallwatch_backend.kit.secret_files import read_or_create

_TYPE = "wallwatch-command+jws"


def _b64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def rfc3339(at: datetime) -> str:
    """Write a UTC time as RFC 3339 with a Z, to the millisecond."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class CommandSigner:
    """Holds the private key of this installation."""

    def __init__(self, private_key: Ed25519PrivateKey) -> None:
        self._private = private_key
        self._public = private_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.kid = hashlib.sha256(self._public).hexdigest()[:16]

    @classmethod
    def load(cls, secrets_dir: Path) -> "CommandSigner":
        """Load the key from `command-signing.key`, made on the first start."""

        def make() -> bytes:
            return Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())

        return cls(Ed25519PrivateKey.from_private_bytes(read_or_create(secrets_dir / "command-signing.key", make)))

    @property
    def public_key(self) -> str:
        """The public key as base64url of 32 bytes, as agents pin it."""
        return _b64url(self._public)

    def sign(
        self,
        *,
        command_id: UUID,
        remedy_id: UUID,
        host: str,
        action: str,
        operation: str,
        params: dict[str, Any],
        issued_at: datetime,
        expires_at: datetime,
    ) -> str:
        """Return the command as a compact JWS."""
        payload = {
            "command_id": str(command_id),
            "remedy_id": str(remedy_id),
            "host": host,
            "action": action,
            "operation": operation,
            "params": params,
            "issued_at": rfc3339(issued_at),
            "expires_at": rfc3339(expires_at),
        }
        # Put together here: libraries warn of the name EdDSA since RFC 9864, but agents in the field know no other.
        header = {"alg": "EdDSA", "kid": self.kid, "typ": _TYPE}
        signing_input = f"{_b64url(orjson.dumps(header))}.{_b64url(orjson.dumps(payload))}"
        return f"{signing_input}.{_b64url(self._private.sign(signing_input.encode()))}"
