"""What a formula means and what is wrong with it. Pure, and run in a separate process: some formulas take very long."""

from collections.abc import Iterator
from functools import lru_cache

from pydantic import ValidationError

from wallwatch.domain.ltl.draw import guards
from wallwatch.domain.ltl.gaps import widened
from wallwatch.domain.ltl.kind import Checked as Meaning
from wallwatch.domain.ltl.kind import check
from wallwatch.domain.ltl.limits import Limits, TooComplex
from wallwatch.domain.ltl.monitor import Monitor, compiled
from wallwatch.domain.ltl.parse import SyntaxProblem, parse, tokens
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.models import Proposition as DomainProposition
from wallwatch.domain.policies.tables import MAX_PROPOSITIONS, MAX_STATES
from wallwatch.domain.policies.vocabulary import misfits
from wallwatch_backend.policies.formulas.schemas import (
    Ask,
    Automaton,
    AutomatonEdge,
    AutomatonState,
    Bindings,
    CheckedPolicy,
    Definition,
    PolicyProblem,
    PolicyRun,
    PolicyRunRequest,
    Verdict,
)

LIMITS = Limits(states=1000, nodes=200_000, seconds=3.0, propositions=12)
"""A formula is checked with every pause in typing; collectors have lower limits."""

CHECK_S = 10.0
"""Longest time of a check; its own limits end nearly all of them within 3 s."""

MAX_DRAWN_STATES = 40
"""Most states of an automaton that is drawn."""

OWN_SOURCE = "operators"


def examine(bindings: Bindings) -> CheckedPolicy:
    """Return what a formula means and whether a policy with these bindings can be enabled."""
    text = bindings.formula
    if not text.strip():
        return _syntax_problem("a formula is required, such as G(A -> X B)", 0, 0)
    try:
        parsed = parse(text)
    except SyntaxProblem as problem:
        return _syntax_problem(problem.message, problem.position, _length(text, problem))
    names = parsed.propositions()
    unbound = list(_unbound(bindings, names))
    try:
        meaning = check(parsed, LIMITS)
    except TooComplex as problem:
        wrong = PolicyProblem(kind="too_complex", message=str(problem))
        return CheckedPolicy(formula=str(parsed), propositions=names, problems=[wrong, *unbound])
    checked = _described(meaning)
    problems = [*_refusals(meaning), *unbound, *_binding_problems(bindings)]
    checked.unused = [name for name in _declared(bindings) if name not in names]
    if not problems:
        problems += _too_large(meaning.monitor, len(names) + len(checked.unused))
    checked.problems = problems
    return checked


def _syntax_problem(message: str, position: int, length: int) -> CheckedPolicy:
    return CheckedPolicy(problems=[PolicyProblem(kind="syntax", message=message, position=position, length=length)])


