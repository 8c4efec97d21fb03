"""Minutes of an RNIC's VFs: how many seconds each promise was kept, broken or unknown, and mean rates. Pure; event time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from wallwatch.domain.isolation.readings import MBPS
from wallwatch.domain.isolation.verdicts import State, Verdict, VfVerdict

MINUTE_S = 60.0
_KEPT, _BROKEN, _UNKNOWN, _NOT_PROMISED = State.KEPT, State.BROKEN, State.UNKNOWN, State.NOT_PROMISED


class Who(NamedTuple):
    """Whose minute it is; empty where unknown."""

    vf: int
    generation: str = ""
    pod: str = ""
    tenant: str = ""
    slo: str = ""


class _Sums:
    """Sums of one VF; seconds weigh the means."""

    __slots__ = (
        "aggressor", "broken", "dropped", "engine", "fair", "kept", "not_promised", "p50", "p99", "rated", "rx", "rx_max", "rx_packets",
        "share", "tx", "tx_max", "tx_packets", "unknown", "who",
    )  # fmt: skip

    def __init__(self, who: Who) -> None:
        self.who = who
        self.kept = self.broken = self.unknown = self.not_promised = self.aggressor = 0.0
        self.rated = self.tx = self.rx = self.tx_max = self.rx_max = self.tx_packets = self.rx_packets = 0.0
        self.engine = self.share = self.fair = 0.0
        self.dropped: float | None = None
        self.p50: float | None = None
        self.p99: float | None = None

    def add(self, found: VfVerdict, seconds: float) -> None:
        """Count an interval. Runs for each VF and message, so it is written without helpers."""
        state = found.state
        if state is _KEPT:
            self.kept += seconds
        elif state is _NOT_PROMISED:
            self.not_promised += seconds
        elif state is _BROKEN:
            self.broken += seconds
        else:
            self.unknown += seconds
        rx, tx = found.rx_bps, found.tx_bps
        if rx is not None and tx is not None:
            self.rated += seconds
            self.tx += tx * seconds
            self.rx += rx * seconds
            self.tx_packets += (found.tx_pps or 0.0) * seconds
            self.rx_packets += (found.rx_pps or 0.0) * seconds
            if tx > self.tx_max:
                self.tx_max = tx
            if rx > self.rx_max:
                self.rx_max = rx
        share = found.share
        if share is not None:
            self.engine += seconds
            self.share += share * seconds
            self.fair += (found.fair_share or 0.0) * seconds
        dropped = found.dropped_per_s
        if dropped is not None:
            self.dropped = dropped * seconds if self.dropped is None else self.dropped + dropped * seconds
        delay = found.delay_p50_us
        if delay is not None and (self.p50 is None or delay > self.p50):
            self.p50 = delay
        delay = found.delay_p99_us
        if delay is not None and (self.p99 is None or delay > self.p99):
            self.p99 = delay

    def state(self) -> str:
        """The worst state of the minute."""
        if self.broken > 0.0:
            return _BROKEN.value
        if self.unknown > 0.0:
            return _UNKNOWN.value
        return _KEPT.value if self.kept > 0.0 else _NOT_PROMISED.value

    def as_json(self) -> dict[str, Any]:
        """The VF as the message has it: whole kbit/s and packets, because more digits are noise."""
        who, rated, engine = self.who, self.rated or None, self.engine or None
        return {
            "vf": who.vf,
            "generation": who.generation,
            "pod": who.pod,
            "tenant": who.tenant,
            "slo": who.slo,
            "kept_s": round(self.kept, 3),
            "broken_s": round(self.broken, 3),
            "unknown_s": round(self.unknown, 3),
            "not_promised_s": round(self.not_promised, 3),
            "aggressor_s": round(self.aggressor, 3),
            "tx_mbps": rated and round(self.tx / rated / MBPS, 3),
            "rx_mbps": rated and round(self.rx / rated / MBPS, 3),
            "tx_mbps_max": rated and round(self.tx_max / MBPS, 3),
            "rx_mbps_max": rated and round(self.rx_max / MBPS, 3),
            "tx_kpps": rated and round(self.tx_packets / rated / 1e3, 3),
            "rx_kpps": rated and round(self.rx_packets / rated / 1e3, 3),
            "delay_p50_us": self.p50,
            "delay_p99_us": self.p99,
            "dropped": None if self.dropped is None else round(self.dropped),
            "share": engine and round(self.share / engine, 5),
            "fair_share": engine and round(self.fair / engine, 5),
            "state": self.state(),
        }


Finished = tuple[float, list[dict[str, Any]]]
"""Begin of a finished minute, seconds since 1970, and its VFs, as the message has them."""


class Minutes:
    """The minute of an RNIC that is being filled; `add` and `add_unknown` return the minutes that they finish."""

    def __init__(self) -> None:
        self._minute: int | None = None
        self._vfs: dict[str, _Sums] = {}
        self._before: list[_Sums] = []
        """VFs that were bound again within the minute, as they were before."""

    def add(self, verdict: Verdict, begin: float, end: float, who: Mapping[str, Who]) -> list[Finished]:
        """Count the verdict for the time from `begin` to `end`, seconds since 1970, whatever minutes that touches."""
        finished: list[Finished] = []
        for seconds in self._split(begin, end, finished):
            vfs = self._vfs
            for name, known in who.items():  # a VF that is gone stays in verdicts, and is nobody's any more
                found = verdict.vfs.get(name)
                if found is None:
                    continue
                sums = vfs.get(name)
                if sums is None or sums.who is not known:
                    sums = self._sums(name, known)
                sums.add(found, seconds)
            for name in verdict.aggressors:
                if name in vfs:
                    vfs[name].aggressor += seconds
        self._finish(end, finished)
        return finished

    def add_unknown(self, begin: float, end: float, who: Mapping[str, Who]) -> list[Finished]:
        """Count a time without evidence."""
        finished: list[Finished] = []
        for seconds in self._split(begin, end, finished):
            for name, known in who.items():
                self._sums(name, known).unknown += seconds
        self._finish(end, finished)
        return finished

    def _split(self, begin: float, end: float, finished: list[Finished]) -> Iterator[float]:
        """The seconds of an interval in each minute; the minute before that is finished by then."""
        while begin < end - 1e-6:
            minute = int(begin // MINUTE_S)
            if minute != self._minute:
                self._take(finished)
                self._minute = minute
            stop = min(end, (minute + 1) * MINUTE_S)
            yield stop - begin
            begin = stop

    def _sums(self, name: str, known: Who) -> _Sums:
        found = self._vfs.get(name)
        if found is None:
            found = self._vfs[name] = _Sums(known)
        elif found.who is not known:
            if found.who.generation != known.generation:
                self._before.append(found)
                found = self._vfs[name] = _Sums(known)
            elif found.who.pod in ("", known.pod):  # a minute belongs to the first pod that held the VF in it, also when that is deleted
                found.who = known
        return found

    def _finish(self, end: float, finished: list[Finished]) -> None:
        if self._minute is not None and end >= (self._minute + 1) * MINUTE_S:
            self._take(finished)

    def _take(self, finished: list[Finished]) -> None:
        if self._minute is not None:
            finished.append((self._minute * MINUTE_S, [sums.as_json() for sums in (*self._before, *self._vfs.values())]))
        self._minute, self._vfs, self._before = None, {}, []
