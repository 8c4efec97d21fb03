"""Matches findings with truths. The rules are the constants here; docs/evaluation.md explains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.evaluation.scoring.replay import Episode, Replay

from wallwatch.recordings import Truth

SYMPTOMS = tuple(f"S{i}" for i in range(1, 9))
HOST_SYMPTOMS = frozenset({"S2", "S3", "silent"})
"""Matched by host: a kernel that hangs or crashes affects all RNICs, whichever one the finding names."""
GRADUAL = frozenset({"S1", "S4", "S5", "S6"})
"""Visible in samples only, never in events: a symptom shorter than two samples may leave no trace."""

WATCHDOG_MS = 20_000
"""Time until the kernel's watchdog reports: a hang that a crash ends earlier is reported as the crash."""
DARK = frozenset({"S2", "S3"})
"""While the kernel hangs or boots, nothing is sampled, so gradual symptoms are invisible."""

EARLY_MS = 30_000
"""A finding may be raised this long before the truth begins: truths have periods of 5 s and their own thresholds."""
JOIN_MS = 120_000
"""Truths of one symptom and place with a shorter pause count as one: an operator would not see two."""
LATE_MS, LATE_SAMPLES = 60_000, 6
"""A finding may be raised this long, or this many samples, after the truth ends, whichever is later: a booting host sends nothing."""
LINGER_MS = 180_000
"""A finding that is still active this long after the truth ends is a separate error (`outstays`)."""
BRIEF_MS, BRIEF_SAMPLES = 20_000, 2
"""A gradual symptom that is shorter than both is excluded: it never counts as missed."""
LAST_MS, LAST_SAMPLES = 60_000, 5
"""A truth that begins this close to the end of the recording and is not found by then is excluded."""
INCIDENT_MS = 900_000
"""False findings of one symptom and place with a shorter pause are one false incident, as with the backend's hold time."""
GAP_FACTOR, GAP_MS = 4, 60_000
"""`silent` is right while no sample came for this many intervals and at least this long."""


@dataclass(slots=True)
class Judged:
    """A truth and the findings about it."""

    truth: Truth
    """The first of the joined truths."""
    onset_ms: int
    """When it must be found: the beginning of the first truth that is not brief."""
    end_ms: int
    outcome: str
    """`found`, `missed`; excluded and not found: `brief`, `cut` (too close to the recording's end) and `marginal`.

    Findings about a marginal truth are in `episodes`.
    """
    instead: str = ""
    """The symptom that was detected instead."""
    delay_ms: int = 0
    delay_samples: int = 0
    first_ranking: list[str] = field(default_factory=list)
    ranking: list[str] = field(default_factory=list)
    """The last ranking before the truth ended, which the incident shows at the end."""
    repeats: int = 0
    """How often the symptom was cleared and raised again in between."""
    outstays_ms: int = 0
    """How long a finding stayed active after the end, if longer than LINGER_MS."""
    episodes: list[Episode] = field(default_factory=list)


@dataclass(slots=True)
class False_:
    """One false incident."""

    symptom: str
    host: str
    pci: str
    from_ms: int
    to_ms: int
    episodes: list[Episode]
    near_symptom: str = ""
    """A real symptom at this place and time; empty on a healthy RNIC."""
    in_place_of: str = ""
    """The missed symptom that is confused with this one."""


def concerns(truth: Truth, symptom: str, host: str, pci: str) -> bool:
    """Whether a truth and a finding concern the same place."""
    return truth.host == host and (truth.symptom in HOST_SYMPTOMS or symptom in HOST_SYMPTOMS or "" in (pci, truth.pci) or truth.pci == pci)


@dataclass(slots=True)
class Stretch:
    """Truths that an operator would see as one."""

    truth: Truth
    onset_ms: int
    end_ms: int
    brief: bool


