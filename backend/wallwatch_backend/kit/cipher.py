"""Encrypts secrets in the database (of webhooks, keys that sign commands, certificate authorities); the key is a file of the server."""

from pathlib import Path

from cryptography.fernet import Fernet

from wallwatch_backend.kit.secret_files import read_or_create


class SecretCipher:
    """Encrypts and decrypts what only the server may read."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    @classmethod
    def load(cls, secrets_dir: Path) -> "SecretCipher":
        """Load the key from `webhook-secrets.key`, which is created on the first start."""
        return cls(read_or_create(secrets_dir / "webhook-secrets.key", Fernet.generate_key))

    def encrypt(self, secret: str) -> bytes:
        return self._fernet.encrypt(secret.encode())

    def decrypt(self, stored: bytes) -> str:
        return self._fernet.decrypt(stored).decode()
