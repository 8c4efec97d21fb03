"""A policy as it is written in the catalogue, checked against its formula."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field, field_validator, model_validator

from wallwatch.domain.catalogue.models import Entry, Severity
from wallwatch.domain.ltl.limits import TooComplex
from wallwatch.domain.ltl.parse import SyntaxProblem, parse

Subject = Literal["flow", "vf", "rnic", "host", "command", "address"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Proposition(Entry):
    """Holds in the step of an event of one of these kinds whose fields have these values."""

    kind: tuple[str, ...] = Field(min_length=1)
    when: dict[str, str | int | bool] = Field(default_factory=dict)

    @field_validator("kind", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class Timer(Entry):
    """`name` holds `seconds` after an event that sets `after`, unless one that sets `unless` came before it."""

    name: str
    after: str
    unless: str | None = None
    seconds: float = Field(gt=0, le=86_400)


class Policy(Entry):
    """One policy. `violation` is the sentence that an operator reads; `note` describes the policy's limits."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{1,63}$")
    title: str = Field(min_length=1, max_length=100)
    formula: str
    subject: Subject
    where: Literal["edge", "server"] = "edge"
    propositions: dict[str, Proposition] = Field(min_length=1, max_length=12)
    timer: Timer | None = None
    severity: Severity
    symptoms: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    violation: str = Field(min_length=1, max_length=300)
    note: str | None = None
    source: str

    @model_validator(mode="after")
    def _formula_fits(self) -> Policy:
        from wallwatch.domain.ltl.kind import check  # numpy-free, but only required where policies are read

        try:
            checked = check(parse(self.formula))
        except (SyntaxProblem, TooComplex) as problem:
            raise ValueError(f"formula: {problem}") from None
        declared = set(self.propositions) | ({self.timer.name} if self.timer else set())
        missing = set(checked.monitor.propositions) - declared
        if missing:
            raise ValueError(f"formula: no event sets {', '.join(sorted(missing))}; add it to propositions, or as the timer's name")
        if self.timer is not None:
            unknown = {self.timer.after, self.timer.unless or self.timer.after} - set(self.propositions)
            if unknown:
                raise ValueError(f"timer: {', '.join(sorted(unknown))} is not among the propositions")
            if self.timer.name in self.propositions:
                raise ValueError(f"timer: {self.timer.name} is already set by events")
        bad = [name for name in declared if not _NAME.fullmatch(name)]
        if bad:
            raise ValueError(f"propositions: {bad[0]!r} is not a valid name in a formula")
        if checked.monitor.verdicts[0] != "?" or "F" not in checked.monitor.verdicts:
            raise ValueError(f"formula: {checked.words()}")
        return self