def _length(text: str, problem: SyntaxProblem) -> int:
    rest = text[problem.position :]
    word = len(rest) - len(rest.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"))
    return max(word, 1 if rest.strip() else 0)


def _declared(bindings: Bindings) -> list[str]:
    return [*bindings.propositions, *([bindings.timer.name] if bindings.timer else [])]


def _unbound(bindings: Bindings, names: list[str]) -> Iterator[PolicyProblem]:
    declared = set(_declared(bindings))
    first = {token.text: token.position for token in reversed(tokens(bindings.formula)) if token.kind == "name"}
    for name in names:
        if name not in declared:
            message = f"no event sets {name} yet: select its events"
            yield PolicyProblem(kind="unbound", message=message, position=first[name], length=len(name), proposition=name)


def _refusals(meaning: Meaning) -> Iterator[PolicyProblem]:
    verdicts = meaning.monitor.verdicts
    if verdicts[0] != "?" or "F" not in verdicts:
        yield PolicyProblem(kind="refused", message=meaning.words())


def _binding_problems(bindings: Bindings) -> Iterator[PolicyProblem]:
    timer = bindings.timer
    if timer is not None:
        if timer.name in bindings.propositions:
            yield PolicyProblem(kind="binding", message=f"{timer.name} is already set by events", proposition=timer.name)
        for name in dict.fromkeys((timer.after, timer.unless or timer.after)):
            if name not in bindings.propositions:
                yield PolicyProblem(kind="binding", message=f"the timer refers to {name}, which no event sets", proposition=timer.name)
    shape = {name: DomainProposition(kind=tuple(bound.kind), when=bound.when) for name, bound in bindings.propositions.items()}
    for name, wrong in misfits(Policy.model_construct(subject=bindings.subject, propositions=shape)):
        yield PolicyProblem(kind="binding", message=wrong, proposition=name)


def _too_large(monitor: Monitor, propositions: int) -> Iterator[PolicyProblem]:
    if propositions > MAX_PROPOSITIONS:
        yield PolicyProblem(kind="too_large", message=f"there are {propositions} propositions; collectors support {MAX_PROPOSITIONS}")
        return
    try:
        if len(monitor.verdicts) > MAX_STATES:
            raise TooComplex(f"the automaton has {len(monitor.verdicts)} states")
        widened(monitor, MAX_STATES)
    except TooComplex as problem:
        yield PolicyProblem(kind="too_large", message=f"{problem}; collectors support {MAX_STATES}: split the formula at its conjunctions")


def _described(meaning: Meaning) -> CheckedPolicy:
    monitor = meaning.monitor
    parts = monitor.formula.conjuncts()
    return CheckedPolicy(
        problems=[],
        formula=str(monitor.formula),
        propositions=list(monitor.propositions),
        kind=meaning.kind.name,
        safety=meaning.kind.safety,
        co_safety=meaning.kind.co_safety,
        monitorable=meaning.kind.monitorable,
        initial_verdict=verdict(monitor, 0),
        states=len(monitor.verdicts),
        words=meaning.words(),
        examples=[[[Ask(proposition=name, holds=holds) for name, holds in cube] for cube in trace] for trace in meaning.violations],
        parts=[str(part) for part in parts] if len(parts) > 1 else [],
        automaton=automaton(monitor) if len(monitor.verdicts) <= MAX_DRAWN_STATES else None,
    )


def automaton(monitor: Monitor) -> Automaton:
    """Return the automaton as states and symbolic edges."""
    states = range(len(monitor.verdicts))
    return Automaton(
        states=[AutomatonState(id=state, verdict=verdict(monitor, state), retired=state in monitor.hopeless) for state in states],
        edges=[
            AutomatonEdge(source=state, target=target, guard=guard) for state in states for target, guard in guards(monitor, state).items()
        ],
    )


def verdict(monitor: Monitor, state: int) -> Verdict:
    symbol = monitor.verdicts[state]
    return "T" if symbol == "T" else "F" if symbol == "F" else "?"


@lru_cache(maxsize=256)
def monitor_of(formula: str) -> Monitor:
    """The monitor of a formula, within the limits."""
    return compiled(formula, LIMITS)


def run(request: PolicyRunRequest) -> PolicyRun | PolicyProblem:
    """Run the monitor over the steps."""
    try:
        monitor = monitor_of(request.formula)
    except SyntaxProblem as problem:
        return PolicyProblem(kind="syntax", message=problem.message, position=problem.position, length=1)
    except TooComplex as problem:
        return PolicyProblem(kind="too_complex", message=str(problem))
    states = [0]
    for present in request.steps:
        states.append(monitor.next(states[-1], monitor.letter(present)))
    ignored = {name for step in request.steps for name in step} - set(monitor.propositions)
    return PolicyRun(
        propositions=list(monitor.propositions),
        states=states,
        verdicts=[verdict(monitor, state) for state in states],
        ignored=sorted(ignored),
    )


def usable(id: str, definition: Definition) -> tuple[dict[str, object], list[PolicyProblem]]:
    """Return the definition as it is stored and delivered, and the problems that prevent its use."""
    checked = examine(definition)
    if checked.problems:
        return {}, checked.problems
    body = {**definition.model_dump(exclude_none=True), "id": id, "where": where(definition), "source": OWN_SOURCE}
    try:
        return Policy.model_validate(body).model_dump(mode="json", exclude_none=True), []
    except ValidationError as error:
        first = error.errors()[0]
        return {}, [PolicyProblem(kind="binding", message=str(first["msg"]).removeprefix("Value error, "))]


def where(bindings: Bindings) -> str:
    """A host sees everything about its own subjects; only an address may move between hosts."""
    return "server" if bindings.subject == "address" else "edge"
