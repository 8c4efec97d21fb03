"""What the other ends of an RNIC count: some contradictions show only there. Heard from the messages of all hosts that one process reads.

`Peers` is memory of the process, not state of a host: after a restart it fills within a minute, and whatever rests on it is unknown until
then. The same messages in the same order give the same answers. Times are event times; hosts' clocks may differ by some seconds.

What a peer counts names nobody, so it is laid to an RNIC by elimination only: its known partners do not explain it, all of them are heard,
and the fleet as a whole counts more of the effect than of its cause (`fleet_totals`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from librt.vecs import append, vec
from mypy_extensions import i64

from wallwatch.domain.catalogue.load import variant_of
from wallwatch.domain.symptoms.fleet_totals import FleetTotals, Growth, Unexplained
from wallwatch.domain.symptoms.watched_counters import MOST
from wallwatch.domain.telemetry.rows import Group, several
from wallwatch.domain.telemetry.shared_text import shared_text

Key = tuple[str, str]
"""Host and PCI address."""

FRESH_MS = 60_000
"""An older rate is not used: six samples at the usual interval of 10 s."""

MOST_SENDERS = 16
"""Senders that are remembered of each RNIC, those with most packets: 40,000 RNICs then take about 15 MB."""

MOST_ADDRESSES = 8
"""Tunnel addresses of one RNIC, as many as its collector names: a host that names more would own addresses without end."""

SUMMED_MS = 5_000
"""What the receivers of one sender counted is summed at most this often: half of the usual interval between two samples."""

TOTALS_MS = 1_000
"""The fleet's totals are compared at most this often: they have steps of a second."""

SILENT_MS = 3_600_000
"""An RNIC that counted something when it was last heard may go on unheard for this long: its collector may have stopped, not its traffic.
Chosen: after an hour it has been shut down or repaired."""

STEADY = 3
"""Intervals over which a rate is compared with itself: what it varies by is in doubt."""

HANDLED, SENT, REPEATED, READS, READS_LOST = range(5)
"""Counters, by their places in `_COUNTERS`."""

_COUNTERS: tuple[tuple[str, ...], ...] = (
    ("rp_cnp_handled", "cnpHandled"),
    ("np_cnp_sent", "cnpSent"),
    ("duplicate_request",),
    ("rx_read_requests", "InRdmaReads", "iwInRdmaReads"),
    ("implied_nak_seq_err", "RetransSegs", "tcpRetransSegs"),
)
"""Of several names, the sum of those that a sample has: drivers have names of their own."""

_READS_SENT: Mapping[str, str] = {"RetransSegs": "OutRdmaReads", "tcpRetransSegs": "iwOutRdmaReads"}
"""What is sent again may be requests of reads only where reads are sent: the counter that says so."""

EXPLAINED_BY: Mapping[int, int] = {HANDLED: SENT, REPEATED: READS_LOST}
"""What a peer counts comes from somebody: notifications from a receiver, repeated requests from a requester that lost responses. Writes
that are sent again were not received before."""

_BALANCED = tuple(dict.fromkeys((*EXPLAINED_BY, *EXPLAINED_BY.values())))
"""Counters of which the whole fleet's increase is known."""

_NAMES = tuple(dict.fromkeys((*(name for names in _COUNTERS for name in names), *_READS_SENT.values())))
_GROUP = Group(*_NAMES)
_PLACES = tuple(tuple(_NAMES.index(name) for name in names) for names in _COUNTERS)
"""Of each of the counters, the places of its names among all of them."""
_TUNNELS = Group("tunnel_addresses", "tunnel_sources")
_ONLY_WITH = {_NAMES.index(name): _NAMES.index(reads) for name, reads in _READS_SENT.items()}
_UNKNOWN = -1
"""In the place of a counter that a sample does not have: none is below zero."""


def _totals_of(fields: Mapping[str, Any]) -> vec[i64]:
    """The counters of a sample by their places."""
    found = vec[i64](capacity=len(_NAMES))
    for value in several(fields, _GROUP):
        found = append(found, value if type(value) is int and 0 <= value < MOST else _UNKNOWN)
    return found


_REPEATED_COLUMN = _BALANCED.index(REPEATED)
"""Of the growths of balanced counters."""
_BALANCED_PLACES = tuple(dict.fromkeys(place for what in _BALANCED for place in _PLACES[what]))


