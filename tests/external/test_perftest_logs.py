"""Calibration on real outputs of perftest: a pair of RNICs without extra masks and with 20 to 100 of them."""

from pathlib import Path

import pytest

from wallwatch.domain.calibration.files import File, calibrate_files
from wallwatch.domain.calibration.result import Calibration, QuantityFit


@pytest.fixture(scope="module")
def found(external_data: Path) -> Calibration:
    files = sorted((external_data / "scalacn-perftest").glob("*.log"))
    assert len(files) >= 8
    return calibrate_files([File(f.name, f.read_text()) for f in files], "CX-6")


@pytest.fixture(scope="module")
def fits(found: Calibration) -> list[QuantityFit]:
    return [fit for fit in (found.bandwidth, found.latency, *found.other_fits) if fit is not None]


def test_every_file_is_read_without_a_problem(found: Calibration) -> None:
    assert found.problems == []
    assert all(file.runs == file.used == 1 for file in found.files)


def test_both_verbs_are_fitted_in_bandwidth_and_latency(fits: list[QuantityFit]) -> None:
    assert {(f.verb, f.quantity) for f in fits} == {(v, q) for v in ("send", "write") for q in ("bandwidth", "latency")}


def test_fitted_latency_is_within_three_per_cent_of_measured(fits: list[QuantityFit]) -> None:
    latencies = [f for f in fits if f.quantity == "latency"]
    assert max(f.worst_relative for f in latencies) < 0.03
    assert max(size.worst_relative for f in latencies for size in f.by_size) < 0.03
    assert all(len(f.by_size) == 23 for f in latencies)


def test_the_printed_profile_of_the_card_meets_its_bandwidth_before_any_fit(found: Calibration) -> None:
    """Masks in the file's name are the lookups per packet of the test: Table 3 then gives 158 and 28 Gbit/s for measured 177 and 27."""
    assert found.bandwidth is not None
    assert found.bandwidth.current_relative_error < 0.12


def test_it_meets_the_latency_of_write_too_where_masks_of_both_ways_are_added(fits: list[QuantityFit]) -> None:
    [write] = [f for f in fits if (f.verb, f.quantity) == ("write", "latency")]
    assert write.current_relative_error < 0.03


def test_it_reports_which_parameters_few_points_do_not_identify(found: Calibration) -> None:
    assert found.accepted
    assert found.bandwidth is not None
    if found.bandwidth.distinct < 5:
        assert any("do not identify" in note for note in found.bandwidth.notes)
        u = found.bandwidth.parameters["u"]
        assert not u.identified
        assert u.lower is not None
        assert u.upper is not None
        assert u.upper - u.lower > u.value
