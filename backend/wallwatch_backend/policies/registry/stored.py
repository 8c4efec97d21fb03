"""Stored definitions as policies of the domain. Formulas are not compiled again: they were checked when they were saved."""

from collections.abc import Sequence
from typing import Any

from wallwatch.domain.policies.load import policies as catalogue
from wallwatch.domain.policies.models import Policy, Proposition, Timer
from wallwatch.domain.policies.tables import revision
from wallwatch_backend.policies.formulas.schemas import Definition
from wallwatch_backend.policies.registry.models import PolicyVersionRow


def policy_of(body: dict[str, Any]) -> Policy:
    """Return the policy of a definition that `analysis.usable` returned."""
    propositions = {name: Proposition.model_validate(bound) for name, bound in body["propositions"].items()}
    timer = Timer.model_validate(body["timer"]) if body.get("timer") else None
    lists = {name: tuple(body.get(name, ())) for name in ("symptoms", "causes")}
    return Policy.model_construct(**{**body, **lists, "propositions": propositions, "timer": timer, "note": body.get("note")})


def definition_of(policy: Policy) -> Definition:
    return Definition.model_validate(policy.model_dump(mode="json", include=set(Definition.model_fields)))


def by_revision(policy_id: str, versions: Sequence[PolicyVersionRow]) -> dict[str, tuple[int, Policy]]:
    """Return revision, as violations name it -> (version, policy); of equivalent versions the newest. The catalogue's is 0."""
    found: dict[str, tuple[int, Policy]] = {}
    if policy_id in catalogue():
        found[revision(catalogue()[policy_id])] = (0, catalogue()[policy_id])
    for version in sorted(versions, key=lambda one: one.number):
        policy = policy_of(version.definition)
        found[revision(policy)] = (version.number, policy)
    return found
