"""Flows that are likely to come: a Gaussian mixture over past traffic (paper, section 4.3 "Hyper/Cascading Masks").

Every flow of a past dump is an observation: the time of day, the addresses of both ends, and how many packets it had. The mixture is the
density of these; flows of the past that are not there now are ranked by the density at their place and the present time of day. A past of
less than a day has not seen this time of day before, so then the time is left out: else whatever comes next would be unlikely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wallwatch.domain.masks.dump import Dump
from wallwatch.domain.masks.space import HeaderSpace
from wallwatch.domain.planning.traffic import Floats

if TYPE_CHECKING:
    from sklearn.mixture import GaussianMixture

SEED = 20250908
"""Fixed seed: the same past gives the same flows."""
MOST_COMPONENTS = 6
LEAST_OBSERVATIONS = 50
"""With fewer a mixture adds nothing to the last dump."""
DAY_S = 86400.0
TIME_FEATURES = 2
"""Of an observation: sine and cosine of the time of day come first."""
MOST_FITTED = 20_000
"""Observations that the mixture is fitted to; of more every n-th."""
SHARE_OF_LIKELY = 0.05
"""A flow is likely when its density is above that of this share of the observations near the current time."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A flow that was there at a time (seconds, UTC)."""

    at_s: float
    value: int
    mask: int
    packets: int


def observations(dump: Dump, at_s: float) -> list[Observation]:
    """All flows of a dump that had packets."""
    return [Observation(at_s, flow.value, flow.mask, flow.packets) for flow in dump.flows if flow.packets]


def likely(past: Sequence[Observation], present: Sequence[Observation], space: HeaderSpace, now_s: float) -> list[tuple[int, int]]:
    """Headers of past flows that are not present now and are likely to return at this time, most likely first, as (value, mask).

    An empty list if the past is too short.
    """
    there = {(one.value, one.mask) for one in present}
    latest = {(one.value, one.mask): one for one in past if (one.value, one.mask) not in there}
    if len(past) < LEAST_OBSERVATIONS or not latest:
        return []
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1):  # matrices of five columns: threads would wait for each other ten times as long as they work
        return _ranked(past, list(latest.values()), space, now_s)


def _ranked(past: Sequence[Observation], candidates: Sequence[Observation], space: HeaderSpace, now_s: float) -> list[tuple[int, int]]:
    times = [one.at_s for one in past]
    from_time = 0 if max(times) - min(times) >= DAY_S else TIME_FEATURES
    known = _features(past, space, times)[:, from_time:]
    spread = np.where(known.std(axis=0) > 0, known.std(axis=0), 1.0)
    middle = known.mean(axis=0)
    mixture = _fitted((known - middle) / spread)
    now = mixture.score_samples((_features(candidates, space, [now_s] * len(candidates))[:, from_time:] - middle) / spread)
    usual = float(np.quantile(mixture.score_samples((known - middle) / spread), SHARE_OF_LIKELY))
    ranked = sorted(range(len(candidates)), key=lambda at: (-now[at], candidates[at].value))
    return [(candidates[at].value, candidates[at].mask) for at in ranked if now[at] >= usual]


def _features(seen: Sequence[Observation], space: HeaderSpace, times: Sequence[float]) -> Floats:
    """Time of day on a circle, both ends' Ethernet or IP addresses as numbers, logarithm of packets; shape (observations, 5)."""
    rows = []
    for one, at in zip(seen, times, strict=True):
        angle = 2.0 * math.pi * (at % DAY_S) / DAY_S
        ends = [_end(one.value, space, end) for end in ("src", "dst")]
        rows.append((math.sin(angle), math.cos(angle), *ends, math.log1p(one.packets)))
    return np.array(rows, dtype=np.float64)


def _end(value: int, space: HeaderSpace, end: str) -> float:
    address = space.field_of(value, f"ipv4.{end}")
    return address / 2**32 if address else space.field_of(value, f"eth.{end}") / 2**48


def _fitted(data: Floats) -> GaussianMixture:
    """The mixture with the number of components that the Bayesian information criterion prefers."""
    from sklearn.mixture import GaussianMixture

    data = data[:: -(-len(data) // MOST_FITTED)]
    tried = [
        GaussianMixture(components, covariance_type="full", reg_covar=1e-3, random_state=SEED, max_iter=200, init_params="k-means++").fit(
            data
        )
        for components in range(1, min(MOST_COMPONENTS, len(data) // 10) + 1)
    ]
    return min(tried, key=lambda mixture: mixture.bic(data))
