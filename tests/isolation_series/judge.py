"""Compares what a detector said of a series with what is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.isolation_series.product import Answer, Said
from tests.isolation_series.series import Series
from tests.isolation_series.truth import Interval

WHOLE = 0.9


@dataclass(frozen=True)
class Wrong:
    """One interval that was judged wrongly, for whoever looks into it."""

    kind: str
    seed: int
    t: float
    what: str
    truth: str
    said: str


@dataclass
class Score:
    """Counts of one series, or of many added up."""

    series: int = 0
    judged: int = 0
    marginal: int = 0
    right: int = 0
    """Broken and reported."""
    missed: int = 0
    invented: int = 0
    aggressors_right: int = 0
    mechanism_right: int = 0
    whole: int = 0
    """Of the right: the overload fills nine tenths of the interval."""
    whole_aggressors_right: int = 0
    victims_right: int = 0
    unknown_broken: int = 0
    """Of the missed: called unknown."""
    gaps: int = 0
    gaps_unknown: int = 0
    absurd: int = 0
    refused: int = 0
    wrong: list[Wrong] = field(default_factory=list)

    @property
    def precision(self) -> float | None:
        """Part of the reported intervals that are broken; None where none is reported."""
        return part(self.right, self.right + self.invented)

    @property
    def recall(self) -> float | None:
        """Part of the broken intervals that are reported; None where none is broken."""
        return part(self.right, self.right + self.missed)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both."""
        return part(2 * self.right, 2 * self.right + self.missed + self.invented)

    @property
    def aggressors(self) -> float | None:
        """Part of the reported broken intervals whose set of aggressors is exactly the true one."""
        return part(self.aggressors_right, self.right)

    @property
    def whole_aggressors(self) -> float | None:
        """The same where the overload fills nine tenths of the interval."""
        return part(self.whole_aggressors_right, self.whole)

    @property
    def mechanism(self) -> float | None:
        """Part of the reported broken intervals whose mechanism is the true one."""
        return part(self.mechanism_right, self.right)

    @property
    def victims(self) -> float | None:
        """Part of the reported broken intervals whose set of victims is exactly the true one."""
        return part(self.victims_right, self.right)

    @property
    def unknown_gaps(self) -> float | None:
        """Part of the intervals without rows that are called unknown."""
        return part(self.gaps_unknown, self.gaps)


COUNTS = tuple(name for name, kind in Score.__annotations__.items() if kind == "int")


def part(count: int, of: int) -> float | None:
    """A share, or None of nothing."""
    return count / of if of else None


def total(scores: Iterable[Score]) -> Score:
    """All scores added up."""
    result = Score()
    for score in scores:
        for name in COUNTS:
            setattr(result, name, getattr(result, name) + getattr(score, name))
        result.wrong += score.wrong
    return result


def judge(series: Series, answer: Answer) -> Score:
    """Compare an answer with the truth. Marginal intervals are not judged; those without rows may only be unknown."""
    score = Score(series=1, absurd=len(answer.absurd))
    intervals = series.telemetry.intervals()
    occurs = Counter(round(one.t, 3) for one in intervals)
    for interval in intervals:
        t = round(interval.t, 3)
        said, unknown = answer.broken.get(t), t in answer.unknown
        if occurs[t] > 1:
            score.marginal += 1
            continue
        for what in compare(score, interval, said, unknown):
            right = (
                f"{interval.mechanism}, {interval.aggressors} (perhaps {interval.doubtful}) hurt {interval.victims}"
                if interval.broken
                else "not broken"
            )
            right += f" (load {interval.load}, busy {interval.busy}, lost {interval.lost})"
            score.wrong.append(Wrong(series.kind, series.seed, t, what, right, str(said)))
    return score


def compare(score: Score, interval: Interval, said: Said | None, unknown: bool) -> list[str]:
    """Count one interval; return what is wrong about it."""
    if interval.gap:
        score.gaps += 1
        score.gaps_unknown += unknown and said is None
        return [] if unknown and said is None else ["gap not unknown"]
    if interval.marginal:
        score.marginal += 1
        return []
    score.judged += 1
    if not interval.broken:
        score.invented += said is not None
        return ["invented"] if said else []
    if said is None:
        score.missed += 1
        score.unknown_broken += unknown
        return ["missed, called unknown" if unknown else "missed"]
    score.right += 1
    score.whole += interval.busy >= WHOLE
    wrong = []
    if set(interval.aggressors) <= set(said.aggressors) <= set(interval.aggressors) | set(interval.doubtful):
        score.aggressors_right += 1
        score.whole_aggressors_right += interval.busy >= WHOLE
    else:
        wrong.append("other aggressors")
    if said.mechanism == interval.mechanism:
        score.mechanism_right += 1
    else:
        wrong.append("other mechanism")
    score.victims_right += set(said.victims) - set(interval.doubtful) == set(interval.victims) - set(interval.doubtful)
    return wrong
