import json
import tomllib
from pathlib import Path

import pytest
import yaml

from wallwatch_local import demo, hosts
from wallwatch_local.errors import LocalStackError
from wallwatch_local.hosts import Host


def scenario(folder: Path, text: str) -> Path:
    file = folder / "scenario.yaml"
    file.write_text(text)
    return file


def test_hosts_are_dealt_to_racks_in_blocks(tmp_path: Path) -> None:
    found = hosts.hosts_of(scenario(tmp_path, "topology: {hosts: 5, racks: 2}"))
    assert [(host.name, host.rack) for host in found] == [
        ("host01", "r1"), ("host02", "r1"), ("host03", "r1"), ("host04", "r2"), ("host05", "r2")
    ]  # fmt: skip


def test_without_racks_there_is_one(tmp_path: Path) -> None:
    assert {host.rack for host in hosts.hosts_of(scenario(tmp_path, "topology: {hosts: 3}"))} == {"r1"}


@pytest.mark.parametrize("text", ["", "[]", "topology: 3", "topology: {racks: 2}", "topology: {hosts: none}", "topology: {hosts: 0}"])
def test_a_scenario_without_hosts_is_refused_by_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(LocalStackError, match=r"scenario\.yaml has an invalid topology"):
        hosts.hosts_of(scenario(tmp_path, text))


def test_an_unknown_scenario_is_answered_with_the_known_ones() -> None:
    with pytest.raises(LocalStackError, match=r"choose one of\n\n(?s:.*)demo +The fleet of"):
        hosts.scenario_file("no-such-scenario")


def test_every_scenario_begins_with_a_comment_that_says_what_it_shows() -> None:
    for file in hosts.SCENARIOS.glob("*.yaml"):
        assert file.read_text().startswith("# "), file
        assert hosts.first_comment(file).endswith((".", ":")), file


def test_a_question_mark_lists_the_scenarios_and_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.run("?") == 0
    listed = capsys.readouterr().out.splitlines()
    assert len(listed) == len(list(hosts.SCENARIOS.glob("*.yaml")))


def test_both_configurations_name_the_host_and_parse(tmp_path: Path) -> None:
    hosts.write_configuration(tmp_path, Host("host07", "r2"), "127.0.0.1:9092", "https://127.0.0.1:8123")
    telegraf = tomllib.loads((tmp_path / "telegraf.conf").read_text())
    assert telegraf["agent"]["hostname"] == "host07"
    assert telegraf["global_tags"]["rack"] == "r2"
    assert telegraf["outputs"]["kafka"][0]["brokers"] == ["127.0.0.1:9092"]
    agent = yaml.safe_load((tmp_path / "agent.yaml").read_text())
    assert agent["host"] == "host07"
    assert agent["server_url"] == "https://127.0.0.1:8123"
    assert agent["opamp_url"] == "wss://127.0.0.1:8123/v1/opamp"


def test_a_template_with_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        hosts.render("agent.yaml", {"host": "host01"})


def test_a_host_is_enrolled_only_with_credentials_and_its_token_is_private(tmp_path: Path) -> None:
    hosts.write_configuration(tmp_path, Host("host01", "r1"), "127.0.0.1:9092", "https://127.0.0.1:8123")
    assert not hosts.is_enrolled(tmp_path)
    hosts.hand_over_token(tmp_path, "abc")
    token = tmp_path / "agent" / "enrolment-token"
    assert token.read_text() == "abc\n"
    assert token.stat().st_mode & 0o077 == 0
    credentials = tmp_path / "agent" / "credentials.json"
    credentials.write_text(json.dumps({"secret": "of an earlier release"}))
    assert not hosts.is_enrolled(tmp_path)
    hosts.hand_over_token(tmp_path, "abc")
    assert not credentials.exists(), "the agent would go on with them"
    credentials.write_text(json.dumps({"certificate": ""}))
    assert hosts.is_enrolled(tmp_path)
