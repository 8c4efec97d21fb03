"""Minutes of an RNIC's VFs: how many seconds each promise was kept, broken or unknown, and mean rates. Pure; event time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from wallwatch.domain.isolation.readings import MBPS
from wallwatch.domain.isolation.verdicts import State, Verdict, VfVerdict

MINUTE_S = 60.0
_FROM_WORST = (State.BROKEN, State.UNKNOWN, State.KEPT, State.NOT_PROMISED)


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

    def add_state(self, state: State, seconds: float) -> None:
        if state is State.KEPT:
            self.kept += seconds
        elif state is State.BROKEN:
            self.broken += seconds
        elif state is State.UNKNOWN:
            self.unknown += seconds
        else:
            self.not_promised += seconds

    def add_rates(self, found: VfVerdict, seconds: float) -> None:
        if found.rx_bps is not None and found.tx_bps is not None:
            self.rated += seconds
            self.tx += found.tx_bps * seconds
            self.rx += found.rx_bps * seconds
            self.tx_packets += (found.tx_pps or 0.0) * seconds
            self.rx_packets += (found.rx_pps or 0.0) * seconds
            self.tx_max = max(self.tx_max, found.tx_bps)
            self.rx_max = max(self.rx_max, found.rx_bps)
        if found.share is not None:
            self.engine += seconds
            self.share += found.share * seconds
            self.fair += (found.fair_share or 0.0) * seconds
        if found.dropped_per_s is not None:
            self.dropped = (self.dropped or 0.0) + found.dropped_per_s * seconds
        if found.delay_p50_us is not None:
            self.p50 = found.delay_p50_us if self.p50 is None else max(self.p50, found.delay_p50_us)
        if found.delay_p99_us is not None:
            self.p99 = found.delay_p99_us if self.p99 is None else max(self.p99, found.delay_p99_us)

    def state(self) -> State:
        seconds = {State.BROKEN: self.broken, State.UNKNOWN: self.unknown, State.KEPT: self.kept}
        return next((state for state in _FROM_WORST if seconds.get(state, 0.0) > 0.0), State.NOT_PROMISED)

    def as_json(self) -> dict[str, Any]:
        rated, engine = self.rated, self.engine
        return {
            **self.who._asdict(),
            "kept_s": round(self.kept, 3),
            "broken_s": round(self.broken, 3),
            "unknown_s": round(self.unknown, 3),
            "not_promised_s": round(self.not_promised, 3),
            "aggressor_s": round(self.aggressor, 3),
            "tx_mbps": _rounded(self.tx / rated / MBPS) if rated else None,
            "rx_mbps": _rounded(self.rx / rated / MBPS) if rated else None,
            "tx_mbps_max": _rounded(self.tx_max / MBPS) if rated else None,
            "rx_mbps_max": _rounded(self.rx_max / MBPS) if rated else None,
            "tx_kpps": _rounded(self.tx_packets / rated / 1e3) if rated else None,
            "rx_kpps": _rounded(self.rx_packets / rated / 1e3) if rated else None,
            "delay_p50_us": self.p50,
            "delay_p99_us": self.p99,
            "dropped": None if self.dropped is None else round(self.dropped),
            "share": _rounded(self.share / engine) if engine else None,
            "fair_share": _rounded(self.fair / engine) if engine else None,
            "state": self.state().value,
        }


def _rounded(value: float) -> float:
    """Six significant figures: more is noise, and longer in Kafka.

    >>> _rounded(1234.56789), _rounded(0.0)
    (1234.57, 0.0)
    """
    return float(f"{value:.6g}")


class Minutes:
    """The minute of an RNIC that is being filled; a finished one is yielded by `add` and `add_unknown`."""

    def __init__(self) -> None:
        self._minute: int | None = None
        self._vfs: dict[tuple[int, str], _Sums] = {}

    def add(self, verdict: Verdict, begin: float, end: float, who: Callable[[str], Who]) -> Iterator[tuple[float, list[dict[str, Any]]]]:
        """Count the verdict for the time from `begin` to `end`, seconds since 1970, whatever minutes that touches.

        Yields
        ------
        (float, list of dict)
            Begin of each finished minute and its VFs, as the message has them.
        """
        aggressors = verdict.aggressors
        for finished, seconds in self._split(begin, end):
            if finished is not None:
                yield finished
            for name, found in verdict.vfs.items():
                sums = self._sums(who(name))
                sums.add_state(found.state, seconds)
                sums.add_rates(found, seconds)
                if name in aggressors:
                    sums.aggressor += seconds
        yield from self._finished(end)

    def add_unknown(self, begin: float, end: float, vfs: list[Who]) -> Iterator[tuple[float, list[dict[str, Any]]]]:
        """Count a time without evidence."""
        for finished, seconds in self._split(begin, end):
            if finished is not None:
                yield finished
            for one in vfs:
                self._sums(one).unknown += seconds
        yield from self._finished(end)

    def _split(self, begin: float, end: float) -> Iterator[tuple[tuple[float, list[dict[str, Any]]] | None, float]]:
        """The minutes of an interval: what it finishes, and its seconds in each."""
        while begin < end - 1e-6:
            minute = int(begin // MINUTE_S)
            finished = self._take() if minute != self._minute and self._minute is not None else None
            self._minute = minute
            stop = min(end, (minute + 1) * MINUTE_S)
            yield finished, stop - begin
            begin = stop

    def _sums(self, who: Who) -> _Sums:
        key = (who.vf, who.generation)
        found = self._vfs.get(key)
        if found is None:
            found = self._vfs[key] = _Sums(who)
        elif found.who is not who:
            found.who = who
        return found

    def _finished(self, end: float) -> Iterator[tuple[float, list[dict[str, Any]]]]:
        if self._minute is not None and end >= (self._minute + 1) * MINUTE_S:
            yield self._take()

    def _take(self) -> tuple[float, list[dict[str, Any]]]:
        taken = ((self._minute or 0) * MINUTE_S, [sums.as_json() for sums in self._vfs.values()])
        self._minute, self._vfs = None, {}
        return taken
