"""`wallwatch agent`, `wallwatch token`, `wallwatch user` on a real database."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from wallwatch_backend.cli.agent import app as agent_app
from wallwatch_backend.cli.token import app as token_app
from wallwatch_backend.cli.user import app as user_app

runner = CliRunner()


@pytest.fixture(autouse=True)
def environment(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", backend.database_url)


def test_an_enrolment_token_from_the_command_line_works(anonymous: httpx.Client) -> None:
    result = runner.invoke(agent_app, ["enrol", "--host", "cli01", "--ttl", "600"])
    assert result.exit_code == 0, result.output
    body = {"token": result.stdout.strip(), "host": "cli01", "version": "1", "instance_uid": "00000000-0000-4000-8000-000000000001"}
    assert anonymous.post("/api/v1/agents/enrol", json=body).status_code == 201
    listed = runner.invoke(agent_app, ["list"]).stdout
    assert listed.startswith("cli01\tdisconnected\thealth unknown\t1\tnever")
    [agent] = json.loads(runner.invoke(agent_app, ["list", "--json"]).stdout)
    assert (agent["host"], agent["connected"], agent["healthy"], agent["last_seen_at"]) == ("cli01", False, None, None)


def test_a_token_from_the_command_line_works(backend: Any) -> None:
    result = runner.invoke(token_app, ["create", "--name", "ci", "--owner", "operator", "--role", "operator"])
    assert result.exit_code == 0, result.output
    with backend.client(headers={"Authorization": f"Bearer {result.stdout.strip()}"}) as client:
        assert client.get("/api/v1/session").json()["user"]["role"] == "operator"


def test_a_user_from_the_command_line_can_sign_in(backend: Any, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("a password of a file\n")
    result = runner.invoke(user_app, ["create", "ops", "--role", "admin", "--password-file", str(tmp_path / "password")])
    assert result.exit_code == 0, result.output
    with backend.client() as client:
        assert client.post("/api/v1/session", json={"username": "ops", "password": "a password of a file"}).status_code == 201
    again = runner.invoke(user_app, ["create", "ops", "--password-file", str(tmp_path / "password")])
    assert again.exit_code == 1
    assert "choose another name" in again.stderr


def test_an_account_is_disabled_enabled_and_gets_a_password_from_the_command_line(backend: Any, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("the first password\n")
    (tmp_path / "new").write_text("the second password\n")
    assert runner.invoke(user_app, ["create", "cleo", "--password-file", str(tmp_path / "old")]).exit_code == 0
    with backend.client() as client:
        assert client.post("/api/v1/session", json={"username": "cleo", "password": "the first password"}).status_code == 201
        result = runner.invoke(user_app, ["passwd", "cleo", "--password-file", str(tmp_path / "new")])
        assert result.exit_code == 0, result.output
        assert client.get("/api/v1/session").status_code == 401
        assert client.post("/api/v1/session", json={"username": "cleo", "password": "the second password"}).status_code == 201
        assert runner.invoke(user_app, ["disable", "cleo"]).exit_code == 0
        assert client.get("/api/v1/session").status_code == 401
        assert "cleo\tviewer\tlocal\tdisabled" in runner.invoke(user_app, ["list"]).stdout
        [cleo] = [one for one in json.loads(runner.invoke(user_app, ["list", "--json"]).stdout) if one["username"] == "cleo"]
        assert (cleo["role"], cleo["oidc_issuer"], cleo["disabled"]) == ("viewer", None, True)
        assert runner.invoke(user_app, ["enable", "cleo"]).exit_code == 0
        assert client.post("/api/v1/session", json={"username": "cleo", "password": "the second password"}).status_code == 201
    unknown = runner.invoke(user_app, ["disable", "nobody-of-that-name"])
    assert unknown.exit_code == 1
    assert "wallwatch user list" in unknown.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["create", "ops2", "--password-file", "/nowhere"], "cannot be read"),
        (["create", "Ops", "--password-file", "/nowhere"], "user name"),
    ],
)
def test_a_mistake_gets_one_clear_line(args: list[str], says: str) -> None:
    result = runner.invoke(user_app, args)
    assert result.exit_code == 1
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_help_imports_neither_the_api_nor_the_database() -> None:
    heavy = "import sys; import wallwatch_backend.cli.{}; print([m for m in ('fastapi', 'sqlalchemy', 'cryptography') if m in sys.modules])"
    for group in ("agent", "audit", "keys", "token", "user"):
        assert subprocess.check_output([sys.executable, "-c", heavy.format(group)], text=True).strip() == "[]", group


def test_an_unreachable_database_is_reported_plainly(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", f"postgresql+psycopg://x@127.0.0.1:{free_port}/x")
    result = runner.invoke(agent_app, ["list"])
    assert result.exit_code == 1
    assert "WALLWATCH_DATABASE_URL" in result.stderr
