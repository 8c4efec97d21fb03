"""`wallwatch ltl` as it is called from a shell."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app


def call(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, ["ltl", *arguments], input=stdin)


def test_a_monitor_as_json_is_a_table_over_all_letters() -> None:
    assert json.loads(call("monitor", "a -> X b", "--json").stdout) == {
        "propositions": ["a", "b"],
        "initial": 0,
        "verdicts": ["?", "T", "?", "F"],
        "delta": [[1, 2, 1, 2], [1, 1, 1, 1], [3, 3, 1, 1], [3, 3, 3, 3]],
    }


@pytest.mark.parametrize(("option", "beginning"), [("--dot", "digraph"), ("--svg", "<svg")])
def test_a_monitor_as_a_picture(option: str, beginning: str) -> None:
    assert call("monitor", "G(a -> X b)", option).stdout.startswith(beginning)


def test_check_says_what_a_formula_is() -> None:
    result = call("check", "G(FL_OFFLD -> X FE_CREATE)")
    assert result.exit_code == 0
    assert "class         safety" in result.stdout
    assert "FL_OFFLD, then a step without FE_CREATE" in result.stdout
    facts = json.loads(call("check", "(O -> X C) & (!C U O)", "--json").stdout)
    assert (facts["class"], facts["states"], facts["conjuncts"]) == ("co-safety", 5, ["O -> (X C)", "!C U O"])


def test_a_trace_gives_a_verdict_a_line(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text('[]\n["O"]\n["C", "other"]\n[]\n')
    result = call("run", "(!C U O) & (!O U (O & X C))", "--trace", str(trace))
    assert result.stdout.split() == ["?", "?", "T", "T"]
    assert call("run", "G a", "--trace", "-", stdin='["a"]\n[]\n["a"]\n').stdout.split() == ["?", "F", "F"]


def test_parts_of_a_conjunction_are_monitored_one_by_one_and_false_dominates() -> None:
    many = " & ".join(f"F p{i}" for i in range(30))
    result = call("run", f"{many} & G ok", "--parts", "--trace", "-", stdin='["ok"]\n["ok", "p1"]\n[]\n\n')
    assert result.stdout.split() == ["?", "?", "F"]
    assert "31 parts are monitored separately: verdicts may come later" in result.stderr
    both = call("run", "X a & X !a", "--parts", "--trace", "-", stdin="[]\n[]\n")
    assert both.stdout.split() == ["?", "F"]  # the whole is false from the start


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        (("check", "G(a"), None, "the ) of the bracket at character 2"),
        (("check", "G(a -> " + "X " * 30 + "b)", "--states", "100"), None, "more than 100 states"),
        (("run", "a", "--trace", "/nowhere"), None, "the trace cannot be read"),
        (("run", "a", "--trace", "-"), "{}\n", "line 1: expected an array"),
        (("run", "a", "--trace", "-"), "[]\nnonsense\n", "line 2: not JSON"),
        (("run", "a", "--trace", "-"), "[1]\n", "line 1: expected the name of a proposition, not 1"),
        (("run", "a", "--trace", "-"), "[]\n\n[]\n", "line 2 is empty"),
        (("monitor", "a", "--dot", "--svg"), None, "choose one"),
    ],
)
def test_invalid_input_is_reported_with_exit_code_2(arguments: tuple[str, ...], stdin: str | None, expected: str) -> None:
    result = call(*arguments, stdin=stdin)
    assert result.exit_code == 2
    assert expected in result.stderr
