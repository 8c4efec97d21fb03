"""The performance model (paper, section 4.2) on top of forecast mask lookups: bandwidth, latency.

Samples weigh mask positions by packets, the model takes the mean over packets in flight. A packet at position q is in flight for its
latency `LAT(q)`, so by Little's law `Q = E[q LAT(q)] / E[LAT(q)] = q + a sd^2 / LAT(q, Q_r)`, where `sd` is the spread of positions; the
same with `b` for the lookups at the receivers. With 40 masks used evenly that is two lookups more than the mean over packets, and 5% of
the bandwidth. The latency itself is linear in the positions, so it takes the mean over packets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wallwatch.domain.forecast.profile_lookup import by_profile
from wallwatch.domain.forecast.targets import Floats, column
from wallwatch.domain.performance.parameters import Performance as Fitted

_Pair = tuple[Floats, Floats]
"""Of the own egress chain and of the receivers' ingress chains."""
_PARAMETERS = ("u", "v", "m", "n", "w", "a", "b", "c")


def _numbers(performance: Fitted | None) -> list[float]:
    return [np.nan if performance is None else float(getattr(performance, name)) for name in _PARAMETERS]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Table 3's parameters of many RNICs, each of shape (rnics,); NaN where the model is unknown."""

    u: Floats
    v: Floats
    m: Floats
    n: Floats
    w: Floats
    a: Floats
    b: Floats
    c: Floats

    @classmethod
    def of(cls, models: Sequence[str | None]) -> Parameters:
        """Of each RNIC's model, or of its driver and firmware where a calibration of these is in force (`RnicModel`)."""
        return cls(*by_profile(models, lambda profile: _numbers(None if profile is None else profile.performance)).T)

    @classmethod
    def like_this(cls, performance: Fitted) -> Parameters:
        """One RNIC of given parameters."""
        return cls(*np.array([_numbers(performance)]).T)

    def like(self, array: Floats) -> Parameters:
        """With axes added behind, to go with an array of shape (rnics, ...)."""
        shape = (-1,) + (1,) * (array.ndim - 1)
        return Parameters(*(getattr(self, name).reshape(shape) for name in _PARAMETERS))


def bandwidth_gbps(p: Parameters, q_l: Floats, q_r: Floats) -> Floats:
    """Equation (1); Q over packets in flight, arrays that broadcast."""
    return np.asarray(p.u * np.exp(-((q_l - p.m) ** 2 + (q_r - p.n) ** 2) / (2.0 * p.v**2)) + p.w)


def latency_us(p: Parameters, q_l: Floats, q_r: Floats) -> Floats:
    """Equation (2); Q over packets."""
    return np.asarray(p.a * q_l + p.b * q_r + p.c)


def link_gbps(speed_gts: Floats, lanes: Floats) -> Floats:
    """What a PCIe link carries in one direction, Gbit/s: 8 of 10 bits carry data at 2.5 and 5 GT/s, 128 of 130 from 8 GT/s on.

    >>> link_gbps(np.array([16.0, 8.0]), np.array([16, 4])).round(1).tolist()
    [252.1, 31.5]
    """
    return np.asarray(speed_gts * lanes * np.where(np.asarray(speed_gts) < 8.0, 0.8, 128.0 / 130.0))


ENCAPSULATION_BYTES = 50
"""Outer Ethernet, IPv4, UDP and VXLAN headers of a packet, which port counters have and the model's bandwidth does not."""


def without_encapsulation(gbps: Floats, packets_per_s: Floats) -> Floats:
    """What a port sends, Gbit/s, less the outer headers of its packets.

    >>> without_encapsulation(np.array([100.0]), np.array([3e6])).round(1).tolist()
    [98.8]
    """
    return np.asarray(gbps - packets_per_s * ENCAPSULATION_BYTES * 8e-9)


def in_flight(p: Parameters, q_l: Floats, q_r: Floats, spread_l: Floats, spread_r: Floats) -> tuple[Floats, Floats]:
    """`Q_l` and `Q_r` over packets in flight, from means and spreads over packets; an unknown spread counts as none.

    >>> p = Parameters.of(["CX-6"])
    >>> [q.round(1).tolist() for q in in_flight(p, np.array([19.5]), np.array([0.0]), np.array([11.5]), np.array([np.nan]))]
    [[21.2], [0.0]]
    """
    latency = latency_us(p, q_l, q_r)
    return q_l + p.a * np.nan_to_num(spread_l) ** 2 / latency, q_r + p.b * np.nan_to_num(spread_r) ** 2 / latency


def one_in_flight(performance: Fitted, q_l: float, q_r: float, spread_l: float | None, spread_r: float | None) -> tuple[float, float]:
    """The same of one RNIC; None for a spread that is unknown.

    >>> from wallwatch.domain.catalogue.load import profiles
    >>> round(one_in_flight(profiles()["CX-6"].performance, 19.5, 0.0, 11.5, None)[0], 1)
    21.2
    """
    numbers = [np.array([np.nan if one is None else one], dtype=np.float64) for one in (q_l, q_r, spread_l, spread_r)]
    left, right = in_flight(Parameters.like_this(performance), *numbers)
    return float(left[0]), float(right[0])


