"""Files of one rule's thresholds (`residual.yaml`, `isolation.yaml`): each has a value and the reason for it."""

from __future__ import annotations

from importlib import resources
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from wallwatch.domain.telemetry.registry import RegistryError

Rule = TypeVar("Rule", bound=BaseModel)


def read_rule(name: str, model: type[Rule]) -> Rule:
    """The rule in a file of this package. Raises as `parse_rule`."""
    return parse_rule(name, yaml.safe_load(resources.files(__package__).joinpath(name).read_text(encoding="utf-8")), model)


def parse_rule(name: str, raw: dict[str, Any], model: type[Rule]) -> Rule:
    """Validate the content of the file of this name.

    Raises
    ------
    RegistryError
        When a value or a reason is missing or out of range.
    """
    try:
        entries = raw["thresholds"]
        values = {threshold: entry["value"] for threshold, entry in entries.items()}
        return model(rule=raw["rule"], **values, why={threshold: entry["why"] for threshold, entry in entries.items()})
    except (ValidationError, KeyError, TypeError, AttributeError) as error:
        raise RegistryError(f"{name}: {error!r}: each threshold needs a value and a why") from error
