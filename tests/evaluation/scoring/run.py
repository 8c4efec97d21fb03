"""Evaluate recordings: read, replay, match. One process a recording, as many at once as asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

from tests.evaluation.scoring.match import healthy_ms, match
from tests.evaluation.scoring.replay import LATEST_NS, Replay, replay
from tests.evaluation.scoring.scores import Result

from wallwatch.domain.instants import ms_of
from wallwatch.recordings import Recording, load

USUAL_INTERVAL_S = 10.0
"""Taken where a recording neither says its interval nor shows one."""


def evaluate(folder: Path) -> Result:
    """Judge one recording.

    Raises
    ------
    NotARecording
        See `recording.load`.
    """
    recording = load(folder)
    return judged(recording, replay(recording.lines(), latest_ns(recording.run)))


def judged(recording: Recording, replayed: Replay) -> Result:
    """Compare what came of a recording with its truths."""
    interval_ms = int(interval_s(recording, replayed) * 1000)
    truths, false = match(recording.truths, replayed, interval_ms)
    places = {(host, pci) for host, pci, _ in replayed.samples}
    return Result(
        name=recording.name,
        kind=recording.folder.parent.name,
        interval_s=interval_ms / 1000,
        start_ms=replayed.first_ms,
        length_ms=replayed.last_ms - replayed.first_ms,
        rnics=len(places),
        healthy_ms=sum(healthy_ms(host, pci, truths, replayed.first_ms, replayed.last_ms) for host, pci in sorted(places)),
        messages=replayed.messages,
        judged=truths,
        false=false,
        problems=recording.problems + replayed.problems,
    )


def latest_ns(run: dict[str, Any]) -> int:
    """The end of the recording, where it is known; a job refuses samples from the future of its own clock."""
    end = run.get("end")
    return (ms_of(end) + 300_000) * 1_000_000 if isinstance(end, str) else LATEST_NS


def interval_s(recording: Recording, replayed: Replay) -> float:
    """As `run.json` says, or else the median distance of samples."""
    stated = recording.run.get("interval_s")
    if isinstance(stated, int | float) and stated > 0:
        return float(stated)
    steps = [b - a for times in replayed.samples.values() for a, b in pairwise(times)]
    return median(steps) / 1000 if steps else USUAL_INTERVAL_S


def evaluate_all(folders: Sequence[Path], processes: int = 1, done: Callable[[Result], None] = lambda _: None) -> list[Result]:
    """Judge many recordings, in the order given; `done` is called after each."""
    results = []
    if processes <= 1 or len(folders) <= 1:
        for folder in folders:
            results.append(evaluate(folder))
            done(results[-1])
        return results
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for result in pool.map(evaluate, folders):
            results.append(result)
            done(result)
    return results
