"""Plans and proofs as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wallwatch.domain.planning.compare import Comparison
    from wallwatch.domain.planning.effect import Expected
    from wallwatch.domain.planning.plan import Plan

MOST_SHOWN = 5
"""Items of one kind that are listed; the rest is counted."""
MOST_STEPS = 40
"""Steps that are printed without --all-steps."""
PHASES = {
    "activate": "add exact entries (no packet is affected)",
    "remove": "remove flows unused for ten minutes, and entries that left the hyper mask",
    "move": "move masks: delete and re-add their flows (software handles their packets meanwhile)",
}


def plan_text(plan: Plan, profile: str, all_steps: bool) -> str:
    """The plan's verdict, expected gain and cost, chains, proof and steps."""
    from wallwatch.domain.planning.plan_report import describe_mask

    lines = [_verdict(plan), "", f"profile {profile}, {plan.flows} flows; traffic: {plan.traffic_basis}", _expected("before", plan.before)]
    lines.append(_expected("after", plan.then) + _gain(plan))
    if plan.low != plan.high:
        lines += [_expected("  at best", plan.high), _expected("  later", plan.low) + " (after three minutes: flows end, others start)"]
    lines.append(
        f"cost      {plan.cost.operations} operations in {plan.cost.duration_s:.1f} s at {plan.cost.pace_per_s:.0f} per second; "
        f"{plan.cost.flows_in_software} flows pass through software, each for at most {plan.cost.longest_in_software_s:.2f} s"
        f" ({plan.cost.packets_in_software:.0f} packets in all)"
    )
    lines.append(f"hyper     {plan.hyper_used} of {plan.hyper_capacity} entries; {plan.entries_after} flows in the RNIC afterwards")
    for side, part in plan.directions.items():
        if not part.chain.masks:
            continue
        lines += ["", f"{side}: {len(part.chain.masks)} masks, {len(part.order.moved)} moved, {len(part.removed)} removed"]
        final = [*part.order.stay, *part.order.moved]
        for at, index in enumerate(final[:MOST_SHOWN]):
            mask = part.cascading[index]
            kind = "hyper" if index in part.heads else f"was {mask.position}"
            lines.append(f"  {at:3} ({kind}) {describe_mask(mask.mask, plan.space)}; {mask.packets:.0f} packets per minute")
        if len(final) > MOST_SHOWN:
            lines.append(f"      and {len(final) - MOST_SHOWN} more (--json lists all)")
    lines += ["", "proof: " + proof_text(plan.proof)]
    if plan.left_to_software:
        lines.append(f"  {plan.left_to_software} flows unused for ten minutes are removed: software handles their next packet")
    if plan.released:
        lines.append(f"  {plan.released} flows whose packets have an exact entry are not re-added: software handles their other packets")
    return "\n".join([*lines, "", *_steps(plan, all_steps)])


def _verdict(plan: Plan) -> str:
    if not plan.offered:
        return "no plan is offered: it could not be proven"
    if not plan.steps:
        return "nothing to do: the masks are in a good order already"
    return "a proven plan" if plan.worthwhile else "a proven plan, but not worth applying: it gains less than 5%"


def _expected(when: str, one: Expected) -> str:
    if one.bandwidth_gbps is None or one.latency_us is None:
        return f"{when:9} no traffic in the last minute, so no prediction"
    q_l, q_r = ("none" if q is None else f"{q:.2f}" for q in (one.q_l, one.q_r))
    return f"{when:9} Q_l {q_l}, Q_r {q_r}: {one.bandwidth_gbps:.1f} Gbit/s, {one.latency_us:.2f} us"


def _gain(plan: Plan) -> str:
    return "" if plan.gain is None or plan.latency_gain is None else f" ({plan.gain:+.1%} bandwidth, {-plan.latency_gain:+.1%} latency)"


def _steps(plan: Plan, all_steps: bool) -> list[str]:
    lines: list[str] = []
    shown = len(plan.steps) if all_steps or len(plan.steps) <= MOST_STEPS else MOST_SHOWN
    for phase, title in PHASES.items():
        steps = [step for step in plan.steps if step.phase == phase]
        if not steps:
            continue
        lines.append(f"{len(steps)} steps: {title}")
        lines += [f"  ovs-appctl {step.command(plan.space)}" for step in steps[:shown]]
        if len(steps) > shown:
            lines.append(f"  ... and {len(steps) - shown} more (--all-steps prints them)")
    return lines


def proof_text(compared: Comparison) -> str:
    """The proof as text."""
    before = f"{compared.flows_before} flows under {compared.masks_before} masks before"
    after = f"{compared.flows_after} under {compared.masks_after} after"
    contested = f"{compared.proof.contested} overlapping pairs with different actions"
    lines = []
    if compared.proof.verdict == "equivalent":
        lines.append("equivalent: every packet that either dump matches gets the same actions")
    elif compared.proof.verdict == "undecided":
        lines.append(f"undecided: {compared.proof.reason}")
    else:
        lines.append("not equivalent: at least one packet is treated differently")
    lines.append(f"  {before}, {after}; {contested}; {compared.took_ms:.0f} ms")
    if compared.example is not None:
        lines += _example_lines(compared.example)
    if compared.opaque:
        lines.append("  not understood, and treated as unknown conditions: " + ", ".join(compared.opaque[:MOST_SHOWN]))
    return "\n".join(lines)


def _example_lines(example: Any) -> list[str]:
    lines = ["  packet:", *(f"    {path:20} {value}" for path, value in example.packet.items())]
    for when, flow, actions in (("before", example.before, example.before_actions), ("after", example.after, example.after_actions)):
        lines.append(f"  {when}: {actions}" + (f"   (line {flow.line}: {flow.match})" if flow else ""))
    if example.before and example.after:
        lines.append(f"  order: {example.reading}")
    if example.assumes:
        lines.append("  this packet may not exist; the example assumes: " + ", ".join(example.assumes))
    return lines
