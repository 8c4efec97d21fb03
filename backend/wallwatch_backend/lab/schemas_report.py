"""The report of a campaign, as `wallwatch lab run --json` writes it. Fields of later versions are kept and shown to nobody."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from wallwatch_backend.policies.formulas.schemas import Definition

Config = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", json_schema_serialization_defaults_required=True)


class LabMovedThreshold(_Part):
    """A threshold as it was measured at some values of the parameters that move it."""

    at: Config = Field(description="Values of the parameters that move it")
    value: float | None = Field(description="First bad value; null where no value fails")


class LabCondition(_Part):
    """One condition of a cause; all conditions of a cause hold together."""

    parameter: str | None = Field(default=None, description="Null for a boundary over several parameters, which has an expression")
    op: str = Field(description="==, !=, in, >=, <= or before (the first of two comes earlier in a sequence)")
    value: Any = None
    expression: str | None = None
    moved_by: list[str] = Field(default=[], description="Other parameters that move the threshold; `value` is the usual one")
    thresholds: list[LabMovedThreshold] = Field(default=[], description="Where it was measured; between, it is interpolated")
    text: str = Field(default="", description="The condition in words")


class LabRecognised(_Part):
    cause: str
    label: str


class LabThreshold(_Part):
    parameter: str | None = None
    last_good: float
    first_bad: float
    step: float = Field(default=1, description="Resolution of the search")
    unit: str = ""


class LabPermutation(_Part):
    """Evidence that a parameter matters: pairs of tests that differ in it alone, the others drawn at random."""

    parameter: str | None = None
    pairs: int
    held: int = Field(description="Pairs in which only the test inside the cause was bad")
    kept: bool


class LabAgreement(_Part):
    agree: int
    of: int


class LabVerification(_Part):
    """Predictions for fresh configurations against what the device did."""

    inside: LabAgreement
    outside: LabAgreement


class LabSensitivityPoint(_Part):
    value: Any = None
    bad: bool
    metrics: dict[str, float] = Field(default_factory=dict)


class LabSensitivity(_Part):
    """What happens along one parameter while the others keep the values of the failing configuration."""

    parameter: str
    kind: str = "integer"
    points: list[LabSensitivityPoint] = Field(default_factory=list)


class LabEffect(_Part):
    good: float
    bad: float
    change: float | None = None


class FoundCause(_Part):
    id: int
    symptom: str | None = None
    metric: str | None = None
    conditions: list[LabCondition] = Field(default_factory=list)
    text: str = Field(default="", description="The conditions as one sentence")
    proven: bool = Field(default=True, description="False where not all predictions came true, or none were made yet")
    confidence: float = Field(default=0.0, description="0 to 1, from permutation and verification")
    components: list[str] = Field(default_factory=list)
    recognised: LabRecognised | None = Field(default=None, description="A cause of the catalogue; null for a new one")
    thresholds: list[LabThreshold] = Field(default_factory=list)
    permutation: list[LabPermutation] = Field(default_factory=list)
    verification: LabVerification | None = None
    sensitivity: list[LabSensitivity] = Field(default_factory=list)
    effect: dict[str, LabEffect] = Field(default_factory=dict)
    recovers: bool | None = Field(
        default=None, description="Whether the device passes again after it without a reset; null for one that remembers nothing"
    )
    failing: Config = Field(default_factory=dict, description="The smallest configuration that fails")
    passing: Config = Field(default_factory=dict, description="Its nearest neighbour that passes")
    reproducer: str = Field(default="", description="Text for a ticket")
    ticket_url: str | None = Field(
        default=None, description="Address that opens a ticket with this text; null without WALLWATCH_TICKET_URL"
    )
    policy: Definition | None = Field(default=None, description="A draft of a policy that forbids the cause; nothing stores it")
    no_policy: str | None = Field(default=None, description="Why there is no such policy")
    rule: str | None = Field(
        default=None, description="A draft of a rule that finds RNICs in this state, in the form of the catalogue (YAML); nothing stores it"
    )
    no_rule: str | None = Field(default=None, description="Why there is no such rule")


class LabBaselineMetric(_Part):
    median: float
    scale: float = 0.0
    unit: str = ""
    better: str = "higher"


class LabBaseline(_Part):
    healthy: bool
    tests: int = 0
    metrics: dict[str, LabBaselineMetric] = Field(default_factory=dict)


class LabNoise(_Part):
    flip_rate: float = 0.0
    repeats: int = 0
    sequential_decisions: bool = False


class LabMemory(_Part):
    """The device remembers earlier tests: until a reset it does not recover."""

    text: str
    after: Config = Field(default_factory=dict)
    controls: int = 0
    disagreed: int = 0


class MetricModel(_Part):
    """The architecture model that predicts a metric best."""

    metric: str
    family: str
    parameters: list[str] = Field(default_factory=list)
    goodness: float | None = None
    leave_one_out: float | None = None
    coefficients: dict[str, Any] = Field(default_factory=dict)


class BruteForce(_Part):
    levels: int = Field(description="Most levels per parameter")
    tests: str = Field(description="Combinations of the parameters that varied; text, as it may have any number of digits")


class LabReport(_Part):
    device: str = ""
    description: str = ""
    tests: int = Field(default=0, description="Tests and resets")
    resets: int = 0
    seconds: float = 0.0
    strategy: str = "adaptive"
    seed: int = 0
    budget: int | None = None
    target: str | None = None
    complete: bool = False
    stopped: str | None = Field(default=None, description="Why the search ended before it was complete")
    strength: int = Field(default=0, description="Up to which number of varied parameters every combination of levels was covered; 0: none")
    varied: list[str] = Field(default_factory=list, description="Parameters that varied; the others kept their defaults")
    brute_force: BruteForce | None = None
    baseline: LabBaseline | None = None
    noise: LabNoise | None = None
    memory: LabMemory | None = None
    causes: list[FoundCause] = Field(default_factory=list)
    models: list[MetricModel] = Field(default_factory=list)
    phases: dict[str, int] = Field(default_factory=dict, description="Phase → operations")
    next: list[str] = Field(default_factory=list, description="What it would test next, when incomplete")
    notes: list[str] = Field(default_factory=list)
