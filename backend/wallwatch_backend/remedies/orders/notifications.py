"""Notifies webhooks of the states that remedies enter. Dry runs change nothing and are not sent."""

from wallwatch_backend.incidents import repository as incidents
from wallwatch_backend.kit.database import WriteSession
from wallwatch_backend.kit.matchers import Labels, labels_of
from wallwatch_backend.notify.events import OrderEvent
from wallwatch_backend.notify.routing import order_events
from wallwatch_backend.notify.schemas import EventType
from wallwatch_backend.remedies.models import RemedyRow
from wallwatch_backend.remedies.orders import present, repository, traces
from wallwatch_backend.remedies.states import REMEDY, RemedyState


async def notify(session: WriteSession, row: RemedyRow) -> None:
    """Notify webhooks of the state that a remedy has just entered; call it once per state, in the transaction of the change."""
    state = REMEDY[row.state]
    if row.mode != "apply" or state.event is None:
        return
    if session.is_traced:
        await traces.note(session, row)
    event = EventType(state.event)

    async def labels() -> Labels:
        return await labels_of_remedy(session, row)

    async def build() -> OrderEvent:
        return OrderEvent(
            event=event,
            outcome=state.outcome,
            over=state.over,
            at=row.updated_at,
            began_at=row.created_at,
            kind="remedy",
            id=row.id,
            action=row.action,
            place=f"{row.host} {row.pci or ''}".strip(),
            text=_sentence(row),
            data=(await present.remedy(session, row)).model_dump(mode="json"),
            labels={name: values[0] for name, values in labels_of({"host": row.host, "pci": row.pci}).items()},
            url=_url(session.info.get("public_url"), row),
        )

    await order_events.publish(session, event, labels, build)


async def labels_of_remedy(session: WriteSession, row: RemedyRow) -> Labels:
    """Labels that matchers see: of the RNIC (of all RNICs of the host where it names none) and of its incident."""
    places = await repository.rnics_at(session, row.host, row.pci)
    incident = await incidents.get(session, row.incident_id) if row.incident_id is not None else None
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


def _sentence(row: RemedyRow) -> str:
    return f"{row.action} on {row.host} {REMEDY[row.state].sentence} (requested by {row.requested_by}){_reason(row)}"


def _reason(row: RemedyRow) -> str:
    if row.state == RemedyState.approved:
        if row.decided_by is None:
            return ", no approval required"
        return f", approved by {row.decided_by}" + (f": {row.decision_comment}" if row.decision_comment else "")
    return f": {row.message}" if row.message else ""


def _url(public_url: str | None, row: RemedyRow) -> str:
    """The page where a person sees it: the incident's, the RNIC's, or the list."""
    if public_url is None:
        return ""
    if row.incident_id is not None:
        return f"{public_url}/incidents/{row.incident_id}"
    return f"{public_url}/rnics/{row.host}/{row.pci}" if row.pci else f"{public_url}/remedies"
