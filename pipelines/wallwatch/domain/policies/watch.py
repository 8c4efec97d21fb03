"""Runs policies over a stream of events: subjects, steps, timers, gaps, violations. Event time only; the order of events is the host's.

- A step of a policy on a subject is all its events of one time (to the microsecond) that set a proposition of the policy.
- A timer's event is a step of its own, at its time, as soon as an event of the same host or `tick` shows that the time has come.
- Lost events (`lost`, or an event from before the subject's last step) make a subject unknown until events tell its state again. They
  never make a violation.
- A violation is reported once. The subject is watched anew from there, from the initial state.
- A host that boots begins anew: its flows, virtual functions, commands and RNICs are forgotten, the addresses of its containers are free.
- Memory is bounded: beyond `most_subjects` the one that was quiet for longest is forgotten, and counted. What has a verdict, or can have
  none any more, is forgotten at once, but for its name.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wallwatch.domain.ltl.gaps import Widened
from wallwatch.domain.policies.load import machine
from wallwatch.domain.policies.models import Policy

BOOT = "host_booted"

TRACE_LENGTH = 20
"""Steps that a violation shows: those before it that took the subject there."""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of `wallwatch.event`. `at_us` is microseconds since 1970, which is the identity of events."""

    kind: str
    at_us: int
    host: str
    pci: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Violation:
    """`trace` is the last steps of the subject, `(at_us, propositions)`, oldest first; the last one violates."""

    policy: str
    subject: tuple[str, ...]
    at_us: int
    trace: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(slots=True)
class _Watched:
    host: str
    """Whose event came last; an address may move from host to host."""
    state: int = 0
    at_us: int = -1
    step: frozenset[str] = frozenset()
    trace: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    deadline_us: int | None = None


class Watch:
    """Policies over the events of any number of hosts."""

    def __init__(self, policies: Iterable[Policy], most_subjects: int = 100_000) -> None:
        self._most = most_subjects
        self._running = [_Running(policy) for policy in policies]
        self._by_kind: dict[str, list[_Running]] = {}
        for running in self._running:
            for kind in {kind for proposition in running.policy.propositions.values() for kind in proposition.kind}:
                self._by_kind.setdefault(kind, []).append(running)
        self.evicted = 0
        """Subjects that were forgotten for want of room."""
        self.late = 0
        """Events from before the last step of their subject."""

    def take(self, event: Event) -> list[Violation]:
        """One event, in the order of its host."""
        found: list[Violation] = []
        for running in self._running:
            found += running.expire(event.host, event.at_us)
            if event.kind == BOOT:
                found += running.forget(event.host)
        for running in self._by_kind.get(event.kind, ()):
            present = running.propositions_of(event)
            for subject in _subjects(running.policy, event) if present else ():
                late, violation = running.step(event.host, subject, event.at_us, present)
                self.late += late
                if violation is not None:
                    found.append(violation)
            self.evicted += running.make_room(self._most)
        return found

    def tick(self, at_us: int) -> list[Violation]:
        """Nothing older than this comes any more: close steps and let timers run."""
        return [violation for running in self._running for violation in (*running.expire(None, at_us), *running.close(at_us))]

    def lost(self, host: str) -> int:
        """Events of a host were lost: its subjects are unknown until events tell their state. Returns how many."""
        return sum(running.lose(host) for running in self._running)

    def coverage(self) -> dict[str, dict[str, int]]:
        """For each policy how many subjects are watched, of them unknown, and how many violations there were."""
        return {running.policy.id: running.coverage() for running in self._running}


