"""A change that the file asks for, and how two items are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from wallwatch.api_client.client import Client

Item = dict[str, Any]
Action = Literal["create", "update", "delete"]


class Difference(NamedTuple):
    """A field that differs."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Step:
    """One change. `run` makes it, and returns what is shown only once, such as the secret of a new webhook."""

    action: Action
    kind: str
    name: str
    run: Callable[[], str | None] = field(repr=False)
    differences: tuple[Difference, ...] = ()
    brings_secret: bool = False

    def as_json(self) -> dict[str, Any]:
        """What `--json` prints of it."""
        changed = {each.field: {"before": each.before, "after": each.after} for each in self.differences}
        return {"action": self.action, "kind": self.kind, "name": self.name, "changed": changed}


class Kind(Protocol):
    """What one section of the file is about."""

    section: str

    def exported(self, client: Client) -> list[Item] | None:
        """Return the server's items as the file has them, in a stable order; None if this token may not read them."""

    def checked(self, items: Any, environment: Mapping[str, str]) -> list[Item]:
        """Return the file's items with all defaults, or raise `WrongUsage` that names the item and its field."""

    def steps(self, client: Client, items: list[Item], prune: bool) -> list[Step]:
        """Compare with the server; the steps are in the order in which they must run."""


def differences(before: Item, after: Item) -> tuple[Difference, ...]:
    """Fields of `after` that `before` has otherwise.

    >>> differences({"a": 1, "b": 2}, {"a": 1, "b": 3})
    (Difference(field='b', before=2, after=3),)
    """
    return tuple(Difference(name, before.get(name), value) for name, value in after.items() if before.get(name) != value)
