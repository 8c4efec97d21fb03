"""Authorities of agents: issues certificates and judges those that agents present
(docs/decisions/0010-agents-use-mutual-tls.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cryptography import x509
from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.serialization import Encoding

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.hosts.agents.models import AgentRow
from wallwatch_backend.hosts.certificates import repository, signing
from wallwatch_backend.hosts.certificates.models import AuthorityRow, CertificateRow
from wallwatch_backend.hosts.certificates.schemas import AgentAuthorities, AgentAuthority
from wallwatch_backend.hosts.certificates.signing import Pair
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.cipher import SecretCipher
from wallwatch_backend.kit.database import ReadSession, WriteSession

_MOST_HOSTS = 100
_KEPT = timedelta(days=30)


class AuthorityUnreadable(RuntimeError):
    """The authority's key cannot be decrypted: it was encrypted with another key file than this server's."""

    def __init__(self) -> None:
        super().__init__(
            "the key of the agents' authority cannot be decrypted with this server's webhook-secrets.key: restore WALLWATCH_SECRETS_DIR, "
            "or run `wallwatch agent rotate-authority --overlap-hours 0` and enrol every agent again"
        )


class CertificateRefused(Exception):
    """The credentials of an agent are refused. `host` is the host that they are for, empty if unknown."""

    def __init__(self, code: str, why: str, host: str = "") -> None:
        super().__init__(why)
        self.code, self.host = code, host


@dataclass(frozen=True)
class IssuedCertificate:
    """A new certificate and the authorities that the agent must trust, PEM."""

    certificate: str
    authorities: list[str]


@dataclass(frozen=True)
class UnusedCertificate:
    """A valid certificate with which nobody has connected, and the agent that it is for."""

    agent: AgentRow
    issued: IssuedCertificate


@dataclass(frozen=True)
class PresentedCertificate:
    """A valid certificate that an agent presented in the TLS handshake."""

    fingerprint: str
    authority: str
    issued_at: datetime
    not_after: datetime

    def needs_renewal(self, at: datetime, newest: str) -> bool:
        """Return whether to renew it: half of its lifetime has passed, or its authority is no longer the newest."""
        return self.authority != newest or at >= self.issued_at + (self.not_after - self.issued_at) / 2


def _valid(rows: Sequence[AuthorityRow], at: datetime) -> list[AuthorityRow]:
    return [row for row in rows if row.not_after is None or row.not_after > at]


def _open(cipher: SecretCipher, row: AuthorityRow) -> Pair:
    if row.private_key is None:
        raise AuthorityUnreadable
    try:
        return Pair(row.certificate, cipher.decrypt(row.private_key))
    except InvalidToken as error:
        raise AuthorityUnreadable from error


async def ensure(session: WriteSession, cipher: SecretCipher) -> None:
    """Create the first authority if there is none."""
    await repository.lock(session)
    if not await repository.authorities(session):
        await _add(session, cipher, "server", clock.now())


async def _add(session: WriteSession, cipher: SecretCipher, by: str, at: datetime) -> str:
    authority = signing.new_authority(at)
    await repository.add(
        session,
        AuthorityRow(
            fingerprint=authority.fingerprint,
            certificate=authority.certificate,
            private_key=cipher.encrypt(authority.private_key),
            created_at=at,
            created_by=by,
        ),
    )
    return authority.fingerprint


async def in_force(session: ReadSession) -> list[AuthorityRow]:
    """Return the trusted authorities, oldest first.

    The port presents a certificate of the oldest, which every agent trusts; the newest signs.
    """
    return _valid(await repository.authorities(session), clock.now())


async def pin(session: ReadSession) -> bytes | None:
    """Return the fingerprint that an enrolment token carries, 32 bytes, None without an authority.

    It makes the first contact safe: the agent trusts only a server with this authority.
    """
    valid = await in_force(session)
    return bytes.fromhex(valid[0].fingerprint) if valid else None


async def for_port(session: ReadSession, cipher: SecretCipher, names: list[str]) -> tuple[Pair, list[AuthorityRow]]:
    """Return a new certificate of the agents' port, signed by the oldest authority, and all trusted authorities."""
    valid = await in_force(session)
    if not valid:
        raise AuthorityUnreadable
    return signing.server_certificate(_open(cipher, valid[0]), names, clock.now()), valid


async def issue(
    session: WriteSession, cipher: SecretCipher, agent_id: UUID, host: str, request: bytes, lifetime: timedelta
) -> tuple[IssuedCertificate, PresentedCertificate]:
    """Sign an agent's key. Its older certificates stay valid until this one is used, in case the answer is lost.

    Raises
    ------
    BadCertificateRequest
        When the request cannot be signed.
    """
    valid = await in_force(session)
    if not valid:
        raise AuthorityUnreadable
    at = clock.now()
    certificate = signing.agent_certificate(_open(cipher, valid[-1]), request, host, at, at + lifetime)
    row = CertificateRow(
        fingerprint=signing.fingerprint(certificate),
        serial=format(certificate.serial_number, "x"),
        agent_id=agent_id,
        authority=valid[-1].fingerprint,
        issued_at=at,
        not_after=at + lifetime,
    )
    await repository.add(session, row)
    audit.record(session, f"agent:{host}", "agent.certificate", host, serial=row.serial, not_after=row.not_after.isoformat())
    issued = IssuedCertificate(certificate.public_bytes(Encoding.PEM).decode(), [authority.certificate for authority in valid])
    return issued, _presented(row)


