"""Which hosts a request names: a token that is limited to hosts may use only operations that name hosts of its own.

Whatever is not listed here is refused to such a token: lists over the fleet, the stream, metrics and exports show other hosts too.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from fastapi import Request

from wallwatch_backend.kit.database import Database, ReadSession
from wallwatch_backend.kit.problems import Forbidden

HostsOf = Callable[[ReadSession, UUID], Awaitable[set[str]]]
"""Gets an id; returns the hosts that it is about, none for an unknown one."""

_ANY_HOST = frozenset({"session", "catalogue"})
"""Tags of operations that say nothing about any host."""

_OF_PATH_IDS: Mapping[str, frozenset[str]] = {
    "remedy_id": frozenset({"getRemedy", "getRemedyEffect", "undoRemedy", "approveRemedy", "rejectRemedy"}),
    "incident_id": frozenset(
        {"getIncident", "acknowledgeIncident", "unacknowledgeIncident", "resolveIncident", "reopenIncident", "commentIncident"}
    ),
}
"""Operations whose id in the path stands for hosts, by the name of that parameter."""

_OF_BODY = frozenset({"createRemedy", "createPlan", "createRollout"})
_OF_QUERY = frozenset({"listRemedies"})
"""Operations that `?host=` limits to one host, exactly."""

_resolvers: dict[str, HostsOf] = {}


class OutsideReach(Forbidden):
    """A token that is limited to hosts asked for something else."""

    code, title = "outside_token_hosts", "The token is limited to other hosts"


def register(parameter: str, hosts_of: HostsOf) -> None:
    """Resolve ids of this name, `remedy_id` for one, once at start."""
    _resolvers[parameter] = hosts_of


async def check(request: Request, allowed: frozenset[str]) -> None:
    """Raise `OutsideReach` unless everything that a request is about lies on the allowed hosts."""
    route = request.scope["route"]
    if _ANY_HOST.intersection(route.tags):
        return
    named = await _named(request, route.operation_id)
    if not named:
        raise OutsideReach("This token is limited to hosts, and this operation is not about named hosts; use a token without that limit.")
    if outside := sorted(named - allowed):
        raise OutsideReach(f"This token may not use {outside[0]!r}; it is limited to {len(allowed)} hosts.")


async def _named(request: Request, operation: str) -> set[str]:
    """Return the hosts that a request names, none when it is about more than that."""
    if "host" in request.path_params:
        return {request.path_params["host"]}
    for parameter, operations in _OF_PATH_IDS.items():
        if operation in operations:
            return await _resolved(request, parameter, request.path_params[parameter])
    if operation in _OF_QUERY:
        return set(request.query_params.getlist("host"))
    return await _named_in_body(request, await request.json()) if operation in _OF_BODY else set()


async def _named_in_body(request: Request, body: Any) -> set[str]:
    """Return the hosts of an order; one that cannot be read names none."""
    if not isinstance(body, dict):
        return set()
    targets = body.get("targets")
    ordered = [body, *targets] if isinstance(targets, list) else [body]
    named = {str(each["host"]) for each in ordered if isinstance(each, dict) and "host" in each}
    if body.get("incident_id") is None:
        return named
    of_incident = await _resolved(request, "incident_id", body["incident_id"])
    return named | of_incident if of_incident else set()


async def _resolved(request: Request, parameter: str, value: Any) -> set[str]:
    try:
        id = UUID(str(value))
    except ValueError:
        return set()
    if parameter not in _resolvers:
        return set()
    database: Database = request.app.state.database
    async with database.read() as session:
        return await _resolvers[parameter](session, id)
