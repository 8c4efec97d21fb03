"""How the search reaches a device: it asks a `Tester`, which counts, writes down and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from wallwatch.domain.lab.device import Config

Phase = Literal["baseline", "discover", "minimise", "threshold", "boundary", "permute", "verify", "control"]
Strategy = Literal["adaptive", "exhaustive", "random", "one-factor", "pairwise"]
STRATEGIES: tuple[Strategy, ...] = ("adaptive", "exhaustive", "random", "one-factor", "pairwise")


@dataclass(frozen=True)
class Outcome:
    """The answer to one test.

    `error` stands for a device that gave no answer after all retries of the tester; `invalid` costs a test too.
    """

    status: Literal["ok", "invalid", "error"]
    symptoms: frozenset[str] = frozenset()
    metrics: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


class SearchEnd(Exception):
    """Raised by a tester: the search ends here and reports what it has, marked incomplete.

    `answered` holds the outcomes of a batch that was cut off, by position: those tests were done and count.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.answered: Mapping[int, Outcome] = {}


class BudgetReached(SearchEnd):
    """No further test is allowed: number or time."""


class Stopped(SearchEnd):
    """Somebody asked for the end, or the device cannot be used any more."""


class Tester(Protocol):
    """The device as the search sees it. Each call of `test` or `reset` costs one operation of the budget."""

    def test(self, config: Config, phase: Phase) -> Outcome: ...

    def test_all(self, configs: Sequence[Config], phase: Phase) -> list[Outcome]:
        """Several at once, where order does not matter; outcomes in the order of the configurations.

        Raises
        ------
        SearchEnd
            with the outcomes there are in `answered`
        """
        ...

    def reset(self, phase: Phase) -> None: ...


def one_by_one(test: Callable[[Config, Phase], Outcome], configs: Sequence[Config], phase: Phase) -> list[Outcome]:
    """`Tester.test_all` of a tester that runs one test at a time."""
    outcomes: list[Outcome] = []
    for config in configs:
        try:
            outcomes.append(test(config, phase))
        except SearchEnd as end:
            end.answered = dict(enumerate(outcomes))
            raise
    return outcomes


@dataclass(frozen=True)
class Options:
    """What the user asks of a search. `target` is a symptom or metric, None for all; `only` restricts the parameters that vary."""

    seed: int = 1
    target: str | None = None
    strategy: Strategy = "adaptive"
    only: tuple[str, ...] = ()
    parallel: int = 1
    budget: int | None = None
    strength: int = 3
