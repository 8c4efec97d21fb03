"""The change feed as a long poll: it answers with the next change, on whichever replica that was committed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

PATH = "/api/v1/incidents/changes"


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"incident_hold_s": 0}


def end_of(client: httpx.Client) -> int:
    since = 0
    while page := client.get(PATH, params={"since": since, "limit": 1000}).raise_for_status().json():
        if not page["items"]:
            return since
        since = page["next_since"]
    raise AssertionError("unreachable")


def test_a_waiting_request_is_answered_by_the_change(viewer: httpx.Client, findings: Any) -> None:
    host = f"poll-{uuid4().hex[:6]}"
    since = end_of(viewer)

    def follow() -> str:
        """Read on until the host's incident comes: others may change too."""
        position = since
        for _ in range(20):
            page = viewer.get(PATH, params={"since": position, "wait_s": 50}, timeout=120).raise_for_status().json()
            if any(item["host"] == host for item in page["items"]):
                return host
            position = page["next_since"]
        return "never"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(follow)
        findings.send(findings.finding(host=host, started=datetime.now(UTC) - timedelta(seconds=60)))
        assert waiting.result(600) == host


def test_what_has_changed_already_is_answered_at_once(viewer: httpx.Client, findings: Any, eventually: Any) -> None:
    host = f"poll-{uuid4().hex[:6]}"
    findings.send(findings.finding(host=host, started=datetime.now(UTC) - timedelta(seconds=60)))
    eventually(lambda: viewer.get("/api/v1/incidents", params={"host": host}).json()["items"])
    page = viewer.get(PATH, params={"since": 0, "wait_s": 50}, timeout=120).raise_for_status().json()
    assert page["items"]


@pytest.mark.parametrize("wait_s", [-1, 51])
def test_a_wait_that_proxies_would_cut_is_refused(viewer: httpx.Client, wait_s: int) -> None:
    assert viewer.get(PATH, params={"wait_s": wait_s}).status_code == 422
