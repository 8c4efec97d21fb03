"""How abnormal the outcome of a transport test is, and which outcomes are anomalies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from statistics import median

from wallwatch.lab.transport.adaptor import Outcome
from wallwatch.lab.transport.plans import Plan

SLOW_FACTOR = 10.0
"""An innocent message that takes so many times the median of all is a victim. **[ours]**"""
_ERRORS = ("out_of_sequence", "packet_seq_err", "implied_nak_seq_err", "duplicate_request", "local_ack_timeout_err")
_WEIGHTS = {"discards": 4.0, "victims": 4.0, "contradictions": 3.0, "failures": 2.0, "recoveries": 1.0}
"""**[ours]** What an operator minds most weighs most; recoveries lead towards the rest."""


def innocent_slowdown(plan: Plan, outcome: Outcome) -> float:
    """The slowest message of a connection without events, as a multiple of the median message of those; 1 without any."""
    times = [time for place, row in enumerate(outcome.message_completion_us) if place not in plan.injected for time in row]
    return max(times) / max(median(times), 1e-9) if times else 1.0


def discards(outcome: Outcome) -> int:
    """Packets that a receive pipeline threw away."""
    return sum(counters.get("rx_discards_phy", 0) for counters in (outcome.requester_counters, outcome.responder_counters))


def contradictions(outcome: Outcome) -> list[str]:
    """Counters that stand still although others show what they count (Lumina, section 6.2.4)."""
    found = []
    ends = (outcome.requester_counters, outcome.responder_counters)
    for counters, peer in (ends, ends[::-1]):
        for sent, handled in (("cnpSent", "cnpHandled"), ("np_cnp_sent", "rp_cnp_handled")):
            arrived = peer.get("cnpHandled", 0) + peer.get("rp_cnp_handled", 0)
            if sent in counters and counters[sent] == 0 and arrived > 0:
                found.append(f"{sent} stands still although the peer's {handled} grows")
    asked_again = outcome.responder_counters.get("duplicate_request", 0)
    timeouts = outcome.requester_counters.get("local_ack_timeout_err", 0)
    if outcome.requester_counters.get("implied_nak_seq_err") == 0 and asked_again > timeouts:
        found.append("implied_nak_seq_err stands still although the peer's duplicate_request grows")
    return found


def score(plan: Plan, outcome: Outcome) -> float:
    """Sum of weighted objectives, each from 0 to about 10."""
    errors = sum(counters.get(name, 0) for counters in (outcome.requester_counters, outcome.responder_counters) for name in _ERRORS)
    parts = {
        "discards": math.log1p(discards(outcome)),
        "victims": math.log(max(innocent_slowdown(plan, outcome), 1.0)),
        "contradictions": float(len(contradictions(outcome))),
        "failures": float(bool(outcome.failed_connections)),
        "recoveries": math.log1p(errors),
    }
    return sum(_WEIGHTS[name] * value for name, value in parts.items())


def _victims(plan: Plan, outcome: Outcome) -> bool:
    return bool(plan.injected) and discards(outcome) > 0 and innocent_slowdown(plan, outcome) >= SLOW_FACTOR


ANOMALIES: Mapping[str, Callable[[Plan, Outcome], bool]] = {
    "discards": lambda _, outcome: discards(outcome) > 0,
    "noisy-neighbour": _victims,
    "unprovoked-discards": lambda plan, outcome: not plan.events and discards(outcome) > 0,
    "contradiction": lambda _, outcome: bool(contradictions(outcome)),
}
"""What can be looked for: packets thrown away, victims of others' losses, discards without any event, counters that stand still."""
