"""Divides a rollout into waves, and decides from the remedies of a wave whether to go on. Pure."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from wallwatch_backend.remedies.states import REMEDY

T = TypeVar("T")

STOPS = REMEDY.where(lambda state: state.over and state.outcome != "good")
"""States of a remedy that stop its rollout: it did not work, or somebody rejected or undid it."""


def waves_of(targets: Sequence[T], canary: int, growth: float) -> list[list[T]]:
    """Divide targets, in their order, into a canary and waves that grow by a factor.

    >>> [len(wave) for wave in waves_of(range(50), 1, 3)]
    [1, 3, 9, 27, 10]
    >>> waves_of(["a"], 5, 2)
    [['a']]
    """
    waves, size, at = [], float(canary), 0
    while at < len(targets):
        waves.append(list(targets[at : at + int(size)]))
        at, size = at + int(size), max(size * growth, 1)
    return waves


def judge(states: Mapping[str, str], wanted: int) -> tuple[Literal["wait", "next", "stop"], str]:
    """Decide from the remedies of a wave, state by place, how the rollout goes on.

    One that went wrong stops it; when all are confirmed (where no signal shows an effect: their changes), the next wave starts.

    >>> judge({"h1": "confirmed", "h2": "verifying"}, 2)
    ('wait', '')
    >>> judge({"h1": "confirmed", "h2": "confirmed"}, 2)
    ('next', '')
    >>> judge({"h1": "confirmed", "h2": "not_confirmed"}, 3)
    ('stop', 'the remedy on h2 was applied, but its change or its effect is not confirmed')
    """
    stopping = sorted(place for place, state in states.items() if state in STOPS)
    if stopping:
        return "stop", f"the remedy on {stopping[0]} {REMEDY[states[stopping[0]]].sentence}"
    done = len(states) == wanted and all(REMEDY[state].outcome == "good" for state in states.values())
    return ("next" if done else "wait"), ""
