"""Violations over two hosts that wait until the other host reports again.

A host whose network was down sends its earlier events when it is back: it may have released an address before another host took
it, and the server learns of it last. So a violation is sent only after the host of the step before it, which has the address, has
reported a later time; a late event from before the violation refutes it. Hosts send in order, so a later report means that nothing
earlier follows. Hosts of earlier steps are ignored: they may be gone for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.domain.policies.step import Step, Violation
from wallwatch.domain.policies.subjects import Name

WITHIN_US = 3_600_000_000
"""A host that has not reported for this long is gone; its addresses may be assigned to others."""


class Unconfirmed:
    """`margin_us`: maximum delay between an event and its sending by the host."""

    def __init__(self, margin_us: int) -> None:
        self._margin_us = margin_us
        self._waiting: list[Violation] = []
        self._subjects: set[tuple[str, Name]] = set()
        """Policies and subjects of those that wait."""
        self._heard_us: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        """Violations of each policy that were not sent: they wait, or were refuted or abandoned."""

    def advance(self, host: str, at_us: int) -> None:
        """Something of this time came from a host."""
        self._heard_us[host] = max(self._heard_us.get(host, 0), at_us)

    @property
    def any(self) -> bool:
        """Whether some violation waits."""
        return bool(self._waiting)

    def hosts(self) -> set[str]:
        """Those that are waited for."""
        return {host for one in self._waiting for host in self._missing(one)}

    def _missing(self, violation: Violation) -> set[str]:
        others = {step.host for step in violation.steps[-2:]} - {violation.host}
        return {host for host in others if self._heard_us.get(host, 0) < violation.at_us + self._margin_us}

    def hold(self, violation: Violation) -> bool:
        """Whether the violation must wait; then it is kept here."""
        if not self._missing(violation):
            return False
        self._waiting.append(violation)
        self._subjects.add((violation.policy, violation.subject))
        self.counts[violation.policy] = self.counts.get(violation.policy, 0) + 1
        return True

    def refute(self, policy: str, subject: Name, at_us: int) -> None:
        """An event of a subject came late: later conclusions about it are not sent."""
        if (policy, subject) not in self._subjects:
            return
        self._keep([one for one in self._waiting if (one.policy, one.subject) != (policy, subject) or one.at_us < at_us])

    def _keep(self, waiting: list[Violation]) -> None:
        self._waiting = waiting
        self._subjects = {(one.policy, one.subject) for one in waiting}

    def confirmed(self) -> list[Violation]:
        """Violations whose hosts have reported; they no longer wait."""
        found: list[Violation] = []
        missing: list[Violation] = []
        for one in self._waiting:
            (missing if self._missing(one) else found).append(one)
        if found:
            self._keep(missing)
        for one in found:
            self.counts[one.policy] -= 1
        return found

    def given_up(self, now_us: int) -> list[Violation]:
        """Violations that have waited too long; they are not sent."""
        found = [one for one in self._waiting if one.at_us < now_us - WITHIN_US]
        if found:
            self._keep([one for one in self._waiting if one not in found])
        return found

    def dump(self) -> dict[str, Any]:
        """The state as plain JSON."""
        waiting = [
            [one.policy, one.subject, one.at_us, [tuple(step) for step in one.steps], one.host, one.pci, one.cut] for one in self._waiting
        ]
        return {"waiting": waiting, "heard": self._heard_us, "counts": self.counts}

    def load(self, dumped: Mapping[str, Any]) -> None:
        """Restore what `dump` returned."""
        self._heard_us, self.counts = dict(dumped["heard"]), dict(dumped["counts"])
        for policy, subject, at_us, steps, host, pci, cut in dumped["waiting"]:
            trace = tuple(Step(at, tuple(names), tuple(kinds), of) for at, names, kinds, of in steps)
            self._waiting.append(Violation(policy, tuple(subject), at_us, trace, host, pci, cut))
            self._subjects.add((policy, tuple(subject)))
