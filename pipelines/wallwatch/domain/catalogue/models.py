"""The catalogue's entries as typed, validated, immutable values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wallwatch.domain.performance.parameters import Performance

Severity = Literal["warning", "critical"]
BlastRadius = Literal["flows", "rnic", "host"]
Basis = Literal["paper", "model", "assumed", "calibrated"]


class Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


Statistic = Literal["mean", "median", "max", "min", "last", "count"]
"""What is taken of a signal's samples in a window."""


class Bound(Entry):
    """One comparison, exactly one of the four.

    >>> Bound(at_least=0.2).holds(0.2), Bound(below=0.05).text
    (True, '< 0.05')
    """

    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Bound:
        if sum(v is not None for v in (self.at_least, self.at_most, self.above, self.below)) != 1:
            raise ValueError("give exactly one of at_least, at_most, above, below")
        return self

    def holds(self, value: float) -> bool:
        if self.at_least is not None:
            return value >= self.at_least
        if self.at_most is not None:
            return value <= self.at_most
        if self.above is not None:
            return value > self.above
        return self.below is not None and value < self.below

    @property
    def text(self) -> str:
        for sign, limit in ((">=", self.at_least), ("<=", self.at_most), (">", self.above), ("<", self.below)):
            if limit is not None:
                return f"{sign} {limit:g}"
        raise AssertionError("a bound has exactly one limit")

    @property
    def opposite_text(self) -> str:
        """What a value that does not meet the bound looks like, as text for `expected`."""
        for sign, limit in (("<", self.at_least), (">", self.at_most), ("<=", self.above), (">=", self.below)):
            if limit is not None:
                return f"{sign} {limit:g}"
        raise AssertionError("a bound has exactly one limit")


class Condition(Entry):
    """One signal of a symptom's definition, over a window of event time."""

    signal: str
    role: Literal["required", "gate", "supporting"]
    any: str | None = None
    """Conditions with the same name here are alternatives: one of them suffices."""
    window_s: int = Field(gt=0, le=3600)
    statistic: Statistic
    raise_: Bound = Field(alias="raise")
    clear: Bound | None = None
    text: str
    """One sentence for the evidence."""
    why: str = Field(min_length=1)
    """The reason of its bounds and its window."""

    @model_validator(mode="after")
    def _required_clears(self) -> Condition:
        if (self.role == "required") != (self.clear is not None):
            raise ValueError(f"condition on {self.signal}: `clear` is required for required conditions, and invalid for others")
        if self.any is not None and self.role == "supporting":
            raise ValueError(f"condition on {self.signal}: a supporting condition has no alternatives")
        return self


class SignalBound(Bound):
    signal: str


class SuggestedRemedy(Entry):
    action: str
    why: str


class Definition(Entry):
    """How a symptom is detected."""

    rule: str
    scope: Literal["rnic", "host"] = "rnic"
    """Scope: one RNIC, or the whole host (its finding names an RNIC if the evidence does)."""
    blast_radius: BlastRadius
    raise_for_s: int = Field(ge=0)
    clear_for_s: int = Field(ge=0)
    why: str = Field(min_length=1)
    """The reasons of its durations, of `not_with` and of its severity."""
    conditions: tuple[Condition, ...] = Field(min_length=1)
    not_with: dict[str, int] = {}
    """Symptom -> s: not raised while that symptom is active, nor for this long afterwards."""
    severity: Severity = "warning"
    critical_when: tuple[SignalBound, ...]
    summary: str
    """A sentence with signals in braces; a part in square brackets is left out when one of its signals is missing."""
    remedies: tuple[SuggestedRemedy, ...]


class Detected(Entry):
    """Something that the symptom stage can find."""

    id: str
    title: str
    looks_like: str
    near_misses: tuple[str, ...] = ()
    """What looks like it and is not, as sentences for an operator."""
    definition: Definition | None = None
    part_of: str = ""
    """The condition that it is another rule of."""
    models: tuple[str, ...] = ()
    """Profiles of the RNICs that it is judged on; empty means all."""

    @property
    def reported_as(self) -> str:
        """The symptom in findings."""
        return self.part_of or self.id


class Symptom(Detected):
    id: str = Field(pattern=r"^S[1-8]$")
    layer: Literal["virtual switch", "driver", "hardware"]
    ratio: float = Field(gt=0, lt=1)
    cause: str


class AnotherRule(Entry):
    """One more way to detect a condition."""

    title: str = Field(min_length=1)
    models: tuple[str, ...] = ()
    """Profiles of the RNICs that it is judged on; empty means all."""
    definition: Definition


