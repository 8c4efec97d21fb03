"""A campaign that is stopped and resumed finds the same as without a stop, although its device has other noise after each start."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from dut_zoo.kinds import make
from dut_zoo.parameters import Integer
from wallwatch.lab.campaign import resume, run
from wallwatch.lab.options import CampaignOptions, Hooks

SUPPORT = Path(__file__).parents[1] / "support"
STOPS = (25, 90, 170)
"""Operations after which it is stopped: in the rows, while a cause is learned, and while it is proven or later."""


def command_of(kind: str, seed: int) -> str:
    start = f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); from dut_zoo.__main__ import main; sys.exit(main())"
    return shlex.join([sys.executable, "-S", "-c", start, "--device", kind, "--seed", str(seed)])


def found_in(report: dict[str, Any]) -> list[tuple[Any, ...]]:
    return sorted((str(one["symptom"]), str(one["metric"]), str(one["conditions"]), len(one["thresholds"])) for one in report["causes"])


@pytest.mark.long
@pytest.mark.parametrize(("kind", "is_exact"), [("conjunction", True), ("noisy", False)])
def test_stopped_three_times_a_campaign_has_the_same_conditions_and_thresholds(kind: str, is_exact: bool, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", command_of(kind, 3), CampaignOptions())
    operations = 0

    def stopped_at(limit: int) -> Hooks:
        def count(progress: Any) -> None:
            nonlocal operations
            operations = progress.operations

        return Hooks(on_progress=count, should_stop=lambda: "stopped" if limit <= operations < whole["tests"] else None)

    pieces = run(tmp_path / "pieces", command_of(kind, 3), CampaignOptions(), stopped_at(STOPS[0]))
    for limit in STOPS[1:]:
        operations = 0
        assert (pieces["complete"], pieces["stopped"]) == (False, "stopped")
        pieces = resume(tmp_path / "pieces", stopped_at(limit))
    pieces = resume(tmp_path / "pieces")
    assert pieces["complete"]
    assert whole["causes"]
    if is_exact:
        assert found_in(pieces) == found_in(whole)
        return
    for one, other in zip(pieces["causes"], whole["causes"], strict=True):
        assert [(c["parameter"], c["op"]) for c in one["conditions"]] == [(c["parameter"], c["op"]) for c in other["conditions"]]
        for mine, theirs in zip(one["conditions"], other["conditions"], strict=True):
            close = {p.name: 0.02 * (p.high - p.low) + p.step for p in make(kind, 3).parameters if isinstance(p, Integer)}
            if mine["parameter"] in close:
                assert mine["value"] == pytest.approx(theirs["value"], abs=close[mine["parameter"]])
            else:
                assert mine["value"] == theirs["value"]
