"""The stage of the job `validate`: events of all hosts in, messages about policies out. Pure; it is given the time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from wallwatch.domain.policies import messages
from wallwatch.domain.policies.models import Policy
from wallwatch.domain.policies.ordered import Ordered
from wallwatch.domain.policies.step import Counts, Event, Violation
from wallwatch.domain.policies.subjects import subjects_of
from wallwatch.domain.policies.tables import revision
from wallwatch.domain.policies.unconfirmed import Unconfirmed
from wallwatch.domain.policies.watch import Watch

STATE_EVERY_US = 60_000_000
FORGET_US = 3_600_000_000
"""An address that has been free for an hour is forgotten; addresses in use are as many as containers."""


class ServerSidePolicies:
    """Policies over the events of all hosts, put in order."""

    def __init__(self, policies: Iterable[Policy], partitions: Iterable[int], patience_us: int, most_subjects: int) -> None:
        self._most = most_subjects
        self._policies = {policy.id: policy for policy in policies}
        self._watch = Watch(self._policies.values(), most_subjects, forget_us=FORGET_US)
        self._ordered = Ordered(partitions, patience_us)
        self._unconfirmed = Unconfirmed(patience_us // 2)
        self._racks: dict[str, str] = {}
        self._sent: dict[str, Counts] = {}
        self._sent_us = 0

    def hear(self, partition: int, offset: int, event: Event, rack: str) -> None:
        """Take in an event as it was read."""
        self._ordered.advance(partition, event.at_us)
        self._unconfirmed.advance(event.host, event.at_us)
        if self._watch.means(event.kind):
            if rack:
                self._racks[event.host] = rack
            self._ordered.add(partition, offset, event)

    def ended(self, partition: int) -> None:
        """A partition has been read to its end."""
        self._ordered.ended(partition)

    def work(self, now_us: int) -> list[dict[str, Any]]:
        """Process the events whose order is final. Returns violations as messages."""
        found: list[Violation] = []
        for event in self._ordered.ready(now_us):
            self._report(self._watch.take(event), found)
            self._refute(event)
        self._report(self._watch.tick(self._ordered.settled_us(now_us)), found)
        found += self._unconfirmed.confirmed()
        for one in self._unconfirmed.given_up(now_us):
            self._watch.doubt(one.policy, one.subject)
        return [self._message(violation) for violation in found if violation.policy in self._policies]

    def _report(self, violations: list[Violation], found: list[Violation]) -> None:
        found += [one for one in violations if not self._unconfirmed.hold(one)]

    def _refute(self, event: Event) -> None:
        if not self._unconfirmed.any:
            return
        for policy in self._policies.values():
            if any(event.kind in proposition.kind for proposition in policy.propositions.values()):
                for subject in subjects_of(policy.subject, event):
                    self._unconfirmed.refute(policy.id, subject, event.at_us)

    def waits_for(self) -> set[str]:
        """Hosts that must report before a violation is sent."""
        return self._unconfirmed.hosts()

    def heard_of(self, host: str, at_us: int) -> None:
        """A host sent samples of this time, and so all its earlier events."""
        self._unconfirmed.advance(host, at_us)

    def _message(self, violation: Violation) -> dict[str, Any]:
        return messages.violated(violation, self._policies[violation.policy], self._racks.get(violation.host, ""))

    def states(self, now_us: int) -> list[dict[str, Any]]:
        """States of the policies, once per minute, at fixed times, so that each minute is stored once."""
        at_us = now_us // STATE_EVERY_US * STATE_EVERY_US
        if at_us <= self._sent_us:
            return []
        period_s = (at_us - self._sent_us) / 1e6 if self._sent_us else STATE_EVERY_US / 1e6
        unsent = self._unconfirmed.counts
        counts = {id: replace(one, violations=one.violations - unsent.get(id, 0)) for id, one in self._watch.counts().items()}
        found = [messages.state(policy, counts[id], self._sent.get(id, Counts()), at_us, period_s) for id, policy in self._policies.items()]
        self._sent, self._sent_us = counts, at_us
        return found

    def use(self, policies: Iterable[Policy]) -> bool:
        """Continue with these policies. A new policy starts with unknown subjects; the others keep their state."""
        wanted = {policy.id: policy for policy in policies}
        if {id: revision(one) for id, one in wanted.items()} == {id: revision(one) for id, one in self._policies.items()}:
            self._policies = wanted
            return False
        known = self._watch.dump()
        self._policies = wanted
        self._watch = Watch(wanted.values(), self._most, past=True, forget_us=FORGET_US)
        self._watch.load(known)
        return True

    def dump(self) -> dict[str, Any]:
        """The state as plain JSON."""
        waiting = [
            [one.partition, one.offset, one.event.kind, one.at_us, one.event.host, one.event.pci, dict(one.event.fields)]
            for one in self._ordered.waiting
        ]
        sent = {id: asdict(counts) for id, counts in self._sent.items()}
        return {
            "watch": self._watch.dump(),
            "waiting": waiting,
            "racks": self._racks,
            "sent": sent,
            "told_us": self._sent_us,
            "unconfirmed": self._unconfirmed.dump(),
        }

    def load(self, dumped: Mapping[str, Any]) -> None:
        """Restore what `dump` returned."""
        self._watch.load(dumped["watch"])
        for partition, offset, kind, at_us, host, pci, fields in dumped["waiting"]:
            self._ordered.add(partition, offset, Event(kind, at_us, host, pci, fields))
        self._racks = {**dumped["racks"], **self._racks}
        self._sent = {id: Counts(**counts) for id, counts in dumped["sent"].items()}
        self._sent_us = dumped["told_us"]
        if "unconfirmed" in dumped:
            self._unconfirmed.load(dumped["unconfirmed"])
