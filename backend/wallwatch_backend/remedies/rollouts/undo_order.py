"""In which order a rollout is rolled back: its waves from last to first, one target alone before all others. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Place = tuple[str, str | None]
Standing = Literal["nothing", "applying", "to_undo", "requested", "undone", "failed", "silent"]
"""Of a target: nothing to undo, still being applied, to be undone, undo requested, undone, undo failed, or no answer from the host."""


@dataclass(frozen=True)
class Next:
    """What to do now: undo these targets and look again, end, or halt for a reason."""

    verdict: Literal["wait", "done", "halt"]
    undo: tuple[Place, ...] = ()
    why: str = ""


def next_undo(waves: Sequence[Mapping[Place, Standing]], most: int, *, despite_failures: bool = False) -> Next:
    """Decide what comes next when at most `most` targets may be undone at once.

    A failure halts everything, since the next target may fail the same way; a host that does not answer is skipped and named at the end.

    >>> waves = [{("h1", None): "to_undo"}, {("h2", None): "to_undo", ("h3", None): "to_undo"}]
    >>> next_undo(waves, 3).undo  # one alone
    (('h2', None),)
    >>> next_undo([waves[0], {("h2", None): "undone", ("h3", None): "to_undo"}], 3).undo
    (('h3', None),)
    >>> next_undo([waves[0], {("h2", None): "undone", ("h3", None): "failed"}], 3).why
    'h3 could not be undone'
    >>> next_undo([{("h1", None): "undone"}, {("h2", None): "nothing"}], 3).verdict
    'done'
    """
    standings = [standing for wave in waves for standing in wave.values()]
    room = (most if "undone" in standings else 1) - standings.count("requested")
    for wave in reversed(waves):
        failed = _named(wave, "failed")
        if failed and not despite_failures:
            return Next("halt", why=f"{failed} could not be undone")
        to_undo = [place for place, standing in wave.items() if standing == "to_undo"]
        if to_undo or any(standing in ("applying", "requested") for standing in wave.values()):
            return Next("wait", undo=tuple(to_undo[: max(room, 0)]))
    left = {place: standing for wave in waves for place, standing in wave.items() if standing in ("failed", "silent")}
    if left:
        whats = [f"{_named(left, 'failed')} could not be undone", f"{_named(left, 'silent')} did not answer"]
        return Next("halt", why="; ".join(what for what in whats if not what.startswith(" ")))
    return Next("done")


def _named(wave: Mapping[Place, Standing], wanted: Standing, most: int = 3) -> str:
    """The targets with this standing, in words: the first few and how many more; empty when there are none."""
    names = sorted(f"{host} {pci or ''}".strip() for (host, pci), standing in wave.items() if standing == wanted)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
