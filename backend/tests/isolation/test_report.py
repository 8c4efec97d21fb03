"""The monthly report: seconds of the roll-up by day, the error budget, and CSV."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from wallwatch_backend.isolation.reports.service import month_of
from wallwatch_testing.isolation_rollups import roll_up_isolation

PCI = "0000:3b:00.0"
MONTH, DAY = "2026-02", datetime(2026, 2, 27, tzinfo=UTC)


@pytest.fixture(scope="module")
def two_tenants(backend: Any) -> str:
    """Three days of one VF of `a` with a twentieth of a minute broken, one day of a VF of `b` that was hardly measured."""
    host = "report-host"
    with backend.connect() as connection:
        insert = "INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id"
        rnic_id = connection.execute(insert, [host, PCI]).fetchone()[0]
        for day in range(3):  # the third is in March
            minute(connection, rnic_id, DAY + timedelta(days=day), 0, "a/web", kept_s=57.0, broken_s=3.0)
        minute(connection, rnic_id, DAY, 1, "b/bulk", unknown_s=50.0, not_promised_s=10.0, aggressor_s=3.0)
        minute(connection, rnic_id, DAY, 2, "=cmd()", kept_s=60.0)
        pods = "INSERT INTO kubernetes_pod (pod, owner, labels, found, read_at) VALUES (%s, %s, '{}', true, now())"
        connection.execute(pods, ["a/web", "Deployment/web"])
        connection.execute(pods, ["b/bulk", None])
        roll_up_isolation(connection, DAY, DAY + timedelta(days=5))
    return host


def minute(connection: psycopg.Connection[Any], rnic_id: int, at: datetime, vf: int, pod: str, **seconds: float) -> None:
    names = ("kept_s", "broken_s", "unknown_s", "not_promised_s", "aggressor_s")
    connection.execute(
        "INSERT INTO vf_minute (time, rnic_id, vf, pod, tenant, kept_s, broken_s, unknown_s, not_promised_s, aggressor_s, state)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'kept')",
        [at, rnic_id, vf, pod, pod.partition("/")[0] if "/" in pod else "", *(seconds.get(name, 0.0) for name in names)],
    )


def test_seconds_of_the_month_with_the_budget_by_vf(two_tenants: str, get: Any) -> None:
    found = get("/report", month=MONTH, objective=0.99)
    assert (found["since"], found["until"]) == ("2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z")
    rows = {row["vf"]: row for row in found["rows"] if row["host"] == two_tenants}
    assert (rows[0]["kept_s"], rows[0]["broken_s"], rows[0]["kept_share"]) == (114.0, 6.0, 0.95)
    assert (rows[0]["budget_s"], rows[0]["budget_left_s"], rows[0]["met"]) == (pytest.approx(1.2), pytest.approx(-4.8), False)
    assert (rows[0]["tenant"], rows[0]["pods"], rows[0]["owners"]) == ("a", ["a/web"], ["Deployment/web"])
    assert [rows[vf]["owners"] for vf in (1, 2)] == [[], []], "nobody's, and not described by Kubernetes"
    assert (rows[1]["unknown_s"], rows[1]["kept_share"], rows[1]["met"], rows[1]["aggressor_s"]) == (50.0, None, None, 3.0)
    assert found["rows"][0]["vf"] == 0  # least budget left first


def test_by_tenant_each_vf_counts_once(two_tenants: str, get: Any) -> None:
    rows = {row["tenant"]: row for row in get("/report", month=MONTH, by="tenant")["rows"]}
    assert (rows["a"]["vfs"], rows["a"]["broken_s"], rows["a"]["host"]) == (1, 6.0, None)
    assert rows["b"]["not_promised_s"] == 10.0
    assert None in rows  # of a pod without a namespace


def test_csv_has_the_same_rows_and_no_formulas(two_tenants: str, viewer: httpx.Client) -> None:
    answer = viewer.get("/api/v1/isolation/report", params={"month": MONTH, "format": "csv"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert f"wallwatch-slo-{MONTH}-by-vf.csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    mine = {row["vf"]: row for row in rows if row["host"] == two_tenants}
    assert (mine["0"]["month"], mine["0"]["broken_s"], mine["0"]["met"], mine["1"]["kept_share"]) == (MONTH, "6.0", "false", "")
    assert mine["2"]["pods"] == "'=cmd()"
    assert mine["0"]["owners"] == "Deployment/web"
    assert float(mine["0"]["budget_left_s"]) < 0  # a number, not text


@pytest.mark.parametrize("month", ["2026-13", "26-01", "2026-1", "x"])
def test_what_is_no_month_is_refused(viewer: httpx.Client, month: str) -> None:
    assert viewer.get("/api/v1/isolation/report", params={"month": month}).status_code == 422


def test_a_month_that_has_not_begun_is_refused(viewer: httpx.Client) -> None:
    answer = viewer.get("/api/v1/isolation/report", params={"month": "2099-01"})
    assert (answer.status_code, "not begun" in answer.json()["detail"]) == (422, True)


def test_a_december_ends_with_the_year() -> None:
    assert month_of("2025-12", datetime(2026, 5, 1, tzinfo=UTC))[2] == datetime(2026, 1, 1, tzinfo=UTC)
