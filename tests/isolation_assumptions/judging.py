"""Runs the command on a series and compares what it says with the truth."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.isolation_assumptions.variations import make, promises
from typer.testing import CliRunner


@dataclass
class Score:
    """Counts of seconds."""

    broken: int = 0
    found: int = 0
    invented: int = 0
    aggressors_right: int = 0
    mechanism_right: int = 0
    wrong: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """What is stored of it."""
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def precision(self) -> float | None:
        """Part of the reported seconds that are broken."""
        reported = self.found + self.invented
        return self.found / reported if reported else None

    @property
    def recall(self) -> float | None:
        """Part of the broken seconds that are reported."""
        return self.found / self.broken if self.broken else None

    @property
    def aggressors(self) -> float | None:
        """Part of the found seconds with exactly the true aggressors."""
        return self.aggressors_right / self.found if self.found else None

    @property
    def mechanism(self) -> float | None:
        """Part of the found seconds with the true mechanism."""
        return self.mechanism_right / self.found if self.found else None


COUNTS = ("broken", "found", "invented", "aggressors_right", "mechanism_right")


def total(scores: Iterable[Score]) -> Score:
    """All scores added up."""
    result = Score()
    for score in scores:
        for name in COUNTS:
            setattr(result, name, getattr(result, name) + getattr(score, name))
        result.wrong += score.wrong
    return result


def judge_all(variation: str, kind: str, seeds: Iterable[int]) -> Score:
    """Judge the series of all seeds."""
    score = Score()
    for seed in seeds:
        judge(variation, kind, seed, score)
    return score


def judge(variation: str, kind: str, seed: int, score: Score) -> None:
    """Judge one series; seconds that nobody would judge are left out."""
    world, played = make(variation, kind, seed)
    said = detect(played.rows, promises(world))
    for second in played.seconds:
        if not second.judged:
            continue
        answer = said.get(round(world.given.t0 + second.t))
        if not second.broken:
            score.invented += answer is not None
            if answer:
                score.wrong.append(f"seed {seed} t={second.t}: invented {answer}")
            continue
        score.broken += 1
        if answer is None:
            score.wrong.append(f"seed {seed} t={second.t}: missed {second.mechanism} by {sorted(second.guilty)}")
            continue
        score.found += 1
        right = second.guilty <= set(answer[0]) <= second.guilty | second.maybe
        score.aggressors_right += right
        score.mechanism_right += answer[1] == second.mechanism
        if not right or answer[1] != second.mechanism:
            score.wrong.append(
                f"seed {seed} t={second.t}: {second.mechanism} by {sorted(second.guilty)} (+{sorted(second.maybe)}), said {answer}"
            )


def detect(rows: list[str], slo: dict[str, object]) -> dict[int, tuple[tuple[str, ...], str]]:
    """Run the command; second -> aggressors and mechanism."""
    from wallwatch.cli.main import app

    with tempfile.TemporaryDirectory() as folder:
        series, promised = Path(folder, "series.csv"), Path(folder, "slo.json")
        series.write_text("\n".join(rows) + "\n")
        promised.write_text(json.dumps(slo))
        result = CliRunner().invoke(app, ["vnic", "detect", str(series), "--slo", str(promised), "--json"])
    if result.exit_code != 0:
        raise RuntimeError(f"exit code {result.exit_code}: {result.output[-400:]}")
    return {round(one["t"]): (tuple(one["aggressors"]), one["mechanism"]) for one in json.loads(result.stdout)["seconds"]}
