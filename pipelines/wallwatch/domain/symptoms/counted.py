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


@cache
def trouble_counters() -> frozenset[str]:
    """Those that the signal `trouble_per_s` is the sum of."""
    return frozenset(derived_signals()["trouble_per_s"].sum_of)


class Counted(NamedTuple):
    """All of them: whether each is trouble, whether it tells of waiting, and the places of those of fatal errors."""

    names: tuple[str, ...]
    group: Group
    is_trouble: list[bool]
    tells_of_waiting: list[bool]
    fatal: tuple[int, ...]


_kept_counted: list[Counted] = []


def counted() -> Counted:
    """The counters in the order of their places."""
    if not _kept_counted:  # asked for with each sample: half the time of a decorator
        names = tuple(sorted({*WAITS, *trouble_counters(), *(name for name, _ in FATAL_ERRORS), "roce_adp_retrans_to"}))
        trouble, waiting = [name in trouble_counters() for name in names], [name in WAITS for name in names]
        fatal = tuple(names.index(name) for name, _ in FATAL_ERRORS)
        _kept_counted.append(Counted(names, Group(*names), trouble, waiting, fatal))
    return _kept_counted[0]