def joined(truths: Sequence[Truth], end_ms: int, interval_ms: int) -> list[Stretch]:
    """Truths of one symptom and place with short pauses between them become one, which is brief when each of them is."""
    limit = max(BRIEF_MS, BRIEF_SAMPLES * interval_ms)
    dark = [t for t in truths if t.symptom in DARK and not t.marginal]
    found: list[Stretch] = []
    for truth in sorted(truths, key=lambda t: t.from_ms):
        to = end_ms if truth.to_ms is None else truth.to_ms
        brief = truth.symptom in GRADUAL and _longest_seen(truth, to, dark, end_ms) < limit
        if truth.symptom == "S2":
            brief = _longest_seen(truth, to, [d for d in dark if d.symptom == "S3"], end_ms) < WATCHDOG_MS
        for one in found:
            same = one.truth.symptom == truth.symptom and concerns(one.truth, truth.symptom, truth.host, truth.pci)
            if same and truth.from_ms - one.end_ms <= JOIN_MS:
                if one.brief and not brief:
                    one.onset_ms, one.brief = truth.from_ms, False
                one.end_ms = max(to, one.end_ms)
                break
        else:
            found.append(Stretch(truth, truth.from_ms, to, brief))
    return found


def _longest_seen(truth: Truth, to: int, dark: Sequence[Truth], end_ms: int) -> int:
    """The longest part of a truth without a hang or crash of its host."""
    longest, upto = 0, truth.from_ms
    for one in sorted((d for d in dark if d.host == truth.host), key=lambda d: d.from_ms):
        longest = max(longest, min(one.from_ms, to) - upto)
        upto = max(upto, end_ms if one.to_ms is None else one.to_ms)
    return max(longest, to - upto)


def match(truths: Sequence[Truth], replay: Replay, interval_ms: int) -> tuple[list[Judged], list[False_]]:
    """Match each truth with findings, and group the remaining findings into false incidents.

    Parameters
    ----------
    truths : sequence of Truth
    replay : Replay
        The findings of the same recording.
    interval_ms : int
        Of the samples.
    """
    left = {id(e): e for e in replay.episodes if not _silence_is_real(e, replay, interval_ms)}
    near = _near([t for t in truths if t.marginal], list(left.values()), replay, interval_ms)
    judged: list[Judged] = []
    claimed = {id(e) for one in near for e in one.episodes}
    real: set[int] = set()
    for stretch in joined([t for t in truths if not t.marginal], replay.last_ms, interval_ms):
        judged.append(_judge(stretch, list(left.values()), claimed, replay, interval_ms))
        real |= {id(e) for e in judged[-1].episodes}
        claimed |= real
    for key in claimed:
        left.pop(key, None)
    false = _incidents(list(left.values()), judged, replay.last_ms)
    for one in judged:
        if one.outcome == "missed":
            _confuse(one, false)
    for one in near:
        one.episodes = [e for e in one.episodes if id(e) not in real]
    return judged + [one for one in near if not _is_edge(one, judged)], false


def _near(truths: Sequence[Truth], episodes: Sequence[Episode], replay: Replay, interval_ms: int) -> list[Judged]:
    """Marginal truths with the findings about them, which are neither right nor wrong."""
    found = []
    for stretch in joined(truths, replay.last_ms, interval_ms):
        one = _judge(stretch, episodes, set(), replay, interval_ms)
        found.append(Judged(one.truth, one.onset_ms, one.end_ms, "marginal", episodes=one.episodes))
    return found


def _is_edge(near: Judged, judged: Sequence[Judged]) -> bool:
    """Whether it is the beginning or end of a real truth rather than a separate case."""
    truth = near.truth
    return not near.episodes and any(
        one.truth.symptom == truth.symptom
        and concerns(one.truth, truth.symptom, truth.host, truth.pci)
        and one.truth.from_ms <= near.end_ms
        and truth.from_ms <= one.end_ms
        for one in judged
    )


def _silence_is_real(episode: Episode, replay: Replay, interval_ms: int) -> bool:
    if episode.symptom != "silent":
        return False
    gaps = replay.gaps(episode.host, max(GAP_MS, GAP_FACTOR * interval_ms))
    return any(a <= episode.raised_ms <= b + LATE_MS for a, b in gaps)


