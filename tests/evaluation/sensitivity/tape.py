"""A recording, decoded once and judged many times, host by host.

Why only part of it must be judged again when a threshold is moved: hosts do not share state in the stage, and a run of it depends on a
bound only through the comparisons with it. Where none of a host's comparisons comes out otherwise with the moved bound, the first one
that could differ does not exist, so the host's run is the same to the last finding. So each host's first run notes, per bound, the
nearest value on either side (`Comparisons`). Durations are read only while a symptom's conditions hold, and the constants on the way to a
signal only on hosts that show what they are about (`Tape.touched`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.evaluation.scoring.replay import LATEST_NS, SILENCE_CHECK_MS, Episode, Findings, Replay, note_sample
from tests.evaluation.sensitivity.thresholds import Threshold, with_limit

from wallwatch.domain.catalogue.load import detected
from wallwatch.domain.catalogue.models import Bound, Definition
from wallwatch.domain.symptoms import detect, first_signs, host_stage, silence
from wallwatch.domain.symptoms import host as host_module
from wallwatch.domain.symptoms.detect import Verdict
from wallwatch.domain.symptoms.host import FEW_DELETIONS_PER_S, LONG_PAUSE_S
from wallwatch.domain.symptoms.host_stage import Message, step
from wallwatch.domain.telemetry.decode import Refused, decode_message

Numbered = list[tuple[int, dict[str, Any]]]
"""Findings with the place in the recording of the message that they came with."""


def verdicts(replayed: Replay) -> list[Episode]:
    """What was found, without the bounds that evidence quotes: they move with the threshold."""
    return [replace(one, evidence=[text.partition(" (")[0] for text in one.evidence]) for one in replayed.episodes]


class Comparisons:
    """What one host's run compared with each bound: the nearest value that met it and the nearest that did not."""

    def __init__(self) -> None:
        self._met: dict[int, float] = {}
        self._failed: dict[int, float] = {}
        self.held: set[str] = set()
        """Rules whose conditions held at some time."""
        self.longest_pause_s = 0.0
        """Between two samples of one source."""

    def note(self, bound: Bound, value: float, met: bool) -> None:
        """A value was compared with a bound."""
        known, key = self._met if met else self._failed, id(bound)
        before = known.get(key)
        upwards = bound.at_least is not None or bound.above is not None
        if before is None or (value < before if met == upwards else value > before):
            known[key] = value

    def met(self, bound: Bound) -> bool:
        """Whether any value met a bound."""
        return id(bound) in self._met

    def differs(self, bound: Bound, moved: Bound) -> bool:
        """Whether any comparison comes out otherwise with the moved bound.

        >>> bound, seen = Bound(at_least=10.0), Comparisons()
        >>> seen.note(bound, 11.0, met=True), seen.note(bound, 7.0, met=False)
        (None, None)
        >>> [seen.differs(bound, Bound(at_least=limit)) for limit in (8.0, 7.0, 11.0, 12.0)]
        [False, True, False, True]
        """
        met, failed = self._met.get(id(bound)), self._failed.get(id(bound))
        return (met is not None and not moved.holds(met)) or (failed is not None and moved.holds(failed))


