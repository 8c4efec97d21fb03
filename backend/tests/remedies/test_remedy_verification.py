"""What was applied is verified by the telemetry that must follow, or it is not: each kind of proof."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from wallwatch.store.tables import vf_sample
from wallwatch_testing.packed_hours import pack_rnic
from wallwatch_testing.remedies import PCI, order, wait_for


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "remedy_watch_s": 0.1,
        "remedy_max_fleet_percent": 100,
        "remedy_approval_risk": "never",
        "remedy_breaker_failures": 1000,
    }


def write_ratio(backend: Any, host: str, samples: list[tuple[datetime, float | None]], pci: str = PCI) -> None:
    with backend.connect() as connection:
        (rnic_id,) = connection.execute(
            "INSERT INTO rnic (host, pci) VALUES (%s, %s) ON CONFLICT (host, pci) DO UPDATE SET rack = '' RETURNING rnic_id", [host, pci]
        ).fetchone()
        for at, ratio in samples:
            connection.execute("INSERT INTO offload_sample (time, rnic_id, reoffload_ratio) VALUES (%s, %s, %s)", [at, rnic_id, ratio])


def test_an_applied_remedy_is_verified_by_telemetry_and_can_be_undone(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    applied = wait_for(operator, eventually, order(operator, host).json(), "verifying")
    assert applied["effect"]["measured"] is None
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [(at - timedelta(seconds=60), 0.0), (at + timedelta(seconds=5), 0.4)])
    eventually(lambda: operator.get(f"/api/v1/remedies/{applied['id']}").json()["effect"]["measured"] == 0.4)
    write_ratio(backend, host, [(at + timedelta(seconds=10 * i), 0.01 * i) for i in (1, 2, 3)])
    verified = wait_for(operator, eventually, applied, "confirmed")
    assert verified["effect"]["measured"] == 0.03
    assert verified["undoable"] is True
    assert operator.post(f"/api/v1/remedies/{applied['id']}/undo").status_code == 202
    undone = wait_for(operator, eventually, applied, "undone")
    assert [c["operation"] for c in undone["commands"]] == ["apply", "undo"]
    assert undone["undoable"] is False
    assert operator.post(f"/api/v1/remedies/{applied['id']}/undo").json()["code"] == "not_undoable"


def test_a_rate_limit_is_verified_by_the_limit_that_the_driver_reports_for_that_function(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    created = order(operator, host, action="limit-vf-rate", params={"vf": 3, "max_tx_mbps": 2500})
    applied = wait_for(operator, eventually, created.json(), "verifying")
    assert applied["change"]["expected"] == "= 2500"
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for vf, limit in ((2, 2500), (3, 0)):
            connection.execute(
                "INSERT INTO vf_sample (time, rnic_id, vf, max_tx_mbps) VALUES (%s, %s, %s, %s)",
                [at + timedelta(seconds=5), rnic_id, vf, limit],
            )
        eventually(lambda: operator.get(f"/api/v1/remedies/{applied['id']}").json()["change"]["measured"] == 0)
        connection.execute(
            "INSERT INTO vf_sample (time, rnic_id, vf, max_tx_mbps) VALUES (%s, %s, 3, 2500)", [at + timedelta(seconds=125), rnic_id]
        )
    assert wait_for(operator, eventually, applied, "change_confirmed")["change"]["measured"] == 2500


def test_a_guarantee_is_verified_by_the_minimum_that_the_driver_reports_for_that_function(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    created = order(operator, host, action="guarantee-vf-rate", params={"vf": 3, "min_tx_mbps": 2500})
    applied = wait_for(operator, eventually, created.json(), "verifying")
    assert applied["change"]["expected"] == "= 2500"
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    insert = "INSERT INTO vf_sample (time, rnic_id, vf, max_tx_mbps, min_tx_mbps) VALUES (%s, %s, 3, %s, %s)"
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        connection.execute(insert, [at + timedelta(seconds=5), rnic_id, 2500, 0])
        eventually(lambda: operator.get(f"/api/v1/remedies/{applied['id']}").json()["change"]["measured"] == 0)
        pack_rnic(connection, vf_sample, rnic_id)
        connection.execute(insert, [at + timedelta(seconds=125), rnic_id, 0, 2500])
    assert wait_for(operator, eventually, applied, "change_confirmed")["change"]["measured"] == 2500


def test_a_recovery_is_verified_by_the_reporters_health_and_cannot_be_undone(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    created = order(operator, host, action="recover-health-reporter", params={"reporter": "fw_fatal"})
    applied = wait_for(operator, eventually, created.json(), "verifying")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for seconds, failed in ((5, 1), (10, 0), (20, 0), (30, 0)):
            connection.execute(
                "INSERT INTO rnic_sample (time, rnic_id, other) VALUES (%s, %s, jsonb_build_object('health_reporters_failed', %s::int))",
                [at + timedelta(seconds=seconds), rnic_id, failed],
            )
    verified = wait_for(operator, eventually, applied, "change_confirmed")
    assert verified["undoable"] is False
    assert operator.post(f"/api/v1/remedies/{applied['id']}/undo").json()["code"] == "not_undoable"


def test_a_cap_on_contexts_is_verified_once_the_rnic_keeps_below_it(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    created = order(operator, host, action="cap-encap-contexts", params={"max_contexts": 8000, "max_ports": 2})
    applied = wait_for(operator, eventually, created.json(), "verifying")
    assert applied["change"]["expected"] == "<= 8000"
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for seconds, contexts in ((5, 9400), (10, 8000), (20, 7900), (30, 7950)):
            connection.execute(
                "INSERT INTO offload_sample (time, rnic_id, encap_contexts) VALUES (%s, %s, %s)",
                [at + timedelta(seconds=seconds), rnic_id, contexts],
            )
    verified = wait_for(operator, eventually, applied, "change_confirmed")
    assert verified["change"]["measured"] == 7950
    assert verified["undoable"] is True


def test_that_orphaned_filters_are_gone_is_verified_by_the_collectors_own_look_at_the_host(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    created = order(operator, host, action="remove-orphaned-filters", params={"max_filters": 10}, pci=None)
    applied = wait_for(operator, eventually, created.json(), "verifying")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    with backend.connect() as connection:
        for name, found in ((f"{host}-other", 3), (host, 0)):
            (host_id,) = connection.execute("INSERT INTO host (host) VALUES (%s) RETURNING host_id", [name]).fetchone()
            connection.execute(
                "INSERT INTO datapath_sample (time, host_id, datapath, other)"
                " VALUES (%s, %s, 'd', jsonb_build_object('tc_filters_orphaned', %s::int))",
                [at + timedelta(seconds=200), host_id, found],
            )
    assert wait_for(operator, eventually, applied, "change_confirmed")["change"]["measured"] == 0


def test_a_pace_is_verified_by_the_agents_word(operator: httpx.Client, agent: Any, host: str, eventually: Any) -> None:
    created = order(operator, host, action="pace-vf-unbinding", params={"interval_ms": 500})
    assert wait_for(operator, eventually, created.json(), "change_confirmed")["undoable"] is True


def test_samples_of_another_rnic_verify_nothing(operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any) -> None:
    applied = wait_for(operator, eventually, order(operator, host).json(), "verifying")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [(at + timedelta(seconds=10 * i), 0.0) for i in (1, 2, 3, 4)], pci="0000:99:00.0")
    # The look that sees this RNIC's own sample, which confirms nothing, has seen those of the other one too.
    write_ratio(backend, host, [(at + timedelta(seconds=5), 0.4)])
    looked = eventually(lambda: (now := operator.get(f"/api/v1/remedies/{applied['id']}").json())["effect"]["measured"] and now)
    assert (looked["effect"]["measured"], looked["state"]) == (0.4, "verifying")


def test_a_remedy_that_telemetry_does_not_confirm_in_time_is_not_verified(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    applied = wait_for(operator, eventually, order(operator, host).json(), "verifying")
    at = datetime.fromisoformat(applied["commands"][0]["finished_at"])
    write_ratio(backend, host, [(at + timedelta(seconds=1), 0.5)])
    with backend.connect() as connection:  # three minutes pass
        connection.execute(
            "UPDATE remedy SET effect = effect || jsonb_build_object('deadline', %s::text) WHERE id = %s",
            [(datetime.now(UTC) - timedelta(minutes=1)).isoformat(), applied["id"]],
        )
    found = wait_for(operator, eventually, applied, "not_confirmed")
    assert found["effect"]["measured"] == 0.5
    assert found["undoable"] is True


def test_a_cordon_is_verified_by_the_agents_report_and_shown_until_it_is_undone(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any
) -> None:
    write_ratio(backend, host, [])
    body = {"action": "cordon-rnic", "params": {"reason": "S7 suspected"}}
    remedy = wait_for(operator, eventually, order(operator, host, **body).json(), "change_confirmed")
    assert remedy["params"] == {"pci": PCI, "reason": "S7 suspected"}
    assert remedy["change"]["measured"] == 1
    assert operator.get(f"/api/v1/rnics/{host}/{PCI}").json()["cordoned"] is True
    operator.post(f"/api/v1/remedies/{remedy['id']}/undo")
    wait_for(operator, eventually, remedy, "undone")
    assert operator.get(f"/api/v1/rnics/{host}/{PCI}").json()["cordoned"] is False


def write_software_packets(backend: Any, host: str, samples: list[tuple[datetime, float]]) -> None:
    with backend.connect() as connection:
        (rnic_id,) = connection.execute(
            "INSERT INTO rnic (host, pci) VALUES (%s, %s) ON CONFLICT (host, pci) DO UPDATE SET rack = '' RETURNING rnic_id", [host, PCI]
        ).fetchone()
        for at, packets in samples:
            connection.execute(
                "INSERT INTO offload_sample (time, rnic_id, software_packets_per_s) VALUES (%s, %s, %s)", [at, rnic_id, packets]
            )


@pytest.fixture
def s5(operator: httpx.Client, apply_findings: Any, findings: Any, host: str) -> dict[str, Any]:
    """The message of an S5 on the host, with the id of its incident."""
    message: dict[str, Any] = findings.finding("S5", started=datetime.now(UTC) - timedelta(minutes=20), host=host, pci=PCI)
    apply_findings(message)
    (incident,) = operator.get("/api/v1/incidents", params={"host": host}).json()["items"]
    return {**message, "incident_id": incident["id"]}


def test_a_remedy_of_an_incident_is_confirmed_by_its_symptoms_signal_once_the_symptom_has_cleared(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any, apply_findings: Any, s5: dict[str, Any]
) -> None:
    incident_id = s5.pop("incident_id")
    applied = wait_for(operator, eventually, order(operator, host, incident_id=incident_id).json(), "verifying")
    assert (applied["effect"]["symptom"], applied["effect"]["signal"]) == ("S5", "software_packets_per_s")
    assert applied["symptom"] == {"symptom": "S5", "title": s5["title"], "present": True, "cleared_at": None}
    at = datetime.fromisoformat(applied["applied_at"])
    write_ratio(backend, host, [(at + timedelta(seconds=10 * i), 0.0) for i in range(1, 8)])
    write_software_packets(backend, host, [(at - timedelta(seconds=12), 900.0), (at - timedelta(minutes=9), 0.0)])
    write_software_packets(backend, host, [(at + timedelta(seconds=10 * i + 1), 3.0) for i in range(1, 8)])
    path = f"/api/v1/remedies/{applied['id']}"
    waiting = eventually(lambda: (r := operator.get(path).json())["effect"]["confirmed_at"] and r)
    assert waiting["change"]["confirmed_at"] is not None
    time.sleep(0.5)  # five looks
    assert operator.get(path).json()["state"] == "verifying", "its signal is fine again, and its symptom is still there"
    cleared_at = at + timedelta(seconds=65)
    apply_findings({**s5, "state": "cleared", "at": cleared_at.isoformat(), "hypotheses": []})
    confirmed = wait_for(operator, eventually, applied, "confirmed")
    assert (confirmed["effect"]["before"], confirmed["effect"]["measured"]) == (900.0, 3.0)
    assert (confirmed["symptom"]["present"], datetime.fromisoformat(confirmed["symptom"]["cleared_at"])) == (False, cleared_at)
    kept = operator.get(f"{path}/effect").json()
    assert (kept["bound"], kept["unit"], kept["applied_at"]) == (50.0, "packets/s", confirmed["applied_at"])
    assert [sample["value"] for sample in kept["samples"]] == [0.0, 900.0, *[3.0] * 7]


def test_a_cordon_for_an_incident_has_its_change_confirmed_and_says_nothing_about_the_symptom(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any, s5: dict[str, Any]
) -> None:
    write_ratio(backend, host, [])
    body = {"action": "cordon-rnic", "params": {"reason": "S5"}, "incident_id": s5["incident_id"]}
    remedy = wait_for(operator, eventually, order(operator, host, **body).json(), "change_confirmed", "confirmed")
    assert (remedy["state"], remedy["effect"]) == ("change_confirmed", None)
    assert remedy["symptom"]["present"] is True
    timeline = operator.get(f"/api/v1/incidents/{s5['incident_id']}").json()["timeline"]
    assert "cordon-rnic was applied, and the host has the change. Cordoned expected = 1, measured 1." in timeline[-1]["text"]
    assert operator.get(f"/api/v1/remedies/{remedy['id']}/effect").status_code == 404


def test_a_symptom_that_outlasts_its_signal_leaves_the_remedy_unconfirmed(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any, s5: dict[str, Any]
) -> None:
    applied = wait_for(operator, eventually, order(operator, host, incident_id=s5["incident_id"]).json(), "verifying")
    at = datetime.fromisoformat(applied["applied_at"])
    write_software_packets(backend, host, [(at + timedelta(seconds=10 * i), 3.0) for i in range(1, 8)])
    eventually(lambda: operator.get(f"/api/v1/remedies/{applied['id']}").json()["effect"]["confirmed_at"])
    with backend.connect() as connection:  # the time for it to clear passes
        connection.execute(
            "UPDATE remedy SET effect = effect || jsonb_build_object('deadline', %s::text) WHERE id = %s",
            [(datetime.now(UTC) - timedelta(minutes=10)).isoformat(), applied["id"]],
        )
    assert wait_for(operator, eventually, applied, "not_confirmed", "confirmed")["state"] == "not_confirmed"


def write_minutes(backend: Any, host: str, minutes: list[tuple[datetime, float]]) -> None:
    """One VF that suffered so many seconds of each minute, and one that did not."""
    with backend.connect() as connection:
        (rnic_id,) = connection.execute("SELECT rnic_id FROM rnic WHERE host = %s", [host]).fetchone()
        for begin, broken_s in minutes:
            for vf, seconds in ((0, broken_s), (1, 0.0)):
                connection.execute(
                    "INSERT INTO vf_minute (time, rnic_id, vf, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s, state)"
                    " VALUES (%s, %s, %s, %s, %s, 0, 0, 0, 'kept')",
                    [begin, rnic_id, vf, 60.0 - seconds, seconds],
                )


def test_a_rate_limit_for_broken_isolation_is_confirmed_by_two_minutes_without_broken_seconds(
    operator: httpx.Client, backend: Any, agent: Any, host: str, eventually: Any, apply_findings: Any, findings: Any
) -> None:
    started = datetime.now(UTC) - timedelta(minutes=20)
    message = findings.finding("isolation", started=started, host=host, pci=PCI, hypotheses=[], remedies=[])
    apply_findings(message)
    (incident,) = operator.get("/api/v1/incidents", params={"host": host}).json()["items"]
    body = {"action": "limit-vf-rate", "params": {"vf": 3, "max_tx_mbps": 2500}, "incident_id": incident["id"]}
    applied = wait_for(operator, eventually, order(operator, host, **body).json(), "verifying")
    assert (applied["effect"]["symptom"], applied["effect"]["signal"]) == ("isolation", "broken_s_per_min")
    at = datetime.fromisoformat(applied["applied_at"])
    write_ratio(backend, host, [])
    with backend.connect() as connection:
        connection.execute(
            "INSERT INTO vf_sample (time, rnic_id, vf, max_tx_mbps) SELECT %s, rnic_id, 3, 2500 FROM rnic WHERE host = %s",
            [at + timedelta(seconds=5), host],
        )
    write_minutes(backend, host, [(at - timedelta(seconds=30), 12.0)])  # the minute in which the limit came
    path = f"/api/v1/remedies/{applied['id']}"
    eventually(lambda: operator.get(path).json()["effect"]["measured"] == 12.0)
    assert operator.get(path).json()["change"]["confirmed_at"] is not None
    write_minutes(backend, host, [(at + timedelta(seconds=30), 0.0), (at + timedelta(seconds=90), 0.0)])
    eventually(lambda: operator.get(path).json()["effect"]["confirmed_at"])
    assert operator.get(path).json()["state"] == "verifying", "the symptom has not cleared yet"
    apply_findings({**message, "state": "cleared", "at": (at + timedelta(seconds=150)).isoformat()})
    assert wait_for(operator, eventually, applied, "confirmed")["effect"]["measured"] == 0.0
