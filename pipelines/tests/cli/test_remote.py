"""Parts of the commands over the API that need no server; backend/tests/command_line has the rest."""

import doctest
import importlib
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from wallwatch import api_client
from wallwatch.api_client import profiles
from wallwatch.api_client.declared import documents
from wallwatch.api_client.errors import WrongUsage
from wallwatch.cli import remote
from wallwatch.cli.main import app
from wallwatch.cli.remote.declared import SECTIONS
from wallwatch.cli.remote.output import Column, Format, field, rendered


def modules() -> Iterator[str]:
    for package in (api_client, remote):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield found.name


@pytest.mark.parametrize("name", sorted(modules()))
def test_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_a_token_never_goes_to_an_address_that_it_was_not_stored_with(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    stored = profiles.Profiles().having("prod", profiles.Profile("https://wallwatch.example", "ww_secret"))
    profiles.write(file, stored)
    environment = {"WALLWATCH_CONFIG": str(file)}
    assert profiles.chosen(environment) == profiles.Profile("https://wallwatch.example", "ww_secret", None, "prod")
    assert profiles.chosen({**environment, "WALLWATCH_API_URL": "https://other.example"}).token is None
    named = profiles.chosen({**environment, "WALLWATCH_API_URL": "https://other.example"}, "prod")
    assert (named.url, named.token) == ("https://wallwatch.example", "ww_secret")
    assert profiles.chosen({**environment, "WALLWATCH_TOKEN": "ww_other"}).token == "ww_other"
    assert "ww_secret" not in repr(named)


def test_profiles_survive_being_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "a" / "config.toml"
    stored = profiles.Profiles()
    for name, token in (("one", 'quote " and \\ and ü'), ("two.eu-1", "\x7f"), ("three", None)):
        stored = stored.having(name, profiles.Profile(f"https://{name}.example", token, "/ca.pem"))
    profiles.write(file, stored)
    assert profiles.read(file) == stored
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x", "not TOML"),
        ("[profiles.a]\ntoken = 'x'", "no url"),
        ("[profiles.a]\nurl = 'https://a.example'\ntokn = 'x'", "only"),
        ("current = 'b'\n[profiles.a]\nurl = 'https://a.example'", "does not exist"),
        ("[profiles.a]\nurl = 'https://user:password@a.example'", "not an address"),
    ],
)
def test_a_wrong_file_of_profiles_is_refused_with_the_reason(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(WrongUsage, match=reason):
        profiles.read(file)


COLUMNS = (field("name", "name"), Column("list", lambda item: item["list"]))


def test_output_neither_runs_in_a_spreadsheet_nor_moves_the_cursor() -> None:
    items = [{"name": "=1+1", "list": ["a", "b"]}, {"name": "x\x1b[2Jy\nz", "list": None}]
    assert rendered(Format.csv, items, COLUMNS).splitlines() == ["name,list", "'=1+1,a b", "x [2Jy z,"]
    table = rendered(Format.table, items, COLUMNS)
    assert "\x1b" not in table
    assert len(table.splitlines()) == 3
    assert json.loads(rendered(Format.json, items, COLUMNS)) == items
    assert rendered(Format.table, items, COLUMNS, width=6).splitlines()[1] == "=1+1 …"


def test_the_sections_of_the_command_are_those_of_the_file() -> None:
    assert set(SECTIONS) == set(documents.SECTIONS)


MATCHING = "matchers: [{name: host, value: a}]"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("webhooks: []", "version: 1"),
        ("version: 1\nwebhook: []", "Unknown section webhook"),
        ("version: 1\nwebhooks: {a: b}", "list of entries"),
        ("version: 1\nwebhooks: [{name: a}]", "webhooks: a: url is required"),
        ("version: 1\nwebhooks: [{name: a, url: x, colour: red}]", "unknown field colour"),
        ("version: 1\nwebhooks: [{name: a, url: x}, {name: a, url: y}]", "a is there twice"),
        ("version: 1\npolicies: [{id: a, title: t}]", "policies: a: formula, violation is required"),
        (f"version: 1\nsilences: [{{reason: r, starts_at: 2026-01-01, ends_at: 2026-01-02, {MATCHING}}}]", "needs its hour"),
        (f"version: 1\nsilences: [{{reason: r, starts_at: '2026-01-01T00:00', ends_at: '2026-01-02T00:00', {MATCHING}}}]", "with its zone"),
        ("version: 1\nslo_rules: [{slo_class: gold, matchers: [{name: vf}]}]", "rule 1: a matcher: value is required"),
        ("version: 1\na: [", "not YAML"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_sent(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "wallwatch.yaml"
    file.write_text(text)
    result = CliRunner().invoke(app, ["apply", "-f", str(file)])
    assert result.exit_code == 2
    assert reason in result.stderr


def test_times_in_any_zone_and_form_are_one_silence_twice() -> None:
    entry = f"{{reason: r, starts_at: %s, ends_at: 2030-01-02T00:00:00Z, {MATCHING}}}"
    with pytest.raises(WrongUsage, match="twice"):
        documents.read(f"version: 1\nsilences: [{entry % '2030-01-01T01:00:00+01:00'}, {entry % '2030-01-01T00:00:00Z'}]", {})
