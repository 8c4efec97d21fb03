"""`/policies/check`, `/run`, `/backtest`: try a formula before anything runs it."""

from fastapi import APIRouter

from wallwatch_backend.kit import problems
from wallwatch_backend.kit.access import READ_ERRORS, WRITE_ERRORS, AsViewer
from wallwatch_backend.kit.database import Reading
from wallwatch_backend.kit.process_pool import TookTooLong
from wallwatch_backend.policies.bench import service as bench
from wallwatch_backend.policies.bench.schemas import EventVocabulary, PolicyBacktest, PolicyBacktestRequest
from wallwatch_backend.policies.formulas.schemas import Bindings, CheckedPolicy, PolicyRun, PolicyRunRequest
from wallwatch_backend.policies.registry import errors

router = APIRouter(tags=["policies"])


@router.get("/policies/vocabulary", operation_id="getPolicyVocabulary", responses=problems.responses(*READ_ERRORS))
async def get_vocabulary(caller: AsViewer) -> EventVocabulary:
    """Return the kinds of events that propositions can be bound to."""
    return bench.vocabulary()


@router.post("/policies/check", operation_id="checkPolicy", responses=problems.responses(*WRITE_ERRORS, TookTooLong))
async def check_policy(caller: AsViewer, body: Bindings) -> CheckedPolicy:
    """Return what a formula means, its problems with their positions, and its automaton. Nothing is saved."""
    return await bench.check(body)


@router.post("/policies/run", operation_id="runPolicy", responses=problems.responses(*WRITE_ERRORS, errors.BadPolicy, TookTooLong))
async def run_policy(caller: AsViewer, body: PolicyRunRequest) -> PolicyRun:
    """Return the verdict and the state after each step."""
    return await bench.run(body)


@router.post(
    "/policies/backtest",
    operation_id="backtestPolicy",
    responses=problems.responses(*WRITE_ERRORS, problems.NotFound, errors.BadPolicy, TookTooLong),
)
async def backtest_policy(caller: AsViewer, body: PolicyBacktestRequest, session: Reading) -> PolicyBacktest:
    """Run a policy or a draft over stored events and return its violations. Nothing is saved."""
    return await bench.backtest(session, body)
