"""`wallwatch hosts`: telemetry keys, and the secret that they come from."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from wallwatch.cli.hosts import app
from wallwatch.domain.telemetry.keys import key_of
from wallwatch.store import telemetry_secret

run = CliRunner().invoke


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "secrets" / "telemetry.secret"
    monkeypatch.setenv("WALLWATCH_TELEMETRY_SECRET_FILE", str(file))
    return file


def test_a_hosts_key_is_printed_alone_and_those_of_several_hosts_with_their_names(file: Path) -> None:
    alone = run(app, ["telemetry-key", "host01"])
    secret = telemetry_secret.read(file)[0]
    assert alone.output == key_of(secret, "host01") + "\n"
    several = run(app, ["telemetry-key", "host01", "host02"])
    assert several.output == "".join(f"{host}\t{key_of(secret, host)}\n" for host in ("host01", "host02"))
    assert run(app, ["telemetry-key", "host01", "--table"]).output.startswith("host01\t")


def test_a_rotation_has_an_overlap_that_is_ended(file: Path) -> None:
    before = run(app, ["telemetry-key", "host01"]).output
    assert run(app, ["rotate-telemetry-secret"]).exit_code == 0
    assert run(app, ["telemetry-key", "host01"]).output != before
    assert len(telemetry_secret.read(file)) == 2
    assert "refused from now on" in run(app, ["end-former-secret"]).output
    assert len(telemetry_secret.read(file)) == 1
    assert "no former secret" in run(app, ["end-former-secret"]).output


@pytest.mark.parametrize("host", ["", "<b>", "a b", "h\u043est"])
def test_what_is_no_host_gets_no_key(file: Path, host: str) -> None:
    result = run(app, ["telemetry-key", host])
    assert result.exit_code == 1
    assert "host name" in result.output
    assert not file.exists()


def test_without_the_setting_and_with_a_damaged_file_the_error_says_what_to_do(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(app, ["rotate-telemetry-secret"]).exit_code == 1, "there is nothing to rotate"
    telemetry_secret.read_or_create(file)
    file.write_text("damaged\n")
    damaged = run(app, ["telemetry-key", "host01"])
    assert damaged.exit_code == 1
    assert "is not a telemetry secret" in damaged.output
    monkeypatch.delenv("WALLWATCH_TELEMETRY_SECRET_FILE")
    unset = run(app, ["telemetry-key", "host01"])
    assert unset.exit_code == 1
    assert "WALLWATCH_TELEMETRY_SECRET_FILE is not set" in unset.output
