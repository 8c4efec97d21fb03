"""Turns a cause that the lab has found into a policy: what must not happen on hosts of the fleet, where events can show it.

A policy speaks of events in their order and of the time between them, never of a measured value: a threshold on masks, flows or contexts
is a wall of the RNIC's profile, which Wallwatch watches without a policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from wallwatch.domain.catalogue import lab
from wallwatch.domain.catalogue.load import walls


class Condition(NamedTuple):
    """One condition of a cause; all of them hold together. `last_good`: the nearest value at which nothing fails, where it is known."""

    parameter: str | None
    op: str
    value: Any
    last_good: float | None = None


class NoPolicy(ValueError):
    """No policy can express the cause; the message says why, and what does instead."""


def policy_of(conditions: Sequence[Condition]) -> dict[str, Any]:
    """The fields of a policy that forbids the cause: formula, subject, propositions, timer, title, violation and note.

    A cause needs all its conditions, so that it is enough to forbid one of them: the first that events show. `note` says so when there
    are others.

    Raises
    ------
    NoPolicy
        When no condition shows in events.

    Examples
    --------
    >>> policy_of([Condition("teardown", "before", ["release_vfs", "stop_traffic"])])["formula"]
    'G(GIVEN -> X(!RELEASE_VFS W STOP_TRAFFIC))'
    >>> policy_of([Condition("release_interval_ms", "<=", 120, 121)])["timer"]
    {'name': 'SETTLED', 'after': 'RELEASED', 'unless': None, 'seconds': 0.121}
    >>> policy_of([Condition("masks_egress", ">=", 24)])
    Traceback (most recent call last):
    wallwatch.domain.policies.of_cause.NoPolicy: A policy speaks of events, not of measured values such as masks_egress. \
Wallwatch watches it as a limit of the profile (Egress masks): write the result into the profile.
    """
    for condition in conditions:
        found = _order(condition) or _interval(condition)
        if found is not None:
            others = [other for other in conditions if other is not condition]
            note = None
            if others:
                names = ", ".join(other.parameter or "a boundary over several parameters" for other in others)
                note = f"Stricter than the cause, which also needs conditions that no event shows: {names}."[:300]
            return {**found, "note": note}
    raise NoPolicy(_why_not(conditions))


def _order(condition: Condition) -> dict[str, Any] | None:
    dimension = _dimension(condition)
    if dimension is None or condition.op != "before" or not isinstance(condition.value, list) or len(condition.value) != 2:
        return None
    early, late = (str(step) for step in condition.value)
    kinds = [dimension.events.get(step) for step in (early, late)]
    if None in kinds:
        return None
    first, then = early.upper(), late.upper()
    return {
        "formula": f"G(GIVEN -> X(!{first} W {then}))",
        "subject": "vf",
        "propositions": {
            "GIVEN": {"kind": ["cni_add"], "when": {"result": "ok"}},
            first: {"kind": [kinds[0]]},
            then: {"kind": [kinds[1]]},
        },
        "timer": None,
        "title": f"On a virtual function, {_words(late)} comes before {_words(early)}",
        "violation": f"On a virtual function, {_words(early)} came before {_words(late)}.",
    }


def _interval(condition: Condition) -> dict[str, Any] | None:
    dimension = _dimension(condition)
    if dimension is None or dimension.between is None or condition.op != "<=" or not isinstance(condition.value, int | float):
        return None
    least_ms = condition.last_good if condition.last_good is not None else condition.value + 1
    return {
        "formula": "G(RELEASED -> X(!RELEASED W SETTLED))",
        "subject": "rnic",
        "propositions": {"RELEASED": {"kind": [dimension.between]}},
        "timer": {"name": "SETTLED", "after": "RELEASED", "unless": None, "seconds": least_ms / 1000},
        "title": f"Virtual functions are released at least {least_ms:g} ms apart",
        "violation": f"Two virtual functions of the RNIC were released less than {least_ms:g} ms apart.",
    }


def _dimension(condition: Condition) -> lab.Dimension | None:
    found = lab.dimension_of(condition.parameter or "")
    return None if found is None else lab.dimensions()[found]


def _words(step: str) -> str:
    """A step of a sequence as it is quoted in a sentence."""
    return f'"{step.replace("_", " ").replace("vfs", "VFs")}"'


def _why_not(conditions: Sequence[Condition]) -> str:
    for condition in conditions:
        dimension, name = _dimension(condition), condition.parameter or ""
        measured = () if dimension is None else dimension.walls_of(name)
        if measured:
            labels = ", ".join(walls()[wall].label for wall in measured)
            return (
                f"A policy speaks of events, not of measured values such as {name}. "
                f"Wallwatch watches it as a limit of the profile ({labels}): write the result into the profile."
            )
    named = [condition.parameter for condition in conditions if condition.parameter is not None]
    if not named:
        return "No event on a host shows a boundary over several parameters."
    return f"No event on a host shows {', '.join(named)}, so no policy can watch for it."
