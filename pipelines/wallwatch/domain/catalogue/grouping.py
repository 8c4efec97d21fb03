"""Which findings become one incident: `grouping.yaml`, typed and checked against symptoms and causes."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from wallwatch.domain.catalogue.load import causes
from wallwatch.domain.catalogue.models import Entry
from wallwatch.domain.telemetry.registry import RegistryError

SymptomId = Annotated[str, Field(pattern=r"^([SB][1-8]|unexplained|silent|isolation)$")]


class Related(Entry):
    """Two symptoms that one mechanism brings about."""

    symptoms: tuple[SymptomId, SymptomId]
    leads: SymptomId | None = None
    """The one of the two that leads the incident while it is active; None if the first one leads."""
    reach: Literal["rnic", "host"]
    why: str


class Inhibitor(Entry):
    """A host's symptom that explains whatever its RNICs show around it."""

    symptom: SymptomId
    before_s: int = Field(ge=0)
    after_s: int = Field(ge=0)
    why: str


class Spread(Entry):
    """How many hosts, within which time, form one common incident."""

    hosts: int = Field(ge=2)
    window_s: int = Field(gt=0)


class Grouping(Entry):
    window_s: int = Field(gt=0)
    min_posterior: float = Field(gt=0, lt=1)
    related: tuple[Related, ...]
    absorbed: tuple[SymptomId, ...]
    inhibitors: tuple[Inhibitor, ...]
    without_cause: tuple[SymptomId, ...]
    rack: Spread
    fleet: Spread
    upgradable: frozenset[str] = frozenset()
    """Causes that an upgrade settles; from causes.yaml."""

    @model_validator(mode="after")
    def _different(self) -> Grouping:
        for pair in self.related:
            if pair.symptoms[0] == pair.symptoms[1]:
                raise ValueError(f"related: {pair.symptoms[0]} is listed as related to itself")
            if pair.leads is not None and pair.leads not in pair.symptoms:
                raise ValueError(f"related: leads must be {pair.symptoms[0]} or {pair.symptoms[1]}, not {pair.leads}")
        return self

    def rank(self, symptom: str) -> int:
        """How much a symptom explains about its host: inhibitors in their order, then everything else at 0.

        >>> grouping().rank("S3") > grouping().rank("silent") > grouping().rank("S1")
        True
        """
        names = [one.symptom for one in self.inhibitors]
        return len(names) - names.index(symptom) if symptom in names else 0

    def leaders(self, symptom: str) -> frozenset[str]:
        """Symptoms of the same RNIC that lead this one's incident while they are active.

        >>> sorted(grouping().leaders("S4")), sorted(grouping().leaders("S1"))
        (['S1'], [])
        """
        return frozenset(pair.leads for pair in self.related if pair.leads not in (None, symptom) and symptom in pair.symptoms)


@cache
def grouping() -> Grouping:
    """The rules; cached, as the whole catalogue is.

    >>> grouping().rack.hosts, "C5" in grouping().upgradable
    (3, True)
    """
    raw = yaml.safe_load(resources.files(__package__).joinpath("grouping.yaml").read_text(encoding="utf-8"))
    try:
        rules = Grouping.model_validate(raw)
    except ValidationError as error:
        raise RegistryError(f"grouping.yaml: {error}") from error
    upgradable = frozenset(cause.id for cause in causes().values() if cause.settled_by_upgrade)
    return rules.model_copy(update={"upgradable": upgradable})
