"""When measured and expected bandwidth differ enough: `residual.yaml`, typed."""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wallwatch.domain.telemetry.registry import RegistryError


class ResidualRule(BaseModel):
    """Thresholds of rule U/2; the file gives the reasons."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    waited_ticks_per_s: float = Field(gt=0)
    paused_per_s: float = Field(gt=0)
    notified_per_s: float = Field(gt=0)
    share_to_congested: float = Field(gt=0, lt=1)
    share_to_symptoms: float = Field(gt=0, lt=1)
    share: float = Field(gt=0, lt=1)
    raise_min: int = Field(ge=2)
    clear_min: int = Field(ge=1)
    after_symptom_min: int = Field(ge=0)
    forgotten_min: int = Field(ge=5)


@cache
def residual_rule() -> ResidualRule:
    """The rule; cached, as the whole catalogue is.

    >>> residual_rule().raise_min
    5
    """
    raw = yaml.safe_load(resources.files(__package__).joinpath("residual.yaml").read_text(encoding="utf-8"))
    try:
        return ResidualRule.model_validate(raw)
    except ValidationError as error:
        raise RegistryError(f"residual.yaml: {error}") from error
