"""What has to be reached, by kind of series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.isolation_series.judge import Score


@dataclass(frozen=True)
class Bar:
    """One figure and what it has to reach; `ours` where the specification names none."""

    figure: str
    of: Callable[[Score], float | None]
    least: float | None = None
    most: float | None = None
    ours: bool = False

    def reached(self, score: Score) -> bool:
        """Whether a score reaches it; a figure of nothing does."""
        value = self.of(score)
        if value is None:
            return True
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def words(self) -> str:
        """The bar as one would say it."""
        return f"{self.figure} ≥ {self.least:g}" if self.least is not None else f"{self.figure}: {self.most:g}"


def precision(least: float, ours: bool = False) -> Bar:
    """At least so precise."""
    return Bar("precision", lambda score: score.precision, least, ours=ours)


def recall(least: float, ours: bool = False) -> Bar:
    """At least so complete."""
    return Bar("recall", lambda score: score.recall, least, ours=ours)


def aggressors(least: float, ours: bool = False) -> Bar:
    """The set of aggressors exact at least so often."""
    return Bar("aggressors exact", lambda score: score.aggressors, least, ours=ours)


def mechanism(least: float, ours: bool = False) -> Bar:
    """The mechanism right at least so often."""
    return Bar("mechanism right", lambda score: score.mechanism, least, ours=ours)


NONE_REPORTED = Bar("reported", lambda score: float(score.invented), most=0)
NOTHING_ABSURD = Bar("negative or giant rates", lambda score: float(score.absurd), most=0)
GAPS_UNKNOWN = Bar("gaps unknown", lambda score: score.unknown_gaps, 1.0)
OVERLOAD = (precision(0.99), recall(0.99), aggressors(1.0), mechanism(1.0))

BARS: dict[str, tuple[Bar, ...]] = {
    "packet storm": OVERLOAD,
    "bandwidth burst": OVERLOAD,
    "single seconds": OVERLOAD,
    "egress blocking": (precision(0.97, ours=True), recall(0.97), aggressors(0.95, ours=True), mechanism(1.0)),
    "near miss": (NONE_REPORTED,),
    "beyond its envelope": (NONE_REPORTED,),
    "dirty": (precision(0.97), recall(0.94), aggressors(0.97, ours=True), mechanism(0.97, ours=True), GAPS_UNKNOWN, NOTHING_ABSURD),
    "many VFs": (Bar("F1", lambda score: score.f1, 0.97), aggressors(0.95), mechanism(0.95, ours=True)),
    "early": (precision(0.97, True), recall(0.97, True), aggressors(0.95, True), mechanism(0.95, True)),
    "mixed day": (precision(0.97, True), recall(0.97, True), aggressors(0.95, True), mechanism(0.95, True)),
    "ten seconds": (precision(0.97, True), recall(0.97, True), aggressors(0.95, True), mechanism(0.95, True)),
}


def missed_bars(kind: str, score: Score) -> list[str]:
    """The bars that a score of a kind does not reach, in words, with what it has."""
    refused = [f"refused by the command: {score.refused} series"] if score.refused else []
    return refused + [f"{bar.words()} (has {bar.of(score):.4g})" for bar in BARS[kind] if not bar.reached(score)]
