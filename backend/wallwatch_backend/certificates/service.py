"""Who signs for agents, what is signed, and whether what an agent shows is good (docs/decisions/0010-agents-use-mutual-tls.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cryptography import x509
from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.serialization import Encoding

from wallwatch_backend.agents.models import AgentRow
from wallwatch_backend.audit import service as audit
from wallwatch_backend.certificates import making, repository
from wallwatch_backend.certificates.making import Pair
from wallwatch_backend.certificates.models import AuthorityRow, CertificateRow
from wallwatch_backend.certificates.schemas import AgentAuthorities, AgentAuthority
from wallwatch_backend.kit import changes, clock
from wallwatch_backend.kit.database import ReadSession, WriteSession
from wallwatch_backend.webhooks.cipher import SecretCipher

_MOST_HOSTS = 100
_KEPT = timedelta(days=30)


class AuthorityUnreadable(RuntimeError):
    """The authority's key cannot be opened: this server has another key file than the one that wrote it."""

    def __init__(self) -> None:
        super().__init__(
            "the key of the agents' authority cannot be opened with this server's webhook-secrets.key: restore WALLWATCH_SECRETS_DIR, "
            "or run `wallwatch agent rotate-authority --overlap-hours 0` and enrol every agent again"
        )


class CertificateRefused(Exception):
    """An agent may not come in with what it showed. `host` is what the certificate says, empty where it says nothing."""

    def __init__(self, code: str, why: str, host: str = "") -> None:
        super().__init__(why)
        self.code, self.host = code, host


@dataclass(frozen=True)
class Issued:
    """What an agent gets."""

    certificate: str
    authorities: list[str]


@dataclass(frozen=True)
class Shown:
    """A certificate that was shown in a handshake and is good."""

    fingerprint: str
    authority: str
    issued_at: datetime
    not_after: datetime

    def due(self, at: datetime, newest: str) -> bool:
        """Whether it is to be renewed: half of its life is over, or its authority is not the newest any more."""
        return self.authority != newest or at >= self.issued_at + (self.not_after - self.issued_at) / 2


def _good(rows: Sequence[AuthorityRow], at: datetime) -> list[AuthorityRow]:
    return [row for row in rows if row.not_after is None or row.not_after > at]


def _open(cipher: SecretCipher, row: AuthorityRow) -> Pair:
    if row.private_key is None:
        raise AuthorityUnreadable
    try:
        return Pair(row.certificate, cipher.decrypt(row.private_key))
    except InvalidToken as error:
        raise AuthorityUnreadable from error


async def ensure(session: WriteSession, cipher: SecretCipher) -> None:
    """Make the first authority where there is none."""
    await repository.lock(session)
    if not await repository.authorities(session):
        await _add(session, cipher, "server", clock.now())


async def _add(session: WriteSession, cipher: SecretCipher, by: str, at: datetime) -> str:
    made = making.new_authority(at)
    await repository.add(
        session,
        AuthorityRow(
            fingerprint=made.fingerprint,
            certificate=made.certificate,
            private_key=cipher.encrypt(made.private_key),
            created_at=at,
            created_by=by,
        ),
    )
    return made.fingerprint


async def in_force(session: ReadSession) -> list[AuthorityRow]:
    """Authorities that are trusted, oldest first. The port shows a certificate of the oldest, which every agent knows; the newest signs."""
    return _good(await repository.authorities(session), clock.now())


async def pin(session: ReadSession) -> bytes | None:
    """What an enrolment token says of the authority, 32 bytes, so that the first contact is safe; None where there is none."""
    good = await in_force(session)
    return bytes.fromhex(good[0].fingerprint) if good else None


async def for_port(session: ReadSession, cipher: SecretCipher, names: list[str]) -> tuple[Pair, list[AuthorityRow]]:
    """A new certificate of the agents' port, signed by the oldest authority, and all that agents' certificates may come from."""
    good = await in_force(session)
    if not good:
        raise AuthorityUnreadable
    return making.server_certificate(_open(cipher, good[0]), names, clock.now()), good


