"""Which numbers are fitted, and when a fit may replace the current profile: case by case."""

from typing import Any

import numpy as np
import pytest

from wallwatch.domain.calibration.calibrate import calibrate
from wallwatch.domain.calibration.least_squares import NOISE, Fit
from wallwatch.domain.calibration.points import Measured, Point, Statistic, fitted_size, points_of, value_of
from wallwatch.domain.calibration.verdict import TIE, judge
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps
from wallwatch.domain.perftest.runs import Quantity, Row, Run, Verb

CX6 = profiles()["CX-6"].performance


@pytest.mark.parametrize(
    ("row", "quantity", "statistic", "both_ways", "value"),
    [
        ({"average_gbps": 90.0, "peak_gbps": 95.0}, "bandwidth", "average", False, 90.0),
        ({"average_gbps": 90.0, "peak_gbps": 95.0}, "bandwidth", "average", True, 45.0),
        ({"peak_gbps": 95.0}, "bandwidth", "average", False, 95.0),
        ({}, "bandwidth", "average", True, None),
        ({"average_us": 2.0, "typical_us": 3.0, "p99_us": 9.0}, "latency", "average", True, 2.0),
        ({"average_us": 2.0, "typical_us": 3.0, "p99_us": 9.0}, "latency", "typical", False, 3.0),
        ({"average_us": 2.0, "typical_us": 3.0, "p99_us": 9.0}, "latency", "p99", False, 9.0),
        ({"average_us": 2.0}, "latency", "typical", False, 2.0),
        ({"typical_us": 3.0}, "latency", "average", False, 3.0),
        ({"average_us": 2.0}, "latency", "p99", False, None),
        ({}, "latency", "average", False, None),
    ],
)
def test_the_number_that_is_fitted(
    row: dict[str, Any], quantity: Quantity, statistic: Statistic, both_ways: bool, value: float | None
) -> None:
    assert value_of(Row(2, 1, **row), quantity, statistic, both_ways) == value


def run(verb: Verb, quantity: Quantity, *rows: tuple[int, float], both_ways: bool = False) -> Measured:
    name = "average_gbps" if quantity == "bandwidth" else "average_us"
    return Measured("f", 1.0, 2.0, Run(verb, quantity, both_ways, rows=[Row(size, 1, **{name: value}) for size, value in rows]))


def test_points_are_those_of_one_quantity_and_verb_with_the_median_of_rows_of_one_size() -> None:
    measured = [
        run("send", "bandwidth", (64, 10.0), (64, 30.0), (64, 11.0), (4096, 90.0), both_ways=True),
        run("write", "bandwidth", (64, 1.0)),
        run("send", "latency", (64, 2.0)),
        run("send", "bandwidth", (4096, 80.0)),
    ]
    found = [(point.message_bytes, point.value) for point in points_of(measured, "bandwidth", "send")]
    assert found == [(64, 5.5), (4096, 45.0), (4096, 80.0)]
    assert points_of(measured, "latency", "send") == [Point("f", 1.0, 2.0, 64, 2.0)]
    assert points_of(measured, "latency", "read") == []


def at(size: int, *places: float) -> list[Point]:
    return [Point("f", place, 0.0, size, 1.0) for place in places]


@pytest.mark.parametrize(
    ("points", "quantity", "wanted", "size"),
    [
        ([], "bandwidth", None, None),
        (at(2, 0, 1) + at(4096, 0, 1), "bandwidth", None, 4096),
        (at(2, 0, 1) + at(4096, 0, 1), "latency", None, 2),
        (at(2, 0, 1, 2) + at(4096, 0, 1), "bandwidth", None, 2),  # at more places
        (at(2, 0, 0, 0) + at(4096, 0, 1), "latency", None, 4096),  # the same place twice is one
        (at(2, 0, 1) + at(4096, 0), "bandwidth", 4096, 4096),
        (at(2, 0, 1), "bandwidth", 4096, None),
    ],
)
def test_the_message_size_that_most_places_were_measured_at(
    points: list[Point], quantity: Quantity, wanted: int | None, size: int | None
) -> None:
    assert fitted_size(points, quantity, wanted) == size


