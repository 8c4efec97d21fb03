"""A finding that an earlier process of the job `isolation` raised goes on under its id, and ends by its own rules."""

import time
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from wallwatch.domain.isolation.assignment import Facts
from wallwatch.domain.isolation.live import RnicStream
from wallwatch.domain.symptoms.finding_messages import finding_id
from wallwatch.jobs.isolation_findings import IsolationFindings
from wallwatch_testing.vf_traffic import SharedRnic

PCI = "0000:3b:00.0"


@pytest.fixture
def started() -> datetime:
    return datetime.fromtimestamp(int(time.time()) - 3600, UTC)


@pytest.fixture
def raised(connection: psycopg.Connection[Any], host: str, started: datetime) -> UUID:
    """An active finding, as `ingest` stores it."""
    found = finding_id(host, PCI, "isolation", started.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    [rnic_id] = connection.execute("INSERT INTO rnic (host, pci) VALUES (%s, %s) RETURNING rnic_id", [host, PCI]).fetchone() or (0,)
    connection.execute(
        """INSERT INTO finding (time, rnic_id, host_id, finding_id, symptom, state, started_at, severity, blast_radius, rule, title,
           summary, evidence, hypotheses, remedies)
           VALUES (%s, %s, 1, %s, 'isolation', 'active', %s, 'critical', 'rnic', 'I/1', 't', 's', '[]', '[]', '[]')""",
        [started, rnic_id, found, started],
    )
    connection.execute(
        """INSERT INTO rnic_state (rnic_id, host, pci, symptoms, change_seq)
           VALUES (%s, %s, %s, jsonb_build_object('isolation', jsonb_build_object('finding_id', %s::text, 'until', NULL)), 1)""",
        [rnic_id, host, PCI, str(found)],
    )
    return found


def judged(host: str, at_s: float) -> RnicStream:
    """The RNIC after two calm readings, the second at this time."""
    stream, shared = RnicStream(host, PCI, "r1"), SharedRnic(host)
    stream.promise(lambda vf: Facts(host, PCI, vf), lambda facts: (None, ""), 1)
    for at in (at_s - 1.0, at_s):
        stream.step(at, shared.step(at)["fields"])
    return stream


def test_it_clears_under_its_id_after_five_quiet_minutes_and_not_before(
    connection: psycopg.Connection[Any], host: str, raised: UUID, started: datetime
) -> None:
    findings = IsolationFindings()
    findings.resume(connection)
    for seconds, states in ((100, []), (299, []), (301, ["cleared"])):
        stream = judged(host, started.timestamp() + seconds)
        assert stream.verdict is not None
        messages = findings.take(stream, stream.verdict, "")
        assert [message["state"] for message in messages] == states
    assert messages[0]["finding_id"] == str(raised)


def test_that_of_an_rnic_which_another_process_reads_is_left_alone(
    connection: psycopg.Connection[Any], host: str, raised: UUID, started: datetime
) -> None:
    findings = IsolationFindings()
    findings.resume(connection)
    other = judged(f"{host}-other", started.timestamp() + 3_000)
    assert other.verdict is not None
    assert findings.take(other, other.verdict, "") == []
    assert [m for m in findings.forget(reads_all=False) if m["host"] == host] == []
    [message] = [m for m in findings.forget(reads_all=True) if m["host"] == host]
    assert (message["state"], message["finding_id"]) == ("cleared", str(raised))
