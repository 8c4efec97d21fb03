"""PCCB: bandwidth limits for senders, set by the receiver (PicNIC, section 5.3.1; figure 9).

The fluid model below follows rates, not packets: what senders may send, what arrives at most at line rate, and what the receiver
measures in each epoch. `delay_us` is the time from a measurement until its limit acts on what the receiver sees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

EPOCH_US = 512.0
ALPHA = 0.9
"""Gain. The paper gives none; chosen by simulation (docs/isolation-simulations.md): 100 senders that start at once settle in 4.5 ms, with
0.5 in 7 ms, and at 1 two senders overshoot when feedback is late."""
FEEDBACK_US = 96.0
"""From a measurement until its limit acts on what the receiver sees: one round trip [ours]."""
LEAST_FACTOR = 0.1
"""The formula turns negative when more than twice the fair share arrives (at a gain of 1): one epoch lowers the limit at most tenfold."""
STEP_US = 16.0


class Pccb:
    """The controller of one receiving VF: `limit` times a sender's weight is what that sender may send.

    >>> controller = Pccb(first_limit=12.0, largest_limit=20.0, alpha=0.5)
    >>> controller.step(received=18.0, share=12.0)
    9.0
    """

    def __init__(self, first_limit: float, largest_limit: float, alpha: float = ALPHA) -> None:
        self.limit = first_limit
        self._largest = largest_limit
        self._alpha = alpha

    def step(self, received: float, share: float) -> float:
        """One epoch: the new limit from the rate that arrived and the VF's fair share (the same unit; the share above 0)."""
        factor = max(1.0 - self._alpha * (received - share) / share, LEAST_FACTOR)
        self.limit = min(self.limit * factor, self._largest)  # an idle VF's limit would grow without end
        return self.limit


@dataclass(frozen=True)
class Senders:
    """`count` senders that always have something to send, from `from_us` until `until_us`, each at most at `maximum`."""

    count: int
    maximum: float
    from_us: float = 0.0
    until_us: float = float("inf")
    weight: float = 1.0

    def rate(self, at_us: float, limit: float | None) -> float:
        """What they send together; without a limit from the receiver, a sender sends at its maximum."""
        if not self.from_us <= at_us < self.until_us:
            return 0.0
        return self.count * (self.maximum if limit is None else min(self.weight * limit, self.maximum))


@dataclass(frozen=True)
class PccbRun:
    """The course of a simulation: times, what arrived in total, and the limit at the senders."""

    at_us: list[float]
    arrived: list[float]
    limit: list[float]

    def settled_us(self, after_us: float, share: float, within: float = 0.02) -> float | None:
        """Time from `after_us` until what arrives stays within `within` of `share`; None if it never does."""
        away = [at for at, rate in zip(self.at_us, self.arrived, strict=True) if at >= after_us and abs(rate - share) > within * share]
        if not away:
            return 0.0
        return None if away[-1] >= self.at_us[-1] else away[-1] + STEP_US - after_us


def simulate_pccb(
    groups: Sequence[Senders],
    share: float,
    line_rate: float,
    duration_us: float,
    *,
    epoch_us: float = EPOCH_US,
    delay_us: float = FEEDBACK_US,
    alpha: float = ALPHA,
) -> PccbRun:
    """Senders of one receiver whose fair share is constant. A sender that starts has no limit until it gets its first feedback."""
    controller = Pccb(share, line_rate, alpha)
    feedback: deque[tuple[float, float]] = deque()
    known: dict[Senders, float | None] = dict.fromkeys(groups)
    for group in groups:
        if group.from_us <= 0:
            known[group] = share / sum(one.count * one.weight for one in groups if one.from_us <= 0)
    controller.limit = max((limit for limit in known.values() if limit is not None), default=share)
    run = PccbRun([], [], [])
    received, next_epoch, at = 0.0, epoch_us, 0.0
    while at < duration_us:
        while feedback and feedback[0][0] <= at:
            limit = feedback.popleft()[1]
            known.update({group: limit for group in groups if group.from_us <= at < group.until_us})
        arrived = min(sum(group.rate(at, known[group]) for group in groups), line_rate)
        received += arrived * STEP_US
        run.at_us.append(at)
        run.arrived.append(arrived)
        run.limit.append(controller.limit)
        at += STEP_US
        if at >= next_epoch:
            feedback.append((at + delay_us, controller.step(received / epoch_us, share)))
            received, next_epoch = 0.0, next_epoch + epoch_us
    return run
