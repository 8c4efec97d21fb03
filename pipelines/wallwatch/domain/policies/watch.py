"""Runs policies over a stream of events: subjects, steps, timers, gaps, violations. Event time only; the order of events is the host's.

- A step of a policy on a subject is all its events of one time (to the microsecond) that set a proposition of the policy.
- A timer's event is a step of its own, at its time, as soon as an event of the same host or `tick` shows that the time has come.
- Lost events (`LOSSES`, `lost`, or an event from before the subject's last step) make a subject unknown until events show its
  state again. They never cause a violation.
- A violation is reported once. Watching restarts at the violating step (after it, if that step alone violates).
- A boot resets a host: its flows, virtual functions, commands and RNICs are forgotten, the addresses of its containers are free.
- Memory is bounded: above `most_subjects` per policy the subject that was quiet for longest is evicted, and counted. From then on a
  new subject starts as unknown: it may be an evicted one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wallwatch.domain.policies.models import Policy, Subject
from wallwatch.domain.policies.running import TRACE_LENGTH, Running
from wallwatch.domain.policies.step import Counts, Event, Step, Violation
from wallwatch.domain.policies.subjects import Name, subjects_of
from wallwatch.domain.policies.tables import revision

__all__ = ["BOOT", "LOSSES", "TRACE_LENGTH", "Counts", "Event", "Step", "Violation", "Watch"]

BOOT = "host_booted"

LOSSES: Mapping[str, frozenset[Subject]] = {
    "kernel_log_lost": frozenset({"host", "rnic", "command"}),
    "cni_lost": frozenset({"vf", "address"}),
    "flow_events_lost": frozenset({"flow"}),
}
"""Kinds of events that report lost ones, and the kinds of subjects affected."""


class Watch:
    """Policies over the events of any number of hosts.

    `past`: subjects may have earlier events that are not included. `forget_us`: a subject in its initial state, such as a released
    address, is dropped this long after its last event; None: never.
    """

    def __init__(self, policies: Iterable[Policy], most_subjects: int = 100_000, past: bool = False, forget_us: int | None = None) -> None:
        self._most = most_subjects
        self._running = [Running(policy, past, forget_us) for policy in policies]
        self._by_kind: dict[str, list[Running]] = {}
        for running in self._running:
            for kind in running.kinds:
                self._by_kind.setdefault(kind, []).append(running)

    @property
    def late(self) -> int:
        """Events from before the last step of their subject."""
        return sum(running.counts.late for running in self._running)

    @property
    def evicted(self) -> int:
        """Subjects evicted to limit memory."""
        return sum(running.counts.evicted for running in self._running)

    def means(self, kind: str) -> bool:
        """Whether events of this kind are anything to the policies."""
        return kind in self._by_kind or kind in LOSSES or kind == BOOT

    def take(self, event: Event) -> list[Violation]:
        """One event, in the order of its host."""
        found: list[Violation] = []
        losing = LOSSES.get(event.kind, ())
        for running in self._running:
            found += running.expire(event.host, event.at_us)
            if event.kind == BOOT:
                found += running.forget(event.host)
            elif running.policy.subject in losing:
                found += running.lose(event.host)
        for running in self._by_kind.get(event.kind, ()):
            present = running.propositions_of(event)
            for subject in subjects_of(running.policy.subject, event) if present else ():
                violation = running.step(event, subject, present)
                if violation is not None:
                    found.append(violation)
            running.make_room(self._most)
        return found

    def tick(self, at_us: int) -> list[Violation]:
        """Nothing older than this comes any more: close steps and let timers run."""
        return [violation for running in self._running for violation in (*running.expire(None, at_us), *running.close(at_us))]

    def lost(self, host: str) -> list[Violation]:
        """Events of a host were lost: its subjects are unknown until events show their state. Returns the violations of the steps
        before."""
        return [violation for running in self._running for violation in running.lose(host)]

    def doubt(self, policy: str, subject: Name) -> None:
        """The state of a subject may be wrong: it is unknown until events show it."""
        for running in self._running:
            if running.policy.id == policy:
                running.doubt(subject)

    def counts(self) -> dict[str, Counts]:
        """What each policy has done and how its subjects are."""
        return {running.policy.id: running.counted() for running in self._running}

    def coverage(self) -> dict[str, dict[str, int]]:
        """For each policy how many subjects are watched, of them unknown, and how many violations there were."""
        return {
            id: {"subjects": counts.subjects, "unknown": counts.unknown, "violations": counts.violations}
            for id, counts in self.counts().items()
        }

    def dump(self) -> dict[str, Any]:
        """The state as plain JSON."""
        return {running.policy.id: {"revision": revision(running.policy), **running.dump()} for running in self._running}

    def load(self, dumped: Mapping[str, Any]) -> None:
        """Restore what `dump` returned; the state of policies that have changed since is skipped."""
        for running in self._running:
            one = dumped.get(running.policy.id)
            if one is not None and one["revision"] == revision(running.policy):
                running.load(one)
