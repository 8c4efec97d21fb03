"""Silences and maintenance windows, by kind, matchers and start. Those that have ended are no matter of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from wallwatch.api_client.client import Client
from wallwatch.api_client.declared import shapes
from wallwatch.api_client.declared.steps import Item, Step, differences

REQUIRED = ("matchers", "starts_at", "ends_at", "reason")
CHANGEABLE = ("ends_at", "reason")


def _now() -> datetime:
    return datetime.now(UTC)


class Silences:
    """Section `silences`."""

    section = "silences"

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now

    def exported(self, client: Client) -> list[Item]:
        """Return the silences that have not ended, the earliest first."""
        return sorted(_stored(client), key=lambda item: (item["starts_at"], _name(item)))

    def checked(self, items: Any, environment: Mapping[str, str]) -> list[Item]:
        """Return the silences; their start is a part of their identity, so it is required."""
        found = []
        for item in shapes.items_of(self.section, items):
            where = f"silences: {item.get('reason', '?')}"
            whole = shapes.complete(where, item, REQUIRED, {"kind": "silence"})
            found.append(
                {
                    **whole,
                    "matchers": shapes.matchers(where, whole["matchers"]),
                    "reason": str(whole["reason"]).strip(),
                    **{key: shapes.moment(where, whole[key]) for key in ("starts_at", "ends_at")},
                }
            )
        shapes.unique(self.section, found, _name)
        return found

    def steps(self, client: Client, items: list[Item], prune: bool) -> list[Step]:
        """Compare by identity; what the file has and what is over already needs nothing."""
        stored = {_name(_form(item)): item for item in client.pages("/silences", {"state": ["pending", "active"]})}
        now = self._now()
        steps = []
        for item in items:
            name = _name(item)
            if name in stored:
                wanted = {key: item[key] for key in CHANGEABLE}
                if found := differences(_form(stored[name]), wanted):
                    steps.append(Step("update", "silence", name, _sender(client, "PATCH", stored[name], wanted), found))
            elif datetime.fromisoformat(item["ends_at"]) > now:
                steps.append(Step("create", "silence", name, _sender(client, "POST", None, item)))
        if prune:
            names = {_name(item) for item in items}
            steps += [
                Step("delete", "silence", name, _sender(client, "DELETE", silence))
                for name, silence in sorted(stored.items())
                if name not in names
            ]
        return steps


def _stored(client: Client) -> list[Item]:
    return [_form(item) for item in client.pages("/silences", {"state": ["pending", "active"]})]


def _form(item: Item) -> Item:
    """A silence of the server as the file has it."""
    times = {key: shapes.moment("silences", item[key]) for key in ("starts_at", "ends_at")}
    return {"kind": item["kind"], "reason": item["reason"], **times, "matchers": item["matchers"]}


def _name(item: Item) -> str:
    return f"{item['kind']} {shapes.matcher_text(item)} from {item['starts_at']}"


def _sender(client: Client, method: str, stored: Item | None, body: Item | None = None) -> Callable[[], None]:
    path = "/silences" if stored is None else f"/silences/{stored['id']}"

    def run() -> None:
        client.send(method, path, body)

    return run
