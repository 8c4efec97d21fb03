"""Counters of `rnic` whose increase is required of every sample: those of trouble, of waiting senders, of fatal errors."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from wallwatch.domain.catalogue.load import derived_signals
from wallwatch.domain.telemetry.rows import Group

WAITS = frozenset(
    {"port_xmit_wait", "np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled", "cnpSent", "cnpHandled", "RxECNMrkd",
     "rx_discards_phy"}
)  # fmt: skip
"""Counters that move when a port cannot send or receive all its traffic: its senders wait, or are slowed down."""

FATAL_ERRORS = (("aer_fatal", "aer_fatal_errors"), ("health_fw_fatal_errors", "firmware_fatal_errors"))
"""Counters of fatal errors, and the signals that are their increase."""


MOST = 2**63
"""A counter of this size or more is as good as missing: the kernel's have 64 bits, and none gets there."""


def is_counter(value: object) -> bool:
    """Whether this is a counter's value.

    >>> [is_counter(value) for value in (0, 2**63 - 1, 2**63, -1, 7.0, True, None)]
    [True, True, False, False, False, False, False]
    """
    return type(value) is int and 0 <= value < MOST


@cache
def trouble_counters() -> frozenset[str]:
    """Those that the signal `trouble_per_s` is the sum of."""
    return frozenset(derived_signals()["trouble_per_s"].sum_of)


class WatchedCounters(NamedTuple):
    """All of them: whether each is trouble, whether it tells of waiting, and the places of those of fatal errors."""

    names: tuple[str, ...]
    group: Group
    is_trouble: list[bool]
    tells_of_waiting: list[bool]
    fatal: tuple[int, ...]


_kept_counters: list[WatchedCounters] = []


def watched_counters() -> WatchedCounters:
    """The counters in the order of their places."""
    if not _kept_counters:  # asked for with each sample: half the time of a decorator
        names = tuple(sorted({*WAITS, *trouble_counters(), *(name for name, _ in FATAL_ERRORS), "roce_adp_retrans_to"}))
        trouble, waiting = [name in trouble_counters() for name in names], [name in WAITS for name in names]
        fatal = tuple(names.index(name) for name, _ in FATAL_ERRORS)
        _kept_counters.append(WatchedCounters(names, Group(*names), trouble, waiting, fatal))
    return _kept_counters[0]
