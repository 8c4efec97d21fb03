"""Which VF would get which promise under given classes and rules, and which RNIC could not keep them all. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wallwatch.domain.isolation.assignment import CNI_KEYS, Assigned, Book, Condition, Facts, Rule, assigned, slo_of
from wallwatch.domain.isolation.readings import MBPS
from wallwatch_backend.isolation.slo.schemas import RefusedRnic, SloRule, SloValues
from wallwatch_backend.isolation.vfs.schemas import Promise


@dataclass(frozen=True, slots=True)
class KnownVf:
    """A VF in the newest state of its RNIC."""

    host: str
    pci: str
    rack: str
    model: str
    port_mbps: float | None
    vf: int
    pod: str
    slo: Mapping[str, Any] | None
    """The promise that it has."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A VF with the promise that it would get."""

    known: KnownVf
    found: Assigned | None

    @property
    def promise(self) -> Promise | None:
        if self.found is None:
            return None
        slo = self.found.slo
        return Promise(
            name=self.found.name,
            min_mbps=slo.min_bps / MBPS,
            max_mbps=slo.max_bps / MBPS,
            p50_us=slo.p50_us,
            p99_us=slo.p99_us,
            loss=slo.loss,
            source=self.found.source,
            rule=self.found.rule,
        )

    @property
    def changed(self) -> bool:
        """Whether the promise differs from the one that it has, wherever it comes from."""
        before = self.known.slo
        if self.found is None or before is None:
            return (self.found is None) != (before is None)
        slo = self.found.slo
        after = (self.found.name, slo.min_bps / MBPS, slo.max_bps / MBPS, slo.p50_us, slo.p99_us, slo.loss)
        return after != tuple(before.get(name) for name in ("name", *CNI_KEYS))


def book_of(classes: Mapping[str, SloValues], rules: Sequence[SloRule]) -> Book:
    """Classes and rules as the domain has them."""
    return Book(
        {name: slo_of(v.min_mbps, v.max_mbps, v.p50_us, v.p99_us, v.loss) for name, v in classes.items()},
        tuple(Rule(tuple(Condition(m.name, m.op, m.value) for m in rule.matchers), rule.slo_class) for rule in rules),
    )


_MATCHED_ON: Mapping[str, Callable[[KnownVf], object]] = {
    "host": lambda known: known.host,
    "pci": lambda known: known.pci,
    "vf": lambda known: known.vf,
    "rack": lambda known: known.rack,
    "model": lambda known: known.model,
    "pod": lambda known: known.pod,
    "namespace": lambda known: known.pod.partition("/")[0] if "/" in known.pod else "",
}
_MOST_REMEMBERED = 100_000


class Assigner:
    """The promise of each VF under one book. A VF with an SLO of its CNI configuration keeps that.

    VFs that agree in all that the rules look at have the same promise, which is looked up once: 320,000 VFs are of some hundred tenants.
    """

    def __init__(self, book: Book) -> None:
        self._book = book
        self._values = [_MATCHED_ON[name] for name in sorted({condition.name for rule in book.rules for condition in rule.conditions})]
        self._remembered: dict[tuple[object, ...], Assigned | None] = {}

    def of(self, known: KnownVf) -> Assigned | None:
        own = known.slo if known.slo is not None and known.slo.get("source") == "cni" else None
        if own is not None and own.get("name") is None:
            return Assigned(slo_of(*(own[key] for key in CNI_KEYS)), None, "cni", None)
        by_name = str(own["name"]) if own is not None else ""
        key = (by_name, *(value(known) for value in self._values))
        if key not in self._remembered:
            if len(self._remembered) >= _MOST_REMEMBERED:  # rules that look at the pod or host
                self._remembered.clear()
            facts = Facts(known.host, known.pci, known.vf, known.rack, known.model, known.pod, by_name)
            self._remembered[key] = assigned(facts, self._book)[0]
        return self._remembered[key]


class Comparison:
    """What a change of classes or rules does to the VFs, which come in batches of whole RNICs; keeps one page of them.

    Parameters
    ----------
    page_end
        How many VFs to keep, those with another promise first, the others in the order in which they come.
    """

    def __init__(self, before: Book, after: Book, page_end: int) -> None:
        self._before, self._after, self._page_end = Assigner(before), Assigner(after), page_end
        self._changed: list[Outcome] = []
        self._unchanged: list[Outcome] = []
        self.total = self.matched = self.changed = 0
        """VFs; those that would have a promise; those whose promise would change."""
        self.refused: list[RefusedRnic] = []
        """RNICs whose minima would exceed their port."""

    def add(self, vfs: Sequence[KnownVf]) -> None:
        """Count a batch."""
        found = [Outcome(known, self._after.of(known)) for known in vfs]
        self.refused += refused(found, (Outcome(known, self._before.of(known)) for known in vfs))
        self.total += len(found)
        for one in found:
            self.matched += one.found is not None
            changed = one.changed
            self.changed += changed
            kept = self._changed if changed else self._unchanged
            if len(kept) < self._page_end:
                kept.append(one)

    def page(self, offset: int) -> list[Outcome]:
        return [*self._changed, *self._unchanged][offset : self._page_end]


def refused(after: Iterable[Outcome], before: Iterable[Outcome]) -> list[RefusedRnic]:
    """RNICs whose minima would exceed their port (PicNIC, section 4), and by more than they do already.

    A port that fell to a lower speed may be exceeded already: that refuses no change elsewhere, and none that lowers its minima.
    A port of unknown speed refuses nothing.
    """
    sums_before = _sums_of_minima(before)
    return [
        RefusedRnic(host=host, pci=pci, sum_min_mbps=total, port_mbps=port_mbps)
        for (host, pci, port_mbps), total in _sums_of_minima(after).items()
        if total > port_mbps and total > sums_before.get((host, pci, port_mbps), 0.0)
    ]


def _sums_of_minima(found: Iterable[Outcome]) -> dict[tuple[str, str, float], float]:
    """(host, PCI address, speed of the port) -> sum of the promised minima, Mbit/s; only ports of known speed."""
    sums: dict[tuple[str, str, float], float] = {}
    for one in found:
        if one.found is not None and one.known.port_mbps is not None:
            key = (one.known.host, one.known.pci, one.known.port_mbps)
            sums[key] = sums.get(key, 0.0) + one.found.slo.min_bps / MBPS
    return sums
