"""When broken seconds become a finding: `isolation.yaml`, typed."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wallwatch.domain.telemetry.registry import RegistryError


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
    raw = yaml.safe_load(resources.files(__package__).joinpath("isolation.yaml").read_text(encoding="utf-8"))
    return parse_rule(raw)


def parse_rule(raw: dict[str, Any]) -> IsolationRule:
    """Validate the file's content: each threshold has a value and the reason for it.

    Raises
    ------
    RegistryError
        When either is missing or out of range.
    """
    try:
        entries = raw["thresholds"]
        values = {name: entry["value"] for name, entry in entries.items()}
        return IsolationRule(rule=raw["rule"], **values, why={name: entry["why"] for name, entry in entries.items()})
    except (ValidationError, KeyError, TypeError, AttributeError) as error:
        raise RegistryError(f"isolation.yaml: {error!r}: each threshold needs a value and a why") from error
