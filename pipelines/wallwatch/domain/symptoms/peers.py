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

SUMMED_MS = 5_000
"""What the receivers of one sender counted is summed at most this often: half of the usual interval between two samples."""

HANDLED, SENT, REPEATED, READS, LOST, READS_LOST = range(6)
"""Counters, by their places in `_COUNTERS`."""

_COUNTERS: tuple[tuple[str, ...], ...] = (
    ("rp_cnp_handled", "cnpHandled"),
    ("np_cnp_sent", "cnpSent"),
    ("duplicate_request",),
    ("rx_read_requests", "InRdmaReads", "iwInRdmaReads"),
    ("implied_nak_seq_err", "packet_seq_err", "RetransSegs", "tcpRetransSegs"),
    ("implied_nak_seq_err", "RetransSegs", "tcpRetransSegs"),
)
"""Of several names, the sum of those that a sample has: drivers have names of their own."""

EXPLAINED_BY: Mapping[int, int] = {HANDLED: SENT, REPEATED: LOST}
"""What a peer counts may come from others: notifications from their senders, repeated requests from requesters that count their losses."""


_NAMES = tuple(dict.fromkeys(name for names in _COUNTERS for name in names))
_PLACES = tuple(tuple(_NAMES.index(name) for name in names) for names in _COUNTERS)
"""Of each of the counters, the places of its names among all of them."""


class Heard(NamedTuple):
    """The two newest samples of one RNIC; rates are computed when somebody asks, which is rare."""

    at_ms: int
    totals: tuple[Any, ...]
    before_ms: int
    before: tuple[Any, ...]
    model: str | None

    def rate(self, what: int) -> float | None:
        """Increase of a counter per second; None where it is missing or was reset."""
        elapsed_ms = self.at_ms - self.before_ms
        if elapsed_ms <= 0:
            return None
        total: float | None = None
        for place in _PLACES[what]:
            now, last = self.totals[place], self.before[place]
            if type(now) is int and type(last) is int:
                if now < last:
                    return None
                total = (total or 0.0) + (now - last) * 1000.0 / elapsed_ms
        return total


class Peers:
    """RNICs of all hosts that this process hears of."""

    def __init__(self) -> None:
        self._heard: dict[Key, Heard] = {}
        self._owner: dict[str, Key] = {}
        self._addresses: dict[Key, str] = {}
        self._senders: dict[Key, tuple[str, ...]] = {}
        self._receivers: dict[str, set[Key]] = {}
        """Address -> the RNICs to which its owner sends."""
        self._losing: dict[Key, int] = {}
        """RNICs that counted lost read responses -> when the last time."""
        self._unplaced: tuple[int, float] | None = None
        self._counted: dict[tuple[Key, int], tuple[int, float]] = {}
        """Sender and counter -> when what its receivers counted was summed, and the sum."""

    def hear_rnic(self, key: Key, at_ms: int, tags: Mapping[str, str], fields: Mapping[str, Any]) -> None:
        """Take one `rnic` sample. Cheap: it is done for each."""
        totals = tuple(map(fields.get, _NAMES))
        last = self._heard.get(key)
        if last is None or at_ms < last.at_ms - FRESH_MS:  # new, or the host's clock was set back
            self._heard[key] = Heard(at_ms, totals, at_ms, totals, variant_of(tags.get("pci_id"), tags.get("hca_type")))
        elif at_ms > last.at_ms:
            model = last.model or variant_of(tags.get("pci_id"), tags.get("hca_type"))
            self._heard[key] = Heard(at_ms, totals, last.at_ms, last.totals, model)
            if any(totals[place] != last.totals[place] for place in _PLACES[READS_LOST]):
                self._losing[key] = at_ms

    def hear_offload(self, key: Key, fields: Mapping[str, Any]) -> None:
        """Take one `rnic_offload` sample: the RNIC's own tunnel addresses, and those that send to it."""
        own = fields.get("tunnel_addresses")
        if type(own) is str and self._addresses.get(key) != own:
            self._addresses[key] = own
            for address in own.split():
                self._owner[address] = key
        senders = fields.get("tunnel_sources")
        if type(senders) is str:
            now = tuple([one.partition("=")[0] for one in senders.split(None, MOST_SENDERS)[:MOST_SENDERS]])
            before = self._senders.get(key, ())
            self._senders[key] = now
            for address in before:
                if address not in now:
                    self._receivers[address].discard(key)
            for address in now:
                if address not in before:
                    self._receivers.setdefault(address, set()).add(key)

    def models(self, key: Key) -> list[str] | None:
        """Models of the RNICs that send to this one; None where none is known."""
        found = [heard.model for _, heard in self._of(key) if heard.model is not None]
        return found or None

    def rate(self, key: Key, what: int, at_ms: int) -> float | None:
        """Sum over the RNICs that send to this one, per second, less what others explain; None where none of them is known or fresh."""
        total: float | None = None
        for sender, heard in self._of(key):
            value = heard.rate(what) if abs(at_ms - heard.at_ms) <= FRESH_MS else None
            if value is None:
                continue
            if value and what in EXPLAINED_BY:
                value -= self._explained(sender, key, EXPLAINED_BY[what], at_ms)
                if what == REPEATED and value > 0.0:
                    value -= self._unplaced_losses(at_ms)
                value = max(value, 0.0)
            total = value if total is None else total + value
        return total

    def _of(self, key: Key) -> Iterator[tuple[Key, Heard]]:
        """The RNICs that send to this one, as far as they were heard."""
        for address in self._senders.get(key, ()):
            owner = self._owner.get(address)
            heard = self._heard.get(owner) if owner is not None and owner != key else None
            if owner is not None and heard is not None:
                yield owner, heard

    def _explained(self, sender: Key, receiver: Key, by: int, at_ms: int) -> float:
        """What other RNICs that this sender sends to have counted, per second."""
        kept = self._counted.get((sender, by))
        if kept is None or abs(at_ms - kept[0]) > SUMMED_MS:
            receivers: set[Key] = set()
            for address in self._addresses.get(sender, "").split():
                receivers |= self._receivers.get(address, set())
            total = sum(self._fresh(one, by, at_ms) for one in receivers if one != sender)
            kept = self._counted[sender, by] = (at_ms, total)
        return max(kept[1] - self._fresh(receiver, by, at_ms), 0.0)

    def _unplaced_losses(self, at_ms: int) -> float:
        """Lost read responses per second of all RNICs, less what the RNICs known to send to each were asked for again.

        Traffic beside the offloaded flows names no sender: such a loss may be what any peer was asked for again.
        """
        if self._unplaced is None or abs(at_ms - self._unplaced[0]) > SUMMED_MS:
            self._losing = {key: last for key, last in self._losing.items() if abs(at_ms - last) <= FRESH_MS}
            total = 0.0
            for key in self._losing:
                asked = sum(self._fresh(sender, REPEATED, at_ms) for sender, _ in self._of(key))
                total += max(self._fresh(key, READS_LOST, at_ms) - asked, 0.0)
            self._unplaced = (at_ms, total)
        return self._unplaced[1]

    def _fresh(self, key: Key, what: int, at_ms: int) -> float:
        heard = self._heard.get(key)
        return heard.rate(what) or 0.0 if heard is not None and abs(at_ms - heard.at_ms) <= FRESH_MS else 0.0


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
