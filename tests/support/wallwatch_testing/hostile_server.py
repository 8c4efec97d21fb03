"""Messages of an attacker between server and agent: forged, altered, or signed with a stolen key; with the agent's required answers."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

COMMAND = "wallwatch-command+jws"


def b64url(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def at(**offset: float) -> str:
    """A time so far from now, as commands have it."""
    return (datetime.now(UTC) + timedelta(**offset)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Forger:
    """Makes commands for a host. `private` and `kid` are the server's own: a thief of the key reaches the checks behind the signature."""

    host: str
    private: Ed25519PrivateKey
    kid: str

    def payload(self, **changes: Any) -> dict[str, Any]:
        """A command that is valid except for the changes; a value of None removes the field."""
        whole = {
            "command_id": str(uuid4()),
            "remedy_id": str(uuid4()),
            "host": self.host,
            "action": "tune-revalidator",
            "operation": "apply",
            "params": {"max_idle_ms": 3_600_000},
            "issued_at": at(),
            "expires_at": at(seconds=60),
        }
        return {name: value for name, value in (whole | changes).items() if value is not None}

    def sign(self, payload: bytes | dict[str, Any] | None = None, *, key: Ed25519PrivateKey | None = None, **header: Any) -> bytes:
        """A compact JWS. Header fields of None are left out."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload if payload is not None else self.payload()).encode()
        head = {"alg": "EdDSA", "kid": self.kid, "typ": COMMAND} | header
        fields = {name: value for name, value in head.items() if value is not None}
        signed = b64url(json.dumps(fields).encode()) + b"." + b64url(body)
        return signed + b"." + b64url((key or self.private).sign(signed))

    def changed(self, **changes: Any) -> bytes:
        return self.sign(self.payload(**changes))

    def parts(self) -> list[bytes]:
        return self.sign().split(b".")

    def flipped(self, part: int, bit: int) -> bytes:
        """One bit of the header, the payload or the signature is another."""
        parts = self.parts()
        raw = bytearray(base64.urlsafe_b64decode(parts[part] + b"=" * (-len(parts[part]) % 4)))
        raw[bit // 8] ^= 1 << bit % 8
        parts[part] = b64url(bytes(raw))
        return b".".join(parts)

    def with_payload(self, **changes: Any) -> bytes:
        """Another payload under a signature that was good."""
        head, _, signature = self.parts()
        return b".".join([head, b64url(json.dumps(self.payload(**changes)).encode()), signature])

    def raw_payload(self, replace: str, by: str) -> bytes:
        """A signed payload whose JSON text was changed as no encoder writes it."""
        text = json.dumps(self.payload())
        assert replace in text
        return self.sign(text.replace(replace, by, 1).encode())


Forge = Callable[[Forger], bytes]
IDLE = '"max_idle_ms": 3600000'

UNSIGNED: dict[str, tuple[Forge, str]] = {
    "a bit of the signature is flipped": (lambda f: f.flipped(2, 77), "bad_signature"),
    "a bit of the payload is flipped": (lambda f: f.flipped(1, 8 * 20 + 1), "bad_signature"),
    "other parameters under an old signature": (lambda f: f.with_payload(params={"max_idle_ms": 500}), "bad_signature"),
    "another host under an old signature": (lambda f: f.with_payload(host="host99"), "bad_signature"),
    "a later end under an old signature": (lambda f: f.with_payload(expires_at=at(hours=1)), "bad_signature"),
    "signed with the attacker's key": (lambda f: f.sign(key=Ed25519PrivateKey.generate()), "bad_signature"),
    "the attacker's key under its own id": (lambda f: f.sign(key=Ed25519PrivateKey.generate(), kid="mine"), "unknown_key"),
    "no key id": (lambda f: f.sign(kid=None), "unknown_key"),
    "no signature at all": (lambda f: b".".join([*f.parts()[:2], b""]), "bad_signature"),
    "the algorithm none": (lambda f: f.sign(alg="none"), "bad_signature"),
    "HMAC with the public key as secret": (lambda f: f.sign(alg="HS256"), "bad_signature"),
    "the key comes with the message": (
        lambda f: f.sign(key=Ed25519PrivateKey.generate(), jwk={"kty": "OKP", "crv": "Ed25519", "x": "A" * 43}),
        "",
    ),
    "a header that must be understood": (lambda f: f.sign(crit=["b64"], b64=False), ""),
    "nothing": (lambda f: b"", "malformed"),
    "no JWS": (lambda f: b"hello", "malformed"),
    "bytes that are no text": (lambda f: bytes(range(256)), "malformed"),
    "JSON in place of the compact form": (lambda f: json.dumps({"payload": "", "signatures": []}).encode(), "malformed"),
    "two megabytes": (lambda f: b"A" * 2_000_000, "malformed"),
    "a message of another kind": (lambda f: f.sign(typ="wallwatch-key+jws"), "malformed"),
    "no kind": (lambda f: f.sign(typ=None), "malformed"),
}
"""Without the key. The ids in these messages prove nothing; an empty code means any of the three signature errors."""

SIGNED: dict[str, tuple[Forge, str]] = {
    "a payload of a megabyte": (lambda f: f.changed(params={"max_idle_ms": 20_000, "x": "y" * 1_000_000}), "malformed"),
    "parameters nested a thousand deep": (lambda f: f.raw_payload(IDLE, '"max_idle_ms": ' + "[" * 1000 + "]" * 1000), "bad_parameter"),
    "a payload nested five thousand deep": (lambda f: f.sign(b"[" * 5000), "malformed"),
    "a payload that is no JSON": (lambda f: f.sign(b"{"), "malformed"),
    "a host that is no UTF-8": (lambda f: f.sign(json.dumps(f.payload()).encode().replace(f.host.encode(), b"\xff\xfe", 1)), "wrong_host"),
    "a field twice": (lambda f: f.raw_payload('"host":', '"host": "host99", "host":'), "malformed"),
    "a parameter twice": (lambda f: f.raw_payload(IDLE, '"max_idle_ms": 20000, ' + IDLE), "malformed"),
    "a field with another case": (lambda f: f.raw_payload('"host":', '"Host":'), "malformed"),
    "a field too many": (lambda f: f.changed(shell="true"), "malformed"),
    "a field too few": (lambda f: f.changed(expires_at=None), "malformed"),
    "a number for a host": (lambda f: f.changed(host=1), "malformed"),
    "a list for parameters": (lambda f: f.changed(params=[]), "malformed"),
    "an id that is no UUID": (lambda f: f.changed(command_id="../../journal"), "malformed"),
    "an operation that there is not": (lambda f: f.changed(operation="shell"), "malformed"),
    "a time that is no time": (lambda f: f.changed(expires_at="tomorrow"), "malformed"),
    "an end before its beginning": (lambda f: f.changed(expires_at=at(seconds=-1)), "malformed"),
    "good for longer than a day": (lambda f: f.changed(expires_at=at(hours=25)), "malformed"),
    "another host": (lambda f: f.changed(host="host99"), "wrong_host"),
    "the host's name in capitals": (lambda f: f.changed(host=f.host.upper()), "wrong_host"),
    "expired": (lambda f: f.changed(issued_at=at(seconds=-100), expires_at=at(seconds=-40)), "expired"),
    "of the future": (lambda f: f.changed(issued_at=at(seconds=40), expires_at=at(seconds=100)), "not_yet_valid"),
    "an unknown action": (lambda f: f.changed(action="run-shell", params={"command": "true"}), "unknown_action"),
    "reading that would change": (lambda f: f.changed(action="read-flows", params={"pci": "0000:3b:00.0", "seconds": 0}), "unknown_action"),
    "no parameters": (lambda f: f.changed(params={}), "bad_parameter"),
    "a parameter out of range": (lambda f: f.changed(params={"max_idle_ms": 3_600_001}), "bad_parameter"),
    "a parameter that the action has not": (lambda f: f.changed(params={"max_idle_ms": 20_000, "path": "/etc/passwd"}), "bad_parameter"),
    "a fraction": (lambda f: f.changed(params={"max_idle_ms": 20_000.5}), "bad_parameter"),
    "a whole number written as a fraction": (lambda f: f.raw_payload(IDLE, '"max_idle_ms": 20000.0'), "bad_parameter"),
    "a number with an exponent": (lambda f: f.raw_payload(IDLE, '"max_idle_ms": 2e4'), "bad_parameter"),
    "a huge number": (lambda f: f.raw_payload(IDLE, '"max_idle_ms": 1' + "0" * 400), "bad_parameter"),
    "a negative number": (lambda f: f.changed(params={"max_idle_ms": -1}), "bad_parameter"),
    "text for a number": (lambda f: f.changed(params={"max_idle_ms": "20000"}), "bad_parameter"),
    "a truth value for a number": (lambda f: f.changed(params={"max_idle_ms": True}), "bad_parameter"),
    "nothing for a number": (lambda f: f.raw_payload(IDLE, '"max_idle_ms": null'), "bad_parameter"),
    "a path for a PCI address": (lambda f: f.changed(action="cordon-rnic", params={"pci": "../../etc", "reason": "x"}), "bad_parameter"),
    "a line break in a reason": (
        lambda f: f.changed(action="cordon-rnic", params={"pci": "0000:3b:00.0", "reason": "a\nb"}),
        "bad_parameter",
    ),
    "an RNIC that is not there": (
        lambda f: f.changed(action="cordon-rnic", params={"pci": "0000:99:00.0", "reason": "x"}),
        "precondition_failed",
    ),
    "an undo of what was never done": (lambda f: f.changed(operation="undo", params={}), "nothing_to_undo"),
    "a plan whose operations never came": (
        lambda f: f.changed(action="apply-mask-plan", params={"pci": "0000:3b:00.0", "plan": str(uuid4()), "operations_sha256": "0" * 64}),
        "precondition_failed",
    ),
}
"""With the server's key, stolen."""
