"""The database from nothing and back to nothing, on the edition that is installed; the other edition's SQL."""

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from wallwatch.store.rollups import ROLLUPS, refresh_statement
from wallwatch.store.tables import HYPERTABLES, metadata

pytestmark = pytest.mark.integration
REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
def connection(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as found:
        yield found


def hypertables(connection: psycopg.Connection[Any]) -> set[str]:
    return {row[0] for row in connection.execute("SELECT hypertable_name FROM timescaledb_information.hypertables")}


def test_upgrade_from_nothing_and_downgrade_and_upgrade_again(
    alembic_config: Config, connection: psycopg.Connection[Any], postgres_url: str
) -> None:
    for _ in range(2):
        command.upgrade(alembic_config, "head")
        assert hypertables(connection) >= set(HYPERTABLES)
        engine = create_engine(postgres_url)
        found = inspect(engine)
        for name, table in metadata.tables.items():
            assert {c["name"] for c in found.get_columns(name)} == set(table.columns.keys())
        assert set(found.get_view_names()) >= {r.view for r in ROLLUPS}
        engine.dispose()
        command.downgrade(alembic_config, "base")
        assert hypertables(connection) == set()


def test_the_same_sample_twice_is_refused_by_the_table_itself(alembic_config: Config, connection: psycopg.Connection[Any]) -> None:
    command.upgrade(alembic_config, "head")
    insert = "INSERT INTO rnic_sample (time, rnic_id, tx_gbps) VALUES ('2026-01-01Z', 1, 2)"
    connection.execute(insert)
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute(insert)


def test_one_minute_aggregates_are_the_same_when_computed_twice(alembic_config: Config, connection: psycopg.Connection[Any]) -> None:
    command.upgrade(alembic_config, "head")
    start = datetime(2026, 1, 2, tzinfo=UTC)
    for second in range(90):
        connection.execute(
            "INSERT INTO offload_sample (time, rnic_id, flows_offloaded) VALUES (%s, 5, %s)", [start + timedelta(seconds=second), second]
        )
    rollup = next(r for r in ROLLUPS if r.view == "offload_1m")
    for _ in range(2):
        connection.execute(refresh_statement(rollup).encode(), {"start": start, "end": start + timedelta(hours=1)})
        query = (
            "SELECT samples, flows_offloaded_avg, flows_offloaded_min, flows_offloaded_max, q_egress_avg FROM offload_1m ORDER BY bucket"
        )
        assert connection.execute(query).fetchall() == [(60, 29.5, 0, 59, None), (30, 74.5, 60, 89, None)]


def test_two_virtual_functions_behind_one_address_are_two_and_one_twice_is_refused(
    alembic_config: Config, connection: psycopg.Connection[Any]
) -> None:
    command.upgrade(alembic_config, "head")
    insert = "INSERT INTO vf_sample (time, rnic_id, vf, vf_pci) VALUES ('2026-01-01Z', 1, %s, '0000:3b:00.2')"
    for vf in (0, 1):
        connection.execute(insert, [vf])
    with pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute(insert, [1])


def test_what_had_verified_a_remedy_becomes_its_change_or_its_effect_and_back(
    alembic_config: Config, connection: psycopg.Connection[Any]
) -> None:
    command.upgrade(alembic_config, "head")
    command.downgrade(alembic_config, "0009")
    insert = (
        "INSERT INTO remedy (id, action, host, params, mode, state, requested_by, created_at, updated_at, operations, request_hash,"
        " verification)"
        " VALUES (gen_random_uuid(), %s, 'h', '{}', 'apply', %s, 'ada', now(), now(), '[]', '', %s::jsonb)"
    )
    verifications = {
        "cordon-rnic": '{"signal": "cordoned", "measured": 1, "measured_at": "2026-01-01T00:00:00Z"}',
        "tune-revalidator": '{"signal": "reoffload_ratio", "measured": 0.01, "measured_at": "2026-01-01T00:00:00Z"}',
    }
    for action, verification in verifications.items():
        connection.execute(insert, [action, "confirmed", verification])
    connection.execute(insert, ["pace-vf-unbinding", "running", None])
    command.upgrade(alembic_config, "0010")
    query = (
        "SELECT action, state, change->>'signal', change->>'confirmed_at', effect->>'signal', effect->>'before' FROM remedy ORDER BY action"
    )
    assert connection.execute(query).fetchall() == [
        ("cordon-rnic", "change_confirmed", "cordoned", "2026-01-01T00:00:00Z", None, None),
        ("pace-vf-unbinding", "running", None, None, None, None),
        ("tune-revalidator", "confirmed", None, None, "reoffload_ratio", None),
    ]
    command.downgrade(alembic_config, "0009")
    query = "SELECT action, state, verification::text FROM remedy WHERE verification IS NOT NULL ORDER BY action"
    restored = {row[0]: (row[1], json.loads(row[2])) for row in connection.execute(query)}
    assert restored == {action: ("confirmed", json.loads(verification)) for action, verification in verifications.items()}


def test_each_revision_can_be_rolled_back_and_applied_again(alembic_config: Config) -> None:
    command.upgrade(alembic_config, "head")
    for revision in ScriptDirectory.from_config(alembic_config).walk_revisions():
        command.downgrade(alembic_config, revision.down_revision or "base")
    command.upgrade(alembic_config, "head")


@pytest.mark.parametrize(
    ("edition", "has", "lacks"),
    [
        ("community", ["timescaledb.continuous", "add_columnstore_policy", "add_retention_policy"], ["rnic_1m_rollup"]),
        ("apache", ["rnic_1m_rollup", "CREATE VIEW rnic_1m"], ["timescaledb.continuous", "_policy(", "columnstore"]),
    ],
)
def test_offline_sql_is_that_of_the_edition(edition: str, has: list[str], lacks: list[str]) -> None:
    from argparse import Namespace

    out = io.StringIO()
    alembic_config = Config(str(REPOSITORY / "alembic.ini"), output_buffer=out, cmd_opts=Namespace(x=[f"timescaledb={edition}"]))
    alembic_config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    alembic_config.attributes["configure_logging"] = False
    with redirect_stdout(out):
        command.upgrade(alembic_config, "0001", sql=True)
    text = out.getvalue()
    assert all(word in text for word in has)
    assert not any(word in text for word in lacks)
