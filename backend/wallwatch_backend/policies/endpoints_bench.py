"""`/policies/check`, `/run`, `/backtest`: formulas tried out before anything runs them; and policies as an RNIC sees them."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.kit.times import Moment
from wallwatch_backend.kit.workers import TookTooLong
from wallwatch_backend.policies import bench, errors, states
from wallwatch_backend.policies.schemas import Bindings
from wallwatch_backend.policies.schemas_check import (
    CheckedPolicy,
    EventVocabulary,
    PolicyBacktest,
    PolicyBacktestRequest,
    PolicyRun,
    PolicyRunRequest,
)
from wallwatch_backend.policies.schemas_states import PolicyStrips

router = APIRouter(tags=["policies"])


@router.get("/policies/vocabulary", operation_id="getPolicyVocabulary", responses=problems.responses(*READ_ERRORS))
async def get_vocabulary(caller: AsViewer) -> EventVocabulary:
    """Return the kinds of events that propositions can be bound to."""
    return bench.vocabulary()


@router.post("/policies/check", operation_id="checkPolicy", responses=problems.responses(*WRITE_ERRORS, TookTooLong))
async def check_policy(caller: AsViewer, body: Bindings) -> CheckedPolicy:
    """Say what a formula means, what is wrong with it and where, and how its automaton looks. Nothing is saved."""
    return await bench.check(body)


@router.post("/policies/run", operation_id="runPolicy", responses=problems.responses(*WRITE_ERRORS, errors.BadPolicy, TookTooLong))
async def run_policy(caller: AsViewer, body: PolicyRunRequest) -> PolicyRun:
    """Say the verdict and the state after each of some steps."""
    return await bench.run(body)


@router.post(
    "/policies/backtest",
    operation_id="backtestPolicy",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.BadPolicy, TookTooLong),
)
async def backtest_policy(caller: AsViewer, body: PolicyBacktestRequest, session: Reading) -> PolicyBacktest:
    """Say what a policy, or one that is not saved yet, would have found in stored events. Nothing is saved."""
    return await bench.backtest(session, body)


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
    return await states.strips(session, host, pci, since, until)
