"""Bounds of a compilation: what just keeps them, and what just does not."""

import time

import pytest

from wallwatch.domain.ltl.limits import Budget, Limits, TooComplex


def test_as_many_states_and_nodes_as_allowed_are_no_error_and_one_more_is() -> None:
    budget = Budget(Limits(states=1000, nodes=2000))
    budget.check_states(1000)
    budget.check_nodes(2000)
    with pytest.raises(TooComplex, match="takes more than 1,000 states"):
        budget.check_states(1001)
    with pytest.raises(TooComplex, match="takes more than 2,000 nodes"):
        budget.check_nodes(2001)


def test_every_check_looks_at_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "thread_time", lambda: now)
    budget = Budget(Limits(seconds=2.5))
    now = 102.5
    for check in (budget.check_time, lambda: budget.check_states(0), lambda: budget.check_nodes(0)):
        check()
    now = 102.501
    for check in (budget.check_time, lambda: budget.check_states(0), lambda: budget.check_nodes(0)):
        with pytest.raises(TooComplex, match=r"takes more than 2\.5 s"):
            check()
