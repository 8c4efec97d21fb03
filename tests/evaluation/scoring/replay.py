"""Recorded telemetry through the very stage that the job `classify` runs, and its findings gathered into episodes."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from wallwatch.domain.instants import ms_of
from wallwatch.domain.symptoms import silence
from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch.domain.symptoms.peers import Peers
from wallwatch.domain.telemetry.decode import Refused, decode_message

LATEST_NS = 2**63 - 1
"""By default, a recording may be of any time."""
SILENCE_CHECK_MS = 5_000
"""How often hosts are looked for that have stopped sending, in event time."""
SAMPLED = ("rnic_offload", "rnic")


@dataclass(slots=True)
class Episode:
    """One finding from its first message to its last. Times in ms of event time."""

    finding_id: str
    symptom: str
    host: str
    pci: str
    started_ms: int
    raised_ms: int
    last_ms: int
    cleared_ms: int | None = None
    summary: str = ""
    """Of the first message."""
    evidence: list[str] = field(default_factory=list)
    """Of the first message: `signal value (expected)`."""
    rankings: list[tuple[int, list[str]]] = field(default_factory=list)
    """`(time, causes, best first)` of each message that ranks them."""

    def end_ms(self, otherwise: int) -> int:
        return otherwise if self.cleared_ms is None else self.cleared_ms


@dataclass(slots=True)
class Replay:
    """What came of one recording."""

    episodes: list[Episode]
    samples: dict[tuple[str, str, str], array[int]]
    """Times at which an RNIC was sampled, ascending, by host, PCI address and measurement."""
    first_ms: int
    last_ms: int
    messages: int
    problems: Counter[str]

    def samples_between(self, host: str, pci: str, from_ms: int, to_ms: int) -> int:
        """Samples after `from_ms` up to `to_ms`, of the RNIC's most frequent measurement; of any RNIC of the host where none is named."""
        times = [t for (name, address, _), t in self.samples.items() if name == host and pci in ("", address)]
        return max((bisect_right(t, to_ms) - bisect_right(t, from_ms) for t in times), default=0)

    def gaps(self, host: str, longer_than_ms: int) -> list[tuple[int, int]]:
        """Times between which a host sent no sample of any RNIC while the recording went on, if longer than that."""
        times = sorted(
            {t for (name, _, _), of_rnic in self.samples.items() if name == host for t in of_rnic} | {self.first_ms, self.last_ms}
        )
        return [(a, b) for a, b in pairwise(times) if b - a > longer_than_ms]


class Findings:
    """Messages of findings, gathered by their id."""

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}
        self.problems: Counter[str] = Counter()

    def take(self, messages: Iterable[dict[str, Any]]) -> None:
        """Gather messages, in the order in which they came."""
        for finding in messages:
            at = ms_of(finding["at"])
            episode = self.episodes.get(finding["finding_id"])
            if episode is None:
                if finding["state"] == "cleared":
                    self.problems["findings: cleared without having been active"] += 1
                    continue
                episode = Episode(
                    finding["finding_id"], finding["symptom"], finding["host"], finding["pci"], ms_of(finding["started_at"]), at, at
                )
                episode.summary = finding["summary"]
                episode.evidence = [f"{one['signal']} {one['value']:g} ({one['expected']})" for one in finding["evidence"]]
                self.episodes[finding["finding_id"]] = episode
            episode.last_ms = max(at, episode.last_ms)
            if finding["hypotheses"]:
                episode.rankings.append((at, [one["cause"] for one in finding["hypotheses"]]))
            if finding["state"] == "cleared":
                episode.cleared_ms = at


def replay(lines: Iterable[bytes], latest_ns: int = LATEST_NS) -> Replay:
    """Run one recording's telemetry, in the order of the file, each host with its own state; later samples than `latest_ns` are refused."""
    states: dict[str, dict[str, Any] | None] = {}
    watch = silence.new()
    peers = Peers()
    findings = Findings()
    samples: dict[tuple[str, str, str], array[int]] = {}
    problems: Counter[str] = Counter()
    count, first_ms, watermark, next_check = 0, 0, 0, 0
    for line in lines:
        count += 1
        try:
            message = decode_message(line, latest_ns)
        except Refused as refusal:
            problems[f"telemetry: {refusal.reason}"] += 1
            continue
        at_ms = message.at_ns // 1_000_000
        first_ms = first_ms or at_ms
        note_sample(samples, message, at_ms)
        host = message.tags["host"]
        try:
            states[host], found = step(states.get(host), message, peers)
        except Refused as refusal:
            problems[f"telemetry: {refusal.reason}"] += 1
            continue
        findings.take(found)
        silence.take(watch, message)
        watermark = max(watermark, at_ms)
        if watermark >= next_check:
            findings.take(silence.check(watch, watermark))
            next_check = watermark + SILENCE_CHECK_MS
    return Replay(list(findings.episodes.values()), samples, first_ms, watermark, count, problems + findings.problems)


def note_sample(samples: dict[tuple[str, str, str], array[int]], message: Message, at_ms: int) -> None:
    """Remember when an RNIC was sampled."""
    if message.measurement in SAMPLED:
        times = samples.setdefault((message.tags["host"], message.tags["pci"], message.measurement), array("q"))
        if not times or at_ms > times[-1]:
            times.append(at_ms)
