"""X.509 for a broker of our own: an authority, and the one certificate that it signs."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

BROKER = "wallwatch-broker"
"""Common name of the broker's certificate."""
AUTHORITY_FOR = timedelta(days=3650)
BROKER_FOR = timedelta(days=825)
RENEW_BEFORE = BROKER_FOR / 3
"""How long before its end a certificate is renewed; brokers are restarted rarely."""
_CLOCK_LAG = timedelta(hours=1)


class BadName(ValueError):
    """Text that is neither the name of a machine nor an address."""


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key (PKCS #8, the only form that Kafka reads), both PEM."""

    certificate: bytes
    private_key: bytes


def new_authority(at: datetime) -> Pair:
    """Create an authority that may sign certificates, but no further authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Wallwatch Kafka {identifier.digest.hex()[:12]}")])
    builder = (
        _builder(name, name, key.public_key(), at, at + AUTHORITY_FOR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .add_extension(identifier, critical=False)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def broker_certificate(authority: Pair, names: Sequence[str], at: datetime) -> Pair:
    """Create the broker's certificate, for the names and addresses by which clients call it.

    Raises
    ------
    BadName
        When one of them cannot be in a certificate.
    """
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    issuer_key = load_pem_private_key(authority.private_key, password=None)
    if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
        raise ValueError("the authority's key is not an elliptic-curve key")
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, BROKER)])
    builder = (
        _builder(subject, issuer.subject, key.public_key(), at, min(at + BROKER_FOR, issuer.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(list(dict.fromkeys(_general_name(name) for name in names))), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
    )
    return _pair(builder.sign(issuer_key, hashes.SHA256()), key)


def reason_to_renew(certificate: bytes, authority: bytes, names: Sequence[str], at: datetime) -> str | None:
    """Why a broker's certificate has to be replaced; None if it serves."""
    try:
        own = x509.load_pem_x509_certificate(certificate)
        own.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
        present = own.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return "it names no machine"
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm) as error:
        return f"it is not one of the present authority ({type(error).__name__})"
    if set(present) != {_general_name(name) for name in names}:
        return "the names changed"
    if own.not_valid_after_utc - at < RENEW_BEFORE:
        return f"it ends on {own.not_valid_after_utc:%Y-%m-%d}"
    return None


def end_of(certificate: bytes) -> datetime:
    """When a certificate ends."""
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        pass
    if not name or not name.isascii() or any(not (letter.isalnum() or letter in ".-_") for letter in name):
        raise BadName(f"{name[:60]!a} is neither the name of a machine nor an address")
    return x509.DNSName(name.lower())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, at: datetime, until: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - _CLOCK_LAG)
        .not_valid_after(until)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    return Pair(certificate.public_bytes(Encoding.PEM), key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