@dataclass(frozen=True, slots=True)
class Performance:
    """Now, shape (rnics,), and ahead, shape (rnics, horizons, quantiles); NaN where the model or Q is unknown."""

    bandwidth_now: Floats
    latency_now: Floats
    bandwidth: Floats
    latency: Floats


def performance(
    models: Sequence[str | None], now: Floats, ahead: Floats, spread: Floats, link: Floats, sent: Floats | None = None
) -> Performance:
    """Bandwidth and latency that follow from the mask lookups.

    Parameters
    ----------
    models : sequence, length rnics
    now : array (rnics, targets)
    ahead : array (rnics, targets, horizons, quantiles)
    spread : array (rnics, 2)
        Of the mask positions behind `q_l` and `q_r` now; assumed to grow with their mean.
    link : array (rnics,)
        What the PCIe link carries, which bounds the bandwidth; it is assumed constant. NaN means no bound.
    sent : array (rnics,)
        What is sent now, Gbit/s without encapsulation (`without_encapsulation`); NaN where unknown.

    Notes
    -----
    Both suffer from either Q. The two are forecast apart, and that both take their outermost value at once is rarer than that one does, so
    what each contributes to the interval adds up as errors that do not depend on each other (`combined`). An unknown `Q_r` counts as 0.
    An RNIC can send at least its current bandwidth: if that is more than predicted, the prediction is too low by the same factor in what is
    ahead too, up to what the head of both chains gives.
    """
    p = Parameters.of(models)
    left, right = now[:, column("q_l")], np.nan_to_num(now[:, column("q_r")])
    ahead_l, ahead_r = ahead[:, column("q_l")], np.nan_to_num(ahead[:, column("q_r")])
    each = p.like(ahead_l)
    wider = (_grown(spread[:, 0], left, ahead_l), _grown(spread[:, 1], right, ahead_r))
    apart = list(_one_by_one(ahead_l, ahead_r, wider))
    bandwidth = combined(*(bandwidth_gbps(each, *in_flight(each, *queries, *spreads)) for queries, spreads in apart))
    bound = np.where(np.isnan(link), np.inf, link)
    bandwidth_now = np.minimum(bandwidth_gbps(p, *in_flight(p, left, right, spread[:, 0], spread[:, 1])), bound)
    if sent is not None:
        with np.errstate(invalid="ignore"):
            lift = np.fmax(sent / bandwidth_now, 1.0)
        bandwidth_now = bandwidth_now * lift
        most = np.fmax(bandwidth_gbps(p, np.zeros_like(left), np.zeros_like(left)), bandwidth_now)
        bandwidth = np.minimum(bandwidth * lift[:, None, None], most[:, None, None])
    bandwidth = np.minimum(bandwidth, bound[:, None, None])
    latency = combined(*(latency_us(each, *queries) for queries, _ in apart))
    return Performance(bandwidth_now, latency_us(p, left, right), bandwidth, latency)


def combined(by_left: Floats, by_right: Floats) -> Floats:
    """Quantiles of a performance from those of its two causes, each with the other at its median: arrays (..., quantiles).

    The distances from the median add up in quadrature, each side apart.

    >>> combined(np.array([[60.0, 100.0, 103.0]]), np.array([[104.0, 100.0, 70.0]])).tolist()
    [[50.0, 100.0, 105.0]]
    """
    middle = by_left.shape[-1] // 2
    likely = by_left[..., middle]
    ends = np.stack([one[..., end] - likely for one in (by_left, by_right) for end in (0, -1)])
    down, up = np.sqrt((np.minimum(ends, 0.0) ** 2).sum(axis=0)), np.sqrt((np.maximum(ends, 0.0) ** 2).sum(axis=0))
    return np.stack([likely - down, likely, likely + up], axis=-1)


def _one_by_one(
    left: Floats, right: Floats, spreads: tuple[Floats, Floats]
) -> Iterator[tuple[tuple[Floats, Floats], tuple[Floats, Floats]]]:
    """Quantiles of `q_l` with the median of `q_r`, then the reverse; with the spreads of each."""
    middle = left.shape[-1] // 2

    def still(array: Floats) -> Floats:
        return np.broadcast_to(array[..., middle : middle + 1], array.shape)

    yield (left, still(right)), (spreads[0], still(spreads[1]))
    yield (still(left), right), (still(spreads[0]), spreads[1])


def _grown(spread: Floats, now: Floats, ahead: Floats) -> Floats:
    """The spread ahead: it grows with the mean, and is what it was where the mean was 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        growth = np.where(now[:, None, None] > 0, ahead / now[:, None, None], 1.0)
    return np.asarray(np.nan_to_num(spread)[:, None, None] * np.where(np.isnan(growth), 1.0, growth))
