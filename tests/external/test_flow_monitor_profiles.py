"""Training on measured profiles of a BlueField-2: the network function FlowMonitor of Yala."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from wallwatch.cli.main import app
from wallwatch.domain.contention.function_model import FunctionModel, train
from wallwatch.domain.contention.profile_columns import ENGINE_PROFILE, MEMORY_PROFILE
from wallwatch.domain.contention.profile_rows import read


@pytest.fixture(scope="module")
def model(external_data: Path) -> FunctionModel:
    folder = external_data / "yala-flowmon"
    assert folder.is_dir(), f"{folder} is missing"
    memory = read((folder / "sample_yala_mem_train").read_text(), MEMORY_PROFILE, "memory")
    engine = read((folder / "sample_yala_reg_train").read_text(), ENGINE_PROFILE, "engine")
    reference = read((folder / "sample_slomo_train").read_text(), MEMORY_PROFILE, "reference")
    return train("FlowMonitor", memory, engine, reference)


def test_rows_that_were_left_out_are_met_within_the_bar(model: FunctionModel) -> None:
    figures = model.memory.cross_validation
    assert figures["mape"] <= 3.6
    assert figures["within_5"] >= 75


def test_the_table_of_flows_is_found_to_double(model: FunctionModel) -> None:
    assert model.memory.process.steps == (16384.0,)


def test_a_table_is_full_with_as_many_flows_as_it_has_places(model: FunctionModel, external_data: Path) -> None:
    """The profile at 16384 flows was measured apart from the others; their step must lie before it, not behind."""
    rows = read((external_data / "yala-flowmon" / "sample_slomo_train").read_text(), MEMORY_PROFILE, "reference")
    predicted = model.memory.predict(rows[:, :-1])
    assert np.abs(predicted / rows[:, -1] - 1).mean() < 0.06


def test_the_accelerator_is_that_of_the_two_measured_points(model: FunctionModel) -> None:
    assert model.engine is not None
    assert (model.engine.t0, model.engine.a) == pytest.approx((1.47481e-4, 2.12796e-6), rel=1e-4)
    assert model.engine.a_error is None, "two points leave nothing to estimate an error from"


def test_the_command_trains_on_the_folder(model: FunctionModel, external_data: Path, tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["nf", "train", "--profiles", str(external_data / "yala-flowmon"), "--out", str(tmp_path / "m.json")])
    assert ran.exit_code == 0, ran.output
    assert "MAPE 3.0" in ran.stdout
