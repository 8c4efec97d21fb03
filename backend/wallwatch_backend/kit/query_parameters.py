"""Query parameters that an operation does not have are refused: ignored, a misspelt filter would look like an answer."""

from difflib import get_close_matches

from fastapi import Request
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from wallwatch_backend.kit.problems import InvalidInput

FURTHER_PARAMETERS = "x-further-parameters"
"""Marks an operation that somebody else's program calls, with parameters of its own (`openapi_extra`)."""
FURTHER: frozenset[str] = frozenset({FURTHER_PARAMETERS})
_KNOWN: dict[int, frozenset[str]] = {}
"""By the identity of the route: routes are made once and live as long as the process."""


class UnknownParameter(InvalidInput):
    code, title = "unknown_parameter", "The operation has no such query parameter"


async def refuse_unknown(
    request: Request,
) -> None:  # not awaiting anything, but a plain function would be run in a thread, for each request
    """Refuse a request with query parameters that its operation does not describe.

    Raises
    ------
    UnknownParameter
        Names the parameter, and the one that may be meant.
    """
    if not request.query_params:
        return
    route = request.scope["route"]
    known = _KNOWN.get(id(route))
    if known is None:
        known = _KNOWN[id(route)] = _described(route)
    if known is FURTHER:
        return
    for name in request.query_params:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f" Did you mean {near[0]}?" if near else f" It takes {', '.join(sorted(known))}." if known else " It takes none."
            raise UnknownParameter(f"There is no query parameter {name[:100]!r}.{meant}")


def _described(route: BaseRoute) -> frozenset[str]:
    """Names of the query parameters of a route, as its description has them."""
    [operations] = get_openapi(title="", version="", routes=[route])["paths"].values()
    if any(operation.get(FURTHER_PARAMETERS) for operation in operations.values()):
        return FURTHER
    return frozenset(
        parameter["name"]
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    )
