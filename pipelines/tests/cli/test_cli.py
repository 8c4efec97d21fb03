"""The `wallwatch` command."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from wallwatch.cli import db, lazy
from wallwatch.cli.main import Commands, app
from wallwatch.cli.tables import pages
from wallwatch.database_liveness import with_liveness
from wallwatch.settings import Settings

run = CliRunner().invoke
extra = typer.Typer()


@extra.command()
def hello() -> None:
    typer.echo("hello from another part")


HEAVY = ("confluent_kafka", "fastapi", "lightgbm", "numba", "numpy", "psycopg", "pydantic", "rich", "sqlalchemy", "yaml")
"""Libraries that the list of commands needs nothing of; each takes longer to import than the list takes to print."""


def imported_by(*arguments: str) -> set[str]:
    """Those of the heavy libraries that are imported when the command runs in a process of its own."""
    code = (
        "import sys\n"
        "from wallwatch.cli.main import app\n"
        f"try: app({list(arguments)!r})\n"
        f"finally: print('imported:', *(name for name in {HEAVY!r} if name in sys.modules), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(ran.stderr.rpartition("imported:")[2].split())


def test_the_list_of_commands_imports_no_heavy_library() -> None:
    assert imported_by("--help") == set()


def test_help_of_one_command_imports_no_other() -> None:
    assert imported_by("ltl", "--help") <= {"pydantic"}, "beyond what Typer itself asks for"
    assert not imported_by("forecast", "--help") & {"lightgbm", "numba", "numpy", "sqlalchemy", "fastapi"}


@pytest.mark.parametrize("name", Commands.COMMANDS)
def test_the_list_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    command = Commands.COMMANDS[name]
    assert lazy.loaded(command.target).help.split("\n\n")[0].replace("\n", " ") == command.help


@pytest.mark.parametrize("name", lazy.HELP_OF_OTHER_PARTS)
def test_the_list_says_of_a_command_of_another_part_what_it_says_of_itself(name: str) -> None:
    assert lazy.entry_point_commands()[name].load().info.help == lazy.HELP_OF_OTHER_PARTS[name]


def test_the_documentation_is_written_once_and_then_up_to_date(tmp_path: Path) -> None:
    assert run(app, ["generate", "docs", "--folder", str(tmp_path), "--check"]).exit_code == 1
    assert not list(tmp_path.iterdir())
    assert run(app, ["generate", "docs", "--folder", str(tmp_path)]).exit_code == 0
    assert {f.name for f in tmp_path.iterdir()} == {"behaviours.md", "metrics.md", "policies.md", "symptoms.md"}
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
    entry = EntryPoint("greet", f"{__name__}:extra", lazy.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda _: extra)
    monkeypatch.setattr(lazy, "entry_point_commands", lambda: {"greet": entry})
    assert "greet" in run(app, ["--help"]).output
    assert "hello from another part" in run(app, ["greet", "hello"]).output


def test_a_command_that_cannot_be_imported_says_why_and_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "entry_point_commands", lambda: {"broken": EntryPoint("broken", "no_such_package:app", lazy.GROUP)})
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
    found = run(app, ["status", "--json"])
    assert found.exit_code == 1
    assert [(part["component"], part["healthy"]) for part in json.loads(found.stdout)] == [
        ("api", False),
        ("kafka", False),
        ("database", False),
    ]


def test_alembic_ini_is_found_from_anywhere_in_the_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert db.configuration_file().name == "alembic.ini"
    monkeypatch.chdir(tmp_path)
    assert (db.configuration_file().parent / "migrations" / "env.py").is_file()


@pytest.mark.parametrize("given", ["postgresql://u@h/d", "postgres://u@h/d", "postgresql+psycopg://u@h/d"])
def test_a_database_address_is_taken_in_every_usual_form(given: str) -> None:
    settings = Settings(database_url=given)
    assert settings.database_url == "postgresql+psycopg://u@h/d"
    assert settings.libpq_url == with_liveness("postgresql://u@h/d")


def test_another_database_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match="postgresql\\+psycopg://user@host"):
        Settings(database_url="mysql://x")


WRONG = {"WALLWATCH_DATABASE_URL": "nonsense-with-secret", "WALLWATCH_DATABASE_POOL_SIZE": "many"}


@pytest.mark.parametrize(
    "command", [["db", "upgrade"], ["status"], ["job", "ingest"], ["user", "list"], ["token", "list"], ["keys", "list"]]
)
def test_a_wrong_setting_is_named_without_its_value_and_without_a_traceback(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", WRONG["WALLWATCH_DATABASE_URL"])
    result = run(app, command)
    assert result.exit_code == 2, result.output
    assert result.stderr == (
        "WALLWATCH_DATABASE_URL: must start with postgresql+psycopg://, for example postgresql+psycopg://user@host:5432/wallwatch\n"
    )


def test_every_wrong_setting_has_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WRONG.items():
        monkeypatch.setenv(name, value)
    lines = run(app, ["user", "list"]).stderr.splitlines()
    assert {line.partition(":")[0] for line in lines} == set(WRONG)
    assert "secret" not in "".join(lines)


@pytest.mark.parametrize("text", ["garbage\nmore of it\n", "[1, 2]\n"])
def test_a_backtest_of_what_is_no_recording_fails(tmp_path: Path, text: str) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(text)
    result = run(app, ["policy", "backtest", str(file)])
    assert (result.exit_code, result.stderr) == (2, f"{file} is not a recording: none of its lines is a message\n")


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert run(app, ["--version"]).output == f"wallwatch {version('wallwatch')}\n"
