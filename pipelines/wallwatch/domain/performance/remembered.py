"""The performance model (see `formulas`) with what does not depend on mask lookups computed once: `classify` asks with every sample."""

from __future__ import annotations

import math

from wallwatch.domain.performance.parameters import Performance


class Surface:
    """The model of one set of parameters."""

    __slots__ = ("_a", "_b", "_c", "_m", "_n", "_spread", "_u", "_w", "head_gbps", "head_us")

    def __init__(self, p: Performance) -> None:
        self._u, self._m, self._n, self._w = p.u, p.m, p.n, p.w
        self._a, self._b, self._c = p.a, p.b, p.c
        self._spread = 2.0 * p.v**2
        self.head_gbps = self.bandwidth_gbps(0.0, 0.0)
        """Bandwidth and latency at the heads of both chains."""
        self.head_us = self.latency_us(0.0, 0.0)

    def bandwidth_gbps(self, q_l: float, q_r: float) -> float:
        """As `formulas.bandwidth_gbps`."""
        return self._u * math.exp(-((q_l - self._m) ** 2 + (q_r - self._n) ** 2) / self._spread) + self._w

    def latency_us(self, q_l: float, q_r: float) -> float:
        """As `formulas.latency_us`."""
        return self._a * q_l + self._b * q_r + self._c


_surfaces: dict[int, tuple[Performance, Surface]] = {}
_MOST_SURFACES = 1000


def surface_of(p: Performance) -> Surface:
    """The remembered surface of some parameters.

    >>> from wallwatch.domain.catalogue.load import profiles
    >>> p = profiles()["CX-6"].performance
    >>> surface_of(p) is surface_of(p), round(surface_of(p).head_gbps, 1)
    (True, 158.2)
    """
    known = _surfaces.get(id(p))
    if known is None or known[0] is not p:
        if len(_surfaces) >= _MOST_SURFACES:
            _surfaces.clear()
        known = _surfaces[id(p)] = (p, Surface(p))
    return known[1]
