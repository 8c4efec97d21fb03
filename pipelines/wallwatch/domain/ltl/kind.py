"""What can be monitored at all, and what a violation looks like, in words."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

from wallwatch.domain.ltl.automaton import Steps
from wallwatch.domain.ltl.fairness import FairPaths
from wallwatch.domain.ltl.formula import Formula
from wallwatch.domain.ltl.limits import Budget, Limits
from wallwatch.domain.ltl.monitor import Compiler, Monitor
from wallwatch.domain.ltl.parse import parse

Cube = tuple[tuple[str, bool], ...]
"""Propositions that a step must show or must not show; the others are free."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`safety`: each word that violates does so after finitely many steps; `co_safety`: each that satisfies does.

    `monitorable` (Pnueli, Zaks 2006): whatever has happened, some continuation brings a verdict.
    """

    safety: bool
    co_safety: bool
    monitorable: bool

    @property
    def name(self) -> str:
        if self.safety and self.co_safety:
            return "safety and co-safety"
        if self.safety or self.co_safety:
            return "safety" if self.safety else "co-safety"
        return "neither safety nor co-safety, but monitorable" if self.monitorable else "non-monitorable"


@dataclass(frozen=True, slots=True)
class Checked:
    """A formula's monitor, its kind, and shortest traces that violate it."""

    monitor: Monitor
    kind: Kind
    violations: tuple[tuple[Cube, ...], ...]

    def words(self) -> str:
        """What a violation looks like, as a sentence."""
        verdict = self.monitor.verdicts[0]
        if verdict == "T":
            return "Nothing can violate it: the formula is valid."
        if verdict == "F":
            return "Everything violates it: no trace can satisfy the formula."
        if not self.violations:
            return (
                "No finite trace violates it: it waits without a time limit. Add a timeout event, "
                "such as !timeout U answer instead of F answer."
            )
        steps = len(self.violations[0])
        begin = f"Violated after {steps} step{'s' if steps > 1 else ''} at the earliest: "
        return begin + "; or ".join(trace_in_words(trace) for trace in self.violations) + "."


def trace_in_words(trace: tuple[Cube, ...]) -> str:
    """Steps joined by "then"."""
    return ", then ".join(cube_in_words(cube) for cube in trace)


def cube_in_words(cube: Cube) -> str:
    """Such as `a without b`."""
    present = " with ".join(name for name, holds in cube if holds)
    absent = " or ".join(name for name, holds in cube if not holds)
    if present and absent:
        return f"{present} without {absent}"
    if absent:
        return f"a step without {absent}"
    return present or "any step"


def check(formula: Formula | str, limits: Limits | None = None) -> Checked:
    """Compile and classify a formula.

    Raises
    ------
    SyntaxProblem, TooComplex
        As `compiled`.

    Examples
    --------
    >>> check("G(a -> X b)").kind.name
    'safety'
    >>> check("a -> X b").words()
    'Violated after 2 steps at the earliest: a, then a step without b.'
    """
    if isinstance(formula, str):
        formula = parse(formula)
    budget = Budget(limits or Limits())
    compiler = Compiler(formula, formula.propositions(), budget)
    monitor = compiler.monitor()
    terms = compiler.terms
    it, its_negation = terms.of(formula), terms.of(formula, positive=False)
    kind = Kind(
        safety=not terms.has("until", it) or not _escapes(compiler, monitor, compiler.against_it, "F", budget),
        co_safety=not terms.has("until", its_negation) or not _escapes(compiler, monitor, compiler.for_it, "T", budget),
        monitorable=not monitor.hopeless,
    )
    return Checked(monitor, kind, _shortest(monitor, "F"))


def _escapes(compiler: Compiler, monitor: Monitor, state: int, verdict: str, budget: Budget) -> bool:
    """Whether some word of the automaton's state never reaches the verdict: the product with the rest of the monitor is not empty."""
    if verdict not in monitor.verdicts:
        return monitor.verdicts[0] == "?"
    memo: dict[tuple[int, int], int] = {}
    diagrams, found = compiler.diagrams, {}

    def pair(a: Hashable, b: Hashable) -> Hashable:
        return (a, b) if isinstance(a, int) else (b, a)

    def edges(node: tuple[int, int]) -> list[tuple[tuple[int, int], int]]:
        if node not in found:
            joined = diagrams.combine(pair, memo, monitor.steps[node[0]], compiler.automaton.step_of(node[1]))
            targets: set[tuple[tuple[int, int], int]] = set()
            for leaf in diagrams.leaves(joined):
                following, steps = cast(tuple[int, Steps], diagrams.value(leaf))
                if monitor.verdicts[following] != verdict:
                    targets.update(((following, left), put_off) for left, put_off in steps)
            found[node] = sorted(targets)
        return found[node]

    return monitor.verdicts[0] != verdict and FairPaths(edges, budget).begin_at((0, state))


def _shortest(monitor: Monitor, verdict: str, most: int = 3) -> tuple[tuple[Cube, ...], ...]:
    """Up to `most` of the shortest ways to a verdict, those that ask for the fewest propositions first."""
    if verdict not in monitor.verdicts or monitor.verdicts[0] == verdict:
        return ()
    layer: dict[int, list[tuple[Cube, ...]]] = {0: [()]}
    seen = {0}
    while layer:
        following: dict[int, list[tuple[Cube, ...]]] = {}
        done: list[tuple[Cube, ...]] = []
        for state, traces in layer.items():
            for asked, target in monitor.diagrams.paths(monitor.steps[state]):
                cube = tuple(sorted((monitor.propositions[variable], holds) for variable, holds in asked.items()))
                longer = [(*trace, cube) for trace in traces]
                if monitor.verdicts[cast(int, target)] == verdict:
                    done.extend(longer)
                elif target not in seen:
                    kept = following.setdefault(cast(int, target), [])
                    kept.extend(longer)
                    del kept[most:]
        if done:
            return tuple(sorted(done, key=lambda trace: (sum(map(len, trace)), trace))[:most])
        seen.update(following)
        layer = following
    return ()
