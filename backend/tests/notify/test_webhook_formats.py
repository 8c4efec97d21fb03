"""The bodies that receivers get."""

import doctest
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import jsonschema
import pytest

from wallwatch_backend import webhook_schema
from wallwatch_backend.notify.deliveries import sender
from wallwatch_backend.notify.formats import alertmanager, alertmanager_api, bodies, native, notification, slack, teams
from wallwatch_backend.notify.formats.notification import Notification
from wallwatch_backend.notify.routing import rules
from wallwatch_backend.notify.schemas import Format
from wallwatch_backend.notify.webhooks import urls

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
WEBHOOK = UUID(int=7)


def incident(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": str(UUID(int=number)),
        "host": "host01",
        "hosts": ["host01"],
        "pci": "0000:3b:00.0",
        "rack": "r1",
        "scope": "rnic",
        "symptom": "S1",
        "symptoms": ["S1"],
        "severity": "critical",
        "state": "open",
        "title": "Repetitive <flow> re-offloading",
        "summary": "Live flows leave the RNIC & come back.",
        "top_cause": "C5",
        "opened_at": "2026-11-21T11:58:00Z",
        "resolved_at": None,
        **more,
    }


def sent(*incidents: dict[str, Any], event: str = "incident.opened", **more: Any) -> Notification:
    values: dict[str, Any] = {"group_labels": {}, "grouped": False, "public_url": "https://wallwatch.example", **more}
    return Notification(event=event, at=NOON, receiver="tickets", webhook_id=WEBHOOK, incidents=incidents, **values)


def grouped(*incidents: dict[str, Any], **more: Any) -> Notification:
    return sent(*incidents, event="incident.group", grouped=True, group_labels={"rack": "r1"}, **more)


@pytest.mark.parametrize("module", [alertmanager, notification, slack, teams, rules, sender, urls])
def test_the_examples_in_the_docstrings_hold(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_an_alertmanager_body_has_every_key_of_version_4_with_its_type() -> None:
    body = json.loads(alertmanager.notification_body(grouped(incident(1), incident(2, host="host02", severity="warning"))))
    assert {name: type(value) for name, value in body.items()} == {
        "version": str,
        "groupKey": str,
        "truncatedAlerts": int,
        "status": str,
        "receiver": str,
        "groupLabels": dict,
        "commonLabels": dict,
        "commonAnnotations": dict,
        "externalURL": str,
        "alerts": list,
    }
    assert body["version"] == "4"
    assert body["groupKey"] == f'wallwatch/{WEBHOOK}:{{rack="r1"}}'
    assert body["groupLabels"] == {"rack": "r1"}
    assert body["commonLabels"] == {
        "alertname": "WallwatchS1",
        "pci": "0000:3b:00.0",
        "rack": "r1",
        "scope": "rnic",
        "symptom": "S1",
        "cause": "C5",
    }
    first = body["alerts"][0]
    assert set(first) == {"status", "labels", "annotations", "startsAt", "endsAt", "generatorURL", "fingerprint"}
    assert (first["status"], first["startsAt"], first["endsAt"]) == ("firing", "2026-11-21T11:58:00Z", "0001-01-01T00:00:00Z")
    assert first["generatorURL"] == f"https://wallwatch.example/incidents/{UUID(int=1)}"
    assert all(isinstance(value, str) and value for value in {**first["labels"], **first["annotations"]}.values())


def test_an_alert_is_resolved_with_its_end_and_keeps_its_fingerprint() -> None:
    firing = json.loads(alertmanager.notification_body(sent(incident())))["alerts"][0]
    end = json.loads(
        alertmanager.notification_body(sent(incident(state="resolved", resolved_at="2026-11-21T12:00:00Z", severity="warning")))
    )
    assert (end["status"], end["alerts"][0]["status"], end["alerts"][0]["endsAt"]) == ("resolved", "resolved", "2026-11-21T12:00:00Z")
    assert end["alerts"][0]["fingerprint"] == firing["fingerprint"]
    assert len(firing["fingerprint"]) == 16


def test_a_group_fires_while_one_of_it_does() -> None:
    assert json.loads(alertmanager.notification_body(grouped(incident(1, state="resolved"), incident(2))))["status"] == "firing"


def test_alertmanager_counts_what_it_leaves_out() -> None:
    body = json.loads(alertmanager.notification_body(grouped(*(incident(n) for n in range(103)))))
    assert (len(body["alerts"]), body["truncatedAlerts"]) == (100, 3)


def test_without_a_public_address_there_are_no_broken_links() -> None:
    body = json.loads(alertmanager.notification_body(sent(incident(), public_url=None)))
    assert (body["externalURL"], body["alerts"][0]["generatorURL"]) == ("", "")
    assert "title_link" not in json.loads(slack.notification_body(sent(incident(), public_url=None)))["attachments"][0]


def test_a_slack_message_links_colours_and_escapes() -> None:
    body = json.loads(slack.notification_body(sent(incident())))
    assert body["text"] == f"*Opened*: <https://wallwatch.example/incidents/{UUID(int=1)}|S1 on host01 0000:3b:00.0>"
    [attachment] = body["attachments"]
    assert attachment["color"] == "#c3222f"
    assert attachment["title"] == "S1 Repetitive &lt;flow&gt; re-offloading"
    assert attachment["text"] == "Live flows leave the RNIC &amp; come back."
    assert attachment["ts"] == datetime(2026, 11, 21, 11, 58, tzinfo=UTC).timestamp()
    fields = {field["title"]: field["value"] for field in attachment["fields"]}
    assert fields == {"Severity": "critical", "State": "open", "Where": "host01 0000:3b:00.0", "Rack": "r1", "Likely cause": "C5"}


def test_a_slack_message_repeats_its_colour_in_words() -> None:
    body = json.loads(
        slack.notification_body(sent(incident(state="resolved", resolved_at="2026-11-21T12:00:00Z"), event="incident.resolved"))
    )
    assert body["text"].startswith("*Resolved*: ")
    assert (body["attachments"][0]["color"], body["attachments"][0]["fields"][1]["value"]) == ("#176a43", "resolved")
    assert json.loads(slack.notification_body(sent(incident(), repeated=True)))["text"].startswith("*Still unresolved*: ")


def test_a_slack_message_of_a_storm_stays_readable() -> None:
    body = json.loads(slack.notification_body(grouped(*(incident(n) for n in range(50)))))
    assert len(body["attachments"]) == 20
    assert body["text"] == "*Incidents*: <https://wallwatch.example/incidents|50 incidents of rack r1> (and 30 more)"


def test_a_rack_is_named_as_the_place() -> None:
    rack = incident(scope="rack", subject="rack r1", hosts=["host01", "host02", "host03"])
    assert "S1 on rack r1" in json.loads(slack.notification_body(sent(rack)))["text"]
    assert json.loads(alertmanager.notification_body(sent(rack)))["alerts"][0]["annotations"]["hosts"] == "host01, host02, host03"


@pytest.mark.parametrize("format", list(Format))
def test_each_format_has_a_test_event_that_is_marked_as_a_test(format: Format) -> None:
    body = bodies.test_event_body(format, WEBHOOK, "tickets", "A test of tickets.", NOON, None)
    assert "A test of tickets." in body
    if format is Format.native:
        jsonschema.validate(json.loads(body), webhook_schema.document(), format_checker=jsonschema.FormatChecker())


def test_the_schema_is_one_itself_and_refuses_what_is_no_event() -> None:
    jsonschema.Draft202012Validator.check_schema(webhook_schema.document())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "incident.opened", "timestamp": "2026-11-21T12:00:00Z", "data": {}}, webhook_schema.document())


