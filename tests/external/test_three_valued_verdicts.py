"""Formulas with traces whose verdicts an independent tool computed: our monitors say the same, with as few states."""

import json
from pathlib import Path
from typing import Any

import pytest

from wallwatch.domain.ltl.monitor import compiled
from wallwatch.domain.ltl.parse import parse


@pytest.fixture(scope="module")
def examples(external_data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((external_data / "ltl/ltl3_examples.json").read_text())["formulas"]
    assert len(found) >= 90
    return found


def test_every_verdict_on_every_trace_agrees(examples: list[dict[str, Any]]) -> None:
    for example in examples:
        monitor = compiled(example["formula"])
        assert list(monitor.propositions) == sorted(example["props"]), example["formula"]
        assert monitor.verdicts[0] == example["initial_verdict"], example["formula"]
        for trace in example["traces"]:
            assert monitor.run(trace["word"]) == trace["verdicts"], (example["formula"], trace["word"])


def test_the_monitors_are_as_small(examples: list[dict[str, Any]]) -> None:
    for example in examples:
        monitor = compiled(example["formula"])
        assert len(monitor.verdicts) == example["min_states"], example["formula"]
        assert len(monitor.hopeless) == example["giveup_states"], example["formula"]


def test_brackets_are_put_where_the_other_tool_puts_them(examples: list[dict[str, Any]]) -> None:
    bracketed = [example for example in examples if "fully_parenthesised" in example]
    assert bracketed
    for example in bracketed:
        assert str(parse(example["fully_parenthesised"])) == str(parse(example["formula"]))
