"""Webhook events of conditions besides incidents: forecasts, policies, agents, certificates."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import jsonschema
import pytest

from wallwatch_backend.conditions import agents
from wallwatch_backend.conditions.worker import ConditionNotices
from wallwatch_backend.kit.database import Database
from wallwatch_backend.notify.schemas import CONDITION_ENDS
from wallwatch_backend.policies.reports.standing import Standing
from wallwatch_local.paths import REPOSITORY

PCI = "0000:3b:00.0"
WEBHOOKS = "/api/v1/webhooks"
SCHEMA = json.loads((REPOSITORY / "docs" / "webhook-native.schema.json").read_text())

Deliveries = Callable[[], list[dict[str, Any]]]


def events(deliveries: Deliveries) -> list[str]:
    return [delivery["event"] for delivery in deliveries()]


@pytest.fixture
def forecast(backend: Any, host: str) -> Iterator[Callable[..., None]]:
    """A function that writes the newest forecast of the test's RNIC, as `ingest` does."""
    with backend.connect() as connection:
        (rnic_id,) = connection.execute(
            "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, %s, 'CX-6') RETURNING rnic_id", [host, PCI, f"rack-{host}"]
        ).fetchone()

        def write(chance: float, likely_in_s: float | None = 1200, ago: timedelta = timedelta()) -> None:
            connection.execute(
                """INSERT INTO rnic_forecast (rnic_id, made_at, kept_at, cold_start, policy_violated, next_wall, earliest_in_s,
                   likely_in_s, wall_chance, body) VALUES (%s, now() - %s, now(), false, false, 'egress_masks', 300, %s, %s, '{}')
                   ON CONFLICT (rnic_id) DO UPDATE SET made_at = excluded.made_at, likely_in_s = excluded.likely_in_s,
                   wall_chance = excluded.wall_chance""",
                [rnic_id, ago, likely_in_s, chance],
            )

        yield write
        connection.execute("DELETE FROM rnic_forecast WHERE rnic_id = %s", [rnic_id])


async def test_a_forecast_is_announced_once_and_withdrawn_below_the_lower_threshold(
    notices: ConditionNotices, webhook: Any, forecast: Callable[..., None], host: str
) -> None:
    sent = webhook("forecast.expected", matchers=[{"name": "host", "value": host}])
    heard = []
    for chance, likely in ((0.45, None), (0.8, 1200.0), (0.52, 3000.0), (0.4, None), (0.6, 1800.0), (0.3, None), (0.3, None)):
        forecast(chance, likely)
        await notices.process_batch()
        heard.append(len(sent()))
    assert heard == [0, 1, 1, 1, 1, 2, 2], "between the thresholds nothing changes"
    begin, end = sent()
    assert begin["event"] == "forecast.expected"
    data = begin["body"]["data"]
    assert (data["host"], data["wall"], data["chance"], data["likely_in_s"]) == (host, "egress_masks", 0.8, 1200)
    assert end["event"] == "forecast.ended"
    assert end["body"]["data"] == {
        "kind": "forecast",
        "subject": f"{host} {PCI}",
        "text": f"{host} {PCI} is no longer expected to reach a limit within the hour, or has no forecast.",
    }
    for delivery in (begin, end):
        jsonschema.validate(delivery["body"], SCHEMA)


async def test_a_limit_that_is_reached_ends_the_forecast_and_says_so(
    notices: ConditionNotices, webhook: Any, forecast: Callable[..., None], host: str
) -> None:
    sent = webhook("forecast.expected", format="alertmanager", matchers=[{"name": "host", "value": host}])
    forecast(1.0, 0)
    await notices.process_batch()
    assert sent() == [], "what is at its limit already is no forecast"
    forecast(0.9, 900)
    await notices.process_batch()
    forecast(1.0, 0)
    await notices.process_batch()
    begin, end = (delivery["body"] for delivery in sent())
    assert begin["status"] == "firing"
    assert begin["alerts"][0]["labels"]["alertname"] == "WallwatchForecast"
    assert "in about 15 min" in begin["alerts"][0]["annotations"]["summary"]
    assert begin["alerts"][0]["annotations"]["rack"] == f"rack-{host}"
    assert end["status"] == "resolved"
    assert "has reached its limit" in end["alerts"][0]["annotations"]["summary"]
    assert begin["groupLabels"] == end["groupLabels"] == {"forecast": f"{host} {PCI}"}
    assert begin["alerts"][0]["fingerprint"] == end["alerts"][0]["fingerprint"]


