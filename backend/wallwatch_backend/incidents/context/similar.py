"""Similar past incidents, with the remedies that were applied to them."""

from collections import defaultdict
from uuid import UUID

from wallwatch_backend.incidents import present
from wallwatch_backend.incidents.context import similar_repository
from wallwatch_backend.incidents.context.schemas import PastRemedy, SimilarIncident, SimilarIncidents
from wallwatch_backend.incidents.models import IncidentRow
from wallwatch_backend.incidents.remedy_history import remedy_history
from wallwatch_backend.incidents.service import require
from wallwatch_backend.kit.database import ReadSession


async def list_similar(session: ReadSession, incident_id: UUID, limit: int) -> SimilarIncidents:
    row = await require(session, incident_id)
    rows = await similar_repository.similar(session, row, limit)
    ids = [other.id for other in rows]
    remedies: dict[UUID, list[PastRemedy]] = defaultdict(list)
    for owner, remedy in await remedy_history().applied_for_incidents(session, ids):
        remedies[owner].append(PastRemedy.model_validate(remedy, from_attributes=True))
    comments = await similar_repository.last_comments(session, ids)
    items = [
        SimilarIncident(
            incident=present.summary(other),
            alike=shared_properties(row, other),
            lasted_s=max(((other.cleared_at or other.resolved_at or other.opened_at) - other.opened_at).total_seconds(), 0.0),
            resolved_by=other.resolved_by,
            remedies=remedies[other.id],
            last_comment=comments.get(other.id),
        )
        for other in rows
    ]
    return SimilarIncidents(items=items)


def shared_properties(a: IncidentRow, b: IncidentRow) -> list[str]:
    """Names of what two incidents share, most significant first.

    >>> a = IncidentRow(symptoms=["S1"], top_cause="C5", model="CX-6", fw_ver=None, hosts=["h1"])
    >>> b = IncidentRow(symptoms=["S1", "S5"], top_cause="C1", model="CX-6", fw_ver=None, hosts=["h1", "h2"])
    >>> shared_properties(a, b)
    ['symptom', 'model', 'host']
    """
    shared = {
        "cause": a.top_cause is not None and a.top_cause == b.top_cause,
        "symptom": bool(set(a.symptoms) & set(b.symptoms)),
        "model": a.model is not None and a.model == b.model,
        "fw_ver": a.fw_ver is not None and a.fw_ver == b.fw_ver,
        "host": bool(set(a.hosts) & set(b.hosts)),
    }
    return [name for name, holds in shared.items() if holds]
