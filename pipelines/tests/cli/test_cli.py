"""The `wallwatch` command."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from wallwatch.cli import db, plugins
from wallwatch.cli.main import app
from wallwatch.cli.tables import pages
from wallwatch.settings import Settings

run = CliRunner().invoke
extra = typer.Typer()


@extra.command()
def hello() -> None:
    typer.echo("hello from another part")


def test_the_documentation_is_written_once_and_then_up_to_date(tmp_path: Path) -> None:
    assert run(app, ["generate", "docs", "--folder", str(tmp_path), "--check"]).exit_code == 1
    assert not list(tmp_path.iterdir())
    assert run(app, ["generate", "docs", "--folder", str(tmp_path)]).exit_code == 0
    assert {f.name for f in tmp_path.iterdir()} == {"metrics.md", "policies.md", "symptoms.md"}
    assert run(app, ["generate", "docs", "--folder", str(tmp_path), "--check"]).exit_code == 0
    (tmp_path / "metrics.md").write_text("something else")
    stale = run(app, ["generate", "docs", "--folder", str(tmp_path), "--check"])
    assert stale.exit_code == 1
    assert "metrics.md" in stale.output


def test_the_pages_have_every_field_symptom_and_remedy() -> None:
    found = pages()
    for word in ("`counter_gap_p95_s`", "`wallwatch.dead_letter`", "`masks_egress`"):
        assert word in found["metrics.md"]
    for word in ("S8", "C8", "`tune-revalidator`", "500 to 3600000", "BF-3"):
        assert word in found["symptoms.md"]


def test_every_row_of_a_generated_table_has_the_columns_of_its_head() -> None:
    for page in pages().values():
        columns = 0
        for line in page.splitlines():
            bars = line.replace(r"\|", "").count("|")
            if line.startswith("|---"):
                columns = bars
            elif not line.startswith("|"):
                columns = 0
            elif columns:
                assert bars == columns, line


def test_a_command_of_another_part_is_called_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("greet", f"{__name__}:extra", plugins.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: extra)
    monkeypatch.setattr(plugins, "found_commands", lambda: {"greet": entry})
    assert "greet" in run(app, ["--help"]).output
    assert "hello from another part" in run(app, ["greet", "hello"]).output


def test_a_command_that_cannot_be_imported_says_why_and_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "found_commands", lambda: {"broken": EntryPoint("broken", "no_such_package:app", plugins.GROUP)})
    called = run(app, ["broken", "sub", "--flag"])
    assert called.exit_code == 1
    assert "no_such_package" in called.output
    assert run(app, ["generate", "--help"]).exit_code == 0


def test_status_names_each_part_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    monkeypatch.setenv("WALLWATCH_API_URL", f"http://127.0.0.1:{free_port}")
    monkeypatch.setenv("WALLWATCH_KAFKA_BOOTSTRAP", f"127.0.0.1:{free_port}")
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", f"postgresql+psycopg://x@127.0.0.1:{free_port}/x")
    monkeypatch.setenv("COLUMNS", "200")
    found = run(app, ["status"])
    assert found.exit_code == 1
    assert found.output.count("unhealthy") == 3


def test_alembic_ini_is_found_from_anywhere_in_the_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert db.configuration_file().name == "alembic.ini"
    monkeypatch.chdir(tmp_path)
    assert (db.configuration_file().parent / "migrations" / "env.py").is_file()


@pytest.mark.parametrize("given", ["postgresql://u@h/d", "postgres://u@h/d", "postgresql+psycopg://u@h/d"])
def test_a_database_address_is_taken_in_every_usual_form(given: str) -> None:
    settings = Settings(database_url=given)
    assert settings.database_url == "postgresql+psycopg://u@h/d"
    assert settings.libpq_url == "postgresql://u@h/d"


def test_another_database_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match="postgresql\\+psycopg://user@host"):
        Settings(database_url="mysql://x")
