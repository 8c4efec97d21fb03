"""Rows inside a cause: with what was seen there already they show every pair of values of the other parameters, as far as few rows can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wallwatch.domain.lab.conditions import Cause
from wallwatch.domain.lab.device import Config
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.sampling import Sampler
from wallwatch.domain.lab.spread import Spread

ROWS = 8
"""More than the rows of a proof: together about as many as pairs of a dozen parameters with a few values each need."""


def rows_inside(judge: Judge, sampler: Sampler, cause: Cause, known: Sequence[Cause], only: Sequence[str]) -> Iterator[Config]:
    """Configurations in which the cause holds and no other known one does, each with pairs of values that were not seen inside it."""
    device = judge.device
    spread = Spread(device.varied(only))
    for key, outcomes in judge.seen.items():
        config = device.config_of(key)
        if outcomes and cause.holds(config):
            spread.mark(config)
    others = [one for one in known if one != cause]
    for _ in range(ROWS):
        row = spread.best(lambda: sampler.inside(cause.conditions, others, corner=False))
        if row is None or not spread.gain(row):
            return
        spread.mark(row)
        yield row
