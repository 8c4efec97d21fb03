"""The worker of conditions, run step by step, and webhooks that log what they are sent."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from wallwatch_backend.conditions.worker import ConditionNotices
from wallwatch_backend.kit.database import Database
from wallwatch_backend.policies.reports.standing import Standing

WEBHOOKS = "/api/v1/webhooks"

Deliveries = Callable[[], list[dict[str, Any]]]
Alert = Callable[[], dict[str, str]]


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    """The tests run the worker step by step."""
    return {"background": False, "webhook_allow_private": True, "smtp_host": "127.0.0.1", "smtp_from": "wallwatch@example.org"}


@pytest.fixture
def notices(database: Database) -> ConditionNotices:
    return ConditionNotices(database, Standing(database))


@pytest.fixture
def webhook(admin: httpx.Client) -> Iterator[Callable[..., Deliveries]]:
    """A function that creates a webhook, and returns one that lists what it was sent, the oldest first."""
    created = []

    def make(*events: str, **more: Any) -> Deliveries:
        body = {"name": f"c-{uuid4().hex[:8]}", "url": "http://127.0.0.1:9/hook", "events": list(events), **more}
        made = admin.post(WEBHOOKS, json=body)
        assert made.status_code == 201, made.text
        path = f"{WEBHOOKS}/{made.json()['id']}"
        created.append(path)

        def deliveries() -> list[dict[str, Any]]:
            items = admin.get(f"{path}/deliveries", params={"limit": 200}).json()["items"]
            return [{**item, "body": json.loads(admin.get(f"{path}/deliveries/{item['id']}").json()["body"])} for item in items[::-1]]

        return deliveries

    yield make
    for path in created:
        admin.delete(path)


@pytest.fixture
def alert(webhook: Callable[..., Deliveries], host: str) -> Callable[[str], Alert]:
    """A function that subscribes both Alertmanager formats to an event of the test's host.

    It returns one that checks that begin and end are one alert, and returns its labels.
    """

    def subscribe(event: str) -> Alert:
        matchers = [{"name": "host", "value": host}]
        hook, api = (webhook(event, format=format, matchers=matchers) for format in ("alertmanager", "alertmanager_api"))

        def labels() -> dict[str, str]:
            begin, end = (delivery["body"]["alerts"][0] for delivery in hook())
            assert (begin["status"], end["status"]) == ("firing", "resolved")
            assert begin["fingerprint"] == end["fingerprint"]
            pushed = [delivery["body"][0]["labels"] for delivery in api()]
            assert [begin["labels"], end["labels"], *pushed] == [begin["labels"]] * 4, "Alertmanager knows an alert by its labels"
            found: dict[str, str] = begin["labels"]
            return found

        return labels

    return subscribe