class Heard:
    """The two newest samples of one RNIC; rates are computed when somebody asks, which is rare."""

    __slots__ = ("at_ms", "before", "before_ms", "model", "totals")

    def __init__(self, at_ms: int, totals: vec[i64], before_ms: int, before: vec[i64], model: str | None) -> None:
        self.at_ms = at_ms
        self.totals = totals
        self.before_ms = before_ms
        self.before = before
        self.model = model

    def increase(self, what: int) -> int | None:
        """By how much a counter grew; below 0 where it was reset, None where it is missing."""
        total: int | None = None
        for place in _PLACES[what]:
            now, last = self.totals[place], self.before[place]
            if now != _UNKNOWN and last != _UNKNOWN:
                if now < last:
                    return -1
                if place in _ONLY_WITH and self.totals[_ONLY_WITH[place]] == self.before[_ONLY_WITH[place]]:
                    now = last  # no reads were sent, or nobody counts them
                growth: int = now - last  # without a limit, unlike a sum of machine numbers
                total = (total or 0) + growth
        return total

    def rate(self, what: int) -> float | None:
        """Increase of a counter per second; None where it is missing or was reset."""
        elapsed_ms = self.at_ms - self.before_ms
        increase = self.increase(what) if elapsed_ms > 0 else None
        return increase * 1000.0 / elapsed_ms if increase is not None and increase >= 0 else None

    def has_others(self, places: tuple[int, ...]) -> bool:
        """Whether a counter at one of these places was not there in the sample before, or is not there any more."""
        for place in places:  # noqa: SIM110  # compiled, a generator takes longer
            if (self.totals[place] == _UNKNOWN) != (self.before[place] == _UNKNOWN):
                return True
        return False

    def has(self, what: int) -> bool:
        """Whether the newest sample has the counter."""
        return any([self.totals[place] != _UNKNOWN for place in _PLACES[what]])  # noqa: C419  # compiled, a generator takes longer


class Interval:
    """What one RNIC counted between two samples: increase of each balanced counter per ms."""

    __slots__ = ("from_ms", "rates", "to_ms")

    def __init__(self, from_ms: int, to_ms: int, rates: vec[float]) -> None:
        self.from_ms = from_ms
        self.to_ms = to_ms
        self.rates = rates


def _moves(rates: vec[float]) -> bool:
    return any([rate != 0.0 for rate in rates])  # noqa: C419  # compiled, a generator takes longer


def _differ(now: vec[i64], before: vec[i64]) -> bool:
    """Whether a balanced counter has another value."""
    for place in _BALANCED_PLACES:  # noqa: SIM110  # compiled, a generator takes longer
        if now[place] != before[place]:
            return True
    return False


def _change(lately: Sequence[Interval], column: int) -> float:
    """By how much the growth of a counter in the newest interval has varied."""
    newest = lately[-1]
    least = most = newest.rates[column]
    for one in lately:
        rate = one.rates[column]
        if rate < least:
            least = rate
        elif rate > most:
            most = rate
    return (most - least) * (newest.to_ms - newest.from_ms)


def _growths(lately: Sequence[Interval]) -> list[Growth]:
    """What each counter grew by in the newest interval, and by how much that has varied; without those that stood still all the time."""
    newest = lately[-1]
    elapsed_ms = newest.to_ms - newest.from_ms
    found: list[Growth] = []
    for column in range(len(newest.rates)):
        amount, change = newest.rates[column] * elapsed_ms, _change(lately, column)
        if amount or change:
            found.append(Growth(column, amount, change))
    return found


def _doubted_later(before: Sequence[Interval], now: Interval) -> list[Growth]:
    """What was not doubted of an interval until the next one: counting that ends soon after it had grown leaves its mean as it was."""
    found: list[Growth] = []
    last = before[-1]
    elapsed_ms = last.to_ms - last.from_ms
    for column in range(len(now.rates)):
        amount = last.rates[column] * elapsed_ms
        difference = min(abs(now.rates[column] - last.rates[column]) * elapsed_ms, amount)
        if difference:
            change = _change(before, column)
            if difference > change:
                found.append(Growth(column, 0.0, difference - change))
    return found


