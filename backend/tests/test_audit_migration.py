"""Rows that were in the audit log before it became a chain of hashes."""

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from typer.testing import CliRunner

from wallwatch_backend.cli import audit_app
from wallwatch_local.paths import REPOSITORY


@pytest.fixture(scope="module")
def configuration(postgres_url: str) -> Config:
    config = Config(str(REPOSITORY / "alembic.ini"))
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    config.attributes["url"] = postgres_url
    config.attributes["configure_logging"] = False
    return config


def test_old_rows_are_chained_by_the_migration_and_survive_the_way_back(
    configuration: Config, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", postgres_url)
    command.upgrade(configuration, "0002")
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as connection:
        for n in range(3):
            connection.execute(
                "INSERT INTO audit_event (actor, action, target, outcome, detail) VALUES ('cli', 'token.create', %s, 'ok', '{\"n\": 1.0}')",
                [n],
            )
        command.upgrade(configuration, "head")
        found = CliRunner().invoke(audit_app, ["verify"])
        assert found.exit_code == 0, found.output
        assert "whole: 3 links" in found.output
        command.downgrade(configuration, "0002")
        assert connection.execute("SELECT count(*) FROM audit_event").fetchone() == (3,)
        connection.execute("UPDATE audit_event SET actor = 'changed' WHERE target = '1'")
