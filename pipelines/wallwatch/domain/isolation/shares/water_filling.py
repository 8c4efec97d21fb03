"""Fair ingress shares of virtual functions, exact (PicNIC, section 5.3.1).

Every VF gets its minimum. What is left goes to the active VFs in proportion to their maxima, each at most up to its maximum;
what the full ones leave is shared again. Each round adds to every VF that is not full an amount proportional to its maximum, so
after all rounds a VF has `min(MAX, MIN + level x MAX)` for one common level. A VF is full at level `1 - MIN / MAX`: sorted by it,
the level follows in one pass. All arithmetic is on integers over one common denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import NamedTuple

Number = int | float | Fraction | Decimal


class Request(NamedTuple):
    """What a VF is promised, in any unit of rate that `capacity` shares, and whether it receives at all."""

    min: Number
    max: Number
    active: bool = True


class BadRequest(ValueError):
    """A capacity or an envelope that makes no sense."""


class MinimaExceedCapacity(BadRequest):
    """The minima were promised twice: their sum is above the capacity."""

    def __init__(self, total: Fraction, capacity: Fraction) -> None:
        super().__init__(
            f"the sum of the minima, {float(total):.12g}, exceeds the capacity of {float(capacity):.12g}: lower minima or move a VF away"
        )
        self.total = total
        self.capacity = capacity


def fair_shares(capacity: Number, requests: Sequence[Request]) -> list[Fraction]:
    """The ingress rate that each VF may use at most, in the order of `requests`.

    An inactive VF keeps its minimum reserved: it may start at any time (the paper's literal reading; `idle_minima` says how much that is).

    Raises `MinimaExceedCapacity` with the sum, and `BadRequest` for negative or infinite values and for a maximum below its minimum.

    >>> [str(share) for share in fair_shares(20, [Request(4, 12), Request(4, 12, active=False)])]
    ['12', '4']
    >>> [str(share) for share in fair_shares(20, [Request(4, 12), Request(2, 3), Request(0, 12)])]
    ['21/2', '3', '13/2']
    """
    total, minima, maxima, scale = _on_one_scale(capacity, requests)
    spare = total - sum(minima)
    if spare < 0:
        raise MinimaExceedCapacity(Fraction(sum(minima), scale), Fraction(total, scale))
    up, down = _level(spare, [(low, high) for low, high, request in zip(minima, maxima, requests, strict=True) if request.active])
    shares = []
    for low, high, request in zip(minima, maxima, requests, strict=True):
        if not request.active:
            shares.append(Fraction(low, scale))
            continue
        raised = low * down + up * high
        shares.append(Fraction(high, scale) if raised >= high * down else Fraction(raised, down * scale))
    return shares


def idle_minima(requests: Sequence[Request]) -> Fraction:
    """What inactive VFs keep reserved: what others could use if idle minima were reclaimed."""
    return sum((Fraction(request.min) for request in requests if not request.active), Fraction(0))


def reclaimed(requests: Sequence[Request]) -> list[Request]:
    """The same requests without the minima of inactive VFs; `fair_shares` of them is what reclaiming would give."""
    return [request if request.active else Request(0, request.max, active=False) for request in requests]


def _on_one_scale(capacity: Number, requests: Sequence[Request]) -> tuple[int, list[int], list[int], int]:
    """Capacity, minima and maxima as integers, and the number they are multiplied by."""
    size = _ratio(capacity, "the capacity")
    lows = [_ratio(request.min, "min", at) for at, request in enumerate(requests)]
    highs = [_ratio(request.max, "max", at) for at, request in enumerate(requests)]
    scale = lcm(size[1], *{bottom for _, bottom in lows}, *{bottom for _, bottom in highs})
    minima = [top * (scale // bottom) for top, bottom in lows]
    maxima = [top * (scale // bottom) for top, bottom in highs]
    for at, (low, high) in enumerate(zip(minima, maxima, strict=True)):
        if low > high:
            raise BadRequest(f"VF {at}: max {float(requests[at].max):.12g} is below min {float(requests[at].min):.12g}")
    return size[0] * (scale // size[1]), minima, maxima, scale


def _ratio(value: Number, name: str, at: int | None = None) -> tuple[int, int]:
    """A finite number of at least 0 as numerator and denominator."""
    where = name if at is None else f"VF {at}: {name}"
    try:
        top, bottom = value.as_integer_ratio()
    except (OverflowError, ValueError):
        raise BadRequest(f"{where} must be a finite number, not {value}") from None
    if top < 0:
        raise BadRequest(f"{where} must be at least 0, not {value}")
    return top, bottom


def _level(spare: int, envelopes: list[tuple[int, int]]) -> tuple[int, int]:
    """The common level as numerator and denominator: the multiple of its maximum that every VF below its maximum gets on top."""
    # The key orders the VFs by MIN / MAX, largest first (full at the lowest level). Two different ratios differ by more than
    # 1 / MAX squared, so with twice the bits of the largest MAX their keys differ too: no comparison of fractions is needed.
    bits = 2 * max((high for _, high in envelopes), default=0).bit_length()
    open_vfs = sorted((envelope for envelope in envelopes if envelope[1]), key=lambda one: -((one[0] << bits) // one[1]))
    weight = sum(high for _, high in open_vfs)
    for low, high in open_vfs:
        room = high - low
        if room * weight > spare * high:
            return spare, weight
        spare -= room
        weight -= high
    return 1, 1  # everyone is full: a level of 1 takes every VF to its maximum