def _judge(stretch: Stretch, episodes: Sequence[Episode], claimed: set[int], replay: Replay, interval_ms: int) -> Judged:
    truth, end = stretch.truth, stretch.end_ms
    begin, onset = max(truth.from_ms, replay.first_ms), max(stretch.onset_ms, replay.first_ms)
    found = [
        e
        for e in episodes
        if e.symptom == truth.symptom
        and concerns(truth, e.symptom, e.host, e.pci)
        and _overlaps(e, id(e) in claimed, truth, begin, end, replay, interval_ms)
    ]
    if not found:
        cut = replay.last_ms - onset < max(LAST_MS, LAST_SAMPLES * interval_ms)
        return Judged(truth, onset, end, "brief" if stretch.brief else "cut" if cut else "missed")
    found.sort(key=lambda e: e.raised_ms)
    raised = found[0].raised_ms
    rankings = sorted((r for e in found for r in e.rankings), key=lambda r: r[0])
    inside = [r for r in rankings if r[0] <= end + interval_ms] or rankings[:1]
    outstays = max(e.end_ms(replay.last_ms) for e in found) - end
    return Judged(
        truth,
        onset,
        end,
        "found",
        delay_ms=max(0, raised - onset),
        delay_samples=replay.samples_between(truth.host, truth.pci, onset, max(onset, raised)),
        first_ranking=rankings[0][1] if rankings else [],
        ranking=inside[-1][1] if inside else [],
        repeats=len(found) - 1,
        outstays_ms=outstays if outstays > LINGER_MS else 0,
        episodes=found,
    )


def _overlaps(episode: Episode, claimed: bool, truth: Truth, begin: int, end: int, replay: Replay, interval_ms: int) -> bool:
    if episode.end_ms(replay.last_ms) < begin - EARLY_MS:
        return False
    if begin - EARLY_MS <= episode.raised_ms <= end + LATE_MS:
        return True
    if episode.raised_ms < begin:
        return claimed  # it continues from an earlier truth, or was raised without reason long before
    return replay.samples_between(truth.host, truth.pci, end, episode.raised_ms) <= LATE_SAMPLES


def _incidents(episodes: list[Episode], judged: list[Judged], last_ms: int) -> list[False_]:
    found: list[False_] = []
    for episode in sorted(episodes, key=lambda e: e.raised_ms):
        end = episode.end_ms(last_ms)
        for one in found:
            same = (one.symptom, one.host, one.pci) == (episode.symptom, episode.host, episode.pci)
            if same and episode.raised_ms - one.to_ms <= INCIDENT_MS:
                one.to_ms = max(one.to_ms, end)
                one.episodes.append(episode)
                break
        else:
            found.append(False_(episode.symptom, episode.host, episode.pci, episode.raised_ms, end, [episode]))
    for one in found:
        near = [j.truth.symptom for j in judged if _disturbs(j, one.symptom, one.host, one.pci, one.from_ms, one.from_ms)]
        one.near_symptom = near[0] if near else ""
    return found


def _disturbs(judged: Judged, symptom: str, host: str, pci: str, from_ms: int, to_ms: int) -> bool:
    """Whether a real symptom is active at this place or ended a short time before."""
    return concerns(judged.truth, symptom, host, pci) and judged.truth.from_ms - EARLY_MS <= to_ms and from_ms <= judged.end_ms + LINGER_MS


def _confuse(missed: Judged, false: list[False_]) -> None:
    for one in false:
        if not one.in_place_of and _disturbs(missed, one.symptom, one.host, one.pci, one.from_ms, one.to_ms):
            one.in_place_of, missed.instead = missed.truth.symptom, one.symptom
            return


def healthy_ms(host: str, pci: str, judged: Sequence[Judged], first_ms: int, last_ms: int) -> int:
    """How long an RNIC was healthy, excluding a short time after each symptom."""
    sick = sorted(
        (max(first_ms, j.truth.from_ms - EARLY_MS), min(last_ms, j.end_ms + LINGER_MS)) for j in judged if concerns(j.truth, "", host, pci)
    )
    total, upto = last_ms - first_ms, first_ms
    for a, b in sick:
        total -= max(0, b - max(a, upto))
        upto = max(upto, b)
    return total
