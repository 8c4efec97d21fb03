"""Models on disk: roles, promotion, and files that are not what was trained."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lightgbm
import numpy as np
import orjson
import pytest

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.features import NAMES
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.targets import HORIZONS_MIN
from wallwatch.forecasting.registry.folder import Registry, RegistryError


def forecaster(seed: int) -> Forecaster:
    rng = np.random.default_rng(seed)
    rows = rng.random((200, len(NAMES)), dtype=np.float32)
    data = lightgbm.Dataset(rows, np.ascontiguousarray(rows[:, seed]), feature_name=list(NAMES))
    booster = lightgbm.train({"verbosity": -1, "num_leaves": 4, "num_threads": 1}, data, num_boost_round=2)
    return Forecaster({"q_l": [booster] * 3}, {"q_l": np.zeros((2, len(HORIZONS_MIN)))})


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "models")


def test_the_first_model_is_champion_and_a_later_one_challenger(registry: Registry) -> None:
    first, second = (registry.save(forecaster(seed), {"data": {}}) for seed in (1, 2))
    assert {meta["id"]: meta["role"] for meta in registry.describe(pytest.fail)} == {first: "champion", second: "challenger"}


def test_a_model_forecasts_the_same_after_it_was_read_back(registry: Registry) -> None:
    made = forecaster(1)
    rows = np.random.default_rng(9).random((5, len(NAMES)), dtype=np.float32)
    read = registry.load(registry.save(made, {}))
    assert (read.labels("q_l", rows) == made.labels("q_l", rows)).all()


def test_a_promotion_can_be_rolled_back_and_the_model_stays_challenger(registry: Registry) -> None:
    first, second = (registry.save(forecaster(seed), {}) for seed in (1, 2))
    promoted = registry.promote(second, by="ada", reason="a new season")
    assert (promoted.former, promoted.challenger) == ([first], first)
    with pytest.raises(RegistryError, match="champion already"):
        registry.promote(second)
    roles = registry.roll_back()
    assert (roles.champion, roles.challenger, roles.former) == (first, second, [])
    assert roles.was_rolled_back(second)
    assert [(one.action, one.model, one.champion_before) for one in roles.changes] == [
        ("trained", first, None),
        ("trained", second, first),
        ("promoted", second, first),
        ("rolled_back", first, second),
    ]
    assert (roles.changes[2].by, roles.changes[2].reason) == ("ada", "a new season")
    with pytest.raises(RegistryError, match="no previous champion"):
        registry.roll_back()


def test_a_model_that_was_changed_on_disk_is_refused(registry: Registry) -> None:
    model = registry.save(forecaster(1), {})
    file = registry.folder / model / "model.json"
    body = orjson.loads(file.read_bytes())
    body["margins"]["q_l"][0][0] = 1.0
    file.write_bytes(orjson.dumps(body))
    with pytest.raises(RegistryError, match="hash differs"):
        registry.load(model)


@pytest.mark.parametrize("text", ["tree\n", "", 7])
def test_models_that_lightgbm_cannot_read_are_refused_before_it_tries(registry: Registry, text: object) -> None:
    model = registry.save(forecaster(1), {})
    file = registry.folder / model / "model.json"
    body = orjson.loads(file.read_bytes())
    body["boosters"]["q_l"][0] = text
    file.write_bytes(orjson.dumps(body))
    with pytest.raises(RegistryError, match="hash differs"):
        registry.load(model)
    del body["meta"]["content_sha256"]  # of a version that had none
    file.write_bytes(orjson.dumps(body))
    with pytest.raises(RegistryError, match=r"damaged|hash differs"):
        registry.load(model)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"champion": 7}', b'{"changes": [{}]}'])
def test_unreadable_roles_are_reported_with_what_to_do(registry: Registry, content: bytes) -> None:
    model = registry.save(forecaster(1), {})
    (registry.folder / "roles.json").write_bytes(content)
    for ask in (registry.roles, lambda: registry.promote(model), lambda: registry.save(forecaster(2), {})):
        with pytest.raises(RegistryError, match=r"roles\.json cannot be read .*restore it, or delete it"):
            ask()
    (registry.folder / "roles.json").unlink()
    assert registry.promote(model).champion == model


def test_models_without_a_role_leave_the_registry_when_newer_ones_come(registry: Registry) -> None:
    saved = [registry.save(forecaster(seed), {}) for seed in range(1, 8)]
    kept = {meta["id"]: meta["role"] for meta in registry.describe(pytest.fail)}
    assert len(kept) == 5
    assert (kept[saved[0]], kept[saved[-1]]) == ("champion", "challenger")
    removed = [one.model for one in registry.roles().changes if one.action == "removed"]
    assert sorted(removed) == sorted(model for model in saved if model not in kept)


def test_several_processes_that_change_the_roles_undo_nothing_of_each_other(registry: Registry) -> None:
    with ThreadPoolExecutor() as pool:  # each with a registry of its own, as processes have
        saved = set(pool.map(lambda seed: Registry(registry.folder).save(forecaster(seed), {}), range(1, 6)))
    trained = [one.model for one in registry.roles().changes if one.action == "trained"]
    assert sorted(trained) == sorted(saved)
    assert not list(registry.folder.glob("**/*.new"))


@pytest.mark.parametrize("content", [b'{"meta": ', b"[]", b"{}"])
def test_a_damaged_file_is_reported_and_the_other_models_are_listed(registry: Registry, content: bytes) -> None:
    whole, damaged = (registry.save(forecaster(seed), {}) for seed in (1, 2))
    (registry.folder / damaged / "model.json").write_bytes(content)
    problems: list[str] = []
    assert [meta["id"] for meta in registry.describe(problems.append)] == [whole]
    assert [damaged in problem for problem in problems] == [True]


def test_a_model_of_other_features_is_refused(registry: Registry) -> None:
    model = registry.save(forecaster(1), {})
    file = registry.folder / model / "model.json"
    body = orjson.loads(file.read_bytes())
    body["meta"]["features"].append("phase of the moon")
    file.write_bytes(orjson.dumps(body))
    with pytest.raises(RegistryError, match="train a new one"):
        registry.load(model)


@pytest.mark.parametrize("model", ["000000000000", "../secrets", ""])
def test_an_unknown_model_is_refused_with_those_that_are_known(registry: Registry, model: str) -> None:
    known = registry.save(forecaster(1), {})
    with pytest.raises(RegistryError, match=known):
        registry.promote(model)


def falls(names: list[str]) -> lightgbm.Booster:
    rows = np.random.default_rng(1).random((200, len(names)), dtype=np.float32)
    data = lightgbm.Dataset(rows, (rows[:, 0] > 0.5).astype(np.float64), feature_name=names)
    return lightgbm.train({"objective": "binary", "verbosity": -1, "num_leaves": 4, "num_threads": 1}, data, num_boost_round=2)


def test_the_decline_model_is_read_back_too_and_is_part_of_the_hash(registry: Registry) -> None:
    without, made = forecaster(1), forecaster(1)
    made.decline_booster = falls(list(decline_model.NAMES))
    model = registry.save(made, {})
    assert model != registry.save(without, {})
    rows = np.random.default_rng(9).random((5, len(decline_model.NAMES)), dtype=np.float32)
    chances = registry.load(model).decline_chances(rows)
    assert (chances == made.decline_chances(rows)).all()
    assert np.ptp(chances) > 0


def test_a_decline_model_with_other_features_is_refused(registry: Registry) -> None:
    made = forecaster(1)
    made.decline_booster = falls(["one", "two"])
    with pytest.raises(RegistryError, match="other features"):
        registry.load(registry.save(made, {}))
