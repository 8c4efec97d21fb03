"""Plans and proofs as JSON, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from wallwatch.domain.masks.dump import Flow
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.masks.text import text_of
from wallwatch.domain.planning.chain import ChainMask
from wallwatch.domain.planning.compare import Comparison
from wallwatch.domain.planning.parts import Part
from wallwatch.domain.planning.plan import Plan
from wallwatch.domain.planning.steps import Step


def plan_json(plan: Plan, profile: str) -> dict[str, Any]:
    """Everything about a plan; the keys are described in docs/plans.md."""
    return {
        "profile": profile,
        "flows": plan.flows,
        "offered": plan.offered,
        "worthwhile": plan.worthwhile,
        "expected": {
            "before": asdict(plan.before),
            "after": asdict(plan.then),
            "low": asdict(plan.low),
            "high": asdict(plan.high),
            "bandwidth_gain": plan.gain,
            "latency_gain": plan.latency_gain,
        },
        "cost": asdict(plan.cost),
        "hyper": {
            "capacity": plan.hyper_capacity,
            "used": plan.hyper_used,
            "masks": [_hyper(one, side, plan.space) for side, part in plan.parts.items() for one in part.hyper],
        },
        "entries_after": plan.entries_after,
        "left_to_software": plan.left_to_software,
        "released": plan.released,
        "traffic": plan.traffic_basis,
        "chains": {side: _chain(part, plan.space) for side, part in plan.parts.items()},
        "steps": [step_json(step, plan.space) for step in plan.steps],
        "proof": proof_json(plan.proof),
    }


def step_json(step: Step, space: HeaderSpace) -> dict[str, Any]:
    """One operation."""
    return {
        "phase": step.phase,
        "operation": "add-flow" if step.add else "del-flow",
        "ufid": step.flow.ufid,
        "match": text_of(step.flow, space),
        "actions": step.flow.written,
        "command": step.command(space),
    }


def describe_mask(mask: int, space: HeaderSpace) -> str:
    """A mask in words: the fields it looks at, with the length of a prefix or the bits where it is not all of them.

    >>> from wallwatch.domain.masks.grammar import MatchParser
    >>> space = HeaderSpace()
    >>> _, mask = MatchParser(space).parse("in_port(1),eth_type(0x0800),ipv4(src=10.0.0.0/20,dst=10.0.0.1,tos=0/0xfc)")
    >>> describe_mask(mask, space)
    'eth_type ipv4.src/20 ipv4.dst ipv4.tos/0xfc'
    """
    found = []
    for path, kind in space.fields.items():
        bits = space.field_of(mask, path)
        if not bits or path in ("in_port", "tunnel", "recirc_id") or path.startswith("packet_type"):
            continue
        name = space.unknown.get(path, path)
        full = (1 << kind.width) - 1
        length = bits.bit_count()
        prefix = bits == full ^ (full >> length)
        found.append(name if bits == full else f"{name}/{length}" if prefix and kind.notation in ("ipv4", "ipv6") else f"{name}/{bits:#x}")
    return " ".join(found)


def _hyper(mask: Any, side: str, space: HeaderSpace) -> dict[str, Any]:
    return {
        "direction": side,
        "recirc_id": mask.recirc_id,
        "mask": describe_mask(mask.mask, space),
        "length_bits": space.length_bits(mask.mask),
        "present": len(mask.present),
        "added": sum(not entry.known_before for entry in mask.entries),
        "warmed": sum(entry.known_before for entry in mask.entries),
        "evicted": len(mask.evicted),
        "left_out": mask.left_out,
        "without_exact_header": mask.uncovered,
        "resting": mask.resting,
    }


def _chain(part: Part, space: HeaderSpace) -> dict[str, Any]:
    return {
        "queries_before": part.chain.queries,
        "queries_after": part.queries_after,
        "before": [_mask(one, at, space) for at, one in enumerate(part.chain.masks)],
        "after": [
            {**_mask(part.cascading[index], at, space), "hyper": index in part.heads, "moved": index in part.order.moved}
            for at, index in enumerate((*part.order.stay, *part.order.moved))
        ],
        "removed": [_mask(one, one.position, space) for one in part.removed],
    }


def _mask(mask: ChainMask, position: int, space: HeaderSpace) -> dict[str, Any]:
    return {
        "position": position,
        "mask": describe_mask(mask.mask, space),
        "length_bits": mask.length_bits,
        "flows": len(mask.rows),
        "packets_60s": mask.packets,
        "score": mask.score,
    }


def proof_json(compared: Comparison) -> dict[str, Any]:
    """The proof as JSON: `equivalent`, `verdict`, `counterexample` and of how much."""
    example = compared.example
    return {
        "equivalent": compared.proof.verdict == "equivalent",
        "verdict": compared.proof.verdict,
        "reason": compared.proof.reason,
        "counterexample": None
        if example is None
        else {
            "packet": example.packet,
            "before": {"actions": example.before_actions, "flow": example.before and _flow(example.before)},
            "after": {"actions": example.after_actions, "flow": example.after and _flow(example.after)},
            "order": example.reading,
            "assumes": list(example.assumes),
        },
        "flows_before": compared.flows_before,
        "flows_after": compared.flows_after,
        "masks_before": compared.masks_before,
        "masks_after": compared.masks_after,
        "contested_pairs": compared.proof.contested,
        "regions_searched": compared.proof.searched,
        "opaque_fields": list(compared.opaque),
        "took_ms": round(compared.took_ms, 3),
    }


def _flow(flow: Flow) -> dict[str, Any]:
    return {"line": flow.line, "ufid": flow.ufid, "match": flow.match}


def after_text(plan: Plan) -> str:
    """The flows that the plan leads to, as a dump with the chain's order; counters are those of before, those of new entries zero."""
    return "".join(_line(flow, plan.space) for flow in plan.after)


def _line(flow: Flow, space: HeaderSpace) -> str:
    ufid = f"ufid:{flow.ufid}, " if flow.ufid else ""
    used = "never" if flow.used_s is None else f"{flow.used_s:.3f}s"
    counters = f"packets:{flow.packets}, bytes:{flow.bytes}, used:{used}, offloaded:yes, dp:tc"
    return f"{ufid}{text_of(flow, space)}, {counters}, actions:{flow.written}\n"