@pytest.mark.parametrize("last", [(1.0, 0), (0.1, None)], ids=["reached", "withdrawn"])
async def test_a_forecast_is_one_alert_from_its_begin_to_its_end(
    notices: ConditionNotices, alert: Any, forecast: Callable[..., None], host: str, last: tuple[float, float | None]
) -> None:
    labels = alert("forecast.expected")
    forecast(0.9, 900)
    await notices.process_batch()
    forecast(*last)
    await notices.process_batch()
    assert labels() == {
        "alertname": "WallwatchForecast",
        "forecast": f"{host} {PCI}",
        "action": "limit forecast",
        "instance": host,
        "host": host,
        "pci": PCI,
        "severity": "warning",
    }


async def test_alertmanager_gets_a_lasting_condition_again_and_others_do_not(
    backend: Any, notices: ConditionNotices, webhook: Any, forecast: Callable[..., None], host: str
) -> None:
    matchers = [{"name": "host", "value": host}]
    pushed = webhook("forecast.expected", format="alertmanager_api", repeat_interval_s=600, matchers=matchers)
    others = webhook("forecast.expected", matchers=matchers)
    forecast(0.9, 900)
    await notices.process_batch()
    [first], [other] = pushed(), others()

    def lives(delivery: dict[str, Any]) -> timedelta:
        [alert] = delivery["body"]
        return datetime.fromisoformat(alert["endsAt"]) - datetime.fromisoformat(delivery["next_attempt_at"])

    assert lives(first) == timedelta(minutes=30), "three pauses"

    def answered(ago: timedelta) -> None:
        """What the sender would have done with both by now."""
        with backend.connect() as connection:
            for delivery in (first, other):
                connection.execute(
                    "UPDATE webhook_delivery SET state = 'delivered', next_attempt_at = NULL WHERE id = %s", [delivery["id"]]
                )
                connection.execute("DELETE FROM webhook_attempt WHERE delivery_id = %s", [delivery["id"]])
                values = [delivery["id"], datetime.now(UTC) - ago]
                connection.execute("INSERT INTO webhook_attempt (delivery_id, at, status, duration_ms) VALUES (%s, %s, 200, 5)", values)

    await notices.process_batch()
    assert pushed() == [first], "it is on its way"
    answered(timedelta(minutes=5))
    forecast(0.45, 1200)
    await notices.process_batch()
    assert [each["state"] for each in (*pushed(), *others())] == ["delivered"] * 2, "the pause is not over"
    answered(timedelta(minutes=11))
    await notices.process_batch()
    [again], [other] = pushed(), others()
    assert (again["id"], again["state"], again["attempts"]) == (first["id"], "pending", [])
    assert lives(again) == timedelta(minutes=30)
    assert again["body"][0]["labels"] == first["body"][0]["labels"]
    assert "in about 20 min" in again["body"][0]["annotations"]["summary"], "it says what is expected now"
    assert other["state"] == "delivered"
    answered(timedelta(minutes=11))
    forecast(0.1)
    await notices.process_batch()
    assert events(pushed) == ["forecast.expected", "forecast.ended"]
    assert pushed()[0]["state"] == "delivered", "what has ended is not repeated"


async def test_without_fresh_forecasts_none_is_held_up(
    notices: ConditionNotices, webhook: Any, forecast: Callable[..., None], host: str
) -> None:
    sent = webhook("forecast.expected", matchers=[{"name": "host", "value": host}])
    forecast(0.9)
    await notices.process_batch()
    forecast(0.9, ago=timedelta(hours=1))
    await notices.process_batch()
    assert events(sent) == ["forecast.expected", "forecast.ended"]


async def test_each_webhook_hears_what_it_matches_and_a_new_one_hears_what_is_there(
    notices: ConditionNotices, webhook: Any, forecast: Callable[..., None], host: str
) -> None:
    forecast(0.9)
    first, other = webhook("forecast.expected"), webhook("forecast.expected", matchers=[{"name": "rack", "value": "another"}])
    await notices.process_batch()
    late = webhook("forecast.expected", matchers=[{"name": "rack", "value": f"rack-{host}"}])
    await notices.process_batch()
    assert [len([item for item in sent() if host in item["about"]]) for sent in (first, other, late)] == [1, 0, 1]


async def test_a_restart_sends_nothing_again(database: Database, webhook: Any, forecast: Callable[..., None], host: str) -> None:
    sent = webhook("forecast.expected", matchers=[{"name": "host", "value": host}])
    forecast(0.9)
    for _ in range(2):
        await ConditionNotices(database, Standing(database)).process_batch()
    assert events(sent) == ["forecast.expected"]


