"""Remedies requested from a running backend, and their outcome."""

from typing import Any

import httpx

PCI = "0000:3b:00.0"


def order(client: httpx.Client, host: str, mode: str = "apply", **more: Any) -> httpx.Response:
    """Request a remedy that raises `max_idle_ms`, or the one in `more`; `key` is an idempotency key."""
    headers = {"Idempotency-Key": more.pop("key")} if "key" in more else {}
    body = {"action": "tune-revalidator", "host": host, "pci": PCI, "params": {"max_idle_ms": 60000}, "mode": mode, **more}
    return client.post("/api/v1/remedies", json=body, headers=headers)


def wait_for(client: httpx.Client, eventually: Any, remedy: dict[str, Any], *states: str, timeout_s: float = 90) -> dict[str, Any]:
    """The remedy once it is in one of the states."""
    path = f"/api/v1/remedies/{remedy['id']}"
    reached: dict[str, Any] = eventually(lambda: (r := client.get(path).json())["state"] in states and r, timeout_s)
    return reached
