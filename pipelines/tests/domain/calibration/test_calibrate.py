"""Fits to measurements, and what they say of themselves."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from wallwatch.domain.calibration.calibrate import NothingToFit, Wish, calibrate, nearest_profile
from wallwatch.domain.calibration.least_squares import Fit
from wallwatch.domain.calibration.points import Measured
from wallwatch.domain.calibration.residual_plot import svg
from wallwatch.domain.calibration.result import Calibration
from wallwatch.domain.calibration.verdict import judge
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us
from wallwatch.domain.performance.parameters import Performance
from wallwatch.domain.performance.predict import predict
from wallwatch.domain.perftest.runs import Row, Run

GRID = [(a, b) for a in (0.0, 20.0, 60.0) for b in (0.0, 20.0, 60.0)]
KNOWN = {name: p.performance for name, p in profiles().items()}


def measured(truth: Performance, where: Iterable[tuple[float, float]], noise: float = 0.0, seed: int = 3) -> list[Measured]:
    draw = np.random.default_rng(seed)
    found = []
    for q_l, q_r in where:
        for run in (
            Run("send", "bandwidth", rows=[Row(65536, 1, average_gbps=bandwidth_gbps(truth, q_l, q_r) * (1 + noise * draw.normal()))]),
            Run("send", "latency", rows=[Row(2, 1, average_us=latency_us(truth, q_l, q_r) * (1 + noise * draw.normal()))]),
        ):
            found.append(Measured("made up", q_l, q_r, run))
    return found


def fitted(runs: list[Measured], base: str = "CX-6", **more: object) -> Calibration:
    return calibrate(runs, KNOWN[base], base, others=list(KNOWN.values()), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def of_a_grid() -> Calibration:
    return fitted(measured(KNOWN["CX-7"], GRID, noise=0.01))


def test_a_grid_of_points_reproduces_the_surface_that_made_them(of_a_grid: Calibration) -> None:
    assert of_a_grid.accepted
    assert of_a_grid.candidate is not None
    found = Performance(**of_a_grid.candidate.model_dump())
    for q_l, q_r in [(0, 0), (10, 10), (30, 5), (40, 40)]:
        assert bandwidth_gbps(found, q_l, q_r) == pytest.approx(bandwidth_gbps(KNOWN["CX-7"], q_l, q_r), rel=0.03)
        assert latency_us(found, q_l, q_r) == pytest.approx(latency_us(KNOWN["CX-7"], q_l, q_r), rel=0.03)


def test_its_intervals_hold_the_parameters_that_made_the_points(of_a_grid: Calibration) -> None:
    for fit in (of_a_grid.bandwidth, of_a_grid.latency):
        assert fit is not None
        assert fit.covariance is not None
        for name, parameter in fit.parameters.items():
            assert parameter.identified
            assert parameter.lower is not None
            assert parameter.upper is not None
            assert parameter.lower <= getattr(KNOWN["CX-7"], name) <= parameter.upper


def test_a_calibrated_profile_predicts_with_the_scatter_of_its_fit(of_a_grid: Calibration) -> None:
    assert of_a_grid.candidate is not None
    calibrated = predict(Performance(**of_a_grid.candidate.model_dump()), 10, 5)
    printed = predict(KNOWN["CX-7"], 10, 5)
    width = calibrated.bandwidth_gbps.upper - calibrated.bandwidth_gbps.lower
    assert 0 < width < printed.bandwidth_gbps.upper - printed.bandwidth_gbps.lower
    assert "calibration" in calibrated.basis


def test_few_points_predict_narrowly_where_they_are_and_widely_elsewhere() -> None:
    found = fitted(measured(KNOWN["CX-6"], [(0, 0), (20, 80)]))
    assert found.candidate is not None
    calibrated = Performance(**found.candidate.model_dump())

    def width(q_l: float, q_r: float) -> float:
        bandwidth = predict(calibrated, q_l, q_r).bandwidth_gbps
        return (bandwidth.upper - bandwidth.lower) / bandwidth.value

    assert width(0, 0) < 0.2
    assert width(20, 80) < 0.2
    assert width(50, 0) > 1.0
    assert predict(calibrated, 50, 0).bandwidth_gbps.upper <= predict(calibrated, 0, 0).bandwidth_gbps.upper
    assert predict(calibrated, 50, 0).latency_us.lower >= predict(calibrated, 0, 0).latency_us.lower
    assert "uncertainty of its parameters" in predict(calibrated, 50, 0).basis


def test_a_fit_to_more_points_may_replace_one_that_passed_through_all_of_its_few() -> None:
    few = fitted(measured(KNOWN["CX-7"], [(0, 0), (20, 80)]))
    assert few.candidate is not None
    assert few.candidate.goodness == KNOWN["CX-6"].goodness
    promoted = Performance(**few.candidate.model_dump())
    more = calibrate(measured(KNOWN["CX-7"], GRID, noise=0.01), promoted, "CX-6")
    assert more.accepted, more.reasons
    assert more.candidate is not None
    assert more.candidate.goodness > KNOWN["CX-6"].goodness


def test_one_bad_run_does_not_bend_the_fit() -> None:
    runs = measured(KNOWN["CX-6"], GRID, noise=0.01)
    broken = Measured("broken", 20.0, 20.0, Run("send", "latency", rows=[Row(2, 1, average_us=40.0)]))
    latency = fitted([*runs, broken]).latency
    assert latency is not None
    assert latency.parameters["c"].value == pytest.approx(2.69, rel=0.05)
    assert max(latency.points, key=lambda p: abs(p.relative)).source == "broken"
    assert [note.split(" is ")[0] for note in latency.notes if "leave it out" in note] == ["broken"]


def test_a_bad_run_among_few_is_reported_and_the_others_are_met() -> None:
    settings = [(0, 0), (20, 0), (40, 0), (60, 0), (0, 20), (0, 60), (20, 60), (60, 60)]
    broken = Measured("broken", 20.0, 20.0, Run("send", "bandwidth", rows=[Row(65536, 1, average_gbps=41.0)]))
    bandwidth = fitted([*measured(KNOWN["CX-6"], settings), broken]).bandwidth
    assert bandwidth is not None
    assert max(abs(p.relative) for p in bandwidth.points if p.source != "broken") < 0.01
    assert [note.split(" is ")[0] for note in bandwidth.notes if "leave it out" in note] == ["broken"]


def test_two_points_report_which_parameters_they_do_not_identify() -> None:
    found = fitted(measured(KNOWN["CX-6"], [(0, 0), (50, 90)]))
    assert found.latency is not None
    assert [name for name, p in found.latency.parameters.items() if not p.identified] == ["a", "b"]
    a = found.latency.parameters["a"]
    assert a.lower == 0.0
    assert a.upper is not None
    assert a.upper > 3 * a.value
    assert any("do not identify a, b" in note for note in found.latency.notes)
    assert found.latency.worst_relative < 0.03


def test_three_points_on_a_line_cannot_distinguish_the_slopes() -> None:
    found = fitted(measured(KNOWN["CX-6"], [(0, 0), (20, 20), (60, 60)]))
    assert found.latency is not None
    assert not found.latency.parameters["a"].identified
    assert not found.latency.parameters["b"].identified


def test_three_points_that_are_no_line_identify_latency_with_wide_intervals() -> None:
    found = fitted(measured(KNOWN["CX-6"], [(0, 0), (0, 20), (20, 20)], noise=0.01))
    assert found.latency is not None
    assert found.latency.degrees_of_freedom == 0
    a = found.latency.parameters["a"]
    assert a.lower is not None
    assert a.upper is not None
    assert a.upper - a.lower > 0.5 * a.value
    assert any("R squared does not show" in note for note in found.latency.notes)


def test_points_at_one_place_are_refused() -> None:
    found = fitted(measured(KNOWN["CX-6"], [(0, 0), (0, 0)], noise=0.01))
    assert not found.accepted
    assert found.candidate is None
    assert "all points have the same (Q_l, Q_r)" in found.reasons[0]


def test_a_fit_to_noise_is_refused_because_its_goodness_is_below_the_current_one() -> None:
    draw = np.random.default_rng(1)
    runs = [
        Measured("noise", q_l, q_r, Run("send", "latency", rows=[Row(2, 1, average_us=float(draw.uniform(2, 30)))])) for q_l, q_r in GRID
    ]
    found = fitted(runs)
    assert not found.accepted
    assert "below the goodness 0.930 of the current profile" in found.reasons[0]


def test_a_fit_that_misses_what_was_left_out_worse_than_the_current_profile_is_refused() -> None:
    runs = [m for m in measured(KNOWN["CX-6"], [(0, 0), (20, 0), (60, 20), (0, 60), (60, 60)]) if m.run.quantity == "latency"]
    runs[2] = Measured("off", 60, 20, Run("send", "latency", rows=[Row(2, 1, average_us=latency_us(KNOWN["CX-6"], 60, 20) * 1.07)]))
    found = fitted(runs)
    assert found.latency is not None
    assert not found.accepted
    assert "would predict worse" in found.latency.reason or "current profile" in found.latency.reason


def test_the_nearest_profile_is_the_one_that_was_measured() -> None:
    for name in ("CX-4", "CX-5", "CX-7"):
        assert nearest_profile(measured(KNOWN[name], GRID), KNOWN) == name


def test_latency_is_fitted_at_every_message_size() -> None:
    runs = [
        Measured("sizes", q, q / 2, Run("send", "latency", rows=[Row(2, 1, average_us=2 + q), Row(4096, 1, average_us=4 + 2 * q)]))
        for q in (0.0, 10.0)
    ]
    latency = fitted(runs).latency
    assert latency is not None
    assert [(s.message_bytes, s.points) for s in latency.by_size] == [(2, 2), (4096, 2)]
    assert all(s.worst_relative < 0.03 for s in latency.by_size)


def test_measurements_without_a_verb_that_was_asked_for_say_what_there_is() -> None:
    with pytest.raises(NothingToFit, match="the files contain send"):
        fitted(measured(KNOWN["CX-6"], GRID), wish=Wish(verb="write"))
    with pytest.raises(NothingToFit, match="nothing to fit"):
        fitted([])


def test_of_verbs_that_were_measured_at_as_many_points_send_is_fitted_first() -> None:
    sent = measured(KNOWN["CX-7"], GRID)
    written = [replace(one, run=replace(one.run, verb="write")) for one in sent]
    assert fitted([*written, *sent]).verb == "send"
    assert fitted([*written, *sent[:8]]).verb == "write"


def test_what_was_not_measured_stays_as_it_was() -> None:
    found = fitted([m for m in measured(KNOWN["CX-7"], GRID, noise=0.01) if m.run.quantity == "latency"])
    assert found.candidate is not None
    assert found.candidate.u == KNOWN["CX-6"].u
    assert found.candidate.c == pytest.approx(KNOWN["CX-7"].c, rel=0.05)


def test_the_residual_plot_has_a_mark_for_each_point(of_a_grid: Calibration) -> None:
    drawn = svg(of_a_grid)
    assert drawn.count("<circle") == 2 * len(GRID)
    assert drawn.startswith("<svg")


@pytest.mark.parametrize(("q_l", "q_r"), [(-1.0, 0.0), (0.0, float("nan")), (float("inf"), 0.0)])
def test_a_prediction_for_impossible_lookup_counts_is_refused(q_l: float, q_r: float) -> None:
    with pytest.raises(ValueError, match="mean number of mask lookups"):
        predict(KNOWN["CX-6"], q_l, q_r)


@pytest.mark.parametrize("model", sorted(KNOWN))
def test_an_interval_holds_its_value_and_is_never_negative(model: str) -> None:
    for q in (0.0, 30.0, 100.0, 300.0):
        found = predict(KNOWN[model], q, q)
        for interval in (found.bandwidth_gbps, found.latency_us):
            assert 0 <= interval.lower < interval.value < interval.upper
        assert found.extrapolated == (q > 100)


@pytest.mark.parametrize(("left_out", "accepted"), [(0.030, True), (0.034, False)])
def test_of_few_points_left_out_only_a_difference_beyond_chance_counts(left_out: float, accepted: bool) -> None:
    at = np.ones(9)
    found = Fit(at, at, at, (True,), at, 0.99, 0.025, left_out, np.eye(1), 4, "")
    assert judge(found, distinct=9, current_error=0.026, current_goodness=0.93)[0] is accepted
