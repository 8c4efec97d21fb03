"""`wallwatch vnic pccp` and `wallwatch vnic simulate` as they are called from a shell."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app
from wallwatch.domain.isolation.simulation.scenario import Scenario, Vf

REPOSITORY = Path(__file__).resolve().parents[4]
TRACE: dict[str, Any] = {"threshold_us": 10, "beta": 0.5, "delta": 2.0, "n_ai": 1, "n_hai": 2, "ewma": 1.0, "first_rate": 100}
SCENARIO: dict[str, Any] = {
    "seed": 3,
    "duration_ms": 15,
    "warmup_ms": 5,
    "vfs": {
        "vf0": {
            "min_mbps": 1000,
            "max_mbps": 5000,
            "tenant": "shop",
            "p99_us": 50,
            "demands": [{"at_ms": 0, "kpps": 100, "packet_bytes": 500}],
        },
        "vf1": {"min_mbps": 1000.5, "max_mbps": 5000, "tenant": "batch", "demands": [{"at_ms": 0, "kpps": 900, "packet_bytes": 100}]},
    },
    "what_if": [{"name": "batch", "times": 2}],
}


def call(tmp_path: Path, command: str, content: object, *options: str) -> Result:
    (tmp_path / "input.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return CliRunner().invoke(app, ["vnic", command, str(tmp_path / "input.json"), *options])


def answer(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_trace_comes_back_with_literal_rates(tmp_path: Path) -> None:
    trace = {**TRACE, "delay_in": [20, 5, 5.0, 5, 5], "name": "x"}
    found = answer(call(tmp_path, "pccp", trace, "--json"))
    assert found["name"] == "x"
    # by hand: half of 1 - 10/20 less; counters 0 and 1 wait; counter 2 adds 2 to the target, and the rate goes half of the way;
    # counter 3 adds (3 - 2) x 2 to the target
    assert found["rates"] == pytest.approx([75.0, 75.0, 75.0, 76.0, 77.5], rel=1e-12)


def test_a_list_of_traces_other_names_of_delays_and_objects_per_epoch(tmp_path: Path) -> None:
    traces = [
        {"parameters": TRACE, "delays_us": [20, 5]},
        {**TRACE, "delay_in_us": [20, 5]},
        {"params": TRACE, "epochs": [{"delay_in": 20}, {"delay_in_us": 5}]},
    ]
    assert [trace["rates"] for trace in answer(call(tmp_path, "pccp", traces, "--json"))] == [[75, 75]] * 3


def test_the_texts_reading_is_an_option(tmp_path: Path) -> None:
    found = answer(call(tmp_path, "pccp", {**TRACE, "delay_in": [20, 5]}, "--json", "--recover-old-rate"))
    assert found["rates"] == [75, 87.5]
    assert "87.500000" in call(tmp_path, "pccp", {**TRACE, "delay_in": [20, 5]}, "--recover-old-rate").stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("garbage", "is not valid JSON"),
        (7, "an object with threshold_us, first_rate and delay_in is required"),
        ({**TRACE, "delay_in": 3}, "delay_in must be a list"),
        ({**TRACE, "delay_in": [1, "x"]}, "the delay of epoch 1 must be a number"),
        ({**TRACE, "delay_in": [1, -2]}, "the delay of epoch 1 must be a number of at least 0"),
        ({**TRACE, "first_rate": 0, "delay_in": []}, "first_rate must be a number above 0"),
        ({"first_rate": 1, "delay_in": []}, "threshold_us must be a number above 0"),
        ([{**TRACE, "ewma": 2, "delay_in": []}], "trace 0: ewma must be above 0 and at most 1"),
        ({**TRACE, "beta": 1.5, "delay_in": []}, "beta must be at most 1"),
    ],
)
def test_bad_traces_are_explained(tmp_path: Path, content: object, words: str) -> None:
    result = call(tmp_path, "pccp", content, "--json")
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr


def test_a_what_if_is_simulated_with_and_without_the_mechanisms(tmp_path: Path) -> None:
    first, again = (call(tmp_path, "simulate", SCENARIO, "--json") for _ in range(2))
    assert first.stdout == again.stdout
    found = answer(first)
    assert [(one["changes"], one["mechanisms"]) for one in found["variants"]] == [
        ("as it is", "none"),
        ("as it is", "cwfq + pccb + pccp + accounting"),
        ("batch x 2", "none"),
        ("batch x 2", "cwfq + pccb + pccp + accounting"),
    ]
    assert [one["vfs"]["vf0"]["promise"] for one in found["variants"]] == ["kept", "kept", "broken", "kept"]


def test_the_table_names_every_vf_and_the_sending_side(tmp_path: Path) -> None:
    egress = {"flows": {"slow": {"vf": "vf1", "offered_kpps": 5, "limit_mbps": 10}}}
    result = call(tmp_path, "simulate", {**SCENARIO, "what_if": [], "egress": egress, "mechanisms": {"pccp": False}})
    assert result.exit_code == 0, result.output
    for part in ("as it is; mechanisms: none", "cwfq + pccb + accounting", "vf0", "kept", "sending side", "slow"):
        assert part in result.stdout


VF: dict[str, Any] = SCENARIO["vfs"]["vf0"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vfs": {}}, "at least one VF is required"),
        ({"vfs": [VF]}, "scenario.vfs must be an object with a name for each entry"),
        ({"speed": 1}, "unknown key 'speed' (known: vfs, mechanisms,"),
        ({"duration_ms": "long"}, "scenario.duration_ms must be a number"),
        ({"duration_ms": 0}, "scenario.duration_ms must be more than 0"),
        ({"duration_ms": 1e8}, "shorten duration_ms"),
        ({"seed": 1.5}, "scenario.seed must be a whole number"),
        ({"warmup_ms": 15}, "warmup_ms must be less than duration_ms"),
        ({"mechanisms": {"cwfq": 1}}, "scenario.mechanisms.cwfq must be true or false"),
        ({"vfs": {"a": {"min_mbps": 1}}}, "scenario.vfs.a: max_mbps is required"),
        ({"vfs": {"a": {**VF, "min_mbps": 9000}}}, "scenario.vfs.a: max_mbps 5000 is below min_mbps 9000"),
        ({"vfs": {"a": {**VF, "max_mbps": -1}}}, "scenario.vfs.a.max_mbps must be from 0"),
        ({"line_gbps": 2}, "the sum of the minima, 2000.5, exceeds the capacity of 2000"),
        ({"vfs": {"a": {**VF, "demands": [VF["demands"][0]] * 2}}}, "demands must be in order of at_ms"),
        ({"vfs": {"a": {**VF, "window": {"flows": 2}}}}, "either demands or a window"),
        ({"vfs": {"a": {**VF, "extra_cost_us": 1000}}}, "a packet would cost"),
        ({"what_if": [{"name": "nobody", "times": 2}]}, "no VF or tenant is called 'nobody' (known: batch, shop, vf0, vf1)"),
        ({"control": {"pccb_alpha": 2}}, "scenario.control.pccb_alpha must be at most 1"),
        ({"control": {"pccp_epoch_us": 1}}, "scenario.control.pccp_epoch_us must be at least 64"),
        ({"egress": {"completions": "never"}}, "scenario.egress.completions must be one of early, in order, out of order"),
    ],
)
def test_bad_scenarios_say_where_and_what(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    result = call(tmp_path, "simulate", {**SCENARIO, **change})
    assert (result.exit_code, words in result.stderr) == (2, True), result.stderr
    assert isinstance(result.exception, SystemExit)


def test_a_scenario_that_is_no_object_is_refused(tmp_path: Path) -> None:
    assert "scenario must be an object" in call(tmp_path, "simulate", [1]).stderr


def test_the_documented_keys_of_a_scenario_are_those_that_are_read() -> None:
    page = (REPOSITORY / "docs" / "what-if.md").read_text(encoding="utf-8")
    table = page[page.index("| key | meaning") :].split("\n\n")[0]
    documented = {name.split(".")[0] for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert documented == {field.name for field in fields(Scenario)}
    of_vf = {name.split(".")[2] for name in re.findall(r"`(vfs\.NAME\.\w+)`", table)}
    assert of_vf == {field.name for field in fields(Vf)}
