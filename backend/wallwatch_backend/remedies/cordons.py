"""Which RNICs are cordoned, as far as agents have said: the newest cordon or release that an agent carried out."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on

from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.remedies.models import CommandRow, RemedyRow

CORDON = "cordon-rnic"

_newest = (
    select(RemedyRow.host, RemedyRow.pci, CommandRow.operation, CommandRow.finished_at)
    .join(CommandRow, CommandRow.remedy_id == RemedyRow.id)
    .where(RemedyRow.action == CORDON, CommandRow.state == "done", CommandRow.operation.in_(("apply", "undo")))
    .ext(distinct_on(RemedyRow.host, RemedyRow.pci))
    .order_by(RemedyRow.host, RemedyRow.pci, CommandRow.finished_at.desc())
)


async def cordoned_rnics(session: ReadSession) -> set[tuple[str, str]]:
    """Return `(host, pci)` of every cordoned RNIC."""
    rows = await session.execute(_newest)
    return {(host, pci) for host, pci, operation, _ in rows if operation == "apply" and pci is not None}


async def cordon_of(session: ReadSession, host: str, pci: str) -> tuple[bool, datetime | None]:
    """Say whether one RNIC is cordoned, and since when it is or is not; no time when no agent ever said anything."""
    row = (await session.execute(_newest.where(RemedyRow.host == host, RemedyRow.pci == pci))).one_or_none()
    return (False, None) if row is None else (row.operation == "apply", row.finished_at)
