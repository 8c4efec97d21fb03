"""The kinds of events that propositions of a policy can be bound to, and whose events they can be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources

import yaml
from pydantic import Field

from wallwatch.domain.catalogue.load import parse_entries
from wallwatch.domain.catalogue.models import Entry
from wallwatch.domain.policies.models import Policy, Subject

SOURCE = "event_kinds.yaml"

SUBJECTS: dict[Subject, str] = {
    "flow": "Flow: host, RNIC and the flow's identity (ufid)",
    "vf": "Virtual function: host and its PCI address",
    "rnic": "RNIC: host and PCI address",
    "host": "Host",
    "command": "Command of the driver: host, RNIC and the command's name",
    "address": "Address of a container: VXLAN network and address, over all hosts",
}
"""What each kind of subject is distinguished by (`wallwatch.domain.policies.watch`)."""


class EventKind(Entry):
    """`when`: fields that a proposition can match, with all their values; empty if any text is possible."""

    id: str
    label: str
    source: str
    subjects: tuple[Subject, ...] = Field(min_length=1)
    stays_on_host: bool = False
    when: dict[str, tuple[str | bool, ...]] = Field(default_factory=dict)


@cache
def event_kinds() -> dict[str, EventKind]:
    """Kind -> its description.

    >>> event_kinds()["flow_aged"].stays_on_host
    True
    """
    text = resources.files("wallwatch.domain.catalogue").joinpath(SOURCE).read_text(encoding="utf-8")
    return parse_entries(SOURCE, yaml.safe_load(text).get("kinds"), EventKind)


def misfits(policy: Policy) -> Iterator[tuple[str, str]]:
    """(proposition, problem) for each binding that could never set its proposition."""
    known = event_kinds()
    for name, proposition in policy.propositions.items():
        for kind in proposition.kind:
            found = known.get(kind)
            if found is None:
                yield name, f"unknown kind of event {kind!r}"
            elif policy.subject not in found.subjects:
                yield name, f"{kind} has no {policy.subject} as subject (expected one of {', '.join(found.subjects)})"
            else:
                for field, value in proposition.when.items():
                    if field not in found.when:
                        yield name, f"{kind} has no field {field!r}"
                    elif found.when[field] and value not in found.when[field]:
                        yield name, f"{field} of {kind} must be one of {', '.join(map(str, found.when[field]))}, not {value!r}"