class _Running:
    """One policy and its subjects, those that were quiet for longest first."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._machine: Widened = machine(policy.formula)
        self._watched: OrderedDict[tuple[str, ...], _Watched] = OrderedDict()
        self._deadlines: list[tuple[int, tuple[str, ...]]] = []
        self._violations = 0

    def propositions_of(self, event: Event) -> frozenset[str]:
        return frozenset(
            name
            for name, proposition in self.policy.propositions.items()
            if event.kind in proposition.kind and all(event.fields.get(key) == value for key, value in proposition.when.items())
        )

    def step(self, host: str, subject: tuple[str, ...], at_us: int, present: frozenset[str]) -> tuple[int, Violation | None]:
        """Returns how many events were late (0 or 1), and a violation that the closed step before brought."""
        watched = self._watched.get(subject)
        if watched is None:
            watched = self._watched[subject] = _Watched(host)
        watched.host = host
        self._watched.move_to_end(subject)
        if at_us < watched.at_us:
            watched.state = self._machine.gap[watched.state]
            return 1, None
        violation = None
        if at_us > watched.at_us:
            violation = self._close(subject, watched)
            watched.at_us, watched.step = at_us, frozenset()
        watched.step |= present
        timer = self.policy.timer
        if timer is not None:
            if timer.unless is not None and timer.unless in present:
                watched.deadline_us = None
            elif timer.after in present:
                watched.deadline_us = at_us + round(timer.seconds * 1e6)
                heapq.heappush(self._deadlines, (watched.deadline_us, subject))
        return 0, violation

    def _close(self, subject: tuple[str, ...], watched: _Watched) -> Violation | None:
        """Take the open step."""
        if not watched.step:
            return None
        watched.trace.append((watched.at_us, tuple(sorted(watched.step))))
        del watched.trace[:-TRACE_LENGTH]
        watched.state = self._machine.table[watched.state][self._machine.letter(watched.step)]
        watched.step = frozenset()
        if self._machine.verdicts[watched.state] != "F":
            return None
        violation = Violation(self.policy.id, subject, watched.at_us, tuple(watched.trace))
        self._violations += 1
        watched.state, watched.trace, watched.deadline_us = 0, [], None
        return violation

    def expire(self, host: str | None, now_us: int) -> list[Violation]:
        """Let timers run that are due before `now_us`, of one host or (None) of all."""
        found: list[Violation] = []
        kept: list[tuple[int, tuple[str, ...]]] = []
        while self._deadlines and self._deadlines[0][0] < now_us:
            due_us, subject = heapq.heappop(self._deadlines)
            watched = self._watched.get(subject)
            if watched is None or watched.deadline_us != due_us or self.policy.timer is None:
                continue
            if host is not None and watched.host != host:
                kept.append((due_us, subject))
                continue
            watched.deadline_us = None
            before = self._close(subject, watched)
            watched.at_us, watched.step = max(due_us, watched.at_us), frozenset({self.policy.timer.name})
            after = self._close(subject, watched)
            found += [violation for violation in (before, after) if violation is not None]
        for one in kept:
            heapq.heappush(self._deadlines, one)
        return found

    def close(self, before_us: int) -> list[Violation]:
        """Close the open steps that are older than `before_us`, and forget what needs no watching any more."""
        found = []
        done = []
        for subject, watched in self._watched.items():
            if watched.at_us < before_us and (violation := self._close(subject, watched)) is not None:
                found.append(violation)
            if self._machine.retired[watched.state] and watched.deadline_us is None and not watched.step:
                done.append(subject)
        for subject in done:
            del self._watched[subject]
        return found

    def lose(self, host: str) -> int:
        count = 0
        for watched in self._watched.values():
            if watched.host == host:
                watched.state = self._machine.gap[watched.state]
                count += 1
        return count

    def forget(self, host: str) -> list[Violation]:
        """The host boots: what its subjects were is over, once their open steps are taken. What is said of the host itself goes on."""
        if self.policy.subject == "host":
            return []
        gone = [(subject, watched) for subject, watched in self._watched.items() if watched.host == host]
        found = [violation for subject, watched in gone if (violation := self._close(subject, watched)) is not None]
        for subject, _ in gone:
            del self._watched[subject]
        return found

    def make_room(self, most: int) -> int:
        count = 0
        while len(self._watched) > most:
            self._watched.popitem(last=False)
            count += 1
        return count

    def coverage(self) -> dict[str, int]:
        unknown = sum(not self._machine.known[watched.state] for watched in self._watched.values())
        return {"subjects": len(self._watched), "unknown": unknown, "violations": self._violations}


def _subjects(policy: Policy, event: Event) -> list[tuple[str, ...]]:
    """Whose step this is; none when the event does not say."""
    fields = event.fields
    if policy.subject == "host":
        return [(event.host,)]
    if policy.subject == "rnic":
        return [(event.host, event.pci)] if event.pci else []
    if policy.subject == "flow":
        return [(event.host, event.pci, fields["flow"])] if fields.get("flow") else []
    if policy.subject == "vf":
        return [(event.host, fields["device"])] if fields.get("device") else []
    if policy.subject == "command":
        return [(event.host, event.pci, fields["command"])] if fields.get("command") else []
    addresses = str(fields.get("address") or "").split(",")
    return [(f"vxlan {fields.get('vxlan_network', 'none')}", address.strip()) for address in addresses if address.strip()]
