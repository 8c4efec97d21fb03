"""What the other ends of an RNIC count: some contradictions show only there. Heard from the messages of all hosts that one process reads.

`Peers` is memory of the process, not state of a host: after a restart it fills within a minute, and whatever rests on it is unknown until
then. The same messages in the same order give the same answers. Times are event times; hosts' clocks may differ by some seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from wallwatch.domain.catalogue.load import variant_of

Key = tuple[str, str]
"""Host and PCI address."""

FRESH_MS = 60_000
"""An older rate is not used: six samples at the usual interval of 10 s."""

MOST_SENDERS = 16
"""Senders that are remembered of each RNIC, those with most packets: 40,000 RNICs then take about 15 MB."""

HANDLED, SENT, REPEATED, READS, LOST = range(5)
"""Places of the counters in `Heard.rates`."""

_COUNTERS: tuple[tuple[str, ...], ...] = (
    ("rp_cnp_handled", "cnpHandled"),
    ("np_cnp_sent", "cnpSent"),
    ("duplicate_request",),
    ("rx_read_requests", "InRdmaReads", "iwInRdmaReads"),
    ("implied_nak_seq_err", "packet_seq_err", "RetransSegs", "tcpRetransSegs"),
)
"""Of several names, the sum of those that a sample has: drivers have names of their own."""

EXPLAINED_BY: Mapping[int, int] = {HANDLED: SENT, REPEATED: LOST}
"""What a peer counts may come from others: notifications from their senders, repeated requests from requesters that count their losses."""


class Heard(NamedTuple):
    """The newest sample of one RNIC."""

    at_ms: int
    totals: tuple[int | None, ...]
    rates: tuple[float | None, ...]
    """Per second since the sample before; None where a counter is missing or was reset."""
    model: str | None


class Peers:
    """RNICs of all hosts that this process hears of."""

    def __init__(self) -> None:
        self._heard: dict[Key, Heard] = {}
        self._owner: dict[str, Key] = {}
        self._addresses: dict[Key, str] = {}
        self._senders: dict[Key, tuple[str, ...]] = {}
        self._moving: dict[int, dict[Key, int]] = {SENT: {}, REPEATED: {}, LOST: {}}
        """RNICs whose counter moved lately, and when: the only ones that can explain what others count, or that say anything."""

    def hear_rnic(self, key: Key, at_ms: int, tags: Mapping[str, str], fields: Mapping[str, Any]) -> None:
        """Take one `rnic` sample."""
        totals = tuple([total_of(fields, names) for names in _COUNTERS])
        before = self._heard.get(key)
        if before is None:
            self._heard[key] = Heard(at_ms, totals, (None,) * len(totals), variant_of(tags.get("pci_id"), tags.get("hca_type")))
            return
        if at_ms <= before.at_ms:
            if before.at_ms - at_ms > FRESH_MS:  # the host's clock was set back
                del self._heard[key]
            return
        if totals == before.totals:
            rates = tuple([None if total is None else 0.0 for total in totals])
        else:
            rates = tuple(map(_rate, before.totals, totals, (at_ms - before.at_ms,) * len(totals)))
            for place, moving in self._moving.items():
                if rates[place]:
                    moving[key] = at_ms
        model = variant_of(tags.get("pci_id"), tags.get("hca_type")) or before.model
        self._heard[key] = Heard(at_ms, totals, rates, model)

    def hear_offload(self, key: Key, fields: Mapping[str, Any]) -> None:
        """Take one `rnic_offload` sample: the RNIC's own tunnel addresses, and those that send to it."""
        own = fields.get("tunnel_addresses")
        if type(own) is str and self._addresses.get(key) != own:
            self._addresses[key] = own
            for address in own.split():
                self._owner[address] = key
        senders = fields.get("tunnel_sources")
        if type(senders) is str:
            self._senders[key] = tuple([one.partition("=")[0] for one in senders.split(None, MOST_SENDERS)[:MOST_SENDERS]])

    def models(self, key: Key) -> list[str] | None:
        """Models of the RNICs that send to this one; None where none is known."""
        found = [heard.model for _, heard in self._of(key) if heard.model is not None]
        return found or None

    def rate(self, key: Key, what: int, at_ms: int) -> float | None:
        """Sum over the RNICs that send to this one, per second, less what others explain; None where none of them is known or fresh."""
        total: float | None = None
        for sender, heard in self._of(key):
            value = heard.rates[what]
            if value is None or abs(at_ms - heard.at_ms) > FRESH_MS:
                continue
            if value and what in EXPLAINED_BY:
                value = max(value - self._explained(sender, key, EXPLAINED_BY[what], at_ms), 0.0)
            total = value if total is None else total + value
        return total

    def repeats(self, key: Key, at_ms: int) -> bool:
        """Whether any RNIC that sends to this one has received requests again lately. Cheap: it is asked for each sample."""
        moving = self._moving[REPEATED]
        if not moving:
            return False
        for address in self._senders.get(key, ()):
            owner = self._owner.get(address)
            if owner is not None and abs(at_ms - moving.get(owner, -FRESH_MS)) < FRESH_MS:
                return True
        return False

    def _of(self, key: Key) -> Iterator[tuple[Key, Heard]]:
        """The RNICs that send to this one, as far as they were heard."""
        for address in self._senders.get(key, ()):
            owner = self._owner.get(address)
            heard = self._heard.get(owner) if owner is not None and owner != key else None
            if owner is not None and heard is not None:
                yield owner, heard

    def _explained(self, sender: Key, receiver: Key, by: int, at_ms: int) -> float:
        """What other RNICs that this sender sends to have counted, per second."""
        total, moving = 0.0, self._moving[by]
        addresses = set(self._addresses.get(sender, "").split())
        for other, moved_ms in list(moving.items()):
            if at_ms - moved_ms > FRESH_MS:
                del moving[other]
            elif other not in (receiver, sender) and not addresses.isdisjoint(self._senders.get(other, ())):
                total += self._heard[other].rates[by] or 0.0 if other in self._heard else 0.0
        return total


def total_of(fields: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """Sum of those counters that a sample has; None where it has none of them.

    >>> total_of({"cnpSent": 7}, ("np_cnp_sent", "cnpSent")), total_of({}, ("np_cnp_sent", "cnpSent"))
    (7, None)
    """
    found: int | None = None
    for name in names:
        value = fields.get(name)
        if type(value) is int:
            found = value if found is None else found + value
    return found


def _rate(before: int | None, now: int | None, elapsed_ms: int) -> float | None:
    return None if before is None or now is None or now < before else (now - before) * 1000.0 / elapsed_ms