class OtherCondition(Detected):
    """Conditions outside S1..S8: an issue without a known symptom, a host that stopped reporting, promises to VFs that are
    broken, and network functions that take from each other what was promised or predicted."""

    id: Literal["unexplained", "silent", "isolation", "contention"]
    also: tuple[AnotherRule, ...] = ()

    def rules(self) -> tuple[Detected, ...]:
        """Its further rules, each with a life of its own; they are reported as this condition."""
        return tuple(
            Detected(
                id=f"{self.id} {one.definition.rule}",
                title=one.title,
                looks_like=self.looks_like,
                definition=one.definition,
                part_of=self.id,
                models=one.models,
            )
            for one in self.also
        )


class EvidenceRule(Entry):
    """A test on one signal; its two probabilities make it evidence for or against a cause."""

    signal: str
    test: Bound
    window_s: int = Field(default=30, gt=0, le=3600)
    statistic: Statistic = "mean"
    only_for: tuple[str, ...] = ()
    """Symptoms for which the test is valid; empty means all."""
    p_if_cause: float = Field(gt=0, lt=1)
    p_otherwise: float = Field(gt=0, lt=1)
    text_for: str
    text_against: str
    why: str = Field(min_length=1)
    """The reason of the test's bound and window."""


class FixedIn(Entry):
    """A version from which on a cause is known to be repaired."""

    models: tuple[str, ...] = ()
    """Affected profiles; empty means all with the driver."""
    driver: str | None = None
    firmware_from: str | None = None
    driver_from: str | None = None

    @model_validator(mode="after")
    def _one_version(self) -> FixedIn:
        if (self.firmware_from is None) == (self.driver_from is None):
            raise ValueError("give exactly one of firmware_from, driver_from")
        if self.firmware_from is not None and not self.models:
            raise ValueError("firmware_from needs models: firmware versions of different models are not comparable")
        return self


class Cause(Entry):
    id: str = Field(pattern=r"^C[1-8]$")
    title: str
    statement: str
    prior: float = Field(gt=0, lt=1)
    explains: dict[str, float]
    rules: tuple[EvidenceRule, ...]
    fixed_in: tuple[FixedIn, ...] = ()
    not_on: tuple[str, ...] = ()
    """Profiles not known to have the cause."""
    next_test: str
    remedies: tuple[SuggestedRemedy, ...]
    """What the cause asks for, first choice first."""
    settled_by_upgrade: bool


class WallDefinition(Entry):
    id: str
    label: str
    unit: str
    signal: str
    leads_to: tuple[str, ...]
    meaning: str


class Limit(Entry):
    value: float = Field(gt=0)
    basis: Basis
    source: str


class Profile(Entry):
    """One RNIC model; `limits` has every wall, those of masks derived from the model."""

    id: str
    title: str
    vendor: str
    pci_ids: tuple[str, ...]
    hca_types: tuple[str, ...]
    performance: Performance
    performance_basis: Basis
    """Where the parameters come from: `assumed` where they are another model's."""
    performance_source: str
    deletion_ms: Limit
    """Usual time of a deletion in a small table, ms."""
    limits: dict[str, Limit]


class DerivedSignal(Entry):
    label: str
    unit: str
    meaning: str
    sum_of: tuple[str, ...] = ()
    """Counters of `rnic` whose increase per second this is, all together."""
    source: Literal["rnic_offload", "rnic"] = Field("rnic_offload", alias="from")
    """The measurement whose samples give it."""
    window: Literal["every", "transport"] = "every"
    """Where its values are kept: in the window of every RNIC, or in that of RNICs whose transport engine shows something."""


class EventSignal(Entry):
    """Events of a host, counted over a window."""

    label: str
    meaning: str
    kinds: tuple[str, ...] = Field(min_length=1)
    where: dict[str, tuple[str, ...]] = {}
    """Field -> values that it may have: `*` is any value, an empty text is a field that is absent."""
    before: dict[str, str] = {}
    """Kind -> event signal: an event of the kind counts only where one of that signal's followed it, and none came just before."""
    per: Literal["rnic", "host"]
    """Whether a condition on an RNIC counts that RNIC's events alone, or those of its host."""

    def takes(self, fields: Mapping[str, object]) -> bool:
        """Whether an event of one of the kinds counts.

        >>> signal = EventSignal(label="", meaning="", kinds=("soft_lockup",), where={"driver": ("*",)}, per="host")
        >>> signal.takes({"driver": "ice"}), signal.takes({})
        (True, False)
        """
        for name, allowed in self.where.items():
            value = fields.get(name)
            text = "" if value is None or value is False else str(value)
            if text not in allowed and not (text and "*" in allowed):
                return False
        return True
