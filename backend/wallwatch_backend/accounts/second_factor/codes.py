"""Codes of authenticator apps (TOTP, RFC 6238) and recovery codes, without any storage."""

import base64
import hmac
import secrets

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from wallwatch_backend.kit.hashing import digest

STEP_S = 30
_DIGITS = 6
_hash = SHA1()  # noqa: S303 - the only hash that every app computes; what breaks SHA-1 (collisions) does not concern HMAC
_SECRET_BYTES = 20  # RFC 4226 section 4, R6: 160 bits
_STEPS_APART = 1  # RFC 6238 section 5.2: one step for slow typing and clocks that differ
_RECOVERY_CODES = 10
_RECOVERY_BYTES = 10  # 80 bits: too many to try, even against a copy of the database


def new_secret() -> bytes:
    return secrets.token_bytes(_SECRET_BYTES)


def secret_text(secret: bytes) -> str:
    """Return a secret as people type it into an app."""
    return base64.b32encode(secret).decode().rstrip("=")


def enrolment_uri(secret: bytes, username: str, issuer: str) -> str:
    """Return the `otpauth:` address that apps open or scan."""
    return TOTP(secret, _DIGITS, _hash, STEP_S).get_provisioning_uri(username, issuer)


def matching_step(secret: bytes, code: str, now: float) -> int | None:
    """Return the time step that a code is of, or None if it is of none around now.

    Parameters
    ----------
    secret
        As `new_secret` returned it.
    code
        Six digits; spaces are ignored.
    now
        Seconds since 1970.

    Examples
    --------
    The secret and the second time of RFC 6238, appendix B:

    >>> secret = b"12345678901234567890"
    >>> matching_step(secret, "081 804", 1111111109), matching_step(secret, "081804", 1111111109 + 60)
    (37037036, None)
    """
    digits = "".join(code.split())
    if len(digits) != _DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    generator, current = HOTP(secret, _DIGITS, _hash), int(now // STEP_S)
    found = None
    for step in range(max(current - _STEPS_APART, 0), current + _STEPS_APART + 1):
        if hmac.compare_digest(generator.generate(step), digits.encode()):
            found = step  # the latest of equal codes, and the same time for every code
    return found


def new_recovery_codes() -> list[str]:
    """Return codes such as `k3vq-7xzn-2mfa-tyb4`, to be shown once."""
    texts = (base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower() for _ in range(_RECOVERY_CODES))
    return ["-".join(text[start : start + 4] for start in range(0, len(text), 4)) for text in texts]


def recovery_hash(code: str) -> bytes:
    """Return what the database stores of a recovery code, however it was typed.

    >>> recovery_hash("K3VQ 7xzn2mfa-tyb4") == recovery_hash("k3vq-7xzn-2mfa-tyb4")
    True
    """
    return digest("".join(code.lower().replace("-", " ").split()))
