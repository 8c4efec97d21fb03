"""An accelerator that serves its request queues in turn (Yala, sections 4.1.1 and 5.1.1), with queues that may run empty.

A saturated function with `n` queues and a service time `t` per request gets `n / sum(n_j t_j)`: each turn serves every queue once.
The paper prints `n_j squared` (equations 1 and 4), which contradicts its own `t = sum(n_j t_j)`, and simulation wherever numbers of
queues differ; with one queue per function, the paper's setup, both agree. `docs/contention.md` records the decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from wallwatch.domain.contention.gaussian_process import Array


class BadQueues(ValueError):
    """Numbers of queues, service times or rates that make no sense."""


@dataclass(frozen=True, slots=True)
class EngineUser:
    """One function's use of an accelerator. The unit of time is the caller's: rates are per unit of `service_time`."""

    queues: int
    service_time: float
    """Mean time that one request takes, > 0."""
    rate: float = inf
    """Requests offered per unit of time, over all of its queues; infinite where the queues never run empty."""

    def __post_init__(self) -> None:
        if isinstance(self.queues, bool) or not isinstance(self.queues, int) or self.queues < 1:
            raise BadQueues(f"n must be a whole number of at least 1, not {self.queues}")
        if not (isfinite(self.service_time) and self.service_time > 0):
            raise BadQueues(f"t must be a positive finite number, not {self.service_time}")
        if not self.rate >= 0:
            raise BadQueues(f"rate must be at least 0, not {self.rate}")


def throughput(users: Sequence[EngineUser]) -> list[float]:
    """Requests served per unit of time for each function, in the order of `users`.

    A queue gets at most its demand; all queues that want more get one common rate, at which the engine is always busy
    (max-min fairness between queues, weighted by service time). Sorted by demand, the rate follows in one pass.

    >>> throughput([EngineUser(1, 2.0), EngineUser(2, 1.0)])
    [0.25, 0.5]
    >>> throughput([EngineUser(1, 2.0, rate=0.125), EngineUser(3, 1.0)])
    [0.125, 0.75]
    """
    level = common_rate(users)
    return [min(user.rate, user.queues * level) for user in users]


def common_rate(users: Sequence[EngineUser]) -> float:
    """The rate of each queue that wants more than it gets; infinite when all demands are met."""
    spare = 1.0
    weight = sum(user.queues * user.service_time for user in users)
    ascending = sorted(users, key=lambda user: user.rate / user.queues)
    for at, user in enumerate(ascending):
        if weight * (user.rate / user.queues) > spare:
            return spare / weight
        spare -= user.rate * user.service_time
        weight = sum(other.queues * other.service_time for other in ascending[at + 1 :])  # again: differences would lose digits
    return inf


def common_rates(weights: Array, wanted: Array) -> Array:
    """`common_rate` of many engines at once, shape (engines,), where each has a queue that is never empty.

    Parameters
    ----------
    weights
        Queues times service time of each user, shape (engines, users); 0 where it does not use the engine.
    wanted
        Rate that each queue of a user asks for.

    >>> common_rates(np.array([[2.0, 3.0]]), np.array([[0.125, np.inf]]))
    array([0.25])
    """
    level = np.zeros(len(weights))
    # Each round serves those in full who want less than the level, which only rises: a round for each user.
    for _ in range(weights.shape[1]):
        served = wanted <= level[:, None]
        spare = 1.0 - np.where(served, weights * np.where(served, wanted, 0.0), 0.0).sum(axis=1)
        open_weight = np.where(served, 0.0, weights).sum(axis=1)
        level = np.divide(spare, open_weight, out=level, where=open_weight > 0)
    return level


def time_per_request(own_time: float, competitors_times: float) -> float:
    """Of a saturated function with one queue, given the sum of its competitors' times per turn (equation 4 for n = 1)."""
    return own_time + competitors_times
