"""`wallwatch vnic shares` as it is called from a shell."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app

CASE = {"capacity_mbps": 20_000, "min_mbps": [4000, 4000], "max_mbps": [12_000, 12_000.0], "active": [True, False], "name": "h3"}


def shares(tmp_path: Path, content: object, *options: str) -> Result:
    (tmp_path / "cases.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return CliRunner().invoke(app, ["vnic", "shares", str(tmp_path / "cases.json"), *options])


def answers(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_every_case_comes_back_with_its_shares(tmp_path: Path) -> None:
    busy = {**CASE, "active": [True, True]}
    assert answers(shares(tmp_path, [CASE, busy], "--json")) == [
        {**CASE, "share_mbps": [12_000, 4000]},
        {**busy, "share_mbps": [10_000, 10_000]},
    ]


def test_decimals_are_read_exactly(tmp_path: Path) -> None:
    case = '{"capacity_mbps": 0.6, "min_mbps": [0.1, 0.1, 0.1], "max_mbps": [0.3, 0.3, 0.3], "active": [true, true, true]}'
    assert answers(shares(tmp_path, f"[{case}]", "--json"))[0]["share_mbps"] == [0.2, 0.2, 0.2]


def test_idle_minima_are_reported_on_request(tmp_path: Path) -> None:
    found = answers(shares(tmp_path, [{**CASE, "capacity_mbps": 15_000}], "--json", "--reclaim-idle"))[0]
    assert (found["share_mbps"], found["reclaimed_mbps"], found["share_if_reclaimed_mbps"]) == ([11_000, 4000], 4000, [12_000, 0])


def test_a_table_for_people(tmp_path: Path) -> None:
    text = shares(tmp_path, [CASE], "--reclaim-idle").stdout
    assert "case 0: capacity 20000 Mbit/s" in text
    assert "idle minima: 4000 Mbit/s would be freed" in text


def test_overbooked_minima_name_the_sum_and_the_other_cases_are_answered(tmp_path: Path) -> None:
    result = shares(tmp_path, [{**CASE, "capacity_mbps": 7000}, CASE], "--json")
    assert result.exit_code == 2
    assert "case 0: the sum of the minima, 8000, exceeds the capacity of 7000" in result.stderr
    assert [answer["share_mbps"] for answer in json.loads(result.stdout)] == [None, [12_000, 4000]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\x00garbage", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("7", "a list of cases is required"),
        ("[7]", "case 0: an object with capacity_mbps"),
        ([{**CASE, "capacity_mbps": "20"}], "capacity_mbps must be a number"),
        ([{**CASE, "min_mbps": [1]}], "one value per VF is required in each of min_mbps (1), max_mbps (2), active (2)"),
        ([{**CASE, "max_mbps": [1, None]}], "max_mbps of VF 1 must be a number"),
        ([{**CASE, "active": [1, "yes"]}], "active of VF 1 must be true or false"),
        ([{**CASE, "min_mbps": [-1, 0]}], "VF 0: min must be at least 0"),
        ('[{"capacity_mbps": 1e999999999}]', "too large"),
        ('[{"capacity_mbps": NaN}]', "NaN is not a number in JSON"),
    ],
)
def test_bad_input_is_explained_without_a_traceback(tmp_path: Path, content: object, words: str) -> None:
    result = shares(tmp_path, content, "--json")
    assert result.exit_code == 2
    assert words in result.stderr
    assert isinstance(result.exception, SystemExit)


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["vnic", "shares", str(tmp_path / "none.json")])
    assert (result.exit_code, "cannot be read" in result.stderr) == (2, True)
