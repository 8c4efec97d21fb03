"""A formula with its bindings: what callers give, and what the check and a run of it return."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from wallwatch_backend.kit.text import StorableText

Verdict = Literal["T", "F", "?"]
Subject = Literal["flow", "vf", "rnic", "host", "command", "address"]
PropositionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100), StorableText]
Sentence = Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True), StorableText]
Formula = Annotated[str, StringConstraints(max_length=2000), StorableText]


class Binding(BaseModel):
    """A proposition holds in the step of an event of one of these kinds whose fields have these values."""

    kind: list[Word] = Field(min_length=1, max_length=40)
    when: dict[Word, str | int | bool] = Field(default_factory=dict, max_length=10)


class Timer(BaseModel):
    """`name` holds `seconds` after an event that sets `after`, unless one that sets `unless` came before."""

    name: PropositionName
    after: PropositionName
    unless: PropositionName | None = None
    seconds: float = Field(strict=True, gt=0, le=86_400)


class Bindings(BaseModel):
    """A formula, and what its propositions mean."""

    formula: Formula
    subject: Subject = "rnic"
    propositions: dict[PropositionName, Binding] = Field(default_factory=dict, max_length=12)
    timer: Timer | None = None


class Definition(Bindings):
    """A policy's definition. Policies on addresses run in the job `validate`, which sees all hosts; all others on their hosts."""

    title: Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True), StorableText]
    severity: Literal["warning", "critical"] = "warning"
    symptoms: list[Annotated[str, StringConstraints(pattern=r"^S[1-8]$")]] = Field(default_factory=list, max_length=8)
    causes: list[Annotated[str, StringConstraints(pattern=r"^C[1-8]$")]] = Field(default_factory=list, max_length=8)
    violation: Sentence = Field(description="What a violation means, as shown to operators")
    note: Sentence | None = Field(default=None, description="What the policy cannot detect")


class PolicyProblem(BaseModel):
    """`position` and `length` are characters of the formula, from 0."""

    kind: Literal["syntax", "too_complex", "refused", "unbound", "binding", "too_large"]
    message: str
    position: int | None = None
    length: int | None = None
    proposition: str | None = None


class AutomatonState(BaseModel):
    id: int
    verdict: Verdict
    retired: bool = Field(description="No verdict can follow, whatever happens")


class AutomatonEdge(BaseModel):
    source: int
    target: int
    guard: str = Field(description="The steps that lead there, as a formula; `otherwise` for all that no other edge covers")


class Automaton(BaseModel):
    """State 0 is the initial one."""

    states: list[AutomatonState]
    edges: list[AutomatonEdge]


class Ask(BaseModel):
    proposition: str
    holds: bool


class CheckedPolicy(BaseModel):
    """Without problems a policy with this formula can be enabled."""

    problems: list[PolicyProblem]
    formula: str | None = Field(default=None, description="With every bracket; null when it cannot be parsed")
    propositions: list[str] = Field(default_factory=list, description="Those of the formula, sorted: bit i of a letter is proposition i")
    unused: list[str] = Field(default_factory=list, description="Bound, but not in the formula; their events are steps too")
    kind: str | None = Field(default=None, description="safety, co-safety, both, neither but monitorable, or non-monitorable")
    safety: bool | None = None
    co_safety: bool | None = None
    monitorable: bool | None = None
    initial_verdict: Verdict | None = None
    states: int | None = None
    words: str | None = Field(default=None, description="What a violation looks like")
    examples: list[list[list[Ask]]] = Field(
        default_factory=list, description="Shortest paths to a violation: steps, with the propositions that must or must not hold in each"
    )
    parts: list[str] = Field(default_factory=list, description="Parts of a conjunction, which can be monitored separately")
    automaton: Automaton | None = Field(default=None, description="Null when it has too many states to draw")


class PolicyRunRequest(BaseModel):
    formula: Formula
    steps: list[list[PropositionName]] = Field(max_length=500, description="For each step the propositions that hold in it")


class PolicyRun(BaseModel):
    """`states` begins with the state before the first step, so it has one entry more than there are steps; so has `verdicts`."""

    propositions: list[str]
    states: list[int]
    verdicts: list[Verdict]
    ignored: list[str] = Field(description="Names in the steps that the formula does not have")