def test_native_repetitions_and_groups_have_their_own_types() -> None:
    repeated = json.loads(native.notification_body(sent(incident(), repeated=True)))
    assert (repeated["type"], repeated["timestamp"], repeated["data"]["id"]) == (
        "incident.repeated",
        "2026-11-21T12:00:00Z",
        str(UUID(int=1)),
    )
    group = json.loads(native.notification_body(grouped(incident(1), incident(2))))["data"]
    assert (group["reason"], group["status"], len(group["incidents"]), group["truncated"]) == ("changed", "firing", 2, 0)


def test_alerts_of_different_hosts_are_different_resources_to_alerta() -> None:
    first, second = json.loads(alertmanager.notification_body(grouped(incident(1), incident(2, host="host02", hosts=["host02"]))))["alerts"]
    assert (first["labels"]["instance"], second["labels"]["instance"]) == ("host01", "host02")


def test_the_resource_of_an_incident_of_a_rack_is_the_rack() -> None:
    [alert] = json.loads(alertmanager.notification_body(sent(incident(scope="rack", subject="rack r1", hosts=["host01", "host02"]))))[
        "alerts"
    ]
    assert alert["labels"]["instance"] == "rack r1"


def test_an_incident_sent_by_itself_is_a_group_of_its_own_to_ticket_connectors() -> None:
    bodies_ = [json.loads(alertmanager.notification_body(sent(incident(number)))) for number in (1, 2)]
    assert [body["groupLabels"] for body in bodies_] == [{"incident": str(UUID(int=1))}, {"incident": str(UUID(int=2))}]


def test_alerts_for_the_api_of_alertmanager_live_for_three_pauses_and_end_with_the_incident() -> None:
    [firing] = json.loads(alertmanager_api.notification_body(sent(incident(), repeat_interval_s=300)))
    assert (firing["startsAt"], firing["endsAt"]) == ("2026-11-21T11:58:00Z", "2026-11-21T12:15:00Z")
    [ended] = json.loads(
        alertmanager_api.notification_body(sent(incident(state="resolved", resolved_at="2026-11-21T11:59:00Z"), repeat_interval_s=300))
    )
    assert (ended["endsAt"], ended["labels"]) == ("2026-11-21T11:59:00Z", firing["labels"])


