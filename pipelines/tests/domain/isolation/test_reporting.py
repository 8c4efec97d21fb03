"""Seconds by state, and the error budget."""

from wallwatch.domain.isolation.reporting import Tally, VfTally
from wallwatch.domain.isolation.verdicts import Mechanism, State, Verdict, VfVerdict


def verdict(states: dict[str, State], aggressors: tuple[str, ...] = (), interval_s: float = 1.0) -> Verdict:
    vfs = {vf: VfVerdict(vf, state, "", *[None] * 9) for vf, state in states.items()}
    victims = tuple(vf for vf, state in states.items() if state is State.BROKEN)
    return Verdict(1.0, interval_s, interval_s > 1.5, Mechanism.BANDWIDTH if victims else None, victims, aggressors, vfs, 1.2, 0.0, False)


def test_each_state_has_its_seconds() -> None:
    tally = Tally()
    for state in State:
        tally.add(verdict({"vf0": state}))
    found = tally.vfs["vf0"]
    assert (found.kept_s, found.broken_s, found.unknown_s, found.not_promised_s) == (1.0, 1.0, 1.0, 1.0)
    assert found.kept_share == 0.5


def test_missing_seconds_are_unknown_and_never_kept() -> None:
    tally = Tally(["vf0"])
    tally.add(verdict({"vf0": State.KEPT}))
    tally.missing(9.0)
    assert (tally.vfs["vf0"].kept_s, tally.vfs["vf0"].unknown_s) == (1.0, 9.0)


def test_a_vf_that_is_absent_from_a_verdict_is_unknown() -> None:
    tally = Tally(["vf0", "vf1"])
    tally.add(verdict({"vf0": State.KEPT}))
    assert tally.vfs["vf1"].unknown_s == 1.0


def test_an_interval_that_the_caller_cannot_place_is_unknown() -> None:
    tally = Tally()
    tally.add(verdict({"vf0": State.BROKEN, "vf1": State.NOT_PROMISED}, ("vf1",)), unknown=True)
    assert tally.vfs["vf0"].broken_s == 0.0
    assert tally.vfs["vf1"].aggressor_s == 0.0


def test_broken_seconds_of_long_intervals_are_marked_as_estimated() -> None:
    tally = Tally()
    tally.add(verdict({"vf0": State.BROKEN, "vf1": State.NOT_PROMISED}, ("vf1",), interval_s=10.0))
    assert tally.vfs["vf0"].estimated_s == tally.vfs["vf0"].broken_s == 10.0
    assert tally.vfs["vf1"].aggressor_s == 10.0


def test_the_budget_is_spent_by_broken_seconds_only() -> None:
    assert VfTally("vf0", kept_s=1000.0, unknown_s=500.0).budget_left(0.999) == 1.0
    assert VfTally("vf0").budget_left(0.999) is None
    assert VfTally("vf0").kept_share is None
    assert (VfTally("vf0", kept_s=98.0, broken_s=2.0).budget_left(0.99) or 0.0) < 0
    assert VfTally("vf0", kept_s=10.0, broken_s=1.0).budget_left(1.0) == float("-inf")


def test_rows_begin_with_the_most_broken_vf() -> None:
    tally = Tally(["vf10", "vf2", "vf1"])
    tally.add(verdict({"vf2": State.KEPT, "vf10": State.BROKEN, "vf1": State.KEPT}))
    assert [row["vf"] for row in tally.rows()] == ["vf10", "vf1", "vf2"]
