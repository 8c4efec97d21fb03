"""What a formula means, a run over steps, a backtest over stored events."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.kit.times import Moment
from wallwatch_backend.policies.schemas import Bindings, Definition, Formula, PolicyName, PropositionName, Subject

Verdict = Literal["T", "F", "?"]


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
    retired: bool = Field(description="No verdict can follow, whatever comes")


class AutomatonEdge(BaseModel):
    source: int
    target: int
    guard: str = Field(description="The steps that lead there, as a formula; `otherwise` for all that no other edge names")


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
    formula: str | None = Field(default=None, description="With every bracket, as it is understood; null when it cannot be read")
    propositions: list[str] = Field(default_factory=list, description="Those of the formula, sorted: bit i of a letter is proposition i")
    unused: list[str] = Field(default_factory=list, description="Bound, but not in the formula: their events are steps too")
    kind: str | None = Field(default=None, description="safety, co-safety, both, neither but monitorable, or non-monitorable")
    safety: bool | None = None
    co_safety: bool | None = None
    monitorable: bool | None = None
    initial_verdict: Verdict | None = None
    states: int | None = None
    words: str | None = Field(default=None, description="What a violation looks like")
    examples: list[list[list[Ask]]] = Field(
        default_factory=list, description="Shortest ways to a violation: steps, and what each must show or must not show"
    )
    parts: list[str] = Field(default_factory=list, description="Of a conjunction: they can be monitored one by one")
    automaton: Automaton | None = Field(default=None, description="Null where it has too many states to be drawn")


class PolicyRunRequest(BaseModel):
    formula: Formula
    steps: list[list[PropositionName]] = Field(max_length=500, description="For each step the propositions that hold in it")


class PolicyRun(BaseModel):
    """`states` begins with the state before the first step, so it has one more than there are steps; likewise `verdicts`."""

    propositions: list[str]
    states: list[int]
    verdicts: list[Verdict]
    ignored: list[str] = Field(description="Names in the steps that the formula does not have")


class PolicyBacktestRequest(BaseModel):
    """What to run: a stored policy, or a definition that is not saved yet."""

    policy: PolicyName | None = None
    version: int | None = Field(default=None, ge=1, description="Of an operators' own policy; the newest when left out")
    definition: Definition | Bindings | None = None
    since: Moment = Field(alias="from")
    until: Moment = Field(alias="to")
    host: HostName | None = None
    pci: PciAddress | None = None

    @model_validator(mode="after")
    def _makes_sense(self) -> "PolicyBacktestRequest":
        if (self.policy is None) == (self.definition is None):
            raise ValueError("give either policy or definition")
        if self.until <= self.since:
            raise ValueError("to must be after from")
        if (self.until - self.since).days > 31:
            raise ValueError("from and to are more than 31 days apart")
        return self


class TraceStep(BaseModel):
    at: datetime
    host: str | None = Field(default=None, description="Where it is another than the violation's")
    kinds: list[str] = Field(description="Kinds of the events of this step; empty for a timer, or where they are not kept")
    propositions: list[str] = Field(description="Of this policy; none where the step is not one of it")
    text: str
    state: int | None = Field(description="State of the automaton after it; null where it cannot be told")
    verdict: Verdict | None


class PolicyViolation(BaseModel):
    id: str
    policy: str
    at: datetime
    host: str
    pci: str
    subject: str
    severity: Literal["warning", "critical"]
    text: str
    inhibited_by: UUID | None = Field(default=None, description="The remedy that has brought it about, so that it is not counted")
    revision: str
    version: int | None = Field(description="The version that was violated, where it is still known; 0 for a policy of the catalogue")
    left_out: int = Field(description="Violations that this entry stands for beyond itself: the host told no more of them")
    cut: bool = Field(description="Steps before the first shown are not known any more")
    start: int | None = Field(description="State before the first shown step")
    trace: list[TraceStep]


class EventKind(BaseModel):
    kind: str
    label: str
    source: str
    subjects: list[Subject] = Field(description="Whose events they can be")
    stays_on_host: bool = Field(description="Collectors run policies on them and send them no further, so no backtest sees them")
    when: dict[str, list[str | bool]] = Field(description="Fields to ask for with all their values, or none where any text is possible")


class EventVocabulary(BaseModel):
    subjects: dict[str, str] = Field(description="Kinds of subjects, and what each is told apart by")
    kinds: list[EventKind]


class NotStored(BaseModel):
    kind: str
    label: str


class BacktestPart(BaseModel):
    at: datetime
    violations: int
    events: int


class PolicyBacktest(BaseModel):
    since: datetime = Field(serialization_alias="from")
    until: datetime = Field(serialization_alias="to")
    events: int = Field(description="Events that the policy looked at")
    cut_short: bool = Field(description="There are more events than one backtest reads")
    read_until: datetime = Field(description="Up to here everything was read")
    hosts: int
    subjects: int
    unknown: int = Field(description="Subjects whose state was not known at the end")
    late: int
    violations: int
    subjects_violated: int
    shown: list[PolicyViolation] = Field(description="The newest, at most 100")
    timeline: list[BacktestPart] = Field(description="In equal parts of the range")
    not_stored: list[NotStored] = Field(description="Kinds of events that stay on their host: the backtest cannot see them")
