"""Search for anomalies of transport engines: Lumina's algorithm 1, a random baseline, and minimal tests."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import median

from wallwatch.lab.transport.adaptor import Outcome
from wallwatch.lab.transport.minimal import fewest, smallest
from wallwatch.lab.transport.plans import Plan, drawn, mutated
from wallwatch.lab.transport.score import ANOMALIES, score

POOL = 32
ACCEPTED_ANYWAY = 0.1
"""**[ours]** Lumina's p and size of the pool are not published."""
Run = Callable[[Plan], Outcome]


@dataclass(frozen=True)
class Found:
    """What a search gave.

    Attributes:
        runs: tests until the anomaly, or all of the budget.
        plan: the first test that showed it; None when none did.
        minimal: the smallest test that still shows it.
        minimising_runs: further tests for that.
    """

    runs: int
    plan: Plan | None = None
    minimal: Plan | None = None
    minimising_runs: int = 0


@dataclass
class Search:
    """One search between two models.

    Attributes:
        run: runs a test.
        anomaly: a name of `ANOMALIES`.
        budget: most tests until the anomaly.
    """

    run: Run
    requester: str
    responder: str
    anomaly: str
    budget: int = 200
    seed: int = 1
    _runs: int = field(default=0, init=False)

    def fuzz(self) -> Found:
        """Algorithm 1: mutate a test of the pool; keep it if it scores at least the median, else with a small probability."""
        rng = random.Random(self.seed)  # noqa: S311 - a search, no secret
        pool: list[tuple[float, Plan]] = []
        while self._runs < self.budget:
            plan = mutated(rng.choice(pool)[1], rng) if len(pool) >= POOL // 4 else drawn(rng, self.requester, self.responder)
            outcome = self._tried(plan)
            if ANOMALIES[self.anomaly](plan, outcome):
                return self._reported(plan)
            value = score(plan, outcome)
            if not pool or value >= median(each for each, _ in pool) or rng.random() < ACCEPTED_ANYWAY:
                pool.append((value, plan))
                pool.sort(key=lambda each: -each[0])
                del pool[POOL:]
        return Found(self._runs)

    def draw(self) -> Found:
        """The baseline: random tests."""
        rng = random.Random(self.seed)  # noqa: S311 - a search, no secret
        while self._runs < self.budget:
            plan = drawn(rng, self.requester, self.responder)
            if ANOMALIES[self.anomaly](plan, self._tried(plan)):
                return self._reported(plan)
        return Found(self._runs)

    def _tried(self, plan: Plan) -> Outcome:
        self._runs += 1
        return self.run(plan)

    def _reported(self, plan: Plan) -> Found:
        runs = self._runs
        minimal = self.minimised(plan)
        return Found(runs, plan, minimal, self._runs - runs)

    def minimised(self, plan: Plan) -> Plan:
        """The smallest test that still shows the anomaly, one change at a time until none helps."""

        def shows(candidate: Plan) -> bool:
            candidate = candidate.fitted()
            return ANOMALIES[self.anomaly](candidate, self._tried(candidate))

        before = None
        while plan != before:
            before = plan
            plan = _with_first_packets(_without_idle(_with_fewest_events(plan, shows), shows), shows)
            for name, least in (("connections", 1), ("messages", 1), ("packets", 1), ("depth", 1)):
                plan = _lowered(plan, name, least, shows)
        return plan


def _with_fewest_events(plan: Plan, shows: Callable[[Plan], bool]) -> Plan:
    events = fewest(plan.events, lambda kept: shows(replace(plan, events=tuple(kept))))
    return replace(plan, events=tuple(events))


def _lowered(plan: Plan, name: str, least: int, shows: Callable[[Plan], bool]) -> Plan:
    def with_value(value: int) -> Plan:
        return replace(plan, **{name: value}).fitted()  # type: ignore[arg-type]

    return with_value(smallest(least, getattr(plan, name), lambda value: shows(with_value(value))))


def _with_first_packets(plan: Plan, shows: Callable[[Plan], bool]) -> Plan:
    """Events on the earliest packets that show it, so that messages can become short."""
    first = min((psn for _, psn, _, _ in plan.events), default=0)

    def earlier(by: int) -> Plan:
        return replace(plan, events=tuple((qpn, max(psn - by, 0), kind, turn) for qpn, psn, kind, turn in plan.events)).fitted()

    return earlier(first - smallest(0, first, lambda start: shows(earlier(first - start))))


def _without_idle(plan: Plan, shows: Callable[[Plan], bool]) -> Plan:
    """Connections with events first, so that those without can be cut off at the end."""
    order = sorted(range(plan.connections), key=lambda qpn: (qpn not in plan.injected, qpn))
    places = {qpn: place for place, qpn in enumerate(order)}
    moved = replace(plan, events=tuple(sorted((places[qpn], psn, kind, turn) for qpn, psn, kind, turn in plan.events)))
    return moved if moved != plan and shows(moved) else plan
