"""The base model that Wallwatch ships: it loads, it says what it is, and a file that is not what was trained is refused."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import targets
from wallwatch.domain.forecast.training_examples import examples_of
from wallwatch.domain.forecast.wall_chance import LIKELY_FROM
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.registry import base_model
from wallwatch.forecasting.registry.roles import RegistryError
from wallwatch.forecasting.training.train import against_base, loss


def test_the_shipped_file_is_a_whole_model_marked_as_trained_on_simulated_fleets() -> None:
    found = base_model.load()
    assert set(found.boosters) == {target.name for target in targets()}
    assert found.decline_booster is not None
    assert found.meta["source"] == "simulated fleets"
    assert base_model.FILE.stat().st_size < 2e6


def test_it_forecasts_growth_and_warns_of_nothing_where_all_stands_still(make_history: Callable[..., History]) -> None:
    history = make_history(np.stack([np.arange(60.0) * 0.6 + 5, np.full(60, 20.0)]))
    made = predict(history.at(59), base_model.load())
    assert not made.cold_start.any()
    assert made.wall_chance[0, 1] >= LIKELY_FROM
    assert np.nanmax(made.wall_chance[1]) < LIKELY_FROM


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    body = orjson.loads(lzma.decompress(base_model.FILE.read_bytes()))
    change(body)
    file = tmp_path / "base.json.xz"
    base_model.write(body, file)
    return file


def test_a_file_that_was_modified_is_refused_by_its_hash(tmp_path: Path) -> None:
    assert base_model.load(changed(tmp_path, lambda body: None)).meta["id"] == base_model.load().meta["id"]
    with pytest.raises(RegistryError, match="hash differs"):
        base_model.load(changed(tmp_path, lambda body: body["margins"].update(q_l=[[0.0] * 5] * 2)))


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="other features"):
        base_model.load(changed(tmp_path, lambda body: body["meta"]["features"].append("phase of the moon")))


@pytest.mark.parametrize("content", [b"", b"no xz", lzma.compress(b"{"), lzma.compress(b"[]"), None])
def test_a_file_that_cannot_be_read_is_refused_with_what_to_do(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "base.json.xz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RegistryError, match="Install Wallwatch again"):
        base_model.load(file)


def test_a_new_model_is_compared_with_the_base_model_on_the_same_examples(
    make_history: Callable[..., History], ramps: Callable[[int, int], np.ndarray]
) -> None:
    unseen = examples_of(make_history(ramps(12, 5)), every_min=10)
    base = base_model.load()
    compared = against_base(base, unseen)
    assert compared is not None
    assert compared["loss"] == compared["base_loss"] > 0
    wide = base_model.load()
    wide.margins = {name: margins + 10.0 for name, margins in wide.margins.items()}
    assert loss(wide, unseen, ["egress_masks"]) > loss(base, unseen, ["egress_masks"])
    assert loss(base, [one.__class__(one.rows[:0], one.labels[:0], one.growing[:0]) for one in unseen], ["egress_masks"]) is None
