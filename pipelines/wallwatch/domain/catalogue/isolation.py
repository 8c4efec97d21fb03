"""When broken seconds become a finding: `isolation.yaml`, typed."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from wallwatch.domain.catalogue import thresholds


class IsolationRule(BaseModel):
    """Thresholds of rule I/1, and the reason of each."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    raise_s: float = Field(gt=0)
    window_s: float = Field(gt=0)
    clear_s: float = Field(gt=0)
    repeat_s: float = Field(gt=0)
    forgotten_s: float = Field(gt=0)
    limit_share: float = Field(gt=0, le=1)
    why: dict[str, Annotated[str, Field(min_length=1)]]
    """Threshold -> the reason of its value."""


@cache
def isolation_rule() -> IsolationRule:
    """The rule; cached, as the whole catalogue is.

    >>> isolation_rule().raise_s, isolation_rule().clear_s
    (3.0, 300.0)
    """
    return thresholds.read_rule("isolation.yaml", IsolationRule)


def parse_rule(raw: dict[str, Any]) -> IsolationRule:
    """Validate the file's content. Raises as `thresholds.parse_rule`."""
    return thresholds.parse_rule("isolation.yaml", raw, IsolationRule)