def fit(r_squared: float | None = 0.99, error: float = 0.02, left_out: float | None = 0.02, freedom: int = 4, points: int = 8) -> Fit:
    one = np.ones(points)
    return Fit(one, one, one, (True,), one, r_squared, error, left_out, np.eye(1), freedom, "")


ERROR = 0.2
CHANCE = 1.0 + 1.0 / 4.0  # of eight points


@pytest.mark.parametrize(
    ("found", "distinct", "accepted", "says"),
    [
        (fit(), 9, True, "R squared 0.9900; error 2.0%, current profile 20.0%."),
        (fit(), 2, True, "R squared"),
        (fit(), 1, False, "the effect of mask lookups is unknown"),
        (fit(r_squared=None), 9, False, "the effect of mask lookups is unknown"),
        (fit(r_squared=0.9), 9, True, "R squared"),
        (fit(r_squared=0.899), 9, False, "R squared is 0.899, below the goodness 0.900"),
        (fit(error=ERROR * TIE), 9, True, "R squared"),
        (fit(error=ERROR * TIE * 1.001), 9, False, "its error is 21.0%; the current profile's is 20.0%"),
        (fit(left_out=ERROR * CHANCE), 9, True, "R squared"),
        (fit(left_out=ERROR * CHANCE * 1.001), 9, False, "its error at points left out of the fit is 25.0%"),
        (fit(left_out=9.0, freedom=0), 9, True, "R squared"),
        (fit(left_out=9.0, freedom=1), 9, False, "it would predict worse"),
        (fit(left_out=None), 9, True, "R squared"),
    ],
)
def test_a_fit_may_replace_a_profile_that_it_is_as_good_as(found: Fit, distinct: int, accepted: bool, says: str) -> None:
    verdict, why = judge(found, distinct, ERROR, 0.9)
    assert (verdict, says in why) == (accepted, True), why


@pytest.mark.parametrize(("error", "accepted"), [(NOISE, True), (NOISE * 1.01, False)])
def test_errors_below_the_noise_of_measurements_are_alike(error: float, accepted: bool) -> None:
    assert judge(fit(error=error), 9, 0.0, 0.9)[0] is accepted
    assert judge(fit(error=0.0, left_out=error), 9, 0.0, 0.9)[0] is accepted


def test_the_bandwidth_of_reads_is_not_fitted() -> None:
    """Mask lookups do not change it, and measurements of it alone are nothing to fit."""
    places = [(0.0, 0.0), (20.0, 0.0), (0.0, 20.0), (40.0, 40.0)]

    def runs(verb: Verb) -> list[Measured]:
        return [Measured("f", *p, Run(verb, "bandwidth", rows=[Row(65536, 1, average_gbps=bandwidth_gbps(CX6, *p))])) for p in places]

    both = calibrate(runs("send") + runs("read"), CX6, "CX-6")
    fits = [each for each in (both.bandwidth, both.latency, *both.other_fits) if each is not None]
    assert [(each.verb, each.quantity) for each in fits] == [("send", "bandwidth")]


@pytest.mark.parametrize(("others", "ends"), [(1, ": f0. "), (5, "f3, f4. "), (6, "f3, f4 and 1 more. "), (7, "f3, f4 and 2 more. ")])
def test_files_of_other_message_sizes_are_named_five_at_most(others: int, ends: str) -> None:
    places = [(10.0 * number, 5.0 * number) for number in range(9)]

    def one(source: str, place: tuple[float, float], size: int) -> Measured:
        return Measured(source, *place, Run("send", "bandwidth", rows=[Row(size, 1, average_gbps=bandwidth_gbps(CX6, *place))]))

    runs = [one(f"g{number}", place, 65536) for number, place in enumerate(places)]
    runs += [one(f"f{number}", places[number], 64) for number in range(others)]
    found = calibrate(runs, CX6, "CX-6")
    assert found.bandwidth is not None
    [note] = [note for note in (*found.notes, *found.bandwidth.notes) if "have no measurement at 65536 bytes" in note]
    assert note.startswith(f"{others} of {9 + others} files ")
    assert ends in note
