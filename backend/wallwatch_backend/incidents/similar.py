"""Past incidents like one, and what resolved them."""

from collections import defaultdict
from typing import Any
from uuid import UUID

from wallwatch_backend.incidents import present, repository, service, similar_repository
from wallwatch_backend.incidents.context_schemas import PastRemedy, SimilarIncident, SimilarIncidents
from wallwatch_backend.kit.database import ReadSession


async def list_similar(session: ReadSession, incident_id: UUID, limit: int) -> SimilarIncidents:
    row = service.found(await repository.one(session, incident_id), incident_id)
    rows = await similar_repository.alike(session, row, limit)
    ids = [one.id for one in rows]
    remedies: dict[UUID, list[PastRemedy]] = defaultdict(list)
    for owner, remedy in await similar_repository.applied_remedies(session, ids):
        remedies[owner].append(PastRemedy.model_validate(remedy, from_attributes=True))
    comments = await similar_repository.last_comments(session, ids)
    items = [
        SimilarIncident(
            incident=present.summary(one),
            alike=alike(row, one),
            lasted_s=max(((one.over_since or one.resolved_at or one.opened_at) - one.opened_at).total_seconds(), 0.0),
            resolved_by=one.resolved_by,
            remedies=sorted(remedies[one.id], key=lambda r: r.state != "verified"),
            last_comment=comments.get(one.id),
        )
        for one in rows
    ]
    return SimilarIncidents(items=items)


def alike(one: Any, other: Any) -> list[str]:
    """What two incidents share, most telling first.

    >>> from wallwatch_backend.incidents.models import IncidentRow
    >>> a = IncidentRow(symptoms=["S1"], top_cause="C5", model="CX-6", fw_ver=None, hosts=["h1"])
    >>> b = IncidentRow(symptoms=["S1", "S5"], top_cause="C1", model="CX-6", fw_ver=None, hosts=["h1", "h2"])
    >>> alike(a, b)
    ['symptom', 'model', 'host']
    """
    shared = {
        "cause": one.top_cause is not None and one.top_cause == other.top_cause,
        "symptom": bool(set(one.symptoms) & set(other.symptoms)),
        "model": one.model is not None and one.model == other.model,
        "fw_ver": one.fw_ver is not None and one.fw_ver == other.fw_ver,
        "host": bool(set(one.hosts) & set(other.hosts)),
    }
    return [name for name, holds in shared.items() if holds]
