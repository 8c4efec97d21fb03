"""When measured and expected bandwidth differ enough: `residual.yaml`, typed."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from wallwatch.domain.catalogue import thresholds


class ResidualRule(BaseModel):
    """Thresholds of rule U/2, and the reason of each."""

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
    why: dict[str, Annotated[str, Field(min_length=1)]]
    """Threshold -> the reason of its value."""


@cache
def residual_rule() -> ResidualRule:
    """The rule; cached, as the whole catalogue is.

    >>> residual_rule().raise_min
    5
    """
    return thresholds.read_rule("residual.yaml", ResidualRule)


def parse_rule(raw: dict[str, Any]) -> ResidualRule:
    """Validate the file's content. Raises as `thresholds.parse_rule`."""
    return thresholds.parse_rule("residual.yaml", raw, ResidualRule)
