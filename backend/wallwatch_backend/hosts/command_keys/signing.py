"""Signs commands to agents: compact JWS, Ed25519 (docs/contracts.md, "Backend ↔ agent")."""

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.secret_files import read_or_create

COMMAND_CAPABILITY = "com.wallwatch.remedy.v1"
"""OpAMP capability of agents that run signed commands."""
_TYPE = "wallwatch-command+jws"
_KEY_TYPE = "wallwatch-key+jws"
FIRST_KEY = "command-signing.key"


def _b64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def rfc3339(at: datetime) -> str:
    """Write a UTC time as RFC 3339 with a Z, to the millisecond."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class CommandSigner:
    """Holds a private key. The first one is a file of this installation, its successors are in the database."""

    def __init__(self, private_key: Ed25519PrivateKey, cipher: SecretCipher | None = None) -> None:
        self._private, self._cipher = private_key, cipher
        self.opened: dict[str, CommandSigner] = {}  # by id: decrypting a key takes longer than signing with it
        self._public = private_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.kid = hashlib.sha256(self._public).hexdigest()[:16]

    @classmethod
    def load(cls, secrets_dir: Path) -> "CommandSigner":
        """Load the first key, which the first start creates, and the cipher that encrypts its successors."""

        def generate() -> bytes:
            return Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())

        key = Ed25519PrivateKey.from_private_bytes(read_or_create(secrets_dir / FIRST_KEY, generate))
        return cls(key, SecretCipher.load(secrets_dir))

    def new_successor(self) -> tuple["CommandSigner", bytes]:
        """Create a key; return its signer and its encrypted private half."""
        key = Ed25519PrivateKey.generate()
        raw = key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        return CommandSigner(key, self._cipher), self._require_cipher().encrypt(_b64url(raw))

    def successor(self, encrypted: bytes) -> "CommandSigner":
        """Return the signer of a key that `new_successor` created."""
        raw = base64.urlsafe_b64decode(self._require_cipher().decrypt(encrypted) + "=")
        return CommandSigner(Ed25519PrivateKey.from_private_bytes(raw), self._cipher)

    def _require_cipher(self) -> SecretCipher:
        if self._cipher is None:
            raise RuntimeError("this signer has no cipher; load it from the secrets directory")
        return self._cipher

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
        return self._jws(payload, _TYPE)

    def introduce(self, other: "CommandSigner", *, issued_at: datetime, expires_at: datetime, retires: Mapping[str, datetime]) -> str:
        """Return the message, signed by this key, that makes agents trust another key, and sets when keys retire."""
        payload = {
            "kid": other.kid,
            "public_key": other.public_key,
            "issued_at": rfc3339(issued_at),
            "expires_at": rfc3339(expires_at),
            "retires": [{"kid": kid, "not_after": rfc3339(end)} for kid, end in retires.items()],
        }
        return self._jws(payload, _KEY_TYPE)

    def _jws(self, payload: dict[str, Any], kind: str) -> str:
        # Built here: libraries warn about the name EdDSA since RFC 9864, but agents accept no other.
        header = {"alg": "EdDSA", "kid": self.kid, "typ": kind}
        signing_input = f"{_b64url(orjson.dumps(header))}.{_b64url(orjson.dumps(payload))}"
        return f"{signing_input}.{_b64url(self._private.sign(signing_input.encode()))}"
