"""A cause that the catalogue does not know becomes a candidate rule, which a person reviews."""

from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
import yaml

from wallwatch.domain.catalogue.local_rules import parse
from wallwatch.store.local_rules import accepted, accepted_rules
from wallwatch_testing.lab_report import cause, new_cause, report
from wallwatch_testing.lab_runner import CAMPAIGNS, Runner, finished

RULES = "/api/v1/lab/rules"


@pytest.fixture
def campaign(operator: httpx.Client, runner: Runner, device: str) -> dict[str, Any]:
    """It found one cause that the catalogue has and one that it does not have."""
    return finished(operator, runner, device, report(causes=[cause(), new_cause(id=2)]))


def propose(client: httpx.Client, campaign: dict[str, Any], cause: int = 2, **more: Any) -> httpx.Response:
    return client.post(f"{CAMPAIGNS}/{campaign['id']}/rules", json={"cause": cause, **more})


def of_campaign(client: httpx.Client, campaign: dict[str, Any]) -> list[dict[str, Any]]:
    return list(client.get(RULES, params={"campaign_id": campaign["id"]}).json()["items"])


def test_a_report_has_the_draft_of_a_rule_or_says_why_there_is_none(campaign: dict[str, Any]) -> None:
    known, new = campaign["report"]["causes"]
    assert (known["rule"], known["no_rule"][:42]) == (None, "The catalogue has this cause already: C6, ")
    assert new["no_rule"] is None
    (rule,) = yaml.safe_load(new["rule"])["rules"]
    assert rule["models"] == ["CX-6"]
    (condition,) = rule["definition"]["conditions"]
    assert (condition["signal"], condition["raise"], condition["clear"]) == ("flows_offloaded", {"at_least": 6000}, {"below": 5310.0})
    assert "It does not check: jumbo is on." in rule["definition"]["why"]
    assert "10 fail (95% interval of the share: 72% to 100%)" in rule["definition"]["why"]


def test_a_cause_is_proposed_accepted_and_rejected_again(
    operator: httpx.Client, viewer: httpx.Client, admin: httpx.Client, campaign: dict[str, Any], backend: Any
) -> None:
    answer = propose(operator, campaign, title="Many flows with jumbo frames")
    assert answer.status_code == 201, answer.text
    rule = answer.json()
    assert (rule["state"], rule["title"], rule["models"]) == ("proposed", "Many flows with jumbo frames", ["CX-6"])
    assert (rule["not_checked"], rule["problem"], rule["proposed_by"]) == (["jumbo is on"], None, "operator")
    assert rule["evidence"]["thresholds"][0]["last_good"] == 5900
    assert rule["evidence"]["verification"]["inside"] == {"agree": 10, "of": 10}
    assert of_campaign(viewer, campaign) == [rule]
    name = rule["name"]

    def in_force() -> list[str]:
        with psycopg.connect(backend.dsn) as connection:
            return [each.definition.rule for each in accepted(connection).rules]

    assert name not in in_force()
    accepted_rule = operator.post(f"{RULES}/{rule['id']}/accept", json={"comment": "seen on two hosts"}).json()
    assert (accepted_rule["state"], accepted_rule["decided_by"], accepted_rule["comment"]) == ("accepted", "operator", "seen on two hosts")
    assert name in in_force()
    exported = viewer.get(f"{RULES}/export")
    assert exported.headers["content-type"].startswith("application/yaml")
    assert f"# {name}: S1 appears when flows is at least 6,000 and jumbo is on. Accepted by operator: seen on two hosts\n" in exported.text
    (mine,) = [each for each in parse(exported.text).rules if each.definition.rule == name]
    assert (mine.title, mine.models) == ("Many flows with jumbo frames", ("CX-6",))

    again = operator.post(f"{RULES}/{rule['id']}/accept", json={"comment": "again"})
    assert (again.status_code, again.json()["code"]) == (409, "lab_rule_decided")
    rejected = operator.post(f"{RULES}/{rule['id']}/reject", json={"comment": "too wide"}).json()
    assert (rejected["state"], rejected["comment"]) == ("rejected", "too wide")
    assert name not in in_force()
    events = [one for one in admin.get("/api/v1/audit", params={"limit": 200}).json()["items"] if one["target"] == name]
    assert [one["action"] for one in events] == ["lab.reject_rule", "lab.accept_rule", "lab.propose_rule"]


def test_what_is_no_new_cause_does_not_become_a_rule(
    operator: httpx.Client, viewer: httpx.Client, runner: Runner, device: str, campaign: dict[str, Any]
) -> None:
    assert propose(viewer, campaign).json()["code"] == "forbidden"
    known = propose(operator, campaign, 1)
    assert (known.status_code, known.json()["code"]) == (409, "lab_no_rule")
    assert known.json()["detail"].startswith("The catalogue has this cause already: C6")
    assert propose(operator, campaign, 7).json()["code"] == "not_found"
    assert propose(operator, campaign).status_code == 201
    assert propose(operator, campaign).json()["code"] == "lab_rule_exists"
    unseen = new_cause(conditions=[{"parameter": "jumbo", "op": "==", "value": True}], thresholds=[])
    other = finished(operator, runner, device, report(causes=[unseen]))
    assert propose(operator, other, 1).json()["detail"] == "No signal of an RNIC shows this: jumbo is on."
    assert operator.post(f"{RULES}/{uuid4()}/accept", json={"comment": "x"}).json()["code"] == "not_found"


def test_a_rule_that_this_version_cannot_use_is_named_refused_and_not_detected(
    operator: httpx.Client, campaign: dict[str, Any], backend: Any, tmp_path: Any
) -> None:
    rule = propose(operator, campaign).json()
    assert operator.post(f"{RULES}/{rule['id']}/accept", json={"comment": "x"}).status_code == 200
    kept = tmp_path / "local-rules.yaml"
    assert rule["name"] in [each.definition.rule for each in accepted_rules(backend.dsn, kept).rules]
    without_database = accepted_rules("host=127.0.0.1 port=9 dbname=none", kept)
    assert rule["name"] in [each.definition.rule for each in without_database.rules], "the rules of the last start"
    with backend.connect() as connection:
        connection.execute(
            "UPDATE lab_rule SET body = jsonb_set(body, '{definition,conditions,0,signal}', '\"no_such\"') WHERE id = %s", [rule["id"]]
        )
    (shown,) = of_campaign(operator, campaign)
    assert shown["problem"] == "there is no signal no_such"
    assert rule["name"] not in [each.definition.rule for each in accepted_rules(backend.dsn, kept).rules]
    operator.post(f"{RULES}/{rule['id']}/reject", json={"comment": "x"})
    refused = operator.post(f"{RULES}/{rule['id']}/accept", json={"comment": "x"})
    assert (refused.status_code, refused.json()["code"]) == (409, "lab_rule_unusable")
