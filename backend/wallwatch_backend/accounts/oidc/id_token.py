"""Checks ID tokens: OpenID Connect Core 1.0, section 3.1.3.7."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from wallwatch_backend.accounts.oidc.errors import InvalidToken

# Asymmetric only: with HMAC whoever knows the client's secret, or a public key taken for one, could sign.
_HASHES = {
    "RS256": "sha256", "PS256": "sha256", "ES256": "sha256",
    "RS384": "sha384", "PS384": "sha384", "ES384": "sha384",
    "RS512": "sha512", "PS512": "sha512", "ES512": "sha512",
}  # fmt: skip
LEEWAY_S = 60
"""How far the clocks of provider and server may differ."""

Keys = list[dict[str, Any]]


@dataclass(frozen=True)
class Expected:
    """What the token of this sign-in must say."""

    issuer: str
    client_id: str
    nonce: str
    access_token: str | None


def _part(token: str, index: int) -> dict[str, Any]:
    try:
        text = token.split(".")[index]
        value = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, IndexError, RecursionError) as error:
        raise InvalidToken("malformed_token") from error
    if not isinstance(value, dict):
        raise InvalidToken("malformed_token")
    return value


def key_id(token: str) -> str | None:
    """Return the id of the key that a token names; refuse algorithms that are not asymmetric."""
    header = _part(token, 0)
    if header.get("alg") not in _HASHES:
        raise InvalidToken("algorithm_not_allowed")
    kid = header.get("kid")
    return kid if isinstance(kid, str) else None


def find_key(keys: Keys, kid: str | None) -> dict[str, Any] | None:
    """Return the key to check with: the one named, or the only one if the token names none."""
    usable = [key for key in keys if key.get("kty") in ("RSA", "EC") and key.get("use", "sig") == "sig"]
    if kid is None:
        return usable[0] if len(usable) == 1 else None
    return next((key for key in usable if key.get("kid") == kid), None)


def verified_claims(token: str, key: dict[str, Any], expected: Expected, now: float) -> dict[str, Any]:
    """Return the claims of a token that is signed, fresh and for this sign-in.

    Parameters
    ----------
    now
        Seconds since 1970.

    Raises
    ------
    InvalidToken
        With the reason for the audit log.
    """
    algorithm = str(_part(token, 0).get("alg"))
    try:
        # A set of one: the library compares the key's own `alg` and `use` with the header's.
        claims = jwt.decode(token, KeySet.import_key_set({"keys": [key]}), algorithms=sorted(_HASHES)).claims
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise InvalidToken("bad_signature") from error
    _check_parties(claims, expected)
    _check_times(claims, now)
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not hmac.compare_digest(nonce.encode(), expected.nonce.encode()):
        raise InvalidToken("wrong_nonce")
    if "at_hash" in claims and claims["at_hash"] != _half_hash(expected.access_token, _HASHES[algorithm]):
        raise InvalidToken("wrong_at_hash")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255 or "\x00" in subject:
        raise InvalidToken("no_subject")
    return claims


def _check_parties(claims: Mapping[str, Any], expected: Expected) -> None:
    if claims.get("iss") != expected.issuer:
        raise InvalidToken("wrong_issuer")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if expected.client_id not in audiences:
        raise InvalidToken("wrong_audience")
    party = claims.get("azp")
    if (len(audiences) > 1 or party is not None) and party != expected.client_id:
        raise InvalidToken("wrong_authorized_party")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    for name in ("exp", "iat", "nbf"):
        value = claims.get(name)
        if value is None and name == "nbf":
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidToken(f"no_{name}")
    if claims["exp"] <= now - LEEWAY_S:
        raise InvalidToken("expired_token")
    if max(claims["iat"], claims.get("nbf", 0)) > now + LEEWAY_S:
        raise InvalidToken("token_from_the_future")


def _half_hash(access_token: str | None, hash_name: str) -> str | None:
    if access_token is None:
        return None
    whole = hashlib.new(hash_name, access_token.encode()).digest()
    return base64.urlsafe_b64encode(whole[: len(whole) // 2]).rstrip(b"=").decode()
