"""One RNIC in the stream: a message of `vf_traffic` in, messages of `wallwatch.isolation` out. Pure; event time.

Everything runs through the same detector as `wallwatch vnic detect`. A time without evidence counts as unknown, never as kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from wallwatch.domain.instants import rfc3339
from wallwatch.domain.isolation.assignment import Assigned, Facts
from wallwatch.domain.isolation.detector import Detector
from wallwatch.domain.isolation.minutes import Minutes, Who
from wallwatch.domain.isolation.reading_order import LONGEST_CADENCE
from wallwatch.domain.isolation.readings import MBPS, Reading, VfCounters, reading_of_message
from wallwatch.domain.isolation.slo import Slo
from wallwatch.domain.isolation.verdicts import State, Verdict, VfVerdict
from wallwatch.domain.telemetry.shared_text import shared_text

NOW_EVERY_S = 2.0
"""The newest state of an RNIC in doubt is sent this often; of a calm one, once per minute."""

LONGEST_GAP_S = 3 * 3600.0
"""Of a longer silence, only so much counts as unknown: whoever held the VFs then is unknown too."""

SMALLEST_GAP_S = 0.5

Assign = Callable[[Facts], tuple[Assigned | None, str]]
FactsOf = Callable[[int], Facts]


class _Vf:
    """What is known of a VF apart from its counters."""

    __slots__ = ("assigned", "name", "problem", "who")

    def __init__(self, name: str, facts: Facts, assigned: Assigned | None, problem: str, generation: str) -> None:
        self.name, self.assigned, self.problem = name, assigned, problem
        slo = assigned.name if assigned is not None and assigned.name is not None else ""
        self.who = Who(facts.vf, generation, facts.pod, shared_text(facts.tenant), slo)

    def bound(self, generation: str) -> None:
        """The VF was bound again."""
        self.who = self.who._replace(generation=generation)


class RnicStream:
    """State of one RNIC; `step` takes its messages in order.

    `version` and `heard` are for the caller, who notes there for which SLOs and holders `promise` was last called, and when it was used.
    """

    def __init__(self, host: str, pci: str, rack: str) -> None:
        self.host, self.pci, self.rack = host, pci, rack
        self.version: object = None
        self.heard = 0
        self.verdict: Verdict | None = None
        """Of the newest message; None when it brought none, and after `take_verdict`."""
        self.port_bps: float | None = None
        self._detector = Detector({}, None)
        self._minutes = Minutes()
        self._vfs: dict[str, _Vf] = {}
        self._counters: Mapping[str, VfCounters] = {}
        self._who: dict[str, Who] = {}
        self._facts_of: FactsOf = lambda vf: Facts(host, pci, vf, rack)
        self._assign: Assign = lambda facts: (None, "")
        self._judged_to: float | None = None
        self._promised_for: tuple[object, float | None] | None = None
        self._said: tuple[Any, ...] = ()
        self._said_s = 0.0

    @property
    def counts(self) -> Mapping[str, int]:
        """What the detector met in the readings, by kind; the job's metrics have the sums of all RNICs."""
        return self._detector.counts

    def take_verdict(self) -> Verdict | None:
        """The verdict of the newest message, which is not kept: that of every VF is a tenth of what an RNIC needs."""
        verdict, self.verdict = self.verdict, None
        return verdict

    def promise(self, facts_of: FactsOf, assign: Assign, version: object) -> None:
        """Use other SLOs, rules or holders from the next message on."""
        self._facts_of, self._assign, self.version = facts_of, assign, version

    def slo(self, vf: str) -> Slo | None:
        """The promise to a VF."""
        found = self._vfs.get(vf)
        return found.assigned.slo if found is not None and found.assigned is not None else None

    def set_rates(self, vf: str) -> tuple[float | None, float | None]:
        """The guarantee and the limit that are set for a VF on the RNIC, bits per second; 0 for none, None: unknown."""
        counters = self._counters.get(vf)
        return (None, None) if counters is None else (counters.min_tx_bps, counters.max_tx_bps)

    def part(self, vf: str) -> dict[str, Any]:
        """A VF as messages name it."""
        who = self._who.get(vf) or Who(int(vf[2:]))  # without one: a VF that has just gone, of which the verdict still speaks
        return {"vf": who.vf, "generation": who.generation, "pod": who.pod, "tenant": who.tenant}

    def step(self, at_s: float, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take one message.

        Parameters
        ----------
        at_s : float
            Its time on the host's own clock, seconds since 1970.
        fields : mapping
            Fields of `vf_traffic`.

        Returns
        -------
        list of dict
            Messages for `wallwatch.isolation`; `verdict` has the newest verdict, None when this message brought none.

        Raises
        ------
        ValueError
            When the field `vfs` cannot be read.
        """
        reading = reading_of_message(at_s, _parsed(fields))
        self._follow(reading)
        verdict = self._detector.step(reading)
        self.verdict = None
        if verdict is None:
            if self._judged_to is None:
                self._judged_to = at_s
            return []
        if verdict.interval_s > LONGEST_CADENCE or not verdict.known:  # a mean over so long, or the rest after a reset, proves nothing
            return self._gap(verdict.t)
        self.verdict = verdict
        messages = self._count(verdict)
        if verdict.victims:
            messages.append(self._broken(verdict))
        doubt = fields.get("doubt") or None
        said = (verdict.mechanism, verdict.victims, verdict.aggressors, doubt is not None)
        if messages or said != self._said or (doubt is not None and abs(verdict.t - self._said_s) >= NOW_EVERY_S):
            self._said, self._said_s = said, verdict.t
            messages.append(self._now(verdict, reading, doubt))
        return messages

    def _follow(self, reading: Reading) -> None:
        """Notice VFs that came, went or were bound again, another speed of the port, and other promises."""
        vfs = self._counters = reading.vfs
        if reading.extras is not None and reading.extras.port_bps is not None:
            self.port_bps = reading.extras.port_bps
        promised_for = (self.version, self.port_bps)
        if promised_for != self._promised_for or vfs.keys() != self._vfs.keys():
            self._vfs = {name: self._known(name, counters) for name, counters in vfs.items()}
            self._who = {name: vf.who for name, vf in self._vfs.items()}
            slos = {name: vf.assigned.slo for name, vf in self._vfs.items() if vf.assigned is not None}
            self._detector.promise(slos, self.port_bps)
            self._promised_for = promised_for
            return
        for name, counters in vfs.items():
            known = self._vfs[name]
            if counters.generation != known.who.generation:
                known.bound(counters.generation)
                self._who[name] = known.who

    def _known(self, name: str, counters: VfCounters) -> _Vf:
        facts = self._facts_of(int(name[2:]))
        assigned, problem = self._assign(facts)
        return _Vf(name, facts, assigned, problem, counters.generation)

    def _count(self, verdict: Verdict) -> list[dict[str, Any]]:
        """Count the interval and the gap before it; returns the minutes that this finishes."""
        begin = verdict.t - verdict.interval_s
        messages: list[dict[str, Any]] = []
        if self._judged_to is not None and begin - self._judged_to > SMALLEST_GAP_S:
            messages = self._gap(begin)
        self._judged_to = verdict.t
        for minute in self._minutes.add(verdict, begin, verdict.t, self._who):
            messages.append(self._minute(*minute))
        return messages

    def _gap(self, end: float) -> list[dict[str, Any]]:
        """Count the time since the last verdict as unknown."""
        begin = max(end - LONGEST_GAP_S, end if self._judged_to is None else self._judged_to)
        self._judged_to = end
        return [self._minute(*minute) for minute in self._minutes.add_unknown(begin, end, self._who)]

    def _message(self, kind: str, at_s: float) -> dict[str, Any]:
        return {"kind": kind, "host": self.host, "pci": self.pci, "rack": self.rack, "at": rfc3339(round(at_s * 1000))}

    def _minute(self, begin_s: float, vfs: list[dict[str, Any]]) -> dict[str, Any]:
        return {**self._message("minute", begin_s), "vfs": vfs}

    def _broken(self, verdict: Verdict) -> dict[str, Any]:
        return {
            **self._message("broken", verdict.t),
            "interval_s": round(verdict.interval_s, 3),
            "estimated": verdict.estimated,
            "mechanism": None if verdict.mechanism is None else verdict.mechanism.value,
            "vfs": [{**self.part(name), "reason": verdict.vfs[name].reason, **_rates(verdict.vfs[name])} for name in verdict.victims],
            "aggressors": [
                {**self.part(name), "share": verdict.vfs[name].share, "fair_share": verdict.vfs[name].fair_share}
                for name in verdict.aggressors
            ],
            "load": verdict.load,
            "port_drops_per_s": verdict.port_drops_per_s,
        }

    def _now(self, verdict: Verdict, reading: Reading, doubt: str | None) -> dict[str, Any]:
        return {
            **self._message("now", verdict.t),
            "doubt": doubt,
            "mechanism": None if verdict.mechanism is None else verdict.mechanism.value,
            "load": verdict.load,
            "port_mbps": None if self.port_bps is None else self.port_bps / MBPS,
            "vfs": [self._row(verdict, vf, verdict.vfs[name], reading.vfs[name]) for name, vf in self._vfs.items() if name in verdict.vfs],
        }

    def _row(self, verdict: Verdict, vf: _Vf, found: VfVerdict, counters: VfCounters) -> dict[str, Any]:
        limit = counters.max_tx_bps
        return {
            **self.part(vf.name),
            "slo": None if vf.assigned is None else _promise(vf.assigned),
            "state": found.state.value,
            "reason": found.reason or vf.problem,
            "role": self._role(verdict, vf.name, found),
            "share": found.share,
            "fair_share": found.fair_share,
            **_rates(found),
            "limit_mbps": limit / MBPS if limit else None,  # 0 is no limit
        }

    def _role(self, verdict: Verdict, name: str, found: VfVerdict) -> str | None:
        if name in verdict.victims:
            return "victim"
        if name in verdict.aggressors:
            return "aggressor"
        slo = self.slo(name)
        if slo is not None and found.state is State.NOT_PROMISED and max(found.rx_bps or 0.0, found.tx_bps or 0.0) > slo.max_bps:
            return "beyond"
        return None


def _parsed(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields with the list of VFs parsed: orjson takes a tenth of the time of the standard library."""
    try:
        return {**fields, "vfs": orjson.loads(fields["vfs"])}
    except (KeyError, TypeError, orjson.JSONDecodeError):
        return fields  # whoever reads it says what is wrong


def _scaled(value: float | None, unit: float) -> float | None:
    """Whole kbit/s or packets per second: more digits are noise, and longer in Kafka."""
    return None if value is None else round(value / unit, 3)


def _rates(found: VfVerdict) -> dict[str, float | None]:
    return {
        "tx_mbps": _scaled(found.tx_bps, MBPS),
        "rx_mbps": _scaled(found.rx_bps, MBPS),
        "tx_kpps": _scaled(found.tx_pps, 1e3),
        "rx_kpps": _scaled(found.rx_pps, 1e3),
        "delay_p50_us": found.delay_p50_us,
        "delay_p99_us": found.delay_p99_us,
        "dropped_per_s": found.dropped_per_s,
    }


def _promise(assigned: Assigned) -> dict[str, Any]:
    slo = assigned.slo
    return {
        "name": assigned.name,
        "source": assigned.source,
        "rule": assigned.rule,
        "min_mbps": slo.min_bps / MBPS,
        "max_mbps": slo.max_bps / MBPS,
        "p50_us": slo.p50_us,
        "p99_us": slo.p99_us,
        "loss": slo.loss,
    }