def test_a_new_cause_is_not_a_new_alert_to_alertmanager() -> None:
    before, after = (json.loads(alertmanager_api.notification_body(sent(incident(top_cause=cause))))[0] for cause in ("C5", "C1"))
    assert before["labels"] == after["labels"]
    assert (before["annotations"]["cause"], after["annotations"]["cause"]) == ("C5", "C1")


def test_without_a_public_address_alertmanager_gets_no_empty_one() -> None:
    assert "generatorURL" not in json.loads(alertmanager_api.notification_body(sent(incident(), public_url=None)))[0]


def test_a_card_for_teams_has_the_facts_the_colour_and_the_link() -> None:
    body = json.loads(teams.notification_body(sent(incident(title="Repetitive [flow] re-offloading"))))
    [attachment] = body["attachments"]
    assert (body["type"], attachment["contentType"]) == ("message", "application/vnd.microsoft.card.adaptive")
    card = attachment["content"]
    assert (card["type"], card["version"]) == ("AdaptiveCard", "1.4")
    headline, title, text, facts = card["body"]
    assert headline["text"] == "Opened: S1 on host01 0000:3b:00.0"
    assert (title["text"], title["color"]) == ("S1 Repetitive \\[flow\\] re-offloading", "Attention")
    assert text["text"] == "Live flows leave the RNIC & come back."
    assert {fact["title"]: fact["value"] for fact in facts["facts"]}["Likely cause"] == "C5"
    assert card["actions"] == [
        {"type": "Action.OpenUrl", "title": "Open in Wallwatch", "url": f"https://wallwatch.example/incidents/{UUID(int=1)}"}
    ]


def test_a_card_for_teams_stays_below_its_limit_in_a_storm() -> None:
    many = grouped(*(incident(n, summary="x" * 5000) for n in range(50)))
    body = teams.notification_body(many)
    assert len(body.encode()) < 28_000
    assert "(and 40 more)" in body


def test_a_card_for_teams_stays_below_its_limit_in_any_script() -> None:
    many = grouped(*(incident(n, summary="[光]" * 5000) for n in range(50)))
    body = teams.notification_body(many)
    assert 20_000 < len(body.encode()) < 28_000
    shown = sum(block["type"] == "FactSet" for block in json.loads(body)["attachments"][0]["content"]["body"])
    assert 1 <= shown < 10
    assert f"(and {50 - shown} more)" in body


TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
TEXT_BLOCK: dict[str, Any] = {
    "type": "object",
    "required": ["type", "text"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "TextBlock"},
        "text": TEXT,
        "color": {"enum": ["Default", "Dark", "Light", "Accent", "Good", "Warning", "Attention"]},
        "size": {"enum": ["Default", "Small", "Medium", "Large", "ExtraLarge"]},
        "weight": {"enum": ["Default", "Lighter", "Bolder"]},
        "wrap": {"type": "boolean"},
        "separator": {"type": "boolean"},
    },
}
FACT: dict[str, Any] = {
    "type": "object",
    "required": ["title", "value"],
    "additionalProperties": False,
    "properties": {"title": TEXT, "value": {"type": "string"}},
}
FACT_SET: dict[str, Any] = {
    "type": "object",
    "required": ["type", "facts"],
    "additionalProperties": False,
    "properties": {"type": {"const": "FactSet"}, "facts": {"type": "array", "items": FACT}},
}
OPEN_URL: dict[str, Any] = {
    "type": "object",
    "required": ["type", "url"],
    "additionalProperties": False,
    "properties": {"type": {"const": "Action.OpenUrl"}, "title": TEXT, "url": {**TEXT, "format": "uri"}},
}
CARD: dict[str, Any] = {
    "type": "object",
    "required": ["type", "version", "body"],
    "additionalProperties": False,
    "properties": {
        "$schema": TEXT,
        "type": {"const": "AdaptiveCard"},
        "version": {"const": "1.4"},
        "msteams": {"type": "object", "additionalProperties": False, "properties": {"width": {"const": "Full"}}},
        "body": {"type": "array", "minItems": 1, "items": {"oneOf": [TEXT_BLOCK, FACT_SET]}},
        "actions": {"type": "array", "minItems": 1, "items": OPEN_URL},
    },
}
"""The facts of the published schema of Adaptive Cards 1.4, for the elements that we use; closed, so that a misspelt property is found."""


@pytest.mark.parametrize(
    "body",
    [
        teams.notification_body(sent(incident())),
        teams.notification_body(sent(incident(state="resolved", severity="info", summary=""), public_url=None)),
        teams.notification_body(grouped(*(incident(n) for n in range(50)))),
        teams.test_event_body("A test of tickets."),
    ],
)
def test_a_card_for_teams_keeps_to_the_published_schema(body: str) -> None:
    [attachment] = json.loads(body)["attachments"]
    jsonschema.Draft202012Validator(CARD, format_checker=jsonschema.FormatChecker()).validate(attachment["content"])
