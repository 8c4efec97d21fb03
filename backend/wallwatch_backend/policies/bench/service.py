"""Tries formulas and drafts: what they mean, their verdicts on given steps and on stored events."""

from wallwatch.domain.policies.backtest import kinds_read
from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.vocabulary import SUBJECTS, event_kinds
from wallwatch_backend.kit.database import ReadSession
from wallwatch_backend.kit.problems import NotFound
from wallwatch_backend.kit.process_pool import run_in_process
from wallwatch_backend.policies.bench import backtesting
from wallwatch_backend.policies.bench.schemas import EventKind, EventVocabulary, PolicyBacktest, PolicyBacktestRequest
from wallwatch_backend.policies.formulas import analysis
from wallwatch_backend.policies.formulas.schemas import Bindings, CheckedPolicy, Definition, PolicyProblem, PolicyRun, PolicyRunRequest
from wallwatch_backend.policies.registry import repository
from wallwatch_backend.policies.registry.errors import BadPolicy
from wallwatch_backend.policies.registry.stored import policy_of
from wallwatch_backend.policies.reports import repository as telemetry_repository

MAX_EVENTS = 200_000
"""Events that one backtest reads: about 10 s of work."""
BACKTEST_S = 40.0
_DRAFT = "draft"
_SUBJECT_FIELDS = frozenset({"flow", "device", "command", "address", "vxlan_network"})
"""Fields that identify the subject of an event."""


def vocabulary() -> EventVocabulary:
    """Return what propositions can be bound to."""
    return EventVocabulary(
        subjects={str(subject): words for subject, words in SUBJECTS.items()},
        kinds=[
            EventKind(
                kind=kind.id,
                label=kind.label,
                source=kind.source,
                subjects=list(kind.subjects),
                stays_on_host=kind.stays_on_host,
                when={field: list(values) for field, values in kind.when.items()},
            )
            for kind in event_kinds().values()
        ],
    )


async def check(body: Bindings) -> CheckedPolicy:
    return await run_in_process(analysis.CHECK_S, "The check of the formula", analysis.examine, body)


async def run(body: PolicyRunRequest) -> PolicyRun:
    result = await run_in_process(analysis.CHECK_S, "The run", analysis.run, body)
    if isinstance(result, PolicyProblem):
        raise BadPolicy(result.message)
    return result


async def _chosen(session: ReadSession, body: PolicyBacktestRequest) -> Policy:
    if body.policy is None:
        return await _of_draft(body.definition)
    row = await repository.one(session, body.policy)
    if row is None or not row.own:
        if body.policy not in catalogue():
            raise NotFound(f"There is no policy {body.policy}.")
        return catalogue()[body.policy]
    version = await repository.version(session, body.policy, body.version or row.newest)
    if version is None:
        raise NotFound(f"There is no version {body.version} of {body.policy}.")
    return policy_of(version.definition)


async def _of_draft(given: Definition | Bindings | None) -> Policy:
    if given is None:
        raise BadPolicy("Give a policy or a definition.")
    words = {} if isinstance(given, Definition) else {"title": _DRAFT, "violation": "The draft was violated."}
    definition = Definition.model_validate({**given.model_dump(), **words})
    stored, problems = await run_in_process(analysis.CHECK_S, "The check of the formula", analysis.usable, _DRAFT, definition)
    if problems:
        raise BadPolicy("; ".join(problem.message for problem in problems))
    return policy_of(stored)


async def backtest(session: ReadSession, body: PolicyBacktestRequest) -> PolicyBacktest:
    """Read the events and run the policy over them, in a separate process."""
    policy = await _chosen(session, body)
    events: list[backtesting.Stored] = []
    kinds = sorted(kinds_read([policy]))
    pages = telemetry_repository.events(session, kinds, body.since, body.until, body.host, body.pci, MAX_EVENTS + 1)
    needed = _SUBJECT_FIELDS | {key for bound in policy.propositions.values() for key in bound.when}
    async for page in pages:
        for row in page:
            fields = {key: value for key, value in (row.other or {}).items() if key in needed}
            events.append((row.time, row.host, row.pci, row.kind, fields))
    cut_short = len(events) > MAX_EVENTS
    span = backtesting.Span(body.since, body.until, cut_short)
    return await run_in_process(BACKTEST_S, "The backtest", backtesting.backtest, policy, events[:MAX_EVENTS], span)
