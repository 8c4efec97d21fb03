"""Webhooks, by name. Addresses of chats and keys of pagers are secrets, so the file names environment variables instead of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from wallwatch.api_client.client import Client
from wallwatch.api_client.declared import shapes
from wallwatch.api_client.declared.steps import Item, Step, differences
from wallwatch.api_client.errors import WrongUsage

DEFAULTS: dict[str, Any] = {
    "format": "native",
    "events": None,
    "matchers": [],
    "group_by": [],
    "group_wait_s": None,
    "group_interval_s": None,
    "repeat_interval_s": None,
    "enabled": True,
}
CREDENTIAL = "credential"
"""The key of a pager. The server returns only its fingerprint, by which a changed key is noticed."""
FINGERPRINT = "credential_fingerprint"
LEFT_TO_THE_SERVER = ("events", "group_wait_s", "group_interval_s")
"""Without a value in the file, the server's default at creation counts, and what it has later."""
ALWAYS_REPEATS = "alertmanager_api"
"""In this format, no pause between repetitions means the server's default; in the others, it means never."""
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def variable_of(name: str, what: str = "URL") -> str:
    """The environment variable that an exported webhook names.

    >>> variable_of("On-call chat (EU)"), variable_of("Pager", "KEY")
    ('WEBHOOK_URL_ON_CALL_CHAT_EU', 'WEBHOOK_KEY_PAGER')
    """
    return f"WEBHOOK_{what}_" + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


class Webhooks:
    """Section `webhooks`."""

    section = "webhooks"

    def __init__(self, with_urls: bool = False) -> None:
        self._with_urls = with_urls

    def exported(self, client: Client) -> list[Item] | None:
        """Return the server's webhooks; only an admin may read them whole."""
        items = []
        for name, stored in sorted(_stored(client).items()):
            url = stored["url"] if self._with_urls else f"${{{variable_of(name)}}}"
            key = {CREDENTIAL: f"${{{variable_of(name, 'KEY')}}}"} if stored.get(FINGERPRINT) else {}
            items.append({"name": name, "url": url, **{each: stored[each] for each in DEFAULTS}, **key})
        return items

    def checked(self, items: Any, environment: Mapping[str, str]) -> list[Item]:
        """Return the webhooks with the variables in their addresses replaced; an unset one leaves the address as it is on the server."""
        found = []
        for item in shapes.items_of(self.section, items):
            where = f"webhooks: {item.get('name', '?')}"
            whole = shapes.complete(where, item, ("name", "url"), {**DEFAULTS, CREDENTIAL: None})
            whole["matchers"] = shapes.matchers(where, whole["matchers"])
            whole["url"], whole["unset"] = _filled(str(whole["url"]), environment)
            if whole[CREDENTIAL] is not None:
                credential, unset = _filled(str(whole[CREDENTIAL]), environment)
                whole[CREDENTIAL] = None if unset else credential
                whole["unset_credential"] = unset
            found.append(whole)
        shapes.unique(self.section, found, lambda item: item["name"])
        return found

    def steps(self, client: Client, items: list[Item], prune: bool) -> list[Step]:
        """Compare by name."""
        stored = _stored(client)
        steps = []
        for item in items:
            name, unset, unset_credential = item["name"], item["unset"], item.get("unset_credential")
            wanted = {key: value for key, value in item.items() if not key.startswith("unset") and not (key == "url" and unset)}
            credential = wanted.pop(CREDENTIAL)
            left = {*LEFT_TO_THE_SERVER, *(["repeat_interval_s"] if item["format"] == ALWAYS_REPEATS else [])}
            wanted = {key: value for key, value in wanted.items() if not (key in left and value is None)}
            if name not in stored:
                if unset:
                    raise WrongUsage(f"webhooks: {name} does not exist yet, and {unset} with its address is not set")
                if unset_credential:
                    raise WrongUsage(f"webhooks: {name} does not exist yet, and {unset_credential} with its key is not set")
                steps.append(_creation(client, {**wanted, **({CREDENTIAL: credential} if credential else {})}))
                continue
            # A key is compared by its fingerprint, and sent when that is another.
            shown_key = {FINGERPRINT: fingerprint(credential)} if credential else {}
            if found := differences(stored[name], {**wanted, **shown_key}):
                change = {each.field: each.after for each in found if each.field != FINGERPRINT}
                changed_key = any(each.field == FINGERPRINT for each in found)
                steps.append(_update(client, stored[name], {**change, **({CREDENTIAL: credential} if changed_key else {})}, found))
        if prune:
            names = {item["name"] for item in items}
            steps += [_deletion(client, webhook) for name, webhook in sorted(stored.items()) if name not in names]
        return steps


def _stored(client: Client) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for item in client.pages("/webhooks"):
        if item["name"] in found:
            raise WrongUsage(f"The server has two webhooks with the name {item['name']!a}; rename one, because files know them by name.")
        found[item["name"]] = item
    return found


def fingerprint(credential: str) -> str:
    """What the server shows of a stored key.

    >>> fingerprint("0123456789abcdef0123456789abcdef")
    '3eb1bd43'
    """
    return hashlib.sha256(credential.encode()).hexdigest()[:8]


def _filled(text: str, environment: Mapping[str, str]) -> tuple[str, str | None]:
    """An address or a key with its variables replaced, and the first one that is not set."""
    unset = next((name for name in VARIABLE.findall(text) if not environment.get(name)), None)
    return (text, unset) if unset else (VARIABLE.sub(lambda read: environment[read[1]], text), None)


def _creation(client: Client, wanted: Item) -> Step:
    body = {key: value for key, value in wanted.items() if key != "enabled" and value is not None}

    def run() -> str:
        created = client.send("POST", "/webhooks", body)
        if not wanted["enabled"]:
            client.send("PATCH", f"/webhooks/{created['id']}", {"enabled": False})
        return str(created["secret"])

    return Step("create", "webhook", wanted["name"], run, brings_secret=True)


def _update(client: Client, stored: Item, change: Item, found: tuple[Any, ...]) -> Step:
    shown = tuple(each._replace(before="(hidden)", after="(another)") if each.field == "url" else each for each in found)
    return Step("update", "webhook", stored["name"], lambda: _send(client, "PATCH", stored, change), shown)


def _deletion(client: Client, stored: Item) -> Step:
    return Step("delete", "webhook", stored["name"], lambda: _send(client, "DELETE", stored))


def _send(client: Client, method: str, stored: Item, change: Item | None = None) -> None:
    client.send(method, f"/webhooks/{stored['id']}", change)
