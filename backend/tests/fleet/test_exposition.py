"""`/metrics/fleet`: what Prometheus reads of the fleet."""

import doctest
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse

from wallwatch_backend.fleet.exposition import text
from wallwatch_backend.fleet.exposition.families import FAMILIES

PATH = "/metrics/fleet"
PCI = "0000:3b:00.0"


@pytest.fixture(scope="module", autouse=True)
def fleet(backend: Any) -> None:
    """Two racks: one RNIC above a limit with a cleared and an active symptom, one without any data."""
    with backend.connect() as connection:
        connection.execute(
            "INSERT INTO rnic (host, pci, rack, model, driver, fw_ver) VALUES ('gpu1', %s, 'r1', 'CX-6', 'mlx5_core', '22.36.1010')", [PCI]
        )
        connection.execute(
            """INSERT INTO rnic_state (rnic_id, host, pci, rack, model, walls, headroom, symptoms, seen_at, change_seq)
               SELECT rnic_id, host, pci, rack, model,
               '{"offloaded_flows": {"value": 9000, "limit": 7200, "headroom": -0.25, "basis": "paper"},
                 "egress_masks": {"value": null, "limit": 24, "headroom": null, "basis": "model"}}', -0.25,
                 '{"S1": {"since": "2026-11-21T00:00:00Z", "severity": "warning", "until": null},
                   "S6": {"since": "2026-11-21T00:00:00Z", "severity": "warning", "until": "2026-11-21T00:10:00Z"}}',
                 '2026-11-21T00:20:00.5Z', 1 FROM rnic WHERE host = 'gpu1'"""
        )
        connection.execute(
            """INSERT INTO rnic_forecast (rnic_id, made_at, kept_at, cold_start, policy_violated, next_wall, earliest_in_s, likely_in_s,
               wall_chance, decline_share, decline_since, body)
               SELECT rnic_id, now(), now(), false, false, 'egress_masks', 600, 1200, 0.75, 0.08, now(), '{}'
               FROM rnic WHERE host = 'gpu1'"""
        )
        connection.execute(
            """INSERT INTO vf_broken (time, rnic_id, vf, tenant, interval_s, estimated, reason, aggressors)
               SELECT now(), rnic_id, vf, 'team-a', 2, false, 'lost 3%', '[{"vf": 3, "pod": "team-b/x", "tenant": "team-b"}]'
               FROM rnic, generate_series(0, 1) AS vf WHERE host = 'gpu1'"""
        )
        connection.execute(
            """WITH a AS (INSERT INTO agent (id, host, instance_uid, enrolled_at, last_seen_at)
               VALUES (gen_random_uuid(), 'gpu1', 'u', '2026-11-01T00:00:00Z', '2026-11-21T00:20:00Z') RETURNING id)
               INSERT INTO agent_certificate (fingerprint, serial, agent_id, authority, issued_at, not_after)
               SELECT 'f', '1', id, 'x', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z' FROM a"""
        )
        connection.execute(
            """WITH h AS (INSERT INTO host (host) VALUES ('gpu1') RETURNING host_id)
               INSERT INTO event (time, host_id, kind, other) SELECT now() - ago * interval '1 minute', host_id, 'policy_violated', other
               FROM h, (VALUES (5, '{"policy": "rnic-heartbeat"}'::jsonb), (6, '{"policy": "rnic-heartbeat", "left_out": 4}'),
               (90, '{"policy": "rnic-heartbeat"}')) AS v (ago, other)"""
        )
        connection.execute(
            "INSERT INTO rnic_state (rnic_id, host, pci, rack, symptoms, change_seq) VALUES (777, 'odd', %s, %s, %s, 2)",
            [PCI, 'r"2\\', '{"S8": {"since": "2026-11-21T00:00:00Z", "severity": "critical"}}'],
        )


@pytest.fixture(scope="module")
def scraper(backend: Any, admin: httpx.Client) -> Iterator[httpx.Client]:
    """What Prometheus is: a viewer's token as bearer."""
    token = admin.post("/api/v1/tokens", json={"name": "prometheus", "role": "viewer"}).json()["token"]
    with backend.client(headers={"Authorization": f"Bearer {token}"}) as client:
        yield client


Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def samples(body: str, parser: Any = parse) -> Samples:
    found: Samples = {}
    for family in parser(body):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def of(found: Samples, name: str, **labels: str) -> float | None:
    return found.get(name, {}).get(tuple(sorted(labels.items())))


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(text).failed == 0


def test_broken_seconds_are_counted_per_vf_and_an_aggressor_once_per_interval(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)
    assert of(found, "wallwatch_tenant_broken_seconds", tenant="team-a") == 4
    assert of(found, "wallwatch_tenant_aggressor_seconds", tenant="team-b") == 2
    assert "wallwatch_tenant_broken_seconds" not in samples(scraper.get(PATH, params={"rack": "elsewhere"}).text)


def test_nobody_reads_the_fleet_without_a_token(anonymous: httpx.Client) -> None:
    assert anonymous.get(PATH).status_code == 401
    assert anonymous.get(PATH, headers={"Authorization": "Bearer ww_wrong"}).json()["code"] == "not_signed_in"


