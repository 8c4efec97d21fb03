"""Names that the shell completes. They are asked of the server for at most two seconds; what fails completes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

PATIENCE_S = 2.0
MOST = 200

Completions = list[tuple[str, str]]


def _items(path: str, **query: Any) -> Iterator[Any]:
    from wallwatch.api_client.errors import ClientError
    from wallwatch.cli.remote.running import connected

    try:
        with connected(None, PATIENCE_S) as client:
            yield from client.pages(path, query, most=MOST)
    except ClientError:
        return  # the command itself will say what is wrong


def incidents(incomplete: str) -> Completions:
    """Unresolved incidents, by id."""
    found = _items("/incidents", state=["open", "acknowledged", "suppressed", "reopened"])
    return [(item["id"], item["title"]) for item in found if item["id"].startswith(incomplete)]


def assignees(incomplete: str) -> list[str]:
    """Accounts that an incident can be assigned to."""
    from wallwatch.api_client.errors import ClientError
    from wallwatch.cli.remote.running import connected

    try:
        with connected(None, PATIENCE_S) as client:
            names: list[str] = client.get("/incidents/assignees", {"q": incomplete, "limit": MOST})["items"]
    except ClientError:
        return []
    return [name for name in names if name.startswith(incomplete)]


def remedies(incomplete: str) -> Completions:
    """The newest remedies, by id."""
    return [
        (item["id"], f"{item['action']} on {item['host']}: {item['state']}")
        for item in _items("/remedies")
        if item["id"].startswith(incomplete)
    ]


def silences(incomplete: str) -> Completions:
    """Silences that have not ended, by id."""
    found = _items("/silences", state=["pending", "active"])
    return [(item["id"], item["reason"]) for item in found if item["id"].startswith(incomplete)]


def hosts(incomplete: str) -> list[str]:
    """Hosts that have an agent."""
    return sorted({item["host"] for item in _items("/agents") if item["host"].startswith(incomplete)})


def racks(incomplete: str) -> list[str]:
    """Racks of the fleet's RNICs."""
    return sorted({item["rack"] for item in _items("/rnics") if (item["rack"] or "").startswith(incomplete) and item["rack"]})


def profiles(incomplete: str) -> list[str]:
    """Stored profiles."""
    import os

    from wallwatch.api_client.errors import ClientError
    from wallwatch.api_client.profiles import file_of, read

    try:
        return sorted(name for name in read(file_of(os.environ)).profiles if name.startswith(incomplete))
    except ClientError:
        return []


def words(*known: str) -> Callable[[str], list[str]]:
    """Complete one of some words."""
    return lambda incomplete: [word for word in known if word.startswith(incomplete)]
