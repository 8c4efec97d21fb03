"""Policies, by id: definition and state of the own ones, the state alone of those of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wallwatch.api_client.client import Client
from wallwatch.api_client.declared import shapes
from wallwatch.api_client.declared.steps import Item, Step, differences
from wallwatch.api_client.errors import WrongUsage

REQUIRED = ("id", "title", "formula", "violation")
DEFAULTS: dict[str, Any] = {
    "subject": "rnic",
    "propositions": {},
    "timer": None,
    "severity": "warning",
    "symptoms": [],
    "causes": [],
    "note": None,
    "enabled": True,
}
MESSAGE = "wallwatch apply"


class Policies:
    """Section `policies`."""

    section = "policies"

    def exported(self, client: Client) -> list[Item]:
        """Return the own policies as they run (or as they were saved last), and which of the catalogue's are enabled."""
        items = []
        for policy in sorted(_stored(client).values(), key=lambda policy: (not policy["own"], policy["id"])):
            enabled = policy["lifecycle"] == "enabled"
            if policy["own"]:
                definition = _definition(client.get(f"/policies/{policy['id']}"))
                items.append({"id": policy["id"], **definition, "enabled": enabled})
            else:
                items.append({"id": policy["id"], "enabled": enabled})
        return items

    def checked(self, items: Any, environment: Mapping[str, str]) -> list[Item]:
        """Return the policies; an entry of `id` and `enabled` alone is about one of the catalogue."""
        found = []
        for item in shapes.items_of(self.section, items):
            where = f"policies: {item.get('id', '?')}"
            if set(item) == {"id", "enabled"}:
                found.append(item)
                continue
            whole = shapes.complete(where, item, REQUIRED, DEFAULTS)
            found.append({**whole, **_normal(whole)})
        shapes.unique(self.section, found, lambda item: item["id"])
        return found

    def steps(self, client: Client, items: list[Item], prune: bool) -> list[Step]:
        """Compare by id. New definitions are checked by the server, as it would check them when they are saved."""
        stored = _stored(client)
        steps = []
        for item in items:
            name = item["id"]
            if name in stored and not (stored[name]["own"] and "formula" in item):
                if "formula" in item:
                    raise WrongUsage(f"policies: {name} belongs to the catalogue; copy it under another id, or give `enabled` alone")
                steps += _switch(client, stored[name], item["enabled"])
            elif name in stored:
                steps += _change(client, item)
            elif "formula" in item:
                _check(client, item)
                steps.append(Step("create", "policy", name, _creation(client, item)))
            else:
                raise WrongUsage(f"policies: there is no policy {name} to enable or disable; give it a formula")
        if prune:
            names = {item["id"] for item in items}
            for name, policy in sorted(stored.items()):
                if policy["own"] and name not in names:
                    steps += _removal(client, policy)
        return steps


def _stored(client: Client) -> dict[str, Item]:
    return {policy["id"]: policy for policy in client.get("/policies")["items"]}


def _definition(policy: Item) -> Item:
    """The running version; of a policy that never ran or was disabled, the last saved one."""
    draft = policy["draft"]
    definition = draft["definition"] if draft is not None and policy["lifecycle"] != "enabled" else policy["definition"]
    return {key: value for key, value in _normal(definition).items() if value is not None}


def _normal(definition: Item) -> Item:
    """A definition with every field in the form that the server returns."""
    whole = {**{key: DEFAULTS.get(key) for key in ("formula", "title", "violation", *DEFAULTS) if key != "enabled"}, **definition}
    found = {key: whole[key] for key in ("title", "formula", "violation", *DEFAULTS) if key != "enabled"}
    for key in ("title", "violation", "note"):
        found[key] = found[key].strip() if isinstance(found[key], str) else found[key]
    if isinstance(found["propositions"], dict):
        found["propositions"] = {name: _binding(value) for name, value in found["propositions"].items()}
    if isinstance(found["timer"], dict):
        found["timer"] = {"unless": None, **found["timer"]}
    return found


def _binding(value: Any) -> Any:
    return {"when": {}, **value} if isinstance(value, dict) else value


def _check(client: Client, item: Item) -> None:
    bindings = {key: item[key] for key in ("formula", "subject", "propositions", "timer")}
    problems = client.send("POST", "/policies/check", bindings)["problems"]
    if problems:
        raise WrongUsage(f"policies: {item['id']}: " + "; ".join(problem["message"] for problem in problems))


def _creation(client: Client, item: Item) -> Any:
    def run() -> None:
        client.send("POST", "/policies", {key: value for key, value in item.items() if key != "enabled"})
        if item["enabled"]:
            client.send("POST", f"/policies/{item['id']}/enable")

    return run


def _change(client: Client, item: Item) -> list[Step]:
    path = f"/policies/{item['id']}"
    stored = client.get(path)
    enabled = stored["lifecycle"] == "enabled"
    wanted = _normal(item)
    before = {**_normal(_definition(stored)), "enabled": enabled}
    found = differences(before, {**wanted, "enabled": item["enabled"]})
    if not found:
        return []
    redefined = any(each.field != "enabled" for each in found)
    if redefined:
        _check(client, item)
    running = stored["draft"] is None and not redefined

    def run() -> None:
        if redefined:
            client.send("PUT", path, {**wanted, "message": MESSAGE})
        if item["enabled"]:
            number = {"version": stored["running"]} if running and stored["running"] else None
            client.send("POST", f"{path}/enable", number)
        elif enabled:
            client.send("POST", f"{path}/disable")

    return [Step("update", "policy", item["id"], run, found)]


def _switch(client: Client, stored: Item, wanted: bool) -> list[Step]:
    enabled = stored["lifecycle"] == "enabled"
    if enabled == wanted:
        return []
    verb = "enable" if wanted else "disable"
    found = differences({"enabled": enabled}, {"enabled": wanted})
    return [Step("update", "policy", stored["id"], lambda: _post(client, f"/policies/{stored['id']}/{verb}"), found)]


def _post(client: Client, path: str) -> None:
    client.send("POST", path)


def _removal(client: Client, stored: Item) -> list[Step]:
    """Versions that were enabled stay as a record on the server, so such a policy is disabled; others are deleted."""
    path = f"/policies/{stored['id']}"
    if stored["running"] is None and stored["lifecycle"] == "draft":
        return [Step("delete", "policy", stored["id"], lambda: _delete(client, path))]
    return _switch(client, stored, False)


def _delete(client: Client, path: str) -> None:
    client.send("DELETE", path)