async def unused(session: WriteSession, certificate: str) -> UnusedCertificate | None:
    """Return an issued certificate (PEM) with what its agent needs besides; None if it was used, or is no longer valid."""
    found = await repository.with_agent(session, signing.fingerprint(x509.load_pem_x509_certificate(certificate.encode())))
    if found is None:
        return None
    row, agent = found
    valid = await in_force(session)
    trusted = row.authority in {authority.fingerprint for authority in valid}
    if row.used_at is not None or row.revoked_at is not None or row.not_after <= clock.now() or not trusted:
        return None
    return UnusedCertificate(agent, IssuedCertificate(certificate, [authority.certificate for authority in valid]))


def _presented(row: CertificateRow) -> PresentedCertificate:
    return PresentedCertificate(row.fingerprint, row.authority, row.issued_at, row.not_after)


async def admit(session: WriteSession, der: bytes | None) -> tuple[AgentRow, PresentedCertificate]:
    """Return the agent of a certificate.

    The handshake proved that the peer has the key and that one of our authorities signed it. The rest is judged here,
    by this server's clock and the database.

    Raises
    ------
    CertificateRefused
        With a code: certificate_needed, unknown_certificate, certificate_revoked, certificate_expired or authority_ended.
    """
    if der is None:
        raise CertificateRefused("certificate_needed", "it presented no certificate")
    row_and_agent = await repository.with_agent(session, signing.fingerprint_of(der))
    if row_and_agent is None:
        claimed = signing.host_of(x509.load_der_x509_certificate(der)) or ""
        raise CertificateRefused("unknown_certificate", "its agent was removed, or it was never issued by this server", claimed)
    row, agent = row_and_agent
    at = clock.now()
    if row.revoked_at is not None:
        raise CertificateRefused("certificate_revoked", f"it was revoked or replaced at {row.revoked_at:%Y-%m-%d %H:%M:%S} UTC", agent.host)
    if row.not_after <= at:
        raise CertificateRefused("certificate_expired", f"it expired at {row.not_after:%Y-%m-%d %H:%M:%S} UTC", agent.host)
    if row.authority not in {authority.fingerprint for authority in await in_force(session)}:
        raise CertificateRefused("authority_ended", "the authority that signed it is no longer trusted", agent.host)
    if await repository.note_first_use(session, row.fingerprint, at):
        await repository.revoke(session, agent.id, at, except_for=row.fingerprint, issued_before=row.issued_at)
        agent.secret_hash = None  # an agent with a certificate no longer needs its secret
    return agent, _presented(row)


async def rotate(session: WriteSession, cipher: SecretCipher, actor: str, address: str | None, overlap_s: int) -> str:
    """Create a new authority. It signs from now on; older ones stay trusted until the overlap ends."""
    await repository.lock(session)
    at = clock.now()
    end = at + timedelta(seconds=overlap_s)
    before = _valid(await repository.authorities(session), at)
    for row in before:
        row.not_after = min(row.not_after or end, end)
    fingerprint = await _add(session, cipher, actor, at)
    retiring = [row.fingerprint for row in before]
    audit.record(session, actor, "agent_authority.rotate", fingerprint, address=address, overlap_s=overlap_s, before=retiring)
    await changes.announce(session, "agent_authority", fingerprint, "introduced")
    return fingerprint


async def clean_up(session: WriteSession) -> None:
    """Delete the keys of retired authorities, and certificates that expired long ago."""
    at = clock.now()
    for fingerprint in await repository.delete_private_keys(session, at):
        audit.record(session, "system", "agent_authority.retire", fingerprint)
    await repository.delete_expired(session, at - _KEPT)


async def list_authorities(session: ReadSession) -> AgentAuthorities:
    at = clock.now()
    rows = await repository.authorities(session)
    counts = await repository.agents_by_authority(session, at)
    items = [
        AgentAuthority(
            fingerprint=row.fingerprint,
            state="current" if row.not_after is None else "overlapping" if row.not_after > at else "retired",
            created_at=row.created_at,
            created_by=row.created_by,
            not_after=row.not_after,
            agents=counts.get(row.fingerprint, 0),
        )
        for row in reversed(rows)
    ]
    behind = await repository.hosts_without(session, rows[-1].fingerprint, at) if rows else []
    return AgentAuthorities(items=items, behind=list(behind[:_MOST_HOSTS]), behind_total=len(behind))
