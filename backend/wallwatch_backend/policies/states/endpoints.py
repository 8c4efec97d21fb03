"""States and violations of a policy over the fleet, and of all policies on one RNIC."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.paging import BadCursor, Cursor, Limit, Page
from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.kit.times import Moment
from wallwatch_backend.policies.registry.endpoints import ONE, Name
from wallwatch_backend.policies.reports.schemas import PolicyViolation
from wallwatch_backend.policies.states import service, violations
from wallwatch_backend.policies.states.schemas import PolicySeries, PolicyStrips

router = APIRouter(tags=["policies"])

From = Annotated[Moment | None, Query(alias="from")]
To = Annotated[Moment | None, Query(alias="to")]


@router.get("/policies/{policy_id}/series", operation_id="getPolicySeries", responses=problems.responses(*ONE, problems.InvalidInput))
async def get_series(caller: AsViewer, policy_id: Name, session: Reading, since: From = None, until: To = None) -> PolicySeries:
    """Return the policy's state over the fleet in equal steps; the last hour when no range is given."""
    return await service.series(session, policy_id, since, until)


@router.get("/policies/{policy_id}/violations", operation_id="listPolicyViolations", responses=problems.responses(*ONE, BadCursor))
async def list_violations(
    caller: AsViewer,
    policy_id: Name,
    session: Reading,
    since: From = None,
    until: To = None,
    host: Annotated[HostName | None, Query()] = None,
    pci: Annotated[PciAddress | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[PolicyViolation]:
    """List violations, newest first, each with its path through the automaton."""
    return await violations.list_violations(session, policy_id, since=since, until=until, host=host, pci=pci, limit=limit, cursor=cursor)


@router.get(
    "/policies/{policy_id}/violations/{violation_id}", operation_id="getPolicyViolation", responses=problems.responses(*ONE, BadCursor)
)
async def get_violation(
    caller: AsViewer, policy_id: Name, violation_id: Annotated[str, Path(max_length=500)], session: Reading
) -> PolicyViolation:
    """Return one violation."""
    return await violations.get_violation(session, policy_id, violation_id)


@router.get(
    "/rnics/{host}/{pci}/policies",
    operation_id="listRnicPolicies",
    responses=problems.responses(*READ_ERRORS, problems.NotFound, problems.InvalidInput),
)
async def list_rnic_policies(
    caller: AsViewer,
    host: Annotated[HostName, Path()],
    pci: Annotated[PciAddress, Path()],
    session: Reading,
    since: Annotated[Moment | None, Query(alias="from", description="Default: one hour before `to`")] = None,
    until: Annotated[Moment | None, Query(alias="to", description="Default: now")] = None,
) -> PolicyStrips:
    """Return the state of each policy on this RNIC and its host in equal steps."""
    return await service.strips(session, host, pci, since, until)
