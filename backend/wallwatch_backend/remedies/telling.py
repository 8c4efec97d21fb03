"""Tells webhooks that a remedy entered a state. Dry runs change nothing and are not told."""

from collections.abc import Mapping

from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Labels, labels_of
from wallwatch_backend.remedies import present, repository
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.webhooks import happenings
from wallwatch_backend.webhooks.formats.happening import Happening
from wallwatch_backend.webhooks.schemas import EventType

EVENT_OF: Mapping[str, EventType] = {
    "proposed": EventType.remedy_proposed,
    "rejected": EventType.remedy_rejected,
    "pending": EventType.remedy_approved,
    "dispatched": EventType.remedy_dispatched,
    "applied": EventType.remedy_running,
    "verified": EventType.remedy_verified,
    "not_verified": EventType.remedy_failed,
    "failed": EventType.remedy_failed,
    "refused": EventType.remedy_failed,
    "undone": EventType.remedy_undone,
    "expired": EventType.remedy_expired,
}


async def tell(session: WriteSession, row: RemedyRow) -> None:
    """Tell of the state that a remedy has just entered; call it once for each, in the transaction of the change."""
    event = EVENT_OF.get(row.state)
    if row.mode != "apply" or event is None:
        return

    async def labels() -> Labels:
        return await labels_of_remedy(session, row)

    async def happening() -> Happening:
        shown = (await present.many(session, [row]))[0]
        return Happening(
            event=event,
            at=row.updated_at,
            began_at=row.created_at,
            kind="remedy",
            id=row.id,
            action=row.action,
            place=f"{row.host} {row.pci or ''}".strip(),
            text=_sentence(row),
            data=shown.model_dump(mode="json"),
            labels={name: values[0] for name, values in labels_of({"host": row.host, "pci": row.pci}).items()},
            url=_url(session.info.get("public_url"), row),
        )

    await happenings.tell(session, event, labels, happening)


async def labels_of_remedy(session: WriteSession, row: RemedyRow) -> Labels:
    """Labels that matchers see: of the RNIC (or of all of the host, where it names none) and of the incident for which it was ordered."""
    places = await repository.rnics_at(session, row.host, row.pci)
    incident = await incidents.one(session, row.incident_id) if row.incident_id is not None else None
    return labels_of(
        {
            "host": row.host,
            "pci": row.pci or [place.pci for place in places],
            "rack": [place.rack for place in places],
            "model": [place.model for place in places],
            "fw_ver": [place.fw_ver for place in places],
            "symptom": incident.symptom if incident is not None else None,
            "symptoms": incident.symptoms if incident is not None else None,
            "top_cause": incident.top_cause if incident is not None else None,
            "severity": incident.severity if incident is not None else None,
            "scope": incident.scope if incident is not None else None,
        }
    )


_WORDS = {
    "proposed": "is proposed and waits for a second person",
    "rejected": "was rejected",
    "pending": "may be applied and waits for the host's agent",
    "dispatched": "was sent to the host",
    "applied": "was applied; telemetry is watched",
    "verified": "worked, as telemetry shows",
    "not_verified": "was applied, and telemetry does not show that it worked",
    "failed": "failed on the host",
    "refused": "was refused by the host's agent",
    "undone": "was taken back",
    "expired": "was given up",
}


def _sentence(row: RemedyRow) -> str:
    who = f" (ordered by {row.requested_by})"
    why = f": {row.message}" if row.message else ""
    if row.state == "pending" and row.decided_by is not None:
        why = f", approved by {row.decided_by}" + (f": {row.decision_comment}" if row.decision_comment else "")
    return f"{row.action} on {row.host} {_WORDS[row.state]}{who}{why}"


def _url(public_url: str | None, row: RemedyRow) -> str:
    """The page where a person sees it: the incident's, the RNIC's, or the list."""
    if public_url is None:
        return ""
    if row.incident_id is not None:
        return f"{public_url}/incidents/{row.incident_id}"
    return f"{public_url}/rnics/{row.host}/{row.pci}" if row.pci else f"{public_url}/remedies"
