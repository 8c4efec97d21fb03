"""In which order a rollout is taken back: its waves from the last to the first, one target alone before all others. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Place = tuple[str, str | None]
Standing = Literal["nothing", "waits", "to_undo", "asked", "undone", "failed", "silent"]
"""Of a target: nothing to take back, still being applied, to be taken back, asked to, done, failed there, or no answer from the host."""


@dataclass(frozen=True)
class Next:
    """What to do now: ask these targets and look again, end, or hold on and say why."""

    verdict: Literal["wait", "done", "halt"]
    ask: tuple[Place, ...] = ()
    why: str = ""


def next_undo(waves: Sequence[Mapping[Place, Standing]], most: int, *, despite_failures: bool = False) -> Next:
    """Say what comes next when at most `most` targets may be asked at once.

    A failure holds everything up, since the next target may fail alike; a host that does not answer is left behind and named at the end.

    >>> waves = [{("h1", None): "to_undo"}, {("h2", None): "to_undo", ("h3", None): "to_undo"}]
    >>> next_undo(waves, 3).ask  # one alone
    (('h2', None),)
    >>> next_undo([waves[0], {("h2", None): "undone", ("h3", None): "to_undo"}], 3).ask
    (('h3', None),)
    >>> next_undo([waves[0], {("h2", None): "undone", ("h3", None): "failed"}], 3).why
    'h3 could not be taken back'
    >>> next_undo([{("h1", None): "undone"}, {("h2", None): "nothing"}], 3).verdict
    'done'
    """
    standings = [standing for wave in waves for standing in wave.values()]
    room = (most if "undone" in standings else 1) - standings.count("asked")
    for wave in reversed(waves):
        failed = _named(wave, "failed")
        if failed and not despite_failures:
            return Next("halt", why=f"{failed} could not be taken back")
        to_undo = [place for place, standing in wave.items() if standing == "to_undo"]
        if to_undo or any(standing in ("waits", "asked") for standing in wave.values()):
            return Next("wait", ask=tuple(to_undo[: max(room, 0)]))
    left = {place: standing for wave in waves for place, standing in wave.items() if standing in ("failed", "silent")}
    if left:
        whats = [f"{_named(left, 'failed')} could not be taken back", f"{_named(left, 'silent')} did not answer"]
        return Next("halt", why="; ".join(what for what in whats if not what.startswith(" ")))
    return Next("done")


def _named(wave: Mapping[Place, Standing], wanted: Standing, most: int = 3) -> str:
    """The targets that stand so, in words: the first few and how many more; empty when none does."""
    names = sorted(f"{host} {pci or ''}".strip() for (host, pci), standing in wave.items() if standing == wanted)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