def test_an_rnic_is_identified_by_one_metric_that_others_join(scraper: httpx.Client) -> None:
    answer = scraper.get(PATH)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    found = samples(answer.text)
    known = {"host": "gpu1", "pci": PCI}
    assert of(found, "wallwatch_rnic_info", **known, rack="r1", model="CX-6", driver="mlx5_core", fw_ver="22.36.1010") == 1
    assert of(found, "wallwatch_rnic_headroom_ratio", **known, wall="offloaded_flows") == -0.25
    assert of(found, "wallwatch_rnic_last_sample_timestamp_seconds", **known) == 1795220400.5


@pytest.mark.parametrize(
    ("forecast", "exported"),
    [
        ("wall_chance = 0.75, made_at = now()", 0.75),
        ("wall_chance = 0.5, made_at = now()", 0.5),
        ("wall_chance = 0.49, made_at = now()", None),
        ("wall_chance = NULL, made_at = now()", None),
        ("wall_chance = 0.75, made_at = now() - interval '16 minutes'", None),
    ],
)
def test_the_chance_of_a_wall_is_exported_where_it_is_likely_and_the_forecast_holds(
    scraper: httpx.Client, backend: Any, forecast: str, exported: float | None
) -> None:
    with backend.connect() as connection:
        connection.execute(f"UPDATE rnic_forecast SET {forecast}")
    try:
        found = samples(scraper.get(PATH).text)
    finally:
        with backend.connect() as connection:
            connection.execute("UPDATE rnic_forecast SET wall_chance = 0.75, made_at = now()")
    assert of(found, "wallwatch_rnic_wall_chance_ratio", host="gpu1", pci=PCI, wall="egress_masks") == exported


def test_forecasts_say_when_and_how_much(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)
    assert of(found, "wallwatch_rnic_wall_in_seconds", host="gpu1", pci=PCI, wall="egress_masks") == 1200
    assert of(found, "wallwatch_rnic_decline_ratio", host="gpu1", pci=PCI) == pytest.approx(0.08)


def test_agents_certificates_and_policies_are_there_without_a_rack_only(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)
    day_s = 86_400
    expires = of(found, "wallwatch_agent_certificate_expiry_timestamp_seconds", host="gpu1")
    late = of(found, "wallwatch_agent_certificate_late_timestamp_seconds", host="gpu1")
    seen = of(found, "wallwatch_agent_last_seen_timestamp_seconds", host="gpu1")
    assert expires is not None
    assert late is not None
    assert seen is not None
    assert (expires - late, expires - seen) == (7.5 * day_s, 10 * day_s - 20 * 60)
    assert of(found, "wallwatch_policy_violations", policy="rnic-heartbeat") == 5, "one, and four that the host counted only"
    of_rack = samples(scraper.get(PATH, params={"rack": "r1"}).text)
    assert not {"wallwatch_policy_violations", "wallwatch_agent_last_seen_timestamp_seconds"} & set(of_rack)


def test_what_is_unknown_is_empty_or_absent_and_never_zero(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)
    assert of(found, "wallwatch_rnic_info", host="odd", pci=PCI, rack='r"2\\', model="", driver="", fw_ver="") == 1
    assert of(found, "wallwatch_rnic_headroom_ratio", host="gpu1", pci=PCI, wall="egress_masks") is None
    assert of(found, "wallwatch_rnic_last_sample_timestamp_seconds", host="odd", pci=PCI) is None


def test_a_symptom_is_there_while_it_lasts_and_counted(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)
    assert found["wallwatch_rnic_symptom_active"] == {
        (("host", "gpu1"), ("pci", PCI), ("symptom", "S1")): 1,
        (("host", "odd"), ("pci", PCI), ("symptom", "S8")): 1,
    }
    counts = {labels[0][1]: value for labels, value in found["wallwatch_symptom_rnics"].items()}
    assert {"S1": 1.0, "S6": 0.0, "S8": 1.0, "silent": 0.0, "unexplained": 0.0}.items() <= counts.items()


def test_incidents_are_counted_by_state_and_severity_from_zero_on(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)["wallwatch_incidents"]
    assert found[(("severity", "critical"), ("state", "open"))] == 0
    assert {dict(labels)["state"] for labels in found} >= {"open", "acknowledged", "resolved"}


def test_a_client_that_accepts_openmetrics_gets_it(scraper: httpx.Client) -> None:
    accept = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3"
    answer = scraper.get(PATH, headers={"Accept": accept})
    assert answer.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    assert samples(answer.text, parse_openmetrics) == samples(scraper.get(PATH).text)


def test_every_declared_family_is_exported_with_its_labels(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH).text)
    assert {name: tuple(sorted(dict(next(iter(each))))) for name, each in found.items()} == {
        family.name: tuple(sorted(family.labels)) for family in FAMILIES
    }


def test_a_large_fleet_can_be_divided_by_rack(scraper: httpx.Client) -> None:
    found = samples(scraper.get(PATH, params={"rack": "r1"}).text)
    assert [dict(labels)["host"] for labels in found["wallwatch_rnic_info"]] == ["gpu1"]
    # What is no rack's is left to the scrape without one, so that a sum over scrapes counts nothing twice.
    assert "wallwatch_incidents" not in found
    assert found["wallwatch_symptom_rnics"][(("symptom", "S8"),)] == 0


def test_two_racks_in_one_scrape_are_refused_instead_of_one_being_left_out(operator: httpx.Client) -> None:
    answer = operator.get("/metrics/fleet", params=[("rack", "r1"), ("rack", "r2")])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")
