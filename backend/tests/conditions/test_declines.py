"""Webhook events of predicted declines."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import jsonschema
import pytest

from wallwatch.domain.forecast.confidence import Confidence
from wallwatch_backend.conditions.worker import ConditionNotices
from wallwatch_backend.fleet.forecasts import repository
from wallwatch_backend.kit import clock
from wallwatch_backend.kit.database import Database
from wallwatch_local.paths import REPOSITORY

PCI = "0000:3b:00.0"
SCHEMA = json.loads((REPOSITORY / "docs" / "webhook-native.schema.json").read_text())

Decline = Callable[..., None]


@pytest.fixture
def decline(backend: Any, host: str) -> Iterator[Decline]:
    """A function that writes the newest forecast of the test's RNIC, as `ingest` does."""
    with backend.connect() as connection:
        (rnic_id,) = connection.execute(
            "INSERT INTO rnic (host, pci, rack, model) VALUES (%s, %s, %s, 'CX-7') RETURNING rnic_id", [host, PCI, f"rack-{host}"]
        ).fetchone()

        def write(
            chance: float,
            predicted: bool,
            share: float = 0.22,
            in_s: float | None = 1200,
            wall_chance: float | None = None,
            confidence: Confidence = Confidence.HIGH,
            ago: timedelta = timedelta(),
        ) -> None:
            body = {"decline": {"share": share, "chance": chance}, "bandwidth_gbps": {"now": 352.04, "ahead": []}}
            connection.execute(
                """INSERT INTO rnic_forecast (rnic_id, made_at, kept_at, cold_start, confidence, policy_violated, wall_chance,
                   decline_share, decline_since, decline_in_s, body)
                   VALUES (%s, now() - %s, now(), %s, %s, false, %s, %s, CASE WHEN %s THEN now() END, %s, %s)
                   ON CONFLICT (rnic_id) DO UPDATE SET made_at = excluded.made_at, cold_start = excluded.cold_start,
                   confidence = excluded.confidence, wall_chance = excluded.wall_chance, decline_share = excluded.decline_share,
                   decline_since = excluded.decline_since, decline_in_s = excluded.decline_in_s, body = excluded.body""",
                [rnic_id, ago, confidence is Confidence.LOW, confidence, wall_chance, share, predicted, in_s, json.dumps(body)],
            )

        yield write
        connection.execute("DELETE FROM rnic_forecast WHERE rnic_id = %s", [rnic_id])


async def test_a_decline_is_announced_once_and_ends_later_than_its_prediction(
    notices: ConditionNotices, webhook: Any, decline: Decline, host: str
) -> None:
    sent = webhook("decline.expected", matchers=[{"name": "host", "value": host}])
    heard = []
    for chance, predicted in ((0.7, False), (0.8, True), (0.7, False), (0.65, False), (0.78, True), (0.6, False), (0.65, False)):
        decline(chance, predicted)
        await notices.process_batch()
        heard.append(len(sent()))
    assert heard == [0, 1, 1, 1, 1, 2, 2], "between the thresholds nothing changes"
    begin, end = sent()
    assert (begin["event"], end["event"]) == ("decline.expected", "decline.ended")
    data = begin["body"]["data"]
    assert (data["host"], data["pci"], data["share"], data["chance"], data["in_s"]) == (host, PCI, 0.22, 0.8, 1200)
    assert (data["bandwidth_gbps"], data["confidence"], data["rack"]) == (352.04, "high", f"rack-{host}")
    assert end["body"]["data"]["subject"] == f"{host} {PCI}"
    for delivery in (begin, end):
        jsonschema.validate(delivery["body"], SCHEMA)


async def test_where_a_limit_vouches_for_it_the_decline_ends_with_the_chance_of_the_limit(
    notices: ConditionNotices, webhook: Any, decline: Decline, host: str
) -> None:
    sent = webhook("decline.expected", matchers=[{"name": "host", "value": host}])
    heard = []
    for chance, predicted, wall_chance in ((0.9, True, 0.6), (0.9, False, 0.45), (0.9, False, 0.3)):
        decline(chance, predicted, wall_chance=wall_chance, confidence=Confidence.MEDIUM)
        await notices.process_batch()
        heard.append(len(sent()))
    assert heard == [1, 1, 2]


async def test_a_decline_is_one_alert_from_its_begin_to_its_end(notices: ConditionNotices, alert: Any, decline: Decline, host: str) -> None:
    labels = alert("decline.expected")
    decline(0.81, True)
    await notices.process_batch()
    decline(0.1, False)
    await notices.process_batch()
    assert labels() == {
        "alertname": "WallwatchDecline",
        "decline": f"{host} {PCI}",
        "action": "decline forecast",
        "instance": host,
        "host": host,
        "pci": PCI,
        "severity": "warning",
    }


