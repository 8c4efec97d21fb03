"""When network functions of a card become a finding: `contention.yaml`, typed."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from wallwatch.domain.catalogue import thresholds


class ContentionRule(BaseModel):
    """Thresholds of rule N/1, and the reason of each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    deviation: float = Field(gt=0, lt=1)
    lasts_min: float = Field(gt=0)
    clear_min: float = Field(gt=0)
    horizon_min: float = Field(gt=0)
    trend_min: float = Field(gt=2)
    history_min: float = Field(gt=2)
    trend_errors: float = Field(gt=0)
    forgotten_min: float = Field(gt=0)
    why: dict[str, Annotated[str, Field(min_length=1)]]
    """Threshold -> the reason of its value."""


@cache
def contention_rule() -> ContentionRule:
    """The rule; cached, as the whole catalogue is.

    >>> contention_rule().deviation, contention_rule().lasts_min
    (0.1, 5.0)
    """
    return thresholds.read_rule("contention.yaml", ContentionRule)
