"""The catalogue's policies and their monitors; both are created once per process."""

from __future__ import annotations

from functools import cache
from importlib import resources

import yaml

from wallwatch.domain.catalogue.load import causes, parse_entries, symptoms
from wallwatch.domain.ltl.gaps import Widened, widened
from wallwatch.domain.ltl.monitor import compiled
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.telemetry.registry import RegistryError

SOURCE = "policies.yaml"


@cache
def policies() -> dict[str, Policy]:
    """Id -> policy.

    >>> len(policies()) >= 15
    True
    """
    text = resources.files("wallwatch.domain.catalogue").joinpath(SOURCE).read_text(encoding="utf-8")
    found = parse_entries(SOURCE, yaml.safe_load(text).get("policies"), Policy)
    for policy in found.values():
        unknown = set(policy.symptoms) - set(symptoms()) | set(policy.causes) - set(causes())
        if unknown:
            raise RegistryError(f"{SOURCE}, entry {policy.id}: {', '.join(sorted(unknown))} is neither a symptom nor a cause")
    return found


@cache
def machine(formula: str) -> Widened:
    """The monitor of a policy's formula, widened for lost events; its runners restart after each violation."""
    return widened(compiled(formula), restarts=True)
