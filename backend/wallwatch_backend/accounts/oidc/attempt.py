"""One sign-in on its way to the provider and back, kept in an encrypted cookie of the browser that began it."""

import base64
import hashlib
import re
import secrets
from dataclasses import asdict, dataclass

import msgspec
from cryptography.fernet import InvalidToken as NotOurs

from wallwatch_backend.kit.cipher import SecretCipher

COOKIE = "wallwatch_oidc"
LIFE_S = 600

_LOCAL_PATH = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")


@dataclass(frozen=True)
class Attempt:
    """What the answer of the provider must fit."""

    state: str
    nonce: str
    verifier: str
    next: str
    issuer: str
    expires_at: float

    @property
    def challenge(self) -> str:
        """PKCE, RFC 7636 section 4.2, method S256."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


def local_path(text: str | None) -> str:
    """Return a path of this server, or `/` for anything that could lead elsewhere.

    >>> local_path("/incidents?state=open"), local_path("//evil.example"), local_path("/\\\\evil.example"), local_path("https://evil.example")
    ('/incidents?state=open', '/', '/', '/')
    """
    return text if text is not None and len(text) <= 2000 and _LOCAL_PATH.fullmatch(text) else "/"


def begin(issuer: str, next_path: str | None, now: float) -> Attempt:
    """Start a sign-in; `now` in seconds since 1970."""
    return Attempt(
        secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48), local_path(next_path), issuer, now + LIFE_S
    )


def sealed(cipher: SecretCipher, attempt: Attempt) -> str:
    return cipher.encrypt(msgspec.json.encode(asdict(attempt)).decode()).decode()


def opened(cipher: SecretCipher, cookie: str | None, now: float) -> Attempt | None:
    """Return the attempt of a cookie that this server wrote and that has not expired."""
    if not cookie:
        return None
    try:
        attempt = msgspec.json.decode(cipher.decrypt(cookie.encode()), type=Attempt)
    except (NotOurs, msgspec.DecodeError, ValueError):
        return None
    return attempt if attempt.expires_at > now else None
