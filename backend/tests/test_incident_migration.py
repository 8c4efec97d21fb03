"""Incidents that were opened before there were many findings in one: what becomes of them in the migration, and back."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import orjson
import psycopg
import pytest
from alembic import command
from alembic.config import Config

from wallwatch_local.paths import REPOSITORY

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
HYPOTHESES = [{"cause": "C1", "posterior": 0.2}, {"cause": "C5", "posterior": 0.7}]


@pytest.fixture(scope="module")
def configuration(postgres_url: str) -> Config:
    config = Config(str(REPOSITORY / "alembic.ini"))
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    config.attributes["url"] = postgres_url
    config.attributes["configure_logging"] = False
    return config


def add_old(connection: psycopg.Connection[tuple[object, ...]], state: str) -> tuple[UUID, UUID]:
    incident, finding = uuid4(), uuid4()
    ended = AT + timedelta(minutes=5) if state == "resolved" else None
    connection.execute(
        "INSERT INTO incident (id, host, pci, rack, symptom, state, severity, blast_radius, rule, title, summary, finding_id, active, "
        "opened_at, updated_at, resolved_at, reopened, top_cause, evidence, hypotheses, remedies) "
        "VALUES (%s, 'h1', 'a', 'r1', 'S1', %s, 'critical', 'flows', 'S1/1', 't', 's', %s, %s, %s, %s, %s, 0, 'C5', "
        "'[{\"signal\": \"x\"}]', %s, '[]')",
        [incident, state, finding, ended is None, AT, AT, ended, orjson.dumps(HYPOTHESES).decode()],
    )
    connection.execute(
        "INSERT INTO incident_finding (finding_id, incident_id, started_at, last_at, cleared_at) VALUES (%s, %s, %s, %s, %s)",
        [finding, incident, AT, AT, ended],
    )
    return incident, finding


def test_old_incidents_keep_their_evidence_through_the_migration_and_back(configuration: Config, postgres_url: str) -> None:
    command.upgrade(configuration, "0005")
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        still, finding = add_old(connection, "open")
        over, _ = add_old(connection, "resolved")
        command.upgrade(configuration, "head")
        row = connection.execute(
            "SELECT scope, subject, symptoms, hosts, rnics, version, over_since, merged_into FROM incident WHERE id = %s", [still]
        ).fetchone()
        assert row == ("rnic", "h1 a", ["S1"], ["h1"], 1, 1, None, None)
        assert connection.execute("SELECT over_since FROM incident WHERE id = %s", [over]).fetchone() == (AT + timedelta(minutes=5),)
        row = connection.execute(
            "SELECT origin_id, host, pci, rack, symptom, cause, posterior, severity, rule, evidence, hypotheses FROM incident_finding "
            "WHERE finding_id = %s",
            [finding],
        ).fetchone()
        assert row == (still, "h1", "a", "r1", "S1", "C5", 0.7, "critical", "S1/1", [{"signal": "x"}], HYPOTHESES)
        seqs = [one[0] for one in connection.execute("SELECT seq FROM incident").fetchall()]
        assert len(set(seqs)) == 2, "each has its own place in the change feed"

        connection.execute("UPDATE incident SET state = 'reopened' WHERE id = %s", [still])
        command.downgrade(configuration, "0005")
        row = connection.execute("SELECT state, rule, evidence, hypotheses FROM incident WHERE id = %s", [still]).fetchone()
        assert row == ("open", "S1/1", [{"signal": "x"}], HYPOTHESES)
