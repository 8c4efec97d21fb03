"""An enrolment whose answer was lost on its way: the agent sends the same request again and gets the same certificate.

A certificate is of no use without the agent's private key, so whoever sends a recorded request learns nothing that is secret.
"""

from hmac import compare_digest
from uuid import UUID

import structlog

from wallwatch_backend.accounts.audit import service as audit
from wallwatch_backend.hosts.certificates import service as certificates
from wallwatch_backend.hosts.certificates.service import IssuedCertificate
from wallwatch_backend.hosts.enrolment.errors import BadEnrolmentToken
from wallwatch_backend.hosts.enrolment.models import EnrolmentTokenRow
from wallwatch_backend.hosts.enrolment.schemas import Enrolment
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.hashing import digest

NOT_VALID = "It is wrong, used or expired. Create a new one with: wallwatch agent enrol"
MOST_REPEATS = 100
"""An agent pauses for up to 30 s between attempts, so that it loses an hour of answers before this ends it."""

log = structlog.get_logger(__name__)


def remember(token: EnrolmentTokenRow, csr: str, issued: IssuedCertificate) -> None:
    """Keep with a token how it was answered."""
    token.csr_hash, token.certificate = digest(csr), issued.certificate


async def answer_again(
    session: WriteSession, token: EnrolmentTokenRow, body: Enrolment, kids: list[str], address: str | None
) -> tuple[UUID, IssuedCertificate]:
    """Return the agent and the certificate that a used token gave, if this is the request that used it.

    Raises
    ------
    BadEnrolmentToken
        When it is another request, or the first answer arrived: somebody has connected with the certificate, or it is no longer valid.
    """
    same = (
        token.csr_hash is not None
        and token.certificate is not None
        and body.csr is not None
        and compare_digest(token.csr_hash, digest(body.csr))
        and token.used_by == body.host
    )
    unused = await certificates.unused(session, token.certificate) if same and token.certificate is not None else None
    if unused is None or unused.agent.instance_uid != str(body.instance_uid) or token.repeats >= MOST_REPEATS:
        raise BadEnrolmentToken(NOT_VALID)
    token.repeats += 1
    unused.agent.command_kids = kids
    if token.repeats == 1:  # the first time only: a client that repeats for ever must not fill the audit log
        audit.record(session, f"agent:{body.host}", "agent.enrol_again", body.host, address=address, agent_id=str(unused.agent.id))
    log.info("enrolment_answered_again", host=body.host, address=address, repeats=token.repeats)
    return unused.agent.id, unused.issued
