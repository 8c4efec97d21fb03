"""PCCP: packet-rate limits for senders, from the delay of a VF's packets at the receiver (PicNIC, section 5.3.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

THRESHOLD_US = 10.0
BETA = 0.8
N_AI = 5
N_HAI = 10
EWMA = 0.5
"""Weight of the newest delay [ours]; the paper gives no value for this, `BETA`, the counters' bounds and the increment."""
INCREMENT = 0.01


@dataclass(frozen=True)
class PccpParameters:
    """Constants of Algorithm 1. `delta` has the unit of the rate; None means `increment` of the first rate."""

    threshold_us: float = THRESHOLD_US
    beta: float = BETA
    delta: float | None = None
    increment: float = INCREMENT
    n_ai: int = N_AI
    n_hai: int = N_HAI
    ewma: float = EWMA
    recover_old_rate: bool = False
    """False: Algorithm 1 literally, where a decrease sets the target to the decreased rate. True: the text's "recover to the value before
    the last decrease"."""


STEADY = PccpParameters(beta=0.1, increment=0.0002)
"""What the simulations use [ours]: with the values above, one increase overshoots and the next decrease costs most of the rate, so that
the delay swings from 4 to 100 us. Chosen by simulation (docs/isolation-simulations.md)."""


class Pccp:
    """The controller of one overloaded VF.

    >>> controller = Pccp(100.0, PccpParameters(threshold_us=10, beta=0.5, ewma=1.0))
    >>> [controller.step(delay) for delay in (20.0, 5.0)]
    [75.0, 75.0]
    """

    def __init__(self, first_rate: float, parameters: PccpParameters | None = None) -> None:
        self.parameters = parameters or PccpParameters()
        self.rate = self._target = first_rate
        self.delay_us: float | None = None
        self._counter = 0
        delta = self.parameters.delta
        self._delta = self.parameters.increment * first_rate if delta is None else delta

    def step(self, delay_in_us: float) -> float:
        """One epoch with the measured ingress delay: the new rate per sender. The first delay starts the moving average."""
        p = self.parameters
        self.delay_us = delay_in_us if self.delay_us is None else (1.0 - p.ewma) * self.delay_us + p.ewma * delay_in_us
        if self.delay_us > p.threshold_us:
            before = self.rate
            self.rate = (1.0 - p.beta * (1.0 - p.threshold_us / self.delay_us)) * self.rate
            self._counter = 0
            self._target = before if p.recover_old_rate else self.rate
            return self.rate
        if p.n_ai < self._counter <= p.n_hai:
            self._target += self._delta
        if self._counter > p.n_hai:
            self._target += (self._counter - p.n_hai) * self._delta
        self.rate = (self.rate + self._target) / 2.0
        self._counter += 1
        return self.rate


def rates(delays_us: Iterable[float], first_rate: float, parameters: PccpParameters | None = None) -> list[float]:
    """The rate after each epoch of a trace of delays."""
    controller = Pccp(first_rate, parameters)
    return [controller.step(delay) for delay in delays_us]
