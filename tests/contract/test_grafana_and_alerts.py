"""The Grafana dashboard and the alert rules in docs/: they use only metrics of `/metrics/fleet`, and Prometheus evaluates them."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from wallwatch_backend import webhook_schema
from wallwatch_backend.fleet.exposition.families import FAMILIES
from wallwatch_backend.fleet.exposition.service import OTHER_CONDITIONS
from wallwatch_backend.notify.schemas import EventType
from wallwatch_local.paths import REPOSITORY

FOLDER = REPOSITORY / "docs" / "grafana"
DASHBOARD = json.loads((FOLDER / "wallwatch.json").read_text())
RULES = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]
LABELS = {family.name: set(family.labels) for family in FAMILIES}
FROM_PROMETHEUS = {"instance", "job"}
FUNCTIONS = {"absent", "bottomk", "count", "max", "min", "quantile", "sum", "time", "topk", "vector"}
WORDS = {"by", "on", "group_left", "or", "and", "unless", "offset"}


def dashboard_expressions() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["definition"]).groups()
            yield f"variable {variable['name']}", f"count by ({label}) ({metric})"


EXPRESSIONS = [*dashboard_expressions(), *((rule["alert"], rule["expr"]) for group in RULES for rule in group["rules"])]


def unknown_names(expression: str) -> set[str]:
    """Names in a PromQL expression that are no metric of ours, no label of its metrics, no function and no keyword."""
    found = set()
    metrics = {name for name in re.findall(r"\b[a-z_]+\b", expression) if name in LABELS}
    labels = set().union(*(LABELS[name] for name in metrics)) | FROM_PROMETHEUS
    for name, selector in re.findall(r"(\w+)\{([^}]*)\}", expression):
        found |= set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector)) - LABELS.get(name, set())
    for names in re.findall(r"\b(?:by|on|group_left)\s*\(([^)]*)\)", expression):
        found |= set(re.findall(r"\w+", names)) - labels
    rest = re.sub(r"\{[^}]*\}|\b(?:by|on|group_left)\s*\([^)]*\)", "", expression)
    return found | (set(re.findall(r"\b[a-z_]+\b", rest)) - set(LABELS) - FUNCTIONS - WORDS)


@pytest.mark.parametrize(("where", "expression"), EXPRESSIONS, ids=[where for where, _ in EXPRESSIONS])
def test_an_expression_asks_only_for_what_is_exported(where: str, expression: str) -> None:
    assert unknown_names(expression) == set()
    assert expression.count("(") == expression.count(")")
    assert any(name in expression for name in LABELS)


@pytest.mark.parametrize(
    ("expression", "unknown"),
    [
        ("sum(wallwatch_rnics)", {"wallwatch_rnics"}),
        ('wallwatch_incidents{status="open"}', {"status"}),
        ("sum by (rack) (wallwatch_rnic_headroom_ratio)", {"rack"}),
        ("smu(wallwatch_incidents)", {"smu"}),
    ],
)
def test_a_name_that_is_not_exported_would_be_found(expression: str, unknown: set[str]) -> None:
    assert unknown_names(expression) == unknown


def test_the_dashboard_has_what_grafana_needs_to_import_it() -> None:
    assert DASHBOARD["id"] is None  # Grafana gives one
    assert (DASHBOARD["uid"], DASHBOARD["title"]) == ("wallwatch-fleet", "Wallwatch fleet")
    assert DASHBOARD["schemaVersion"] >= 39
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    used = {name for _, expression in EXPRESSIONS for name in re.findall(r"\$(\w+)", expression)}
    assert used <= variables
    for panel in DASHBOARD["panels"]:
        assert {"type", "title", "gridPos", "fieldConfig", "options", "targets", "datasource"} <= set(panel)
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert [target["refId"] for target in panel["targets"]] == ["A"]


def test_panels_do_not_cover_each_other() -> None:
    cells: dict[tuple[int, int], str] = {}
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in cells, f"{panel['title']} covers {cells.get((x, y))}"
                cells[x, y] = panel["title"]


def rules() -> list[dict[str, Any]]:
    return [rule for group in RULES for rule in group["rules"]]


@pytest.mark.parametrize("rule", rules(), ids=[rule["alert"] for rule in rules()])
def test_an_alert_rule_is_whole_and_speaks_of_labels_that_it_has(rule: dict[str, Any]) -> None:
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"\d+[smhd]", rule["for"])
    assert rule["labels"]["severity"] in ("warning", "critical")
    grouped = re.match(r"(?:\w+ )?\w+ by \(([^)]*)\)", rule["expr"])
    joined = re.search(r"group_left \(([^)]*)\)", rule["expr"])
    metric = next(name for name in re.findall(r"\w+", rule["expr"]) if name in LABELS)
    labels = set(re.findall(r"\w+", grouped[1])) if grouped else set(LABELS[metric])
    labels |= (
        set(re.findall(r"\w+", joined[1])) if joined and not (grouped and grouped.start() == 0 and "count by" in rule["expr"]) else set()
    )
    for text in rule["annotations"].values():
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= labels, text


def test_alert_names_are_unique_and_the_scrape_example_reads_the_endpoint() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    scrape = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    job = scrape["scrape_configs"][0]
    assert (job["metrics_path"], scrape["rule_files"]) == ("/metrics/fleet", ["alerts.yaml"])
    assert "credentials_file" in job["authorization"]


INCIDENT = "incident.opened"
WORTH_AN_ALERT = {
    "a limit is near": ("forecast.expected", "wallwatch_rnic_wall_in_seconds", "RnicReachesWallSoon"),
    "a limit is likely": ("forecast.expected", "wallwatch_rnic_wall_chance_ratio", "RnicLikelyToReachWall"),
    "bandwidth declines": ("decline.expected", "wallwatch_rnic_decline_ratio", "RnicBandwidthDeclines"),
    "a policy was violated": ("policy.violated", "wallwatch_policy_violations", "PolicyViolated"),
    "a promise to a tenant is broken": (INCIDENT, "wallwatch_tenant_broken_seconds", "TenantPromisesBroken"),
    "an RNIC has a symptom": (INCIDENT, "wallwatch_rnic_symptom_active", "RnicSymptom"),
    "an agent is lost": ("agent.lost", "wallwatch_agent_last_seen_timestamp_seconds", "AgentLost"),
    "a certificate is late": ("certificate.late", "wallwatch_agent_certificate_late_timestamp_seconds", "AgentCertificateLate"),
}


@pytest.mark.parametrize(("event", "metric", "rule"), WORTH_AN_ALERT.values(), ids=WORTH_AN_ALERT.keys())
def test_what_is_worth_an_alert_is_an_event_a_metric_and_a_rule(event: str, metric: str, rule: str) -> None:
    assert event in set(EventType)
    assert metric in LABELS
    [expression] = [each["expr"] for each in rules() if each["alert"] == rule]
    assert metric in expression


@pytest.mark.parametrize("condition", ["isolation", "contention", *(f"B{number}" for number in range(1, 6))])
def test_findings_of_isolation_contention_and_transport_are_symptoms_to_the_outside(condition: str) -> None:
    """They open incidents, as symptoms do, and are counted by `wallwatch_symptom_rnics` before any RNIC has them."""
    assert condition in OTHER_CONDITIONS


def promtool(*arguments: str | Path) -> None:
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_raises_each_alert_when_it_should_and_only_then() -> None:
    promtool("test", "rules", FOLDER / "alerts.test.yaml")


def test_each_alert_has_a_case_that_raises_it_and_one_that_does_not() -> None:
    cases = yaml.safe_load((FOLDER / "alerts.test.yaml").read_text())["tests"]
    tried = [case for test in cases for case in test.get("alert_rule_test", ())]
    names = {rule["alert"] for rule in rules()}
    assert {case["alertname"] for case in tried if case["exp_alerts"]} == names
    assert {case["alertname"] for case in tried if not case["exp_alerts"]} == names


LABEL_VALUES = {
    "host": "host01",
    "pci": "0000:3b:00.0",
    "rack": "r1",
    "model": "CX-6",
    "driver": "mlx5_core",
    "fw_ver": "20.1",
    "wall": "flows",
    "symptom": "S1",
    "state": "open",
    "severity": "critical",
    "tenant": "blue",
    "reason": "invalid",
    "policy": "rnic-heartbeat",
}


METRIC_VALUES = {"wallwatch_rnic_headroom_ratio": -0.5, "wallwatch_rnic_last_sample_timestamp_seconds": 0}


def series_of(replica: str) -> Iterator[dict[str, str]]:
    """One series of each metric, as this replica exports them: one RNIC beyond a limit, silent, with a symptom and an incident."""
    for name, labels in LABELS.items():
        values = {"instance": replica} | {label: LABEL_VALUES[label] for label in labels}
        written = ", ".join(f'{label}="{value}"' for label, value in values.items())
        yield {"series": f"{name}{{{written}}}", "values": f"{METRIC_VALUES.get(name, 1)}x20"}


def test_prometheus_evaluates_the_dashboard_and_counts_nothing_twice_while_it_scrapes_two_replicas(tmp_path: Path) -> None:
    panels = {
        f"panel_{number}": re.sub(r"\$\w+", ".*", expression)
        for number, (where, expression) in enumerate(dashboard_expressions())
        if not where.startswith("variable")
    }
    rules = [{"record": name, "expr": expression} for name, expression in panels.items()]
    (tmp_path / "panels.yaml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    totals = [
        name for name, expression in panels.items() if expression.startswith(("count(", "sum(", "sum by")) and '"warning"' not in expression
    ]
    assert len(totals) >= 5
    # There is one of each thing, however many replicas say so.
    expected = [{"expr": f"sum({name})", "eval_time": "10m", "exp_samples": [{"labels": "{}", "value": 1}]} for name in totals]
    series = [*series_of("a"), *series_of("b")]
    tests = [{"interval": "1m", "input_series": series, "promql_expr_test": expected}]
    (tmp_path / "test.yaml").write_text(json.dumps({"rule_files": ["panels.yaml"], "evaluation_interval": "1m", "tests": tests}))
    promtool("test", "rules", tmp_path / "test.yaml")


def test_the_page_of_webhooks_lists_every_metric_with_its_labels() -> None:
    page = (REPOSITORY / "docs" / "webhooks.md").read_text()
    rows = dict(re.findall(r"^\| `(wallwatch_\w+)` \| ([a-z_, ]+) \|", page, flags=re.MULTILINE))
    assert {name: set(labels.split(", ")) for name, labels in rows.items()} == LABELS


def test_the_checked_in_schema_of_webhooks_is_the_one_of_the_code() -> None:
    checked_in = json.loads((REPOSITORY / "docs" / "webhook-native.schema.json").read_text())
    assert checked_in == json.loads(json.dumps(webhook_schema.document()))
