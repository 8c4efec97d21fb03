"""The vocabulary of events, and a backtest over stored events."""

from datetime import datetime

from pydantic import BaseModel, Field, model_validator

from wallwatch_backend.kit.text import HostName, PciAddress
from wallwatch_backend.kit.times import Moment
from wallwatch_backend.policies.formulas.schemas import Bindings, Definition, Subject
from wallwatch_backend.policies.registry.schemas import PolicyName
from wallwatch_backend.policies.reports.schemas import PolicyViolation


class EventKind(BaseModel):
    kind: str
    label: str
    source: str
    subjects: list[Subject] = Field(description="Whose events they can be")
    stays_on_host: bool = Field(description="Collectors evaluate and do not send them: no backtest sees them")
    when: dict[str, list[str | bool]] = Field(
        description="Fields that can be matched, with all their values; empty where any text is possible"
    )


class EventVocabulary(BaseModel):
    subjects: dict[str, str] = Field(description="Kinds of subjects, and what identifies each")
    kinds: list[EventKind]


class PolicyBacktestRequest(BaseModel):
    """A stored policy, or a definition that is not saved."""

    policy: PolicyName | None = None
    version: int | None = Field(default=None, ge=1, description="Of an operators' policy; default: the newest")
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
    events: int = Field(description="Events that the policy evaluated")
    cut_short: bool = Field(description="There were more events than one backtest reads")
    read_until: datetime = Field(description="End of the events that were read")
    hosts: int
    subjects: int
    unknown: int = Field(description="Subjects whose state was unknown at the end")
    late: int
    violations: int
    subjects_violated: int
    shown: list[PolicyViolation] = Field(description="The newest, at most 100")
    timeline: list[BacktestPart] = Field(description="Equal parts of the range")
    not_stored: list[NotStored] = Field(description="Kinds of events that stay on their host; the backtest cannot see them")
