"""One policy and its subjects."""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from wallwatch.domain.ltl.gaps import Widened
from wallwatch.domain.policies.load import machine
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.step import Counts, Event, Step, Violation
from wallwatch.domain.policies.subjects import Name

TRACE_LENGTH = 20
"""Number of steps that a violation shows: those that led to it."""

TIMER = ("timer",)


@dataclass(slots=True)
class _Watched:
    host: str
    """Whose event came last; an address may move from host to host."""
    pci: str = ""
    state: int = 0
    at_us: int = -1
    step: frozenset[str] = frozenset()
    """Propositions of the open step; empty if no step is open."""
    kinds: tuple[str, ...] = ()
    trace: list[Step] = field(default_factory=list)
    cut: bool = False
    deadline_us: int | None = None


class Running:
    """Runs one policy, driven by `Watch`."""

    def __init__(self, policy: Policy, past: bool = False, forget_us: int | None = None) -> None:
        self.policy = policy
        self._past = past
        self._forget_us = forget_us
        self._idle: deque[tuple[int, Name]] = deque()
        """(time, subject) of steps that led to the first state: such a subject is equivalent to a new one."""
        self.counts = Counts()
        self._machine: Widened = machine(policy.formula)
        self._watched: OrderedDict[Name, _Watched] = OrderedDict()
        """Those that were quiet for longest come first."""
        self._open: dict[Name, None] = {}
        """Those with an open step: few at any time, however many are watched."""
        self._of_host: dict[str, dict[Name, None]] = {}
        self._lossy: set[str] = set()
        """Hosts that have lost events since their boot."""
        self._due: dict[str, list[tuple[int, Name]]] = {}
        """Heaps of deadlines, a host each: hosts' clocks need not agree."""
        self._bound: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
        for name, proposition in policy.propositions.items():
            for kind in proposition.kind:
                self._bound.setdefault(kind, []).append((name, proposition.when))

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of events that the policy uses."""
        return frozenset(self._bound)

    def propositions_of(self, event: Event) -> frozenset[str]:
        fields = event.fields
        return frozenset(
            name for name, when in self._bound.get(event.kind, ()) if all(fields.get(key) == value for key, value in when.items())
        )

    def step(self, event: Event, subject: Name, present: frozenset[str]) -> Violation | None:
        """Take an event; returns the violation that the step it closes caused, if any."""
        self.counts.events += 1
        watched = self._watched.get(subject)
        if watched is None:
            # After subjects were evicted or events of the host lost, a subject that seems new may have earlier events.
            past = self._past or self.counts.evicted or event.host in self._lossy
            state = self._machine.gap[0] if past else 0
            watched = self._watched[subject] = _Watched(event.host, state=state, cut=state != 0)
            self._of_host.setdefault(event.host, {})[subject] = None
        else:
            self._watched.move_to_end(subject)
        if event.at_us < watched.at_us:
            self.counts.late += 1
            self._gap(watched)
            return None
        violation = None
        if event.at_us > watched.at_us:
            violation = self._close(subject, watched)
            watched.at_us, watched.step, watched.kinds, watched.pci = event.at_us, frozenset(), (), event.pci
        if watched.host != event.host:  # only now: the step before was of the host before
            self._move(subject, watched, event.host)
        watched.step |= present
        if event.kind not in watched.kinds:
            watched.kinds += (event.kind,)
        self._open[subject] = None
        timer = self.policy.timer
        if timer is not None:
            if timer.unless is not None and timer.unless in present:
                watched.deadline_us = None
            elif timer.after in present:
                watched.deadline_us = event.at_us + round(timer.seconds * 1e6)
                heapq.heappush(self._due.setdefault(event.host, []), (watched.deadline_us, subject))
        return violation

    def _move(self, subject: Name, watched: _Watched, host: str) -> None:
        self._of_host[watched.host].pop(subject, None)
        self._of_host.setdefault(host, {})[subject] = None
        if watched.deadline_us is not None:
            heapq.heappush(self._due.setdefault(host, []), (watched.deadline_us, subject))
        watched.host = host

    def _gap(self, watched: _Watched) -> None:
        watched.state, watched.cut = self._machine.gap[watched.state], True

    def doubt(self, subject: Name) -> None:
        """What is known of a subject may be wrong."""
        watched = self._watched.get(subject)
        if watched is not None:
            self._gap(watched)

    def _close(self, subject: Name, watched: _Watched) -> Violation | None:
        """Take the open step."""
        if not watched.step:
            return None
        self._open.pop(subject, None)
        watched.trace.append(Step(watched.at_us, tuple(sorted(watched.step)), watched.kinds, watched.host))
        if len(watched.trace) > TRACE_LENGTH:
            del watched.trace[0]
            watched.cut = True
        letter, timer = self._machine.letter(watched.step), self.policy.timer
        timed = timer is not None and timer.after in watched.step
        watched.state = self._machine.table[watched.state][letter]
        watched.step = frozenset()
        if self._forget_us is not None and watched.state == 0:
            self._idle.append((watched.at_us, subject))
        if self._machine.verdicts[watched.state] != "F":
            return None
        violation = Violation(self.policy.id, subject, watched.at_us, tuple(watched.trace), watched.host, watched.pci, watched.cut)
        self.counts.violations += 1
        watched.state, watched.cut = self._machine.restart(letter), False
        watched.trace = watched.trace[-1:] if watched.state else []
        if not timed:
            watched.deadline_us = None
        return violation

    def expire(self, host: str | None, now_us: int) -> list[Violation]:
        """Let timers run that are due before `now_us`, of one host or (None) of all."""
        if not self._due:
            return []
        found: list[Violation] = []
        for due in [self._due[host]] if host in self._due else self._due.values() if host is None else ():
            while due and due[0][0] < now_us:
                found += self._timed_out(*heapq.heappop(due))
        return found

    def _timed_out(self, due_us: int, subject: Name) -> list[Violation]:
        watched, timer = self._watched.get(subject), self.policy.timer
        if watched is None or watched.deadline_us != due_us or timer is None:
            return []  # it was set again, or cancelled, since
        watched.deadline_us = None
        before = self._close(subject, watched)
        watched.at_us, watched.step, watched.kinds = max(due_us, watched.at_us), frozenset({timer.name}), TIMER
        after = self._close(subject, watched)
        return [violation for violation in (before, after) if violation is not None]

    def close(self, before_us: int) -> list[Violation]:
        """Close the open steps that are older than `before_us`."""
        found = []
        for subject in [subject for subject in self._open if self._watched[subject].at_us < before_us]:
            watched = self._watched[subject]
            if (violation := self._close(subject, watched)) is not None:
                found.append(violation)
        self._forget_idle(before_us)
        return found

    def _forget_idle(self, now_us: int) -> None:
        """Drop subjects in their initial state: a new start of them would be the same."""
        while self._forget_us is not None and self._idle and self._idle[0][0] < now_us - self._forget_us:
            at_us, subject = self._idle.popleft()
            watched = self._watched.get(subject)
            if watched is None or watched.at_us != at_us or watched.state != 0 or watched.step or watched.deadline_us is not None:
                continue
            if not (self._past or self.counts.evicted or watched.host in self._lossy):
                self._drop(subject)

    def lose(self, host: str) -> list[Violation]:
        """Events of a host were lost, after all events so far."""
        self.counts.gaps += 1
        self._lossy.add(host)
        found = []
        for subject in self._of_host.get(host, {}):
            watched = self._watched[subject]
            if (violation := self._close(subject, watched)) is not None:
                found.append(violation)
            self._gap(watched)
        return found

    def forget(self, host: str) -> list[Violation]:
        """The host boots: close the open steps of its subjects and forget them. The state of the host itself stays."""
        if self.policy.subject == "host":
            return []
        self._lossy.discard(host)
        found = []
        for subject in list(self._of_host.get(host, {})):
            if (violation := self._close(subject, self._watched[subject])) is not None:
                found.append(violation)
            self._drop(subject)
        return found

    def make_room(self, most: int) -> None:
        while len(self._watched) > most:
            self._drop(next(iter(self._watched)))
            self.counts.evicted += 1

    def _drop(self, subject: Name) -> None:
        watched = self._watched.pop(subject)
        self._open.pop(subject, None)
        of_host = self._of_host[watched.host]
        del of_host[subject]
        if not of_host:
            del self._of_host[watched.host]

    def counted(self) -> Counts:
        """The counts, and how the subjects are now."""
        machine = self._machine
        unknown = satisfied = 0
        for watched in self._watched.values():
            unknown += not machine.known[watched.state]
            satisfied += machine.verdicts[watched.state] == "T" or machine.retired[watched.state]
        subjects = len(self._watched)
        return replace(self.counts, subjects=subjects, unknown=unknown, satisfied=satisfied, holding=subjects - unknown - satisfied)

    def dump(self) -> dict[str, Any]:
        """The state as plain JSON."""
        return {
            "counts": asdict(self.counts),
            "past": self._past,
            "lossy": sorted(self._lossy),
            "subjects": [
                [subject, w.host, w.pci, w.state, w.at_us, sorted(w.step), w.kinds, [tuple(s) for s in w.trace], w.cut, w.deadline_us]
                for subject, w in self._watched.items()
            ],
        }

    def load(self, dumped: Mapping[str, Any]) -> None:
        """Restore what `dump` returned."""
        self.counts = Counts(**dumped["counts"])
        self._past, self._lossy = dumped["past"], set(dumped["lossy"])
        for name, host, pci, state, at_us, step, kinds, trace, cut, deadline_us in dumped["subjects"]:
            subject = tuple(name)
            steps = [Step(at, tuple(names), tuple(of), where) for at, names, of, where in trace]
            self._watched[subject] = _Watched(host, pci, state, at_us, frozenset(step), tuple(kinds), steps, cut, deadline_us)
            self._of_host.setdefault(host, {})[subject] = None
            if step:
                self._open[subject] = None
            elif self._forget_us is not None and state == 0:
                self._idle.append((at_us, subject))
            if deadline_us is not None:
                heapq.heappush(self._due.setdefault(host, []), (deadline_us, subject))
        self._idle = deque(sorted(self._idle))