async def test_an_agent_is_lost_after_five_minutes_and_comes_back(
    notices: ConditionNotices, webhook: Any, alert: Any, backend: Any, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, labels = webhook("agent.lost", matchers=[{"name": "host", "value": host}]), alert("agent.lost")
    with backend.connect() as connection:
        connection.execute(
            """INSERT INTO agent (id, host, instance_uid, enrolled_at, last_seen_at, connection_id)
               VALUES (gen_random_uuid(), %s, %s, now(), now() - interval '10 minutes', gen_random_uuid())""",
            [host, uuid4().hex],
        )
        await notices.process_batch()
        assert sent() == [], "it is connected"
        connection.execute("UPDATE agent SET connection_id = NULL WHERE host = %s", [host])
    await notices.process_batch()
    assert sent() == [], "the server started less than five minutes ago, so the agent may not have connected yet"
    monkeypatch.setattr(agents, "LOST_AFTER", timedelta(seconds=0))
    await notices.process_batch()
    (lost,) = sent()
    assert lost["body"]["data"]["host"] == host
    jsonschema.validate(lost["body"], SCHEMA)
    with backend.connect() as connection:
        connection.execute("UPDATE agent SET connection_id = %s WHERE host = %s", [uuid4(), host])
    await notices.process_batch()
    assert events(sent) == ["agent.lost", "agent.connected"]
    common = {"action": "lost agent", "instance": host, "host": host, "severity": "warning"}
    assert labels() == {"alertname": "WallwatchAgent", "agent": host, **common}


async def test_a_certificate_is_late_after_three_quarters_of_its_life(
    notices: ConditionNotices, webhook: Any, alert: Any, backend: Any, host: str
) -> None:
    sent, labels = webhook("certificate.late", matchers=[{"name": "host", "value": host}]), alert("certificate.late")
    with backend.connect() as connection:
        (agent_id,) = connection.execute(
            "INSERT INTO agent (id, host, instance_uid, enrolled_at) VALUES (gen_random_uuid(), %s, %s, now()) RETURNING id",
            [host, uuid4().hex],
        ).fetchone()

        def certificate(issued: str, expires: str) -> None:
            connection.execute(
                """INSERT INTO agent_certificate (fingerprint, serial, agent_id, authority, issued_at, not_after)
                   VALUES (%s, '1', %s, 'a', now() + %s::interval, now() + %s::interval)""",
                [uuid4().hex, agent_id, issued, expires],
            )

        certificate("-20 days", "10 days")
        await notices.process_batch()
        assert sent() == []
        certificate("-15 days", "4 days")
        await notices.process_batch()
        assert datetime.fromisoformat(sent()[0]["body"]["data"]["expires_at"]) > datetime.now(UTC)
        certificate("0 days", "30 days")
        await notices.process_batch()
    assert events(sent) == ["certificate.late", "certificate.renewed"]
    common = {"action": "late certificate", "instance": host, "host": host, "severity": "warning"}
    assert labels() == {"alertname": "WallwatchCertificate", "certificate": host, **common}
    for delivery in sent():
        jsonschema.validate(delivery["body"], SCHEMA)


async def test_a_violated_policy_is_one_event_with_its_hosts(
    notices: ConditionNotices, webhook: Any, alert: Any, backend: Any, host: str
) -> None:
    policy = "rnic-heartbeat"  # of the catalogue
    sent, labels = webhook("policy.violated", matchers=[{"name": "host", "value": host}]), alert("policy.violated")
    with backend.connect() as connection:
        (host_id,) = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [host]).fetchone()
        for seconds in (60, 30):
            connection.execute(
                """INSERT INTO event (time, host_id, pci, kind, other)
                   VALUES (now() - %s * interval '1 second', %s, %s, 'policy_violated', %s)""",
                [seconds, host_id, PCI, json.dumps({"policy": policy})],
            )
        for _ in range(2):
            await notices.process_batch()
        (violated,) = sent()
        data = violated["body"]["data"]
        assert (data["policy"], data["hosts"]) == (policy, [host])
        assert data["violations_1h"] >= 2
        jsonschema.validate(violated["body"], SCHEMA)
        connection.execute("DELETE FROM event WHERE host_id = %s", [host_id])
    await notices.process_batch()
    assert events(sent) == ["policy.violated", "policy.cleared"]
    common = {"action": "policy violation", "instance": policy, "severity": "warning"}
    assert labels() == {"alertname": "WallwatchPolicy", "policy": policy, **common}


def test_ends_are_no_subscriptions(admin: httpx.Client) -> None:
    for end in CONDITION_ENDS.values():
        refused = admin.post(WEBHOOKS, json={"name": "x", "url": "http://127.0.0.1:9/x", "events": [end]})
        assert refused.status_code == 422