async def issue(
    session: WriteSession, cipher: SecretCipher, agent_id: UUID, host: str, request: bytes, lifetime: timedelta
) -> tuple[Issued, Shown]:
    """Sign an agent's key. The certificates before it stay good until this one is used, so that nothing is lost when the answer is.

    Raises
    ------
    BadRequestForCertificate
        When the request cannot be signed.
    """
    good = await in_force(session)
    if not good:
        raise AuthorityUnreadable
    at = clock.now()
    made = making.agent_certificate(_open(cipher, good[-1]), request, host, at, at + lifetime)
    row = CertificateRow(
        fingerprint=making.fingerprint(made),
        serial=format(made.serial_number, "x"),
        agent_id=agent_id,
        authority=good[-1].fingerprint,
        issued_at=at,
        not_after=at + lifetime,
    )
    await repository.add(session, row)
    audit.record(session, f"agent:{host}", "agent.certificate", host, serial=row.serial, not_after=row.not_after.isoformat())
    issued = Issued(made.public_bytes(Encoding.PEM).decode(), [authority.certificate for authority in good])
    return issued, _shown(row)


def _shown(row: CertificateRow) -> Shown:
    return Shown(row.fingerprint, row.authority, row.issued_at, row.not_after)


async def admit(session: WriteSession, der: bytes | None) -> tuple[AgentRow, Shown]:
    """Return whose certificate it is. The handshake has shown that its bearer has the key and that one of our authorities signed it;
    the rest is judged here, by this server's clock and the database.

    Raises
    ------
    CertificateRefused
        With a code: certificate_needed, unknown_certificate, certificate_revoked, certificate_expired or authority_ended.
    """
    if der is None:
        raise CertificateRefused("certificate_needed", "it showed no certificate")
    found = await repository.with_agent(session, making.fingerprint_of(der))
    if found is None:
        claimed = making.host_of(x509.load_der_x509_certificate(der)) or ""
        raise CertificateRefused("unknown_certificate", "its agent was removed, or it was never issued by this server", claimed)
    row, agent = found
    at = clock.now()
    if row.revoked_at is not None:
        raise CertificateRefused("certificate_revoked", f"it was revoked or replaced at {row.revoked_at:%Y-%m-%d %H:%M:%S} UTC", agent.host)
    if row.not_after <= at:
        raise CertificateRefused("certificate_expired", f"it ended at {row.not_after:%Y-%m-%d %H:%M:%S} UTC", agent.host)
    if row.authority not in {authority.fingerprint for authority in await in_force(session)}:
        raise CertificateRefused("authority_ended", "the authority that signed it has ended", agent.host)
    if await repository.note_first_use(session, row.fingerprint, at):
        await repository.revoke(session, agent.id, at, but=row.fingerprint, issued_before=row.issued_at)
        agent.secret_hash = None  # whoever has a certificate has no use for the secret of before
    return agent, _shown(row)


async def rotate(session: WriteSession, cipher: SecretCipher, actor: str, address: str | None, overlap_s: int) -> str:
    """Make a new authority. It signs from now on; the ones before are trusted until the overlap has ended."""
    await repository.lock(session)
    at = clock.now()
    end = at + timedelta(seconds=overlap_s)
    before = _good(await repository.authorities(session), at)
    for row in before:
        row.not_after = min(row.not_after or end, end)
    made = await _add(session, cipher, actor, at)
    audit.record(
        session, actor, "agent_authority.rotate", made, address=address, overlap_s=overlap_s, before=[row.fingerprint for row in before]
    )
    await changes.announce(session, "agent_authority", made, "introduced")
    return made


async def tidy(session: WriteSession) -> None:
    """Forget keys of authorities that have ended, and certificates that ended long ago."""
    at = clock.now()
    for fingerprint in await repository.forget_private(session, at):
        audit.record(session, "system", "agent_authority.retire", fingerprint)
    await repository.forget_ended(session, at - _KEPT)


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
