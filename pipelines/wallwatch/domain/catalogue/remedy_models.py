"""The catalogue's remedies as typed, validated, immutable values: parameters, what proves them, what they stir up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from wallwatch.domain.catalogue.models import Entry

FORMATS: Mapping[str, Mapping[str, object]] = {"pci": {"pattern": r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$", "max_length": 12}}
"""Pattern of each parameter format. `pci`: the PCI address of an RNIC."""


class Parameter(Entry):
    """One typed parameter of a remedy; ranges are inclusive."""

    type: Literal["integer", "text"]
    format: Literal["pci"] | None = None
    """Gives `pattern` and `max_length`, see `FORMATS`."""
    unit: str
    label: str
    meaning: str
    required: bool
    minimum: int | None = None
    maximum: int | None = None
    pattern: str | None = None
    max_length: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_its_format(cls, raw: Any) -> Any:
        return {**FORMATS.get(raw.get("format") or "", {}), **raw} if isinstance(raw, dict) else raw

    def problem(self, value: object) -> str | None:
        """Why the value is invalid, or None if it is valid."""
        if self.type == "integer":
            if not isinstance(value, int) or isinstance(value, bool):
                return "must be an integer"
            if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
                return f"must be from {self.minimum} to {self.maximum} {self.unit}"
            return None
        if not isinstance(value, str):
            return "must be text"
        if self.max_length is not None and len(value) > self.max_length:
            return f"must have at most {self.max_length} characters"
        if self.pattern is not None and re.fullmatch(self.pattern, value) is None:
            return f"must match {self.pattern}"
        return None


class Check(Entry):
    """What must follow a remedy: `signal` meets the bound within `within_s` and keeps to it for `for_s`."""

    signal: str
    label: str = ""
    unit: str = ""
    """Label and unit of a signal that only this check knows; those of measured signals are the registry's."""
    expected: str
    below: float | None = None
    at_least: float | None = None
    equals: float | None = None
    equals_param: str | None = None
    """The parameter whose value the signal must have."""
    at_most_param: str | None = None
    """The parameter whose value the signal must not exceed."""
    within_s: int = Field(gt=0)
    for_s: int = Field(ge=0)
    text: str

    @model_validator(mode="after")
    def _exactly_one(self) -> Check:
        if sum(bound is not None for bound in (self.below, self.at_least, self.equals, self.equals_param, self.at_most_param)) != 1:
            raise ValueError("give exactly one of below, at_least, equals, equals_param, at_most_param")
        return self

    def limit(self, params: Mapping[str, object]) -> float | None:
        """The number that the bound compares with, for a remedy with these parameters."""
        for bound in (self.below, self.at_least, self.equals):
            if bound is not None:
                return bound
        value = params[self.equals_param or self.at_most_param or ""]
        return float(value) if isinstance(value, int | float) else None

    def holds(self, value: float, params: Mapping[str, object]) -> bool:
        """Whether a value is as expected after a remedy with these parameters."""
        if self.below is not None:
            return value < self.below
        if self.at_least is not None:
            return value >= self.at_least
        if self.at_most_param is not None:
            limit = params[self.at_most_param]
            return isinstance(limit, int | float) and value <= limit
        return value == (params[self.equals_param] if self.equals_param is not None else self.equals)

    def expected_with(self, params: Mapping[str, object]) -> str:
        """`expected` in words, with the parameter's value in it."""
        return self.expected.format(**params) if self.equals_param is not None or self.at_most_param is not None else self.expected


NEVER_OWN_DOING = frozenset({"S2", "S3", "S6", "S7", "S8", "silent"})
"""Symptoms that no remedy may inhibit: a failing host or RNIC, a PCIe link that is down, and slow packets, which a remedy must fix, or has
itself caused for good."""


class Disturbance(Entry):
    """Side effects of an action on its RNIC (for a host's action: on any RNIC of the host) while it, or its undo, runs."""

    symptoms: tuple[Annotated[str, Field(pattern=r"^(S[1-8]|unexplained|silent|isolation|contention)$")], ...] = Field(min_length=1)
    policies_of: tuple[Literal["flow"], ...] = ()
    """Policies on these subjects may be violated by it."""
    settle_s: int = Field(default=60, ge=0, le=900)
    """How long after its end what it stirred up may still begin, and whatever began is given to end."""
    why: str

    @model_validator(mode="after")
    def _may_be_its_doing(self) -> Disturbance:
        if excused := NEVER_OWN_DOING & set(self.symptoms):
            raise ValueError(f"{', '.join(sorted(excused))} must be raised whatever runs on the host")
        return self


class RemedyAction(Entry):
    id: str
    title: str
    summary: str
    helps: str = ""
    """What it is for; empty for what nobody orders."""
    contains: bool = False
    """It only keeps the damage from growing."""
    scope: Literal["host", "rnic"]
    require_any_of: tuple[str, ...]
    params: dict[str, Parameter]
    risk: Literal["low", "medium", "high"]
    risk_text: str
    undo: str
    reversible: bool = True
    """False if nothing can be undone; `undo` explains why."""
    operations: str
    privileges: str
    """What the agent needs on the host for it."""
    change: Check
    """Shows that the host has the change; it says nothing about what the change does to a symptom."""
    cures: dict[Annotated[str, Field(pattern=r"^(S[1-8]|isolation)$")], Check] = Field(default_factory=dict)
    """Symptom -> what its signal must show before the remedy is confirmed for an incident of it."""
    without_incident: str | None = None
    """The symptom whose check applies to a remedy that was requested for no incident."""
    disturbs: Disturbance | None = None
    """None where it stirs nothing up: whatever begins then is raised as usual."""

    @model_validator(mode="after")
    def _known_param(self) -> RemedyAction:
        for check in (self.change, *self.cures.values()):
            for name in (check.equals_param, check.at_most_param):
                if name is not None and (name not in self.params or not self.params[name].required):
                    raise ValueError(f"a check names {name!r}, which is not a required parameter")
        if self.without_incident is not None and self.without_incident not in self.cures:
            raise ValueError(f"without_incident names {self.without_incident!r}, which is not among the symptoms that it cures")
        return self

    def cured_symptom(self, symptoms: Sequence[str] | None) -> str | None:
        """The symptom by whose signal the remedy is judged, or None where only its change can be confirmed.

        Parameters
        ----------
        symptoms : sequence of str or None
            Those of its incident, the leading one first; None for a remedy without an incident.
        """
        if symptoms is None:
            return self.without_incident
        return next((symptom for symptom in symptoms if symptom in self.cures), None)

    @property
    def helped_symptoms(self) -> frozenset[str]:
        """The symptoms that `helps` names."""
        return frozenset(re.findall(r"\b(?:S[1-8]|isolation)\b", self.helps))

    def problems(self, params: dict[str, object]) -> dict[str, str]:
        """Each parameter that is unknown, missing or out of range, with the reason; empty when all are fine."""
        found = {name: f"is not a parameter of {self.id}" for name in params if name not in self.params}
        for name, parameter in self.params.items():
            if name in params:
                problem = parameter.problem(params[name])
                if problem is not None:
                    found[name] = problem
            elif parameter.required:
                found[name] = "is missing"
        if self.require_any_of and not any(name in params for name in self.require_any_of):
            found[self.require_any_of[0]] = f"at least one of {', '.join(self.require_any_of)} is required"
        return found
