"""Symptoms that hide others though the device goes on: the hidden one only seems to need that the other's cause does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from wallwatch.domain.lab.conditions import Cause, Condition
from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.sampling import Sampler

EXAMPLES = 5


def hides(judge: Judge, sampler: Sampler, other: Cause, cause: Cause, known: Sequence[Cause]) -> bool:
    """Whether the other cause hides the symptom of this one.

    It does where the symptom shows without the other cause though a condition is broken; one test is spent on each condition that
    contradicts the other cause. A condition that says no more than that the other cause does not hold is taken to be none: nothing could
    tell, and without it the cause is simpler.
    """
    symptom, shown = cause.signal.symptom, other.signal.symptom
    if symptom is None or shown is None or symptom == shown or (symptom, shown) in judge.interference.together:
        return False
    if judge.interference.hides(shown, symptom) or judge.interference.hides(symptom, shown):
        return False
    same = [one for one in known if one.signal == cause.signal]
    for condition in cause.conditions:
        rest = [one for one in cause.conditions if one is not condition]
        theirs = [one for one in other.conditions if set(one.parameters) & set(condition.parameters)]
        if not rest or not theirs or sampler.inside([condition, *theirs], [], corner=False) is not None:
            continue
        if _is_the_opposite(sampler, condition, cause, other):
            return True
        config = sampler.inside([*rest, *theirs], [other, *same], corner=False)
        if config is not None and not condition.holds(config) and judge.decide(config, cause.signal, "verify"):
            return True
    return False


def _is_the_opposite(sampler: Sampler, condition: Condition, cause: Cause, other: Cause) -> bool:
    """Whether the other cause holds wherever the condition is broken."""
    kept = [name for one in cause.conditions for name in one.parameters]
    for number in range(2 * EXAMPLES):
        inside = sampler.inside(cause.conditions, [], corner=False)
        broken = None if inside is None else sampler.broken(inside, condition, number < EXAMPLES, kept)
        if broken is None or not other.holds(broken):
            return False
    return True
