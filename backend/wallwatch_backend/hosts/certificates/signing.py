"""X.509: creates the agents' authority, and signs certificates for agents and for the port that they connect to."""

import hashlib
import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote, unquote

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOST_URI = "wallwatch://host/"
"""Prefix of the only subject alternative name of an agent's certificate; the host name follows."""

_AUTHORITY_FOR = timedelta(days=3650)
_SERVER_FOR = timedelta(days=90)
_CLOCK_LAG = timedelta(days=1)
"""How far a host's clock may be behind before the server's certificate is not yet valid for it."""


class BadCertificateRequest(ValueError):
    """The bytes are not a certificate request that can be signed."""


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: str
    private_key: str

    @property
    def fingerprint(self) -> str:
        return fingerprint(x509.load_pem_x509_certificate(self.certificate.encode()))


def fingerprint(certificate: x509.Certificate) -> str:
    """SHA-256 of the certificate, in hexadecimal digits."""
    return certificate.fingerprint(hashes.SHA256()).hex()


def fingerprint_of(der: bytes) -> str:
    return hashlib.sha256(der).hexdigest()


def new_authority(at: datetime) -> Pair:
    """Create an authority that may sign certificates of agents and of the port, but no further authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Wallwatch agents {identifier.digest.hex()[:12]}")])
    builder = (
        _builder(name, name, key.public_key(), at - _CLOCK_LAG, at + _AUTHORITY_FOR)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(identifier, critical=False)
    )
    return Pair(_pem(builder.sign(key, hashes.SHA256())), _key_pem(key))


def server_certificate(authority: Pair, names: list[str], at: datetime) -> Pair:
    """Create the certificate of the agents' port, for the names or addresses by which agents call it."""
    key = ec.generate_private_key(ec.SECP256R1())
    leaf = _leaf(authority, "Wallwatch", key.public_key(), at - _CLOCK_LAG, at + _SERVER_FOR, ExtendedKeyUsageOID.SERVER_AUTH)
    leaf = leaf.add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
    return Pair(_pem(_signed(leaf, authority)), _key_pem(key))


def agent_certificate(authority: Pair, request: bytes, host: str, at: datetime, until: datetime) -> x509.Certificate:
    """Sign an agent's public key. The caller names the host; only the key is taken from the request.

    Raises
    ------
    BadCertificateRequest
        When it is not a CSR, does not prove that its sender has the key, or its key is not on P-256.
    """
    try:
        csr = x509.load_pem_x509_csr(request)
        key, proven = csr.public_key(), csr.is_signature_valid
    except (ValueError, InvalidSignature, UnsupportedAlgorithm) as error:
        raise BadCertificateRequest("it is not a PKCS #10 CSR in PEM") from error
    if not proven:
        raise BadCertificateRequest("its signature does not match its key")
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        raise BadCertificateRequest("its key is not an elliptic-curve key on P-256")
    leaf = _leaf(authority, "Wallwatch agent", key, at - timedelta(minutes=5), until, ExtendedKeyUsageOID.CLIENT_AUTH)
    name = x509.UniformResourceIdentifier(HOST_URI + quote(host, safe=""))
    return _signed(leaf.add_extension(x509.SubjectAlternativeName([name]), critical=False), authority)


def host_of(certificate: x509.Certificate) -> str | None:
    """Return the host that a certificate is for; None if it is not an agent's."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return None
    uris = names.get_values_for_type(x509.UniformResourceIdentifier)
    return unquote(uris[0].removeprefix(HOST_URI)) if len(uris) == 1 and uris[0].startswith(HOST_URI) else None


def _leaf(
    authority: Pair, name: str, key: ec.EllipticCurvePublicKey, begin: datetime, end: datetime, purpose: x509.ObjectIdentifier
) -> x509.CertificateBuilder:
    issuer = x509.load_pem_x509_certificate(authority.certificate.encode())
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        _builder(subject, issuer.subject, key, begin, min(end, issuer.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, begin: datetime, end: datetime
) -> x509.CertificateBuilder:
    empty = x509.CertificateBuilder().serial_number(x509.random_serial_number())
    return empty.subject_name(subject).issuer_name(issuer).public_key(key).not_valid_before(begin).not_valid_after(end)


def _signed(builder: x509.CertificateBuilder, authority: Pair) -> x509.Certificate:
    key = load_pem_private_key(authority.private_key.encode(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("an authority's key is on P-256")
    return builder.sign(key, hashes.SHA256())


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