class Tape:
    """One recording; a played host is one too."""

    def __init__(self, lines: Iterable[bytes], latest_ns: int = LATEST_NS) -> None:
        self._messages: list[Message] = []
        self._samples: dict[tuple[str, str, str], array[int]] = {}
        self._problems: Counter[str] = Counter()
        self._first_ms = self._last_ms = self._count = 0
        for line in lines:
            self._count += 1
            try:
                message = decode_message(line, latest_ns)
            except Refused as refusal:
                self._problems[f"telemetry: {refusal.reason}"] += 1
                continue
            at_ms = message.at_ns // 1_000_000
            self._first_ms = self._first_ms or at_ms
            self._last_ms = max(self._last_ms, at_ms)
            note_sample(self._samples, message, at_ms)
            self._messages.append(message)
        self._of_host: dict[str, list[int]] = {}
        for place, message in enumerate(self._messages):
            self._of_host.setdefault(message.tags["host"], []).append(place)
        self._most_deletions: dict[str, float] = {}
        for message in self._messages:
            rate = message.fields.get("flow_deletions_per_s")
            if isinstance(rate, int | float):
                host = message.tags["host"]
                self._most_deletions[host] = max(rate, self._most_deletions.get(host, 0.0))
        self._compared: dict[str, Comparisons] = {}
        self._found: dict[str, Numbered] = {}
        for host in self._of_host:
            seen = self._compared[host] = Comparisons()
            with _noted(seen):
                self._found[host] = self._stage(host)
        self._silent = self._silence()
        self.unmoved = self._gathered(self._found, self._silent)
        """What comes of it with the rules as they are."""

    def touched(self, threshold: Threshold, value: float) -> list[str]:
        """Hosts whose run may differ where a threshold has another value."""
        if threshold.kind == "constant":
            return [host for host in self._of_host if self._shows(host, threshold)]
        if threshold.kind == "duration":
            return [host for host, seen in self._compared.items() if threshold.rule in seen.held]
        moved = [(bound, with_limit(bound, value)) for bound in threshold.bounds]
        return [host for host, seen in self._compared.items() if any(seen.differs(bound, other) for bound, other in moved)]

    def _shows(self, host: str, constant: Threshold) -> bool:
        """Whether a host shows what a constant is about."""
        seen = self._compared[host]
        if constant.reads == "phases":
            return bool(seen.held)
        if constant.reads == "pauses":  # a stall is longer than both constants say, each a fifth lower
            return seen.longest_pause_s > 0.8 * LONG_PAUSE_S
        if constant.reads == "full ports":  # S6 asks for a predicted loss first
            return seen.met(_predicted_loss())
        # Without deletions enough to be remembered, no time is divided among them.
        return self._most_deletions.get(host, 0.0) >= 0.8 * FEW_DELETIONS_PER_S

    def again(self, hosts: Iterable[str]) -> Replay:
        """Judge these hosts again, with the rules as they are now; the others' findings are those of the first run."""
        return self._gathered({**self._found, **{host: self._stage(host) for host in hosts}}, self._silent)

    def silence_again(self) -> Replay:
        """Look for silent hosts again."""
        return self._gathered(self._found, self._silence())

    def all_again(self) -> Replay:
        """Judge everything again, without any shortcut."""
        return self._gathered({host: self._stage(host) for host in self._of_host}, self._silence())

    def _stage(self, host: str) -> Numbered:
        state, found = None, []
        for place in self._of_host[host]:
            state, findings = step(state, self._messages[place])
            found += [(place, finding) for finding in findings]
        return found

    def _silence(self) -> Numbered:
        watch, found = silence.new(), []
        watermark = next_check = 0
        for place, message in enumerate(self._messages):
            silence.take(watch, message)
            watermark = max(watermark, message.at_ns // 1_000_000)
            if watermark >= next_check:
                found += [(place, finding) for finding in silence.check(watch, watermark)]
                next_check = watermark + SILENCE_CHECK_MS
        return found

    def _gathered(self, of_stage: dict[str, Numbered], silent: Numbered) -> Replay:
        findings = Findings()
        of_all = [(place, order, finding) for order, found in enumerate((*of_stage.values(), silent)) for place, finding in found]
        findings.take(finding for _, _, finding in sorted(of_all, key=lambda one: one[:2]))
        problems = self._problems + findings.problems
        return Replay(list(findings.episodes.values()), self._samples, self._first_ms, self._last_ms, self._count, problems)


def _predicted_loss() -> Bound:
    """The bound of S6 on the predicted share of bandwidth."""
    definition = detected()["S6"].definition
    assert definition is not None
    return next(c.raise_ for c in definition.conditions if c.signal == "bandwidth_share")


@contextmanager
def _noted(seen: Comparisons) -> Iterator[None]:
    """Note each comparison with a bound, and each symptom whose conditions hold."""
    holds, judge, pause_s = Bound.holds, detect.judge, host_module.pause_s

    def noting(bound: Bound, value: float) -> bool:
        met = holds(bound, value)
        seen.note(bound, value, met)
        return met

    def judging(definition: Definition, *others: Any) -> Verdict:
        verdict = judge(definition, *others)
        if verdict is Verdict.PRESENT:
            seen.held.add(definition.rule)
        return verdict

    def pausing(host: host_module.Host, source: str, at_ms: int) -> float | None:
        before = host["beat"].get(source)
        if before is not None:
            seen.longest_pause_s = max(seen.longest_pause_s, (at_ms - before[0]) / 1000)
        return pause_s(host, source, at_ms)

    with (
        patch.object(Bound, "holds", noting),
        patch.object(host_stage, "judge", judging),
        patch.object(host_module, "pause_s", pausing),
        patch.object(first_signs, "may_begin", return_value=True),  # what is not judged now may be, with another bound
        patch.object(first_signs, "none_may_begin", return_value=False),
    ):
        yield
