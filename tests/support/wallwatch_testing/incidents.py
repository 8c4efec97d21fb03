"""Incidents as the API has them."""

from typing import Any

import httpx

API = "/api/v1/incidents"


def get(client: httpx.Client, incident: dict[str, Any]) -> dict[str, Any]:
    """One incident, read again."""
    found: dict[str, Any] = client.get(f"{API}/{incident['id']}").json()
    return found
