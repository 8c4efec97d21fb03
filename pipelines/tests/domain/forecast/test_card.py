"""Calibrations of one driver or firmware reach the forecasts of its RNICs, and no others."""

import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from wallwatch.domain.catalogue import load, promoted
from wallwatch.domain.catalogue.promoted import Promotion
from wallwatch.domain.forecast.physical_model import Parameters
from wallwatch.domain.forecast.profile_lookup import RnicModel
from wallwatch.domain.forecast.targets import column, limits, scales

OLD, NEW = RnicModel("CX-6", "mlx5_core", "20.35.1012"), RnicModel("CX-6", "mlx5_core", "20.41.1000")
FLOWS = column("offloaded_flows")


@pytest.fixture(autouse=True)
def calibrated() -> Iterator[None]:
    """The new firmware is a third faster and holds more flows."""
    printed = load.profiles()["CX-6"].performance
    faster = printed.model_copy(update={"u": printed.u * 4 / 3})
    assert promoted.use([Promotion("CX-6", "", NEW.fw_ver, faster, {"offloaded_flows": 9000}, "version 1")]) == []
    yield
    promoted.use([])


def test_a_calibration_of_a_firmware_is_in_the_forecasts_of_its_rnics_alone() -> None:
    models = [OLD, NEW, "CX-6", "CX-7", None]
    found = Parameters.of(models)
    assert found.u[1] == pytest.approx(found.u[0] * 4 / 3)
    assert (found.u[2], found.u[3] > found.u[1], np.isnan(found.u[4])) == (found.u[0], True, True)
    assert limits(models)[:3, FLOWS].tolist() == [7000, 9000, 7000]
    assert scales(models)[:, FLOWS].tolist()[:2] == [7000, 9000]
    assert np.isnan(limits(models)[4]).all()


def test_without_rnics_there_are_no_rows() -> None:
    assert (Parameters.of([]).u.shape, limits([]).shape[0], scales([]).shape[0]) == ((0,), 0, 0)


def test_a_card_keeps_its_firmware_on_the_way_to_a_worker() -> None:
    again = pickle.loads(pickle.dumps([NEW]))[0]
    assert (again, again.driver, again.fw_ver) == ("CX-6", "mlx5_core", "20.41.1000")
