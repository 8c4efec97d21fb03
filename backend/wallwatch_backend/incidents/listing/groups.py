"""Groups of incidents for the list: each incident is in exactly one group of a kind.

Filters ask whether any finding of an incident is at a host; a group asks where the incident as a whole belongs, so that the
groups' counts add up.
"""

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, case, func, literal_column, select

from wallwatch.store.tables import rnic, rnic_isolation
from wallwatch_backend.incidents.models import IncidentRow as I

GroupBy = Literal["host", "rack", "symptom", "model", "tenant", "assignee"]

NONE = ""
"""The group of what has no such property: no known rack, nobody, several hosts."""

_ONE_HOST = ("rnic", "host")
_ONE_RACK = (*_ONE_HOST, "rack")


def _tenants() -> ColumnElement[Any]:
    """The tenants of pods on the incident's RNIC, by name and with commas: several tenants that share an RNIC are a group of their own."""
    vf = func.jsonb_array_elements(rnic_isolation.c.vfs).table_valued("value", name="vf")
    name: ColumnElement[str] = literal_column("vf.value ->> 'tenant'")
    joined = rnic.join(rnic_isolation, rnic_isolation.c.rnic_id == rnic.c.rnic_id).join(vf, name != NONE)
    names = select(func.string_agg(name.distinct(), literal_column("', '"))).select_from(joined)
    found = names.where(rnic.c.host == I.host, rnic.c.pci == I.pci).correlate(I).scalar_subquery()
    return func.coalesce(case((I.scope.in_(_ONE_HOST), found)), NONE)


_COLUMNS: dict[GroupBy, ColumnElement[Any]] = {
    "host": case((I.scope.in_(_ONE_HOST), I.host), else_=NONE),
    "rack": case((I.scope.in_(_ONE_RACK), func.coalesce(I.rack, NONE)), else_=NONE),
    "symptom": I.symptom.expression,
    "model": func.coalesce(I.model, NONE),
    "tenant": _tenants(),
    "assignee": func.coalesce(I.assignee, NONE),
}


def column(by: GroupBy) -> ColumnElement[Any]:
    """The value by which incidents are grouped, as SQL."""
    return _COLUMNS[by]


def counted(by: GroupBy, conditions: Sequence[ColumnElement[bool]], limit: int) -> Any:
    """The query for (value, incidents, critical ones, newest) of each group: those with the most critical incidents first."""
    rows = select(column(by).label("value"), I.severity, I.opened_at).where(*conditions).subquery()
    incidents = func.count().label("incidents")
    critical = func.count().filter(rows.c.severity == "critical").label("critical")
    return (
        select(rows.c.value, incidents, critical, func.max(rows.c.opened_at).label("newest"))
        .group_by(rows.c.value)
        .order_by(critical.desc(), incidents.desc(), rows.c.value)
        .limit(limit)
    )
