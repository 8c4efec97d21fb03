"""The page shows what was measured, and says which bars are not reached."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lab_evaluation.__main__ import app
from tests.lab_evaluation.bars import to_plain
from tests.lab_evaluation.page import FIGURES, PAGE, missed, page, read
from tests.lab_evaluation.run import HELD_OUT_FROM, Plain, Row, Task, read_row, run_all
from typer.testing import CliRunner

from dut_zoo.kinds import ALL, KINDS

GOOD = Row("threshold", 1, True, True, 1.0, 200, 200, 0, True, 0.5, 10**6, Plain(True, 1600, 3000), Plain(False, 3000, 500))


def rows() -> list[Row]:
    return [replace(GOOD, kind=kind) for kind in ALL]


def test_the_page_is_the_one_of_the_stored_figures() -> None:
    assert PAGE.read_text() == page(read(FIGURES)), "run python -m tests.lab_evaluation --write"


def test_good_figures_miss_no_bar() -> None:
    assert missed(rows()) == []
    assert "**no**" not in page(rows())


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("threshold", {"right": False}, "right"),
        ("healthy", {"right": False}, "right ≥ 1"),
        ("random", {"exact": False, "right": False}, "causes exact ≥ 0.95"),
        ("memory", {"tests": 1001}, "most tests ≤ 1000"),
        ("topology", {"tests": 1501}, "most tests ≤ 1500"),
        ("flaky", {"tests": 2501}, "most tests ≤ 2500"),
        ("order", {"complete": False}, "stops by itself"),
        ("several", {"invalid": 1}, "not valid"),
    ],
)
def test_each_bar_that_is_not_reached_is_named(kind: str, change: dict[str, object], said: str) -> None:
    worse = [replace(row, **change) if row.kind == kind else row for row in rows()]  # type: ignore[arg-type]
    assert any(text.startswith(kind) and said in text for text in missed(worse))
    assert "**no**" in page(worse)


def test_bars_of_all_devices_together() -> None:
    assert any("sum of tests" in text for text in missed([replace(row, tests=700) for row in rows()]))
    assert any("brute force" in text for text in missed([replace(row, brute_force=200 * 59) for row in rows()]))
    assert any("random search" in text for text in missed([replace(row, random=Plain(True, 900, 3000)) for row in rows()]))


def test_healthy_devices_do_not_count_where_tests_to_an_answer_are_compared() -> None:
    assert to_plain("random")([GOOD, replace(GOOD, kind="healthy", random=Plain(True, 1, 1))]) == pytest.approx(8)


def test_a_row_survives_being_stored() -> None:
    assert read_row(GOOD.stored()) == replace(GOOD, overhead_ms=0.0)


def test_the_page_says_what_its_seeds_were_used_for() -> None:
    assert "served development" in page(rows())
    assert "nobody looked at them" in page([replace(row, seed=HELD_OUT_FROM) for row in rows()])


def test_held_out_seeds_are_refused_unless_asked_for() -> None:
    for options in (["--seeds", f"1-{HELD_OUT_FROM}"], ["--devices", "2000"]):
        result = CliRunner().invoke(app, options)
        assert result.exit_code == 2
        assert "held out" in result.output
    assert CliRunner().invoke(app, ["--kinds", "no-such-kind"]).exit_code == 2
    assert CliRunner().invoke(app, ["--kinds", "threshold", "--write"]).exit_code == 2


@pytest.mark.long
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_lab_finds_what_is_planted(kind: str) -> None:
    (row,) = run_all([Task(kind, 2)])
    assert row.right, row.wrong
    assert row.complete
    assert row.tests <= 1000
    assert row.brute_force / row.tests >= 10
