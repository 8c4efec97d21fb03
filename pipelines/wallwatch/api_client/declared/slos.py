"""SLOs of virtual functions: classes by name, and the ordered list of rules that assigns them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from wallwatch.api_client.client import Client
from wallwatch.api_client.declared import shapes
from wallwatch.api_client.declared.steps import Difference, Item, Step, differences

REQUIRED = ("name", "min_mbps", "max_mbps")
DEFAULTS: dict[str, Any] = {"p50_us": None, "p99_us": None, "loss": None, "description": ""}
VALUES = ("min_mbps", "max_mbps", *DEFAULTS)


class SloClasses:
    """Section `slo_classes`."""

    section = "slo_classes"

    def exported(self, client: Client) -> list[Item]:
        """Return the classes by name."""
        return [_form(item) for _, item in sorted(_stored(client).items())]

    def checked(self, items: Any, environment: Mapping[str, str]) -> list[Item]:
        """Return the classes with all values."""
        found = []
        for item in shapes.items_of(self.section, items):
            whole = shapes.complete(f"slo_classes: {item.get('name', '?')}", item, REQUIRED, DEFAULTS)
            found.append({**whole, "description": str(whole["description"] or "").strip()})
        shapes.unique(self.section, found, lambda item: item["name"])
        return found

    def steps(self, client: Client, items: list[Item], prune: bool) -> list[Step]:
        """Compare by name. A class that is no longer wanted is deleted last: by then the rules have let go of it."""
        stored = _stored(client)
        steps = []
        for item in items:
            name = item["name"]
            values = {key: item[key] for key in VALUES}
            if name not in stored:
                steps.append(Step("create", "SLO class", name, _sender(client, "POST", "/isolation/slo-classes", item)))
            elif found := differences(stored[name], values):
                steps.append(Step("update", "SLO class", name, _sender(client, "PUT", _path(name), values), found))
        if prune:
            names = {item["name"] for item in items}
            steps += [Step("delete", "SLO class", name, _sender(client, "DELETE", _path(name))) for name in sorted(set(stored) - names)]
        return steps


class SloRules:
    """Section `slo_rules`: the list as a whole, because its order counts."""

    section = "slo_rules"

    def exported(self, client: Client) -> list[Item]:
        """Return the rules in their order."""
        rules: list[Item] = client.get("/isolation/slo-rules")["rules"]
        return rules

    def checked(self, items: Any, environment: Mapping[str, str]) -> list[Item]:
        """Return the rules; two may be equal."""
        found = []
        for place, item in enumerate(shapes.items_of(self.section, items), start=1):
            whole = shapes.complete(f"slo_rules: rule {place}", item, ("slo_class",), {"matchers": []})
            found.append({"matchers": shapes.matchers(f"slo_rules: rule {place}", whole["matchers"]), "slo_class": whole["slo_class"]})
        return found

    def steps(self, client: Client, items: list[Item], prune: bool) -> list[Step]:
        """Replace the list if it differs, unless someone else changed it meanwhile."""
        stored = client.read("/isolation/slo-rules")
        before = [_rule_text(rule) for rule in stored.body["rules"]]
        after = [_rule_text(rule) for rule in items]
        if stored.body["rules"] == items or before == after:
            return []
        run = _sender(client, "PUT", "/isolation/slo-rules", {"rules": items}, stored.etag)
        return [Step("update", "SLO rules", "all", run, (Difference("rules", before, after),))]


def _stored(client: Client) -> dict[str, Item]:
    return {item["name"]: item for item in client.get("/isolation/slo-classes")}


def _form(item: Item) -> Item:
    return {"name": item["name"], **{key: item[key] for key in VALUES if item[key] not in (None, "")}}


def _path(name: str) -> str:
    return f"/isolation/slo-classes/{name}"


def _rule_text(rule: Item) -> str:
    return f"{shapes.matcher_text(rule) or 'every VF'} -> {rule['slo_class']}"


def _sender(client: Client, method: str, path: str, body: Any = None, etag: str | None = None) -> Callable[[], None]:
    def run() -> None:
        client.send(method, path, body, etag)

    return run
