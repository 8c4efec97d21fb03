"""`wallwatch kafka ...`, and the passwords that `wallwatch topics create` takes from variables."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app
from wallwatch.domain.telemetry.registry import KafkaRole
from wallwatch.jobs.kafka_access import passwords_in
from wallwatch.store.password_files import PasswordProblem


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """As docker-compose.yml sets it."""
    return {"WALLWATCH_KAFKA_CERTIFICATES_DIR": str(tmp_path), "WALLWATCH_KAFKA_CERTIFICATE_NAMES": "kafka localhost wallwatch.example.net"}


def run(command: str, environment: dict[str, str]) -> Result:
    return CliRunner().invoke(app, ["kafka", command], env=environment)


def test_a_life_of_certificates(environment: dict[str, str], tmp_path: Path) -> None:
    first = run("certificates", environment)
    assert first.exit_code == 0, first.output
    assert "created an authority" in first.output
    assert "nothing had to change" in run("certificates", environment).output
    rotated = run("rotate-authority", environment)
    assert str(tmp_path / "public" / "ca.pem") in rotated.output
    assert (tmp_path / "public" / "ca.pem").read_text().count("BEGIN CERTIFICATE") == 2
    ended = run("end-former-authority", environment)
    assert "restart the broker" in ended.output
    assert (tmp_path / "public" / "ca.pem").read_text().count("BEGIN CERTIFICATE") == 1


@pytest.mark.parametrize(
    ("command", "names", "message"),
    [
        ("certificates", "kafka kafka:9092", "'kafka:9092' is neither the name of a machine nor an address"),
        ("rotate-authority", "kafka", "has no authority yet"),
        ("end-former-authority", "kafka", "no rotation is under way"),
    ],
)
def test_a_mistake_ends_with_a_sentence(environment: dict[str, str], command: str, names: str, message: str) -> None:
    done = run(command, environment | {"WALLWATCH_KAFKA_CERTIFICATE_NAMES": names})
    assert done.exit_code == 1
    assert message in done.output
    assert "Traceback" not in done.output


def test_passwords_of_variables_are_those_of_the_limited_roles() -> None:
    variables = {
        "WALLWATCH_KAFKA_PASSWORD_INGEST": "i" * 20,
        "WALLWATCH_KAFKA_PASSWORD_HOST": "",
        "WALLWATCH_KAFKA_PASSWORD_ADMIN": "a" * 20,
    }
    assert passwords_in(variables) == {KafkaRole.ingest: "i" * 20}


def test_a_short_password_is_refused_by_the_name_of_its_variable() -> None:
    with pytest.raises(PasswordProblem, match="WALLWATCH_KAFKA_PASSWORD_HOST is too short"):
        passwords_in({"WALLWATCH_KAFKA_PASSWORD_HOST": "short"})