class Peers:
    """RNICs of all hosts that this process hears of."""

    def __init__(self) -> None:
        self._heard: dict[Key, Heard] = {}
        self._owner: dict[str, Key] = {}
        self._also: dict[str, list[Key]] = {}
        """Address -> RNICs that still name it although another one has named it since, as both do while an address moves."""
        self._addresses: dict[Key, str] = {}
        self._senders: dict[Key, tuple[str, ...]] = {}
        self._keys: dict[Key, Key] = {}
        """The one object of each key that stays: each sample makes one of its own, and an RNIC is named by all that send to it."""
        self._receivers: dict[str, set[Key]] = {}
        """Address -> the RNICs to which its owner sends."""
        self._fleet = FleetTotals(len(_BALANCED))
        self._moving: dict[Key, list[Interval]] = {}
        """RNICs of which a balanced counter grew lately -> their newest `STEADY` intervals."""
        self._repeating: set[Key] = set()
        """RNICs that counted repeated requests between their two newest samples."""
        self._until: tuple[int, int | None] | None = None
        self.all_heard = True
        """False while other processes hear a part of the fleet, or this one is still reading old messages, which come out of order."""
        self._counted: dict[tuple[Key, int], tuple[int, float]] = {}
        """Sender and counter -> when what its receivers counted was summed, and the sum."""

    def hear_rnic(self, key: Key, at_ms: int, tags: Mapping[str, str], fields: Mapping[str, Any]) -> None:
        """Take one `rnic` sample. Cheap: it is done for each."""
        totals = _totals_of(fields)
        last = self._heard.get(key)
        if last is None or at_ms < last.at_ms - FRESH_MS or at_ms > last.at_ms + FRESH_MS:  # new, away, or the host's clock was set back
            model = variant_of(tags.get("pci_id"), tags.get("hca_type")) or (last.model if last is not None else None)
            self._heard[key] = Heard(at_ms, totals, at_ms, totals, model)
            self._moving.pop(key, None)
            self._repeating.discard(key)
            if any([value != _UNKNOWN for value in totals]):  # noqa: C419  # compiled, a generator takes longer
                self._fleet.unknown_until(at_ms)
        elif at_ms > last.at_ms:
            model = last.model or variant_of(tags.get("pci_id"), tags.get("hca_type"))
            heard = self._heard[key] = Heard(at_ms, totals, last.at_ms, last.totals, model)
            if _differ(totals, last.totals) or key in self._moving:
                self._add(key, heard)

    def _add(self, key: Key, heard: Heard) -> None:
        """Add what one RNIC counted since its sample before to the fleet's totals."""
        elapsed_ms = heard.at_ms - heard.before_ms
        rates = vec[float](capacity=len(_BALANCED))
        was_reset = False
        for what in _BALANCED:
            increase = heard.increase(what)
            if increase is not None and increase > 0:
                rates = append(rates, increase / elapsed_ms)
            else:
                rates = append(rates, 0.0)
                was_reset = was_reset or (increase is not None and increase < 0)
        if was_reset or heard.has_others(_BALANCED_PLACES):
            self._fleet.unknown_until(heard.at_ms)
        if rates[_REPEATED_COLUMN] > 0.0:
            self._repeating.add(key)
        else:
            self._repeating.discard(key)
        before = self._moving.get(key)
        if before is None:
            before = [Interval(heard.before_ms, heard.before_ms, vec[float]([0.0] * len(_BALANCED)))]
        now = Interval(heard.before_ms, heard.at_ms, rates)
        lately = [*before[1 - STEADY :], now]
        if _moves(rates) or _moves(before[-1].rates) or (len(lately) == STEADY and _moves(lately[0].rates)):
            self._moving[key] = lately
        else:
            self._moving.pop(key, None)
        self._fleet.add(now.from_ms, now.to_ms, _growths(lately))
        self._fleet.add(before[-1].from_ms, before[-1].to_ms, _doubted_later(before, now))

    def hear_offload(self, key: Key, fields: Mapping[str, Any]) -> None:
        """Take one `rnic_offload` sample: the RNIC's own tunnel addresses, and those that send to it."""
        own, senders = several(fields, _TUNNELS)
        if type(own) is str and self._addresses.get(key) != own:
            self._take_addresses(key, own.split(None, MOST_ADDRESSES)[:MOST_ADDRESSES])
        if type(senders) is str:
            # Each address is that of one RNIC and sends to many: its text is kept once.
            now = tuple([shared_text(one.partition("=")[0]) for one in senders.split(None, MOST_SENDERS)[:MOST_SENDERS]])
            before = self._senders.get(key, ())
            if now != before:
                key = self._keys.setdefault(key, key)
                self._senders[key] = now
                those, these = set(before), set(now)
                if those == these:
                    return  # in another order: those with most packets come first
                for address in those - these:
                    receivers = self._receivers[address]
                    receivers.discard(key)
                    if not receivers:
                        del self._receivers[address]  # otherwise a host that names others each time fills the memory
                for address in these - those:
                    self._receivers.setdefault(address, set()).add(key)

    def _take_addresses(self, key: Key, now: list[str]) -> None:
        """Note an RNIC's own addresses. Of several RNICs that name one, the owner is the one that began to do so last."""
        before = self._addresses.get(key, "").split()
        self._addresses[key] = " ".join(now)
        for address in set(before).difference(now):
            others = self._also.pop(address, [])
            if self._owner[address] != key:
                others.remove(key)
            elif others:
                self._owner[address] = others.pop()
            else:
                del self._owner[address]
            if others:
                self._also[address] = others
        for address in set(now).difference(before):
            owner = self._owner.get(address)
            if owner is not None:
                self._also.setdefault(address, []).append(owner)
            self._owner[address] = key

    def models(self, key: Key) -> list[str] | None:
        """Models of the RNICs that send to this one; None where none is known."""
        found = [heard.model for _, heard in self._of(key) if heard.model is not None]
        return found or None

    def may_repeat(self) -> bool:
        """Whether any RNIC counted repeated requests when it was last heard: of most fleets none does, most of the time."""
        return bool(self._repeating)

    def rate(self, key: Key, what: int, at_ms: int) -> float | None:
        """Sum over the RNICs that send to this one, per second, less what their other known partners explain; None where none of them is
        known or fresh, or all have partners that nobody hears.
        """
        total: float | None = None
        for sender, heard in self._of(key):
            value = heard.rate(what) if abs(at_ms - heard.at_ms) <= FRESH_MS else None
            if value is None:
                continue
            if value and what in EXPLAINED_BY:
                if not self._hears_partners(sender, key, EXPLAINED_BY[what]):
                    continue
                value = max(value - self._explained(sender, key, EXPLAINED_BY[what], at_ms), 0.0)
            total = value if total is None else total + value
        return total

    def unexplained(self, what: int, at_ms: int) -> Unexplained | None:
        """How much the whole fleet certainly counted of something within the last minute without counting its cause.

        None while it is unknown: a part of the fleet is not heard.
        """
        until_ms = self._heard_until(at_ms) if self.all_heard else None
        if until_ms is None:
            return None
        return self._fleet.unexplained(_BALANCED.index(what), _BALANCED.index(EXPLAINED_BY[what]), until_ms)

    def _heard_until(self, at_ms: int) -> int | None:
        """Up to when the counters of all RNICs are known; None where one that was counting has become silent."""
        if self._until is None or abs(at_ms - self._until[0]) > TOTALS_MS:
            silent = any(FRESH_MS < at_ms - self._heard[key].at_ms <= SILENT_MS for key in self._moving)
            newest = min((heard.at_ms for heard in self._heard.values() if at_ms - heard.at_ms <= FRESH_MS), default=None)
            self._until = (at_ms, None if silent else newest)
        return self._until[1]

    def _hears_partners(self, sender: Key, receiver: Key, by: int) -> bool:
        """Whether everybody who is known to exchange packets with a sender is heard, and counts."""
        owners = (self._owner.get(address) for address in self._senders.get(sender, ()))
        others = {*owners, *self._receivers_of(sender)} - {sender, receiver}
        return all(other is not None and other in self._heard and self._heard[other].has(by) for other in others)

    def _receivers_of(self, sender: Key) -> set[Key]:
        found: set[Key] = set()
        for address in self._addresses.get(sender, "").split():
            found |= self._receivers.get(address, set())
        return found

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
            total = sum(self._fresh(one, by, at_ms) for one in self._receivers_of(sender) if one != sender)
            kept = self._counted[sender, by] = (at_ms, total)
        return max(kept[1] - self._fresh(receiver, by, at_ms), 0.0)

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
        if type(value) is int and 0 <= value < MOST:
            found = value if found is None else found + value
    return found