async def test_a_decline_without_fresh_forecasts_ends(notices: ConditionNotices, webhook: Any, decline: Decline, host: str) -> None:
    sent = webhook("decline.expected", matchers=[{"name": "host", "value": host}])
    decline(0.9, True)
    await notices.process_batch()
    decline(0.9, True, ago=timedelta(hours=1))
    await notices.process_batch()
    assert [delivery["event"] for delivery in sent()] == ["decline.expected", "decline.ended"]


async def test_more_declines_than_a_statement_has_parameters_can_be_known(database: Database, decline: Decline, host: str) -> None:
    decline(0.7, False)
    known = [(f"{host}-{uuid4().hex[:6]}", PCI) for _ in range(40_000)]
    async with database.read() as session:
        rows = await repository.with_decline(session, [*known, (host, PCI)], clock.now() - timedelta(hours=1))
        none = await repository.with_decline(session, [], clock.now() - timedelta(hours=1))
    assert [(row.host, row.pci) for row in rows if row.host.startswith(host)] == [(host, PCI)]
    assert host not in {row.host for row in none}, "without a prediction only a known one is read"


WHAT_RECEIVERS_GET: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "alertmanager": lambda body: (body["status"], body["alerts"][0]["labels"]["alertname"], body["groupLabels"]),
    "alertmanager_api": lambda body: (body[0]["labels"]["alertname"], body[0]["labels"]["decline"]),
    "pagerduty": lambda body: (body["event_action"], body["dedup_key"].rpartition("/")[0]),
    "opsgenie": lambda body: (body["action"], body["alias"].rpartition("/")[0]),
    "slack": lambda body: (body["text"].partition(":")[0],),
    "teams": lambda body: (body["type"],),
    "email": lambda body: (body["subject"], body["thread"]),
}


async def test_every_format_has_the_decline_and_its_end(notices: ConditionNotices, webhook: Any, decline: Decline, host: str) -> None:
    place = f"{host} {PCI}"
    only = [{"name": "host", "value": host}]
    keyed = {"credential": "R0123456789ABCDEF0123456789ABCDEF"}
    more = {"pagerduty": keyed, "opsgenie": keyed, "email": {"url": "mailto:ann@example.org"}}
    sent = {each: webhook("decline.expected", format=each, matchers=only, **more.get(each, {})) for each in WHAT_RECEIVERS_GET}
    decline(0.81, True)
    await notices.process_batch()
    decline(0.1, False)
    await notices.process_batch()
    got = {each: [WHAT_RECEIVERS_GET[each](delivery["body"]) for delivery in sent[each]()] for each in WHAT_RECEIVERS_GET}
    assert got["alertmanager"] == [(status, "WallwatchDecline", {"decline": place}) for status in ("firing", "resolved")]
    assert got["alertmanager_api"] == [("WallwatchDecline", place)] * 2
    assert got["pagerduty"] == [("trigger", "wallwatch/decline"), ("resolve", "wallwatch/decline")]
    assert got["opsgenie"] == [("create", "wallwatch/decline"), ("close", "wallwatch/decline")]
    red, grey = "#c3222f", "#4f5f6e"
    colors = [delivery["body"]["attachments"][0]["color"] for delivery in sent["slack"]()]
    assert colors == [red, grey], "its end is no good news: the bandwidth may be lost by now"
    assert got["email"] == [(f"Decline {word}: decline forecast on {place}", f"decline={place}") for word in ("expected", "ended")]
    words = f"{place} is predicted to lose 22% of its bandwidth in about 20 min (352 Gbit/s now, chance 81%)."
    for each in WHAT_RECEIVERS_GET:
        assert words in json.dumps(sent[each]()[0]["body"]), each


async def test_a_forecast_and_a_decline_of_one_rnic_are_two_alerts(
    notices: ConditionNotices, webhook: Any, decline: Decline, backend: Any, host: str
) -> None:
    sent = webhook("forecast.expected", "decline.expected", format="alertmanager", matchers=[{"name": "host", "value": host}])
    decline(0.9, True, wall_chance=0.9)
    with backend.connect() as connection:
        connection.execute(
            """UPDATE rnic_forecast SET next_wall = 'egress_masks', likely_in_s = 1200
               WHERE rnic_id = (SELECT rnic_id FROM rnic WHERE host = %s)""",
            [host],
        )
    await notices.process_batch()
    alerts = [delivery["body"]["alerts"][0] for delivery in sent()]
    assert {alert["labels"]["alertname"] for alert in alerts} == {"WallwatchForecast", "WallwatchDecline"}
    assert len({alert["fingerprint"] for alert in alerts}) == 2
