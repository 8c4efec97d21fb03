"""Which RNICs are cordoned. Remedies record it when an agent reports that it set or removed a cordon."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from wallwatch_backend.fleet.rnics.models import CordonRow
from wallwatch_backend.kit.database import ReadSession, WriteSession


async def record_cordon(session: WriteSession, host: str, pci: str, cordoned: bool, at: datetime) -> None:
    """Record what an agent reported; a report older than the recorded one changes nothing."""
    row = insert(CordonRow).values(host=host, pci=pci, cordoned=cordoned, changed_at=at)
    newest = row.excluded
    await session.execute(
        row.on_conflict_do_update(
            index_elements=[CordonRow.host, CordonRow.pci],
            set_={"cordoned": newest.cordoned, "changed_at": newest.changed_at},
            where=newest.changed_at >= CordonRow.changed_at,
        )
    )


async def cordon_of(session: ReadSession, host: str, pci: str) -> tuple[bool, datetime | None]:
    """Return whether an RNIC is cordoned, and since when that is so: None where no agent ever reported a cordon."""
    query = select(CordonRow.cordoned, CordonRow.changed_at).where(CordonRow.host == host, CordonRow.pci == pci)
    row = (await session.execute(query)).one_or_none()
    return (False, None) if row is None else (row.cordoned, row.changed_at)
