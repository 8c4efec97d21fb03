"""The filters of incidents as conditions of SQL."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Text, case, cast, func, or_, select

from wallwatch_backend.incidents.filters import IncidentFilter
from wallwatch_backend.incidents.models import IncidentFindingRow as F
from wallwatch_backend.incidents.models import IncidentRow as I

SEVERITY_RANK = case((I.severity == "critical", 1), else_=0)

Condition = ColumnElement[bool]

_OF_INCIDENT = {"cause": I.top_cause, "severity": I.severity, "scope": I.scope, "assignee": I.assignee, "active": I.active}
_OF_FINDINGS = {"host": F.host, "pci": F.pci, "rack": F.rack, "model": F.model, "fw_ver": F.fw_ver, "inhibited_by": F.inhibited_by}


def conditions(chosen: IncidentFilter, without: str | None = None) -> Sequence[Condition]:
    """Conditions for the filters that are given, but for the one called `without`."""
    wanted: dict[str, Any] = {name: value for name, value in chosen if value is not None and name != without}
    found: list[Condition] = [I.merged_into.is_(None)]
    if wanted.get("state"):
        found.append(I.state.in_([str(state) for state in wanted["state"]]))
    if wanted.get("symptom"):
        found.append(I.symptoms.overlap(wanted["symptom"]))
    found += [column == wanted[name] for name, column in _OF_INCIDENT.items() if name in wanted]
    # Of one finding together: host and pci must not be those of two.
    of_one = [column == wanted[name] for name, column in _OF_FINDINGS.items() if name in wanted]
    if of_one:
        found.append(I.id.in_(select(F.incident_id).where(*of_one)))
    if "suppressed_by" in wanted:
        found.append((I.suppressed_by == wanted["suppressed_by"]) & (I.state == "suppressed"))
    if "q" in wanted:
        found.append(_contains(wanted["q"]))
    if "opened_after" in wanted:
        found.append(I.opened_at >= wanted["opened_after"])
    if "opened_before" in wanted:
        found.append(I.opened_at < wanted["opened_before"])
    return found


def _contains(text: str) -> Condition:
    texts = (I.title, I.summary, I.subject, func.array_to_string(I.hosts, " "), I.pci, cast(I.external_refs, Text), I.assignee)
    return or_(*(column.icontains(text, autoescape=True) for column in texts))
