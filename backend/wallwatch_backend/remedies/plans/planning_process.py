"""The planner and the proof; they run in a worker process."""

import gzip
import hashlib
import io
import zlib
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from wallwatch.domain.catalogue.models import Profile
from wallwatch.domain.masks.dump import read_dump
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning import operations as ops
from wallwatch.domain.planning.aftermath import aftermath
from wallwatch.domain.planning.compare import NotComparable
from wallwatch.domain.planning.plan import make_plan
from wallwatch.domain.planning.plan_report import plan_json, proof_json
from wallwatch_backend.kit.text import SafeText

MOST_UNPACKED = 128 << 20
"""Two dumps of some 100,000 flows; nothing larger comes from our own agents."""


class FlowsUnusable(ValueError):
    """The flows that the agent sent cannot be planned; the message says why."""


class AttachedFlows(BaseModel):
    """Attachment `flows` (docs/contracts.md)."""

    model_config = ConfigDict(extra="ignore")

    pci: SafeText
    at: AwareDatetime
    elapsed_s: float = Field(ge=0, allow_inf_nan=False)
    ports: list[dict[SafeText, SafeText]]
    earlier: SafeText | None
    flows: SafeText


@dataclass(frozen=True)
class Planned:
    """A plan, or why there is none."""

    flows_at: datetime | None
    flows_sha256: str | None
    ports: list[dict[str, str]]
    report: dict[str, Any] | None = None
    operations: bytes | None = None
    operations_sha256: str | None = None
    failure: str | None = None


def unpacked(attachment: bytes) -> AttachedFlows:
    """Read what an agent attached.

    Raises
    ------
    FlowsUnusable
        When it is not gzip, too long, or violates the contract.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(attachment)) as file:
            text = file.read(MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as broken:
        raise FlowsUnusable(f"The flows that the agent sent cannot be unpacked: {broken}.") from None
    if len(text) > MOST_UNPACKED:
        raise FlowsUnusable(f"The flows that the agent sent are more than {MOST_UNPACKED} bytes.")
    try:
        return AttachedFlows.model_validate_json(text)
    except ValidationError as bad:
        first = bad.errors()[0]
        raise FlowsUnusable(f"The flows that the agent sent have an invalid format: {first['loc']}: {first['msg']}.") from None


def plan(attachment: bytes, plan_id: UUID, host: str, pci: str, profile: Profile, capacity: int | None, q_r: float | None) -> Planned:
    """Plan the masks of one RNIC from what its agent read."""
    try:
        attached = unpacked(attachment)
    except FlowsUnusable as problem:
        return Planned(None, None, [], failure=str(problem))
    header = Planned(attached.at, hashlib.sha256(attached.flows.encode()).hexdigest(), attached.ports)
    if attached.pci != pci:
        return _failed(header, f"The agent sent the flows of {attached.pci[:40]!r}.")
    space = HeaderSpace()
    earlier = read_dump(attached.earlier, space).flows if attached.earlier else ()
    try:
        masks = make_plan(
            read_dump(attached.flows, space),
            profile,
            earlier=earlier,
            elapsed_s=attached.elapsed_s,
            hyper_capacity=capacity,
            q_r=q_r,
            release=True,
        )
    except NotComparable as problem:
        return _failed(header, f"There is no plan: {problem}.")
    report = plan_json(masks, profile.id)
    phases = Counter(step["phase"] for step in report.pop("steps"))
    report["steps"] = {phase: phases[phase] for phase in ("activate", "remove", "move")}
    if not masks.offered or not masks.steps:
        return Planned(header.flows_at, header.flows_sha256, header.ports, report)
    packed, sha256 = ops.packed(ops.operations(masks, plan_id, host, pci))
    return Planned(header.flows_at, header.flows_sha256, header.ports, report, packed, sha256)


def _failed(header: Planned, why: str) -> Planned:
    return Planned(header.flows_at, header.flows_sha256, header.ports, failure=why)


def check(before: bytes, after: bytes, operations: bytes) -> dict[str, Any]:
    """Compare the flows before with those afterwards; returns the fields of `PlanCheck` except operation and time."""
    content = orjson.loads(gzip.decompress(operations))
    entries = {step[2][5:41] for step in content["steps"] if step[0] == "activate"}
    space = HeaderSpace()
    try:
        dumps = [read_dump(unpacked(flows).flows, space) for flows in (before, after)]
        comparison = aftermath(dumps[0], dumps[1], entries)
    except (FlowsUnusable, NotComparable) as problem:
        return {"state": "not_checked", "message": str(problem)}
    proof = proof_json(comparison.proof)
    counts = {
        "flows_before": comparison.proof.flows_before,
        "flows_after": comparison.proof.flows_after,
        "missing": comparison.missing,
        "fresh": comparison.fresh,
        "entries": comparison.entries,
    }
    if proof["equivalent"]:
        return {
            "state": "equivalent",
            "message": "Every packet that matches an earlier flow, or one of the plan, gets the same actions as before.",
            **counts,
        }
    if proof["verdict"] == "undecided":
        return {"state": "not_checked", "message": proof["reason"], **counts}
    message = "A packet gets different actions than before; undo the plan, and check whether the OpenFlow rules have changed meanwhile."
    return {"state": "different", "message": message, "counterexample": proof["counterexample"], **counts}


def commands(operations: bytes) -> str:
    """Return the steps as text."""
    return ops.commands(orjson.loads(gzip.decompress(operations)))
