"""Matchers choose incidents by label, as Alertmanager's do: `rack="r1"`, `host=~"gpu.*"`. Silences and webhooks use them.

What an operator means is in `wallwatch.domain.matching`, which the jobs use too.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from wallwatch.domain import matching
from wallwatch_backend.kit.text import StorableText

LABELS = ("host", "rack", "pci", "model", "fw_ver", "symptom", "cause", "severity", "scope")
LabelName = Literal["host", "rack", "pci", "model", "fw_ver", "symptom", "cause", "severity", "scope"]
Operator = matching.Operator
Labels = Mapping[str, Collection[str]]
"""Values by name. An incident of a rack has many hosts, so a name may have several values; a label that is absent has the value ""."""


class Condition(BaseModel):
    """One condition on one label; a subclass says which labels there are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    op: Operator = "="
    value: Annotated[str, StringConstraints(max_length=500), StorableText] = Field(
        description="Text, or for =~ and !~ a regular expression (RE2) that must match the whole value; empty: the label is absent"
    )

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.op in matching.BY_EXPRESSION:
            matching.check_expression(self.value)
        return self

    def holds(self, labels: Labels) -> bool:
        """Return whether any value of the label matches; != and !~ are the opposites of = and =~.

        >>> rack = {"host": ("host01", "host02"), "scope": ("rack",)}
        >>> Matcher(name="host", op="=", value="host02").holds(rack), Matcher(name="host", op="!=", value="host02").holds(rack)
        (True, False)
        >>> Matcher(name="model", op="=", value="").holds(rack)
        True
        """
        return matching.holds(self.op, self.value, labels.get(self.name, ()))

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.name}{self.op}"{escaped}"'


class Matcher(Condition):
    """One condition on one label of an incident."""

    name: LabelName


Matchers = Annotated[list[Matcher], Field(max_length=20, description="All must hold; an empty list matches everything")]


def matches(matchers: Iterable[Matcher], labels: Labels) -> bool:
    """Return whether all matchers hold.

    >>> matches([], {"host": ("host01",)})
    True
    """
    return all(matcher.holds(labels) for matcher in matchers)


def _texts(*values: object) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for value in values:
        for one in value if isinstance(value, Sequence) and not isinstance(value, str) else (value,):
            if isinstance(one, str) and one:
                found[one] = None
    return tuple(found)


def labels_of(incident: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Labels of an incident as the API shows it; the leading finding's value comes first. What is unknown is left out.

    >>> labels_of({"host": "h1", "hosts": ["h1", "h2"], "pci": "", "symptom": "S1", "severity": "critical", "top_cause": "C5"})
    {'host': ('h1', 'h2'), 'symptom': ('S1',), 'cause': ('C5',), 'severity': ('critical',)}
    """
    labels = {
        "host": _texts(incident.get("host"), incident.get("hosts")),
        "rack": _texts(incident.get("rack")),
        "pci": _texts(incident.get("pci")),
        "model": _texts(incident.get("model")),
        "fw_ver": _texts(incident.get("fw_ver")),
        "symptom": _texts(incident.get("symptom"), incident.get("symptoms")),
        "cause": _texts(incident.get("cause") or incident.get("top_cause")),
        "severity": _texts(incident.get("severity")),
        "scope": _texts(incident.get("scope")),
    }
    return {name: values for name, values in labels.items() if values}
