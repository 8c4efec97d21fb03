"""Which incident a finding belongs to: a pure decision, tested with tables of cases.

In order: the same symptom of the same RNIC; a host's crash or silence, which inhibits its RNICs; a cause or a related symptom on the
same host; a recently resolved incident; then, across hosts, the same firmware and the same rack.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from wallwatch.domain.catalogue.grouping import Grouping, Related, Spread


@dataclass(frozen=True)
class Member:
    """The part of a finding that grouping uses. `cause` is None if none is likely enough; times are event times."""

    host: str
    pci: str
    rack: str
    symptom: str
    cause: str | None
    fw_ver: str
    started_at: datetime
    ended_at: datetime | None = None
    """None while it is active."""

    def same_subject(self, other: "Member") -> bool:
        return (self.host, self.pci, self.symptom) == (other.host, other.pci, other.symptom)


@dataclass(frozen=True)
class Candidate:
    """An incident that the finding may belong to."""

    id: UUID
    opened_at: datetime
    members: tuple[Member, ...]
    resolved_at: datetime | None = None
    wide: bool = False
    """It spans hosts; `members` has only the findings that matter for this decision."""
    apart: bool = False
    """Someone split it: it takes findings of its own subjects only."""


@dataclass(frozen=True)
class Decision:
    """What to do with a finding: open an incident (`join` is None), or join one after merging others into it."""

    join: UUID | None = None
    merge: tuple[UUID, ...] = ()
    reopen: bool = False
    inhibited: bool = False
    why: str = ""


def decide(finding: Member, candidates: Iterable[Candidate], rules: Grouping, reopen_within: timedelta) -> Decision:
    """Decide where a finding belongs.

    `candidates` are the incidents of the finding's host and those that share its symptom and cause, unresolved or recently resolved.
    """
    every = sorted(candidates, key=lambda c: (c.opened_at, c.id))
    unresolved = [c for c in every if c.resolved_at is None]
    own = _own(finding, unresolved)
    if own is not None and own.apart:
        return Decision(join=own.id, why="the same symptom of the same RNIC")
    free = [c for c in unresolved if not c.apart]
    inhibitor = _inhibitor(finding, free, rules) if own is None else None
    if inhibitor is not None:
        return Decision(join=inhibitor[0].id, inhibited=True, why=inhibitor[1])
    near = [(own, "the same symptom of the same RNIC")] if own is not None else []
    near += _related(finding, [c for c in free if c is not own], rules)
    near += _inhibited(finding, [c for c in free if c not in [n[0] for n in near]], rules)
    wide = _spread(finding, free, rules)
    if not near and not wide:
        return _reopened(finding, every, reopen_within) or Decision()
    group = {c.id: c for c, _ in [*wide, *near]}
    oldest = min(group.values(), key=lambda c: (c.opened_at, c.id))
    why = (wide or near)[0][1]
    return Decision(join=oldest.id, merge=tuple(c.id for c in group.values() if c is not oldest), why=why)


Reasoned = list[tuple[Candidate, str]]
"""Incidents, each with the reason why the finding belongs to it."""


def _own(finding: Member, unresolved: Sequence[Candidate]) -> Candidate | None:
    """The incident that already has this symptom of this RNIC; of several, one in which it is still active."""
    matching = [
        (any(m.ended_at is None for m in same), c) for c in unresolved if (same := [m for m in c.members if m.same_subject(finding)])
    ]
    return max(matching, key=lambda f: (f[0], f[1].opened_at))[1] if matching else None


def _inhibitor(finding: Member, free: Sequence[Candidate], rules: Grouping) -> tuple[Candidate, str] | None:
    if rules.rank(finding.symptom):
        return None
    for rule in rules.inhibitors:
        before, after = timedelta(seconds=rule.before_s), timedelta(seconds=rule.after_s)
        for candidate in free:
            for m in candidate.members:
                if (
                    m.symptom == rule.symptom
                    and m.host == finding.host
                    and m.started_at - before <= finding.started_at
                    and (m.ended_at is None or finding.started_at <= m.ended_at + after)
                ):
                    return candidate, rule.why
    return None


def _inhibited(finding: Member, free: Sequence[Candidate], rules: Grouping) -> Reasoned:
    """Incidents of the host that started around a crash or silence that is only known now; earlier ones stay as they are."""
    rule = next((r for r in rules.inhibitors if r.symptom == finding.symptom), None)
    if rule is None:
        return []
    since = finding.started_at - timedelta(seconds=rule.before_s)
    until = None if finding.ended_at is None else finding.ended_at + timedelta(seconds=rule.after_s)
    matching: Reasoned = []
    for c in free:
        started = min((m.started_at for m in c.members), default=None)
        if not c.wide and started is not None and since <= started and (until is None or started <= until):
            matching.append((c, rule.why))
    return matching


def _related(finding: Member, free: Sequence[Candidate], rules: Grouping) -> Reasoned:
    window = timedelta(seconds=rules.window_s)
    matching: Reasoned = []
    for candidate in free:
        for m in candidate.members:
            if m.host == finding.host:
                why = _relation(finding, m, rules, window)
                if why is not None:
                    matching.append((candidate, why))
                    break
    return matching


def _near(a: Member, b: Member, window: timedelta) -> bool:
    """Whether one starts while the other lasts, or within the window after that."""
    first, last = sorted((a, b), key=lambda m: m.started_at)
    return first.ended_at is None or last.started_at <= first.ended_at + window


def _relation(a: Member, b: Member, rules: Grouping, window: timedelta) -> str | None:
    same_rnic = a.pci == b.pci or "" in (a.pci, b.pci)
    if not _near(a, b, window):
        return None
    if same_rnic and a.symptom != b.symptom and (a.symptom in rules.absorbed or b.symptom in rules.absorbed):
        return "a known symptom of the same RNIC explains it"
    # The same cause on two RNICs since different days is two incidents.
    together = same_rnic or abs(a.started_at - b.started_at) <= window
    if a.cause is not None and a.cause == b.cause and together:
        return f"the same cause {a.cause} on the same host"
    pair: Related
    for pair in rules.related:
        if {a.symptom, b.symptom} == set(pair.symptoms) and (pair.reach == "host" or same_rnic):
            return pair.why
    return None


def _spread(finding: Member, free: Sequence[Candidate], rules: Grouping) -> Reasoned:
    """Incidents with the same symptom and cause on enough hosts: of one firmware across racks, or of one rack."""
    if finding.cause is None and finding.symptom not in rules.without_cause:
        return []
    if finding.cause in rules.upgradable and finding.fw_ver:
        alike, racks = _alike(finding, free, rules.fleet, lambda m: m.fw_ver == finding.fw_ver)
        if alike and (len(racks) > 1 or "" in racks):
            return [(c, f"the same symptom and cause on hosts with firmware {finding.fw_ver}") for c in alike]
    if finding.rack:
        alike, _ = _alike(finding, free, rules.rack, lambda m: m.rack == finding.rack)
        return [(c, f"the same symptom and cause on hosts of rack {finding.rack}") for c in alike]
    return []


def _alike(
    finding: Member, free: Sequence[Candidate], spread: Spread, shares: Callable[[Member], bool]
) -> tuple[list[Candidate], set[str]]:
    window = timedelta(seconds=spread.window_s)
    hosts, racks, matching = {finding.host}, {finding.rack}, []
    for candidate in free:
        alike = [
            m
            for m in candidate.members
            if (m.symptom, m.cause) == (finding.symptom, finding.cause) and shares(m) and abs(m.started_at - finding.started_at) <= window
        ]
        if alike:
            matching.append(candidate)
            hosts |= {m.host for m in alike}
            racks |= {m.rack for m in alike}
    return (matching, racks) if len(hosts) >= spread.hosts else ([], set())


def _reopened(finding: Member, every: Sequence[Candidate], reopen_within: timedelta) -> Decision | None:
    resolved = [
        c
        for c in every
        if c.resolved_at is not None
        and finding.started_at <= c.resolved_at + reopen_within
        and any(m.same_subject(finding) for m in c.members)
    ]
    if not resolved:
        return None
    newest = max(resolved, key=lambda c: (c.resolved_at or c.opened_at, c.id))
    return Decision(join=newest.id, reopen=True, why="the symptom recurred")
