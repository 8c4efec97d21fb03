"""In which waves a remedy goes over a fleet, and what a wave's remedies say about going on. Pure."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

T = TypeVar("T")

BAD = frozenset({"failed", "refused", "expired", "not_verified", "undone", "rejected"})
"""States in which a remedy did not do what the rollout wants, or somebody took it back."""


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
    """Say what the remedies of a wave, place and state, mean for the rollout: the first bad one stops it, all verified begin the next wave.

    >>> judge({"h1": "verified", "h2": "applied"}, 2)
    ('wait', '')
    >>> judge({"h1": "verified", "h2": "verified"}, 2)
    ('next', '')
    >>> judge({"h1": "verified", "h2": "not_verified"}, 3)
    ('stop', 'the remedy on h2 is not verified')
    """
    bad = sorted(host for host, state in states.items() if state in BAD)
    if bad:
        return "stop", f"the remedy on {bad[0]} is {states[bad[0]].replace('_', ' ')}"
    done = len(states) == wanted and all(state == "verified" for state in states.values())
    return ("next" if done else "wait"), ""
