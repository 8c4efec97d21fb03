"""Rates of pairs of sender and receiver under both hoses (PicNIC, sections 4 and 5.3.1; figure 7b).

The receiver's NIC gives each receiving VM its fair ingress share. The share is divided among its senders in proportion to their
maxima, no sender exceeds its maximum in total, and no NIC sends more than its line rate. What a pair cannot use because its other
end is full goes to the other pairs: weighted max-min fairness by progressive filling, exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from wallwatch.domain.isolation.shares.water_filling import BadRequest, Number, Request, fair_shares

Pair = tuple[str, str]
"""Sender and receiver."""


class Vm(NamedTuple):
    """Where a VM is attached and its envelope, which holds in each direction."""

    nic: str
    min: Number
    max: Number


class _Limit:
    """Something that several pairs share: a receiver's share, a sender's maximum, a NIC's line rate."""

    def __init__(self, capacity: Number, pairs: Sequence[Pair], weights: Mapping[Pair, Fraction]) -> None:
        self.left = Fraction(capacity)
        self.open = {pair: weights[pair] for pair in pairs}

    def level(self) -> Fraction:
        """How far its open pairs could rise, per weight, until it is full."""
        return self.left / sum(self.open.values())


def pair_rates(nics: Mapping[str, Number], vms: Mapping[str, Vm], pairs: Sequence[Pair]) -> dict[Pair, Fraction]:
    """The rate of each pair that always has something to send, in the unit of `nics` (line rates by name).

    Raises `BadRequest` for an unknown name, a pair given twice and envelopes that `fair_shares` refuses.

    >>> vms = {name: Vm(nic, 4, 12) for name, nic in (("A", "h1"), ("B", "h2"), ("C", "h3"), ("D", "h3"))}
    >>> rates = pair_rates({"h1": 20, "h2": 20, "h3": 20}, vms, [("A", "C"), ("B", "C"), ("B", "D")])
    >>> {"".join(pair): int(rate) for pair, rate in rates.items()}
    {'AC': 5, 'BC': 5, 'BD': 7}
    """
    _check(nics, vms, pairs)
    weights = {pair: Fraction(vms[pair[0]].max) for pair in pairs}
    rates = {pair: Fraction(0) for pair in pairs}
    limits = [limit for limit in _limits(nics, vms, pairs, weights) if limit.open]
    while limits:
        tightest = min(limits, key=_Limit.level)
        level = tightest.level()
        for pair, weight in list(tightest.open.items()):
            rates[pair] = level * weight
            for limit in limits:
                if limit.open.pop(pair, None) is not None:
                    limit.left -= rates[pair]
        limits = [limit for limit in limits if limit.open]
    return rates


def ingress_shares(nics: Mapping[str, Number], vms: Mapping[str, Vm], pairs: Sequence[Pair]) -> dict[str, Fraction]:
    """The fair ingress share of every VM when the receivers of `pairs` are active."""
    receivers = {receiver for _, receiver in pairs}
    shares: dict[str, Fraction] = {}
    for nic, capacity in nics.items():
        here = [name for name, vm in vms.items() if vm.nic == nic]
        requests = [Request(vms[name].min, vms[name].max, name in receivers) for name in here]
        shares.update(zip(here, fair_shares(capacity, requests), strict=True))
    return shares


def _limits(nics: Mapping[str, Number], vms: Mapping[str, Vm], pairs: Sequence[Pair], weights: Mapping[Pair, Fraction]) -> list[_Limit]:
    shares = ingress_shares(nics, vms, pairs)
    sending = [pair for pair in pairs if weights[pair]]  # a sender whose maximum is 0 sends nothing
    limits = [_Limit(shares[name], [pair for pair in sending if pair[1] == name], weights) for name in vms]
    limits += [_Limit(vm.max, [pair for pair in sending if pair[0] == name], weights) for name, vm in vms.items()]
    limits += [_Limit(capacity, [pair for pair in sending if vms[pair[0]].nic == nic], weights) for nic, capacity in nics.items()]
    return limits


def _check(nics: Mapping[str, Number], vms: Mapping[str, Vm], pairs: Sequence[Pair]) -> None:
    for name, vm in vms.items():
        if vm.nic not in nics:
            raise BadRequest(f"VM {name}: unknown NIC {vm.nic}")
    for pair in pairs:
        for name in pair:
            if name not in vms:
                raise BadRequest(f"pair {pair[0]} -> {pair[1]}: unknown VM {name}")
    if len(set(pairs)) < len(pairs):
        raise BadRequest("a pair is given twice")
