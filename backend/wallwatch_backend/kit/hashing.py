"""Secrets of machines: long random values, stored as SHA-256 only (they cannot be guessed, so a slow hash would add nothing)."""

import hashlib
import secrets


def new_secret(prefix: str = "") -> str:
    """Return 256 random bits as URL-safe text."""
    return prefix + secrets.token_urlsafe(32)


def digest(secret: str) -> bytes:
    """Return what the database stores of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
