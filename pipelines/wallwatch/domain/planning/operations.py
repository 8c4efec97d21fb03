"""A plan's steps in the form in which a host's agent carries them out (docs/contracts.md, "Mask plans")."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid5

import orjson

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.text import text_of
from wallwatch.domain.planning.plan import Plan
from wallwatch.domain.planning.steps import Step

VERSION = 1


def identity(flow: Flow) -> str:
    """The identity of a flow in a dump: its ufid, or the match if none was printed."""
    return flow.ufid or flow.match


def digest(flow: Flow) -> str:
    """64 bits of SHA-256 of match and actions as they were read: the agent computes the same from its own dump.

    >>> digest(Flow(1, "", "in_port(1),eth_type(0x0800)", "2", 0, 0, written="2"))
    '7b38e7f7065fa0a0'
    """
    return hashlib.sha256(f"{flow.match}|{flow.written}".encode()).digest()[:8].hex()


def operations(plan: Plan, plan_id: UUID, host: str, pci: str) -> dict[str, Any]:
    """Everything that the agent requires: the flows that the plan is based on, and the steps in order.

    Entries get identities derived from the plan's, so that they can be found and removed later.
    """
    return {
        "version": VERSION,
        "plan": str(plan_id),
        "host": host,
        "pci": pci,
        "pace_per_s": plan.cost.pace_per_s,
        "contested": plan.proof.proof.contested > 0,
        "flows": {identity(flow): digest(flow) for flow in plan.planned},
        "steps": list(_steps(plan, plan_id)),
    }


def _steps(plan: Plan, plan_id: UUID) -> Iterator[list[str]]:
    for step in plan.steps:
        match = _match(step, plan.space, plan_id)
        yield [step.phase, "add", match, step.flow.written] if step.add else [step.phase, "del", match, ""]


def _match(step: Step, space: HeaderSpace, plan_id: UUID) -> str:
    flow = step.flow
    ufid = flow.ufid or ("" if flow.match else str(uuid5(plan_id, str(flow.line))))
    if not step.add and ufid:
        return f"ufid:{ufid}"
    return ",".join(part for part in (f"ufid:{ufid}" if ufid else "", text_of(flow, space)) if part)


def packed(content: dict[str, Any]) -> tuple[bytes, str]:
    """Return the operations as gzip, and the hash that is signed."""
    data = gzip.compress(orjson.dumps(content), mtime=0)
    return data, hashlib.sha256(data).hexdigest()


def commands(content: dict[str, Any]) -> str:
    """Return the steps as they would be typed, one a line."""
    lines = (
        f"dpctl/add-flow '{match}' '{actions}'" if operation == "add" else f"dpctl/del-flow '{match}'"
        for _, operation, match, actions in content["steps"]
    )
    return "".join(f"{line}\n" for line in lines)
