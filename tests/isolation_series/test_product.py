"""`wallwatch vnic detect` reaches the bars on a few seeds of each kind; `python -m tests.isolation_series` judges many."""

from pathlib import Path

import pytest
from tests.isolation_series.bars import missed_bars
from tests.isolation_series.judge import total
from tests.isolation_series.kinds import KINDS
from tests.isolation_series.run import Task, run

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_command_reaches_the_bars(kind: str, tmp_path: Path) -> None:
    score = total(run(Task(kind, seed, tmp_path)).product for seed in SEEDS)
    assert missed_bars(kind, score) == [], score.wrong[:10]
