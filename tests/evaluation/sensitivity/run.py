"""Judges both worlds with every threshold moved down and up by a fifth, one at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.evaluation.scoring.replay import Replay, replay
from tests.evaluation.scoring.run import judged, latest_ns
from tests.evaluation.scoring.scores import Result, summary
from tests.evaluation.sensitivity.tape import Tape, verdicts
from tests.evaluation.sensitivity.thresholds import FACTORS, Threshold
from tests.raw_hosts.case import Case
from tests.raw_hosts.play import Played
from tests.raw_hosts.verdict import Verdict, compare

from wallwatch.recordings import load

SAMPLED_KINDS = frozenset({"constant"})
"""A constant on the way to a signal leaves no comparison that could be noted, so many hosts are judged again: over a stated part only."""
SAMPLED_SETS = frozenset({"catalogue"})
"""The simulated recordings of that part; all played hosts belong to it."""


class NotProved(Exception):
    """The shortcut and a full run differ."""


@dataclass(frozen=True)
class Move:
    """One threshold with another value."""

    threshold: Threshold
    factor: float

    @property
    def value(self) -> float:
        """What it is moved to."""
        return self.threshold.moved(self.factor)

    @property
    def key(self) -> tuple[str, float]:
        """Unique."""
        return self.threshold.name, self.factor


def moves(thresholds: Sequence[Threshold]) -> list[Move]:
    """Every threshold in both directions."""
    return [Move(threshold, factor) for threshold in thresholds for factor in FACTORS]


@dataclass
class Outcomes:
    """What came of both worlds, with the rules as they are and for each move where it is judged again."""

    results: dict[str, Result] = field(default_factory=dict)
    """Recording -> its result."""
    sets: dict[str, str] = field(default_factory=dict)
    """Recording -> its set."""
    moved_results: dict[tuple[str, float], dict[str, Result]] = field(default_factory=dict)
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Played host -> its verdict."""
    moved_verdicts: dict[tuple[str, float], dict[str, Verdict]] = field(default_factory=dict)
    judged_again: int = 0
    """Runs of hosts with a moved threshold."""
    proved: int = 0
    """Recordings and hosts that were run in full with a moved threshold, with the same findings as by the shortcut."""


def judge_recording(outcomes: Outcomes, folder: Path, every: Sequence[Move], proofs: int) -> None:
    """Judge one simulated recording with all moves."""
    recording = load(folder)
    latest = latest_ns(recording.run)
    tape = Tape(recording.lines(), latest)
    name, of_set = f"{folder.parent.name}/{folder.name}", folder.parent.name
    outcomes.results[name], outcomes.sets[name] = judged(recording, tape.unmoved), of_set
    wanted = [move for move in every if move.threshold.kind not in SAMPLED_KINDS or of_set in SAMPLED_SETS]
    for move in wanted:
        replayed = _again(outcomes, tape, move)
        if replayed is not None:
            outcomes.moved_results.setdefault(move.key, {})[name] = judged(recording, replayed)
    _prove(outcomes, tape, wanted, proofs, name, lambda: replay(recording.lines(), latest))


def judge_host(outcomes: Outcomes, case: Case, played: Played, every: Sequence[Move], proofs: int) -> None:
    """Judge one played host with all moves."""
    tape = Tape(played.messages)
    outcomes.verdicts[case.name] = compare(case, played, tape.unmoved)
    for move in every:
        replayed = None if move.threshold.kind == "silence" else _again(outcomes, tape, move)  # one host alone is never silent
        if replayed is not None:
            outcomes.moved_verdicts.setdefault(move.key, {})[case.name] = compare(case, played, replayed)
    _prove(outcomes, tape, every, proofs, case.name, lambda: replay(played.messages))


def _again(outcomes: Outcomes, tape: Tape, move: Move) -> Replay | None:
    """The recording with one threshold moved; None where that cannot make a difference."""
    if move.threshold.kind == "silence":
        with move.threshold.at(move.value):
            return tape.silence_again()
    hosts = tape.touched(move.threshold, move.value)
    if not hosts:
        return None
    outcomes.judged_again += len(hosts)
    with move.threshold.at(move.value):
        return tape.again(hosts)


def _prove(outcomes: Outcomes, tape: Tape, every: Sequence[Move], proofs: int, name: str, in_full: Callable[[], Replay]) -> None:
    """Compare some moves, drawn by the recording's name, with a full run of the evaluation's own replay."""
    for move in random.Random(name).sample(list(every), min(proofs, len(every))):
        short = _again(outcomes, tape, move) or tape.unmoved
        with move.threshold.at(move.value):
            full = in_full()
        if verdicts(short) != verdicts(full):
            raise NotProved(f"{name}: {move.threshold.name} at {move.value:g}: a full run finds something else")
        outcomes.proved += 1


def figures(outcomes: Outcomes, thresholds: Sequence[Threshold]) -> dict[str, Any]:
    """Everything that is stored, as plain JSON."""
    return {
        "recordings": {name: list(outcomes.sets.values()).count(name) for name in sorted(set(outcomes.sets.values()))},
        "hosts": len(outcomes.verdicts),
        "judged_again": outcomes.judged_again,
        "proved": outcomes.proved,
        "unmoved": {
            "all": _both(list(outcomes.results.values()), outcomes.verdicts),
            "sampled": _both(_sampled(outcomes, {}), outcomes.verdicts),
        },
        "thresholds": [
            {
                "name": one.name, "kind": one.kind, "owner": one.owner, "concerns": list(one.concerns), "text": one.text,
                "value": one.value, "sampled": one.kind in SAMPLED_KINDS,
                "moved": [_moved(outcomes, Move(one, factor)) for factor in FACTORS],
            }
            for one in thresholds
        ],
    }  # fmt: skip


def _sampled(outcomes: Outcomes, moved: dict[str, Result]) -> list[Result]:
    return [moved.get(name, result) for name, result in outcomes.results.items() if outcomes.sets[name] in SAMPLED_SETS]


def _moved(outcomes: Outcomes, move: Move) -> dict[str, Any]:
    results, verdicts = outcomes.moved_results.get(move.key, {}), outcomes.moved_verdicts.get(move.key, {})
    of_all = [results.get(name, result) for name, result in outcomes.results.items()]
    if move.threshold.kind in SAMPLED_KINDS:
        of_all = _sampled(outcomes, results)
    after = {**outcomes.verdicts, **verdicts}
    changed = {name: after[name].outcome for name, before in outcomes.verdicts.items() if after[name].outcome != before.outcome}
    return {
        "factor": move.factor,
        "value": move.value,
        "recordings": len(results),
        "played": len(verdicts),
        **_both(of_all, after),
        "changed": changed,
    }


def _both(results: Sequence[Result], verdicts: dict[str, Verdict]) -> dict[str, Any]:
    of_fleet = summary(results)
    healthy = [one for one in verdicts.values() if one.healthy]
    delays = [one.delay_s for one in verdicts.values() if one.delay_s is not None]
    return {
        "macro_f1": _rounded(of_fleet["macro_f1"]),
        "f1": {symptom: _rounded(one["f1"]) for symptom, one in of_fleet["symptoms"].items()},
        "cause_first": _rounded(of_fleet["cause_first"]),
        "false_on_healthy": of_fleet["false_on_healthy"],
        "hosts_right": sum(one.outcome == "right" for one in verdicts.values()),
        "healthy_with_findings": sum(bool(one.false) for one in healthy),
        "delay_samples": of_fleet["delay"].get("delay_samples_p95"),
        "hosts_delay_s": round(median(delays), 1) if delays else None,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
