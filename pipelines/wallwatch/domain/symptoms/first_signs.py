"""First signs: what must have been seen before a symptom can begin. Pure, in the RNIC's part of the state.

Nearly every RNIC is healthy nearly always, and its windows would be searched for every sample only to find nothing. But a mean, median,
extreme or newest value of a window can reach a bound only if one of its samples does, and an event counts only if it is kept. So of each
definition one group of conditions is its sign, taken from the catalogue. A symptom whose sign is not in the window is not judged: it
could not begin. Those that have begun are judged in any case.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple
from zlib import crc32

from wallwatch.domain.catalogue.load import detected
from wallwatch.domain.catalogue.models import Bound, Condition, Definition
from wallwatch.domain.symptoms import detect, window
from wallwatch.domain.symptoms.events import Events
from wallwatch.domain.symptoms.features import is_event, is_fine
from wallwatch.domain.symptoms.rnic_state import UNKNOWN, RnicState

MARGIN = 1e-9
"""A mean of values just below a bound may be rounded up to it: a sample this close to the bound is a sign, too (share, and absolute)."""

Shown = dict[str, int]
"""`{sign: number of the newest bucket of the fine window with a sample that showed it}`."""


class _Sign(NamedTuple):
    """One of these must show."""

    events: tuple[str, ...]
    samples: tuple[tuple[str, int], ...]
    """Name of the sign, and how many buckets its window has."""


class _Signs(NamedTuple):
    """What to look for in every sample: signal, limit, and the name of the sign."""

    at_least: tuple[tuple[str, float, str], ...]
    at_most: tuple[tuple[str, float, str], ...]
    form: int
    """Changes when any of them does."""


def note(rnic_state: RnicState, at_ms: int, values: dict[str, float]) -> None:
    """Remember which signs a sample shows. To be called before its values are in the window."""
    at_least, at_most, form = _signs()
    shown: Shown | None = rnic_state.shown
    if rnic_state.signs_form != form:
        # What the window has was not looked at, by an earlier version: all of it may be a sign.
        newest = rnic_state.fine.newest_bucket()
        shown = None if newest is None else {sign: newest for _, _, sign in (*at_least, *at_most)}
        rnic_state.signs_form = form
    bucket = at_ms // window.BUCKET_MS
    if shown is not None:
        oldest = max(rnic_state.newest // window.BUCKET_MS, bucket) - window.WINDOW_MS // window.BUCKET_MS
        for sign in [sign for sign, last in shown.items() if last <= oldest]:
            del shown[sign]
    for signal, limit, sign in at_least:
        value = values.get(signal)
        if value is not None and value >= limit:
            shown = _with(shown, sign, bucket)
    for signal, limit, sign in at_most:
        value = values.get(signal)
        if value is not None and value <= limit:
            shown = _with(shown, sign, bucket)
    rnic_state.shown = shown or None


def _with(shown: Shown | None, sign: str, bucket: int) -> Shown:
    if shown is None:
        return {sign: bucket}
    shown[sign] = max(shown.get(sign, 0), bucket)
    return shown


def may_begin(definition: Definition, rnic_state: RnicState, events: Events, now_ms: int) -> bool:
    """Whether a symptom that has not begun could be judged present now."""
    sign = _signs_of().get(definition.rule)
    if sign is None or rnic_state.signs_form == UNKNOWN:
        return True
    for signal in sign.events:
        if signal in events:
            return True
    shown = rnic_state.shown
    if shown is not None:
        newest = now_ms // window.BUCKET_MS
        for name, buckets in sign.samples:
            if shown.get(name, -1) > newest - buckets:
                return True
    return False


def none_may_begin(rules: tuple[str, ...], rnic_state: RnicState, events: Events) -> bool:
    """Whether none of the symptoms of these rules could begin now: no sign shows. Most of the fleet is like that, most of the time."""
    return (
        rnic_state.signs_form != UNKNOWN
        and rnic_state.shown is None
        and (not events or _event_signs().isdisjoint(events))
        and _have_signs(rules)
    )


@cache
def _have_signs(rules: tuple[str, ...]) -> bool:
    return all(rule in _signs_of() for rule in rules)


@cache
def _event_signs() -> frozenset[str]:
    return frozenset(signal for sign in _signs_of().values() for signal in sign.events)


def read_again() -> None:
    """Take the signs from the catalogue once more: for evaluations, which move its bounds."""
    _signs_of.cache_clear()
    _event_signs.cache_clear()
    _have_signs.cache_clear()
    _kept_signs.clear()


@cache
def _signs_of() -> dict[str, _Sign]:
    """The sign of each rule of RNICs that has one."""
    found = {}
    for definition in _definitions():
        group = _group(definition)
        if group is not None:
            samples = tuple((_name(c), max(c.window_s * 1000 // window.BUCKET_MS, 1)) for c in group if not is_event(c.signal))
            found[definition.rule] = _Sign(tuple(c.signal for c in group if is_event(c.signal)), samples)
    return found


_kept_signs: list[_Signs] = []


def _signs() -> _Signs:
    if not _kept_signs:  # asked for with each sample: half the time of a decorator
        _kept_signs.append(_signs_of_samples())
    return _kept_signs[0]


def _signs_of_samples() -> _Signs:
    at_least, at_most = set(), set()
    for definition in _definitions():
        for condition in _group(definition) or ():
            if is_event(condition.signal):
                continue
            lower, upper = _lower(condition.raise_), _upper(condition.raise_)
            if lower is not None:
                at_least.add((condition.signal, lower - MARGIN * (abs(lower) + 1.0), _name(condition)))
            elif upper is not None:
                at_most.add((condition.signal, upper + MARGIN * (abs(upper) + 1.0), _name(condition)))
    limits = tuple(sorted(at_least)), tuple(sorted(at_most))
    return _Signs(*limits, crc32(repr(limits).encode()))


def _definitions() -> list[Definition]:
    return [entry.definition for entry in detected().values() if entry.definition is not None and entry.definition.scope == "rnic"]


def _group(definition: Definition) -> tuple[Condition, ...] | None:
    """The first group of conditions, one of which must hold, that only samples of the fine window or events can fulfil."""
    return next((group for group in detect.groups(definition, False) if all(map(_shows, group))), None)


def _shows(condition: Condition) -> bool:
    if is_event(condition.signal):
        lower = _lower(condition.raise_)
        return lower is not None and lower > 0.0  # no event is zero
    return is_fine(condition.signal, condition.window_s)


def _lower(bound: Bound) -> float | None:
    return bound.at_least if bound.at_least is not None else bound.above


def _upper(bound: Bound) -> float | None:
    return bound.at_most if bound.at_most is not None else bound.below


def _name(condition: Condition) -> str:
    return f"{condition.signal} {condition.raise_.text}"
