"""What the search varies of a transport test, and how it changes it (Lumina, section 4, algorithm 1)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

VERBS = ("write", "read", "send")
MTUS = (256, 512, 1024, 2048, 4096)
MOST_CONNECTIONS, MOST_MESSAGES, MOST_PACKETS, MOST_DEPTH = 48, 10, 100, 8
_TIMEOUTS = range(10, 17)
Event = tuple[int, int, str, int]
"""Connection, packet, what the switch does, iteration; connections and packets count from 0."""


@dataclass(frozen=True)
class Plan:
    """One transport test between two models."""

    requester: str
    responder: str
    connections: int = 1
    verb: str = "write"
    messages: int = 1
    packets: int = 10
    mtu: int = 1024
    depth: int = 1
    timeout: int = 14
    retries: int = 7
    adaptive: bool = False
    events: tuple[Event, ...] = ()

    def intent(self) -> dict[str, Any]:
        """The description of this test."""

        def host(model: str, network: int) -> dict[str, Any]:
            return {
                "nic": {"type": model, "ip-list": [f"10.0.{network}.1/24"]},
                "roce-parameters": {"dcqcn-np-enable": True, "adaptive-retrans": self.adaptive, "slow-restart": True},
            }

        return {
            "requester": host(self.requester, 1),
            "responder": host(self.responder, 2),
            "traffic": {
                "num-qps": self.connections,
                "rdma-verb": self.verb,
                "num-msgs-per-qp": self.messages,
                "mtu": self.mtu,
                "message-size": self.packets * self.mtu,
                "tx-depth": self.depth,
                "min-retransmit-timeout": self.timeout,
                "max-retransmit-retry": self.retries,
                "data-pkt-events": [{"qpn": qpn, "psn": psn, "type": kind, "iter": turn} for qpn, psn, kind, turn in self.events],
            },
        }

    @property
    def injected(self) -> frozenset[int]:
        """Connections with an event; the others are innocent."""
        return frozenset(qpn for qpn, *_ in self.events)

    def fitted(self) -> Plan:
        """Without events on packets and connections that there are not, and without the second event of a packet."""
        total = self.messages * self.packets
        kept = {(qpn, psn, turn): (qpn, psn, kind, turn) for qpn, psn, kind, turn in self.events if qpn < self.connections and psn < total}
        return replace(self, events=tuple(sorted(kept.values())))


def drawn(rng: random.Random, requester: str, responder: str) -> Plan:
    """A random valid test: some connections with a drop in the same place, the others innocent."""
    connections = rng.randint(1, MOST_CONNECTIONS)
    plan = Plan(
        requester, responder, connections, rng.choice(VERBS), rng.randint(1, MOST_MESSAGES), rng.randint(1, MOST_PACKETS),
        rng.choice(MTUS), rng.randint(1, MOST_DEPTH), rng.choice(_TIMEOUTS), 7, rng.random() < 0.5,
    )  # fmt: skip
    return _inject(plan, rng)


def _inject(plan: Plan, rng: random.Random) -> Plan:
    lossy, packet = rng.randint(0, plan.connections), rng.randrange(plan.packets)
    kind = rng.choice(("drop", "drop", "corrupt", "ecn"))
    return replace(plan, events=tuple((qpn, packet, kind, 1) for qpn in range(lossy))).fitted()


def _add_event(plan: Plan, rng: random.Random) -> Plan:
    total = plan.messages * plan.packets
    event = (rng.randrange(plan.connections), rng.randrange(total), rng.choice(("drop", "corrupt", "ecn")), rng.choice((1, 1, 2)))
    return replace(plan, events=(*plan.events, event))


def _remove_event(plan: Plan, rng: random.Random) -> Plan:
    if not plan.events:
        return plan
    gone = rng.randrange(len(plan.events))
    return replace(plan, events=plan.events[:gone] + plan.events[gone + 1 :])


def _move_events(plan: Plan, rng: random.Random) -> Plan:
    by = rng.randint(-3, 3)
    return replace(plan, events=tuple((qpn, max(psn + by, 0), kind, turn) for qpn, psn, kind, turn in plan.events))


def _more_lossy(plan: Plan, rng: random.Random) -> Plan:
    innocent = [qpn for qpn in range(plan.connections) if qpn not in plan.injected]
    if not innocent or not plan.events:
        return plan
    _, psn, kind, turn = rng.choice(plan.events)
    chosen = rng.sample(innocent, rng.randint(1, len(innocent)))
    return replace(plan, events=(*plan.events, *((qpn, psn, kind, turn) for qpn in chosen)))


_MUTATIONS: tuple[Callable[[Plan, random.Random], Plan], ...] = (
    lambda plan, rng: replace(plan, connections=min(max(plan.connections + rng.randint(-8, 8), 1), MOST_CONNECTIONS)),
    lambda plan, rng: replace(plan, verb=rng.choice(VERBS)),
    lambda plan, rng: replace(plan, messages=rng.randint(1, MOST_MESSAGES)),
    lambda plan, rng: replace(plan, packets=rng.randint(1, MOST_PACKETS)),
    lambda plan, rng: replace(plan, mtu=rng.choice(MTUS)),
    lambda plan, rng: replace(plan, depth=rng.randint(1, MOST_DEPTH)),
    lambda plan, rng: replace(plan, timeout=rng.choice(_TIMEOUTS), retries=rng.randint(3, 7)),
    lambda plan, rng: replace(plan, adaptive=not plan.adaptive),
    _inject, _add_event, _remove_event, _move_events, _more_lossy,
)  # fmt: skip


def mutated(plan: Plan, rng: random.Random) -> Plan:
    """A plan that differs in one to three things."""
    for _ in range(rng.randint(1, 3)):
        plan = rng.choice(_MUTATIONS)(plan, rng)
    return plan.fitted()
