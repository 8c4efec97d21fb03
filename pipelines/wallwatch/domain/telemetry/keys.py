"""Telemetry keys: how a host proves its name in each message (docs/decisions/0015). Pure; `store/telemetry_secret.py` reads the secret.

The key of a host is `wwt1_` + base64url(HMAC-SHA256(fleet telemetry secret, "wallwatch telemetry v1\\n" + host)), without padding
(RFC 2104; RFC 4648, section 5). It travels as the tag `telemetry_key`, and the prefix makes it easy to find where it must not be.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence

TAG = "telemetry_key"
PREFIX = "wwt1_"
SHORTEST_SECRET = 32
"""Bytes: as long as the hash (RFC 2104, section 3)."""

_CONTEXT = b"wallwatch telemetry v1\n"
_LONGEST_KEY = 128
_MOST_REMEMBERED = 50_000
"""Hosts whose key is remembered, some 10 MB; a fleet of 40,000 RNICs has fewer hosts."""

_ANY_KEY = re.compile(rb"wwt1_[A-Za-z0-9_-]*")
REDACTED = PREFIX + "removed"


class BadSecret(ValueError):
    """A file that is not a telemetry secret; the message says what is expected."""


def key_of(secret: bytes, host: str) -> str:
    """The telemetry key of a host.

    >>> key_of(bytes(32), "host01")
    'wwt1_KkNoX5-N8ivKIfiLpgLe6nL6xz5G7Q8LiXQjdcLMPNQ'
    """
    digest = hmac.new(secret, _CONTEXT + host.encode(), hashlib.sha256).digest()
    return PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def parse_secrets(text: str) -> tuple[bytes, ...]:
    """Read a secret file: base64url, the current secret on the first line and, while it is still accepted, the former one on the second.

    Raises
    ------
    BadSecret
        When there is none, more than two, or one that is too short or not base64url. The message never has the secret.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not 1 <= len(lines) <= 2:
        raise BadSecret(f"it must have one or two lines with a secret, not {len(lines)}")
    secrets = []
    for number, line in enumerate(lines, 1):
        try:
            secret = base64.b64decode(line + "=" * (-len(line) % 4), altchars=b"-_", validate=True)
        except ValueError:
            raise BadSecret(f"line {number} is not base64url") from None
        if len(secret) < SHORTEST_SECRET:
            raise BadSecret(f"line {number} has {len(secret)} bytes; at least {SHORTEST_SECRET} are required")
        secrets.append(secret)
    return tuple(secrets)


def format_secrets(secrets: Sequence[bytes]) -> str:
    """The content of a secret file, the current secret first."""
    return "".join(base64.urlsafe_b64encode(one).decode().rstrip("=") + "\n" for one in secrets)


class Keys:
    """Which telemetry keys are right: those of the current secret, and of the former one while a rotation lasts."""

    def __init__(self, secrets: Sequence[bytes], most: int = _MOST_REMEMBERED) -> None:
        if not secrets:
            raise BadSecret("at least one secret is required")
        self._secrets = tuple(secrets)
        self._most = most
        self._right: dict[str, str] = {}
        self.computed = 0
        """HMACs computed so far: one for each new pair of host and key."""

    def proves(self, host: str, key: object) -> bool:
        """Whether this is a key of this host. A wrong one is computed each time: only right pairs are remembered, one per host."""
        if type(key) is not str:
            return False
        if self._right.get(host) == key:  # Kafka gives producers no answer whose time could be measured
            return True
        if not key or len(key) > _LONGEST_KEY or not key.isascii():
            return False
        for secret in self._secrets:
            self.computed += 1
            if hmac.compare_digest(key_of(secret, host), key):
                if len(self._right) >= self._most:
                    self._right.clear()
                self._right[host] = key
                return True
        return False

    def of(self, host: str) -> str:
        """The current key of a host, for messages that a job writes in its name."""
        return key_of(self._secrets[0], host)


def without_keys(content: bytes) -> bytes:
    """Remove every telemetry key from bytes that will be stored or logged.

    >>> without_keys(b'{"telemetry_key":"wwt1_abc-_9"}')
    b'{"telemetry_key":"wwt1_removed"}'
    """
    return _ANY_KEY.sub(REDACTED.encode(), content) if PREFIX.encode() in content else content
