"""Champion and challenger on live data, with a real store: drift, promotion, restarts, damage, and a second process."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import orjson
import psycopg
import pytest
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from wallwatch.cli.main import app
from wallwatch.domain.forecast.confidence import Confidence
from wallwatch.domain.forecast.features import NAMES
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.predict import predict
from wallwatch.domain.forecast.targets import HORIZONS_MIN
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.live.score import P95
from wallwatch.forecasting.registry import base_model
from wallwatch.forecasting.registry.folder import Registry, RegistryError
from wallwatch.jobs.forecast_models import Models
from wallwatch.jobs.singleton_lock import SingletonLock

MINUTES = 150


@pytest.fixture
def registry(connection: psycopg.Connection[Any], tmp_path: Path) -> Registry:
    connection.execute("DELETE FROM forecast_model")
    connection.execute("DELETE FROM forecast_model_change")
    return Registry(tmp_path / "models")


def says(label: float) -> Forecaster:
    """A model that always says the same: 0 goes on as before, -1 stops."""
    rows = np.random.default_rng(1).random((100, len(NAMES)), dtype=np.float32)
    data = lightgbm.Dataset(rows, np.full(100, label), feature_name=list(NAMES))
    booster = lightgbm.train({"objective": "regression", "verbosity": -1, "num_threads": 1}, data, num_boost_round=1)
    return Forecaster({"egress_masks": [booster] * 3}, {"egress_masks": np.full((2, len(HORIZONS_MIN)), 0.05)})


def description(p95: float = 0.01) -> dict[str, Any]:
    return {"data": {}, "source": "store", "metrics": {"egress_masks": {P95: p95}}}


def live(models: Models, connection: psycopg.Connection[Any], history: History, minutes: range) -> None:
    models.follow(connection)
    for index in minutes:
        window = history.at(index)
        models.judge(window, predict(window, models.champion[1]))
    models.publish(connection)


def row(connection: psycopg.Connection[Any], model: str) -> dict[str, Any]:
    (found,) = connection.execute("SELECT live FROM forecast_model WHERE id = %s", [model]).fetchone() or ({},)
    return dict(found)


def test_a_changed_fleet_is_reported_as_drift_also_after_a_restart(
    registry: Registry, connection: psycopg.Connection[Any], make_history: Callable[..., History], caplog: pytest.LogCaptureFixture
) -> None:
    champion = registry.save(says(-1.0), description())
    swings = 25 + 15 * np.sin(np.arange(2 * MINUTES) / 5)
    history = make_history(np.stack([swings, swings]))
    with caplog.at_level(logging.WARNING):
        live(Models(registry), connection, history, range(20, 20 + MINUTES))
    drift = row(connection, champion)
    assert drift["drifted"]
    assert drift["beyond_training"] > 0.5
    assert [record.message for record in caplog.records if "no longer matches the training data of model" in record.message]
    assert REGISTRY.get_sample_value("wallwatch_forecast_drifted", {"role": "champion"}) == 1.0
    live(Models(registry), connection, history, range(20 + MINUTES, 21 + MINUTES))
    after = row(connection, champion)
    assert (after["minutes"], after["beyond_training"]) == (drift["minutes"], drift["beyond_training"])


def test_the_challenger_becomes_champion_when_it_was_better_for_a_day_and_not_after_a_roll_back(
    registry: Registry, connection: psycopg.Connection[Any], make_history: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> None:
    history = make_history(np.full((2, 2 * MINUTES), 20.0) + np.arange(2 * MINUTES) / 10, first_minute=60 * 20_000)
    wrong, right = (registry.save(says(label), description()) for label in (3.0, 0.0))
    monkeypatch.setenv("WALLWATCH_FORECAST_MODELS", str(registry.folder))
    monkeypatch.setenv("WALLWATCH_DATABASE_URL", _url(connection))
    models = Models(registry, promote_better=True)
    live(models, connection, history, range(20, 50))
    models.promote_if_better()
    assert row(connection, right)["judged"]["verdict"] == "not_enough"
    assert registry.roles().champion == wrong
    refused = CliRunner().invoke(app, ["forecast", "promote", right])
    assert (refused.exit_code, "the comparison requires a day" in refused.output) == (2, True)
    state = row(connection, right)["state"] | {"hours": [[0.02 + 0.001 * (i % 3), 0.01] for i in range(24)]}
    connection.execute("UPDATE forecast_model SET live = live || %s WHERE id = %s", [json.dumps({"state": state}), right])
    again = Models(registry, promote_better=True)  # a process that starts goes on with what the store says
    again.follow(connection)
    again.promote_if_better()
    assert (registry.roles().champion, registry.roles().challenger) == (right, wrong)
    assert CliRunner().invoke(app, ["forecast", "rollback", "--reason", "not trusted"]).exit_code == 0
    again.follow(connection)
    again.promote_if_better()
    again.publish(connection)
    assert registry.roles().champion == wrong
    changes = connection.execute("SELECT action, model, champion_before, by, reason FROM forecast_model_change ORDER BY at").fetchall()
    assert [one[:3] for one in changes] == [
        ("trained", wrong, None),
        ("trained", right, wrong),
        ("promoted", right, wrong),
        ("rolled_back", wrong, right),
    ]
    assert changes[2][3] == "wallwatch job forecast"
    assert "over 24 hours" in changes[2][4]
    assert changes[3][4] == "not trusted"
    assert "rolled_back" in CliRunner().invoke(app, ["forecast", "history"]).output


def _described(connection: psycopg.Connection[Any]) -> dict[str, str]:
    return dict(connection.execute("SELECT id, role FROM forecast_model").fetchall())


def test_the_base_model_forecasts_until_the_fleet_has_a_champion_that_can_be_used(
    registry: Registry, connection: psycopg.Connection[Any], make_history: Callable[..., History]
) -> None:
    base = base_model.load().meta["id"]
    history = make_history(np.full((2, MINUTES), 20.0))
    models = Models(registry)
    live(models, connection, history, range(20, 40))
    assert (models.champion[0], models.confidence) == (base, Confidence.MEDIUM)
    assert _described(connection) == {base: "base"}
    assert row(connection, base)["minutes"] > 0
    widths = models.widths
    assert widths is not None
    assert widths.logarithms.any()
    continued = Models(registry)
    continued.follow(connection)
    assert continued.widths is not None
    np.testing.assert_allclose(continued.widths.logarithms, widths.logarithms, atol=1e-4)
    first = registry.save(says(0.0), description())
    live(models, connection, history, range(40, 42))
    assert (models.champion[0], models.confidence) == (first, Confidence.HIGH)
    assert _described(connection) == {first: "champion"}
    file = registry.folder / first / "model.json"
    file.write_bytes(file.read_bytes() + b" ")  # noticed as changed, and refused below
    body = orjson.loads(file.read_bytes())
    file.write_bytes(orjson.dumps({**body, "margins": {}}))
    restarted = Models(registry)
    live(restarted, connection, history, range(42, 44))
    assert (restarted.champion[0], restarted.confidence) == (base, Confidence.MEDIUM)
    assert _described(connection) == {first: "champion", base: "base"}
    assert "hash differs" in row(connection, first)["problem"]


def test_a_model_that_was_worse_than_the_base_model_is_compared_with_it_and_may_be_promoted(
    registry: Registry, connection: psycopg.Connection[Any], make_history: Callable[..., History], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_model.load().meta["id"]
    worse = registry.save(says(0.0), description() | {"against_base": {"base": base, "loss": 0.02, "base_loss": 0.01}})
    assert (registry.roles().champion, registry.roles().challenger) == (None, worse)
    models = Models(registry)
    live(models, connection, make_history(np.full((2, MINUTES), 20.0) + np.arange(MINUTES) / 10), range(20, 60))
    assert models.champion[0] == base
    assert (row(connection, worse)["judged"]["champion"], row(connection, worse)["judged"]["verdict"]) == (base, "not_enough")
    monkeypatch.setenv("WALLWATCH_FORECAST_MODELS", str(registry.folder))
    assert CliRunner().invoke(app, ["forecast", "promote", worse]).exit_code == 0
    assert registry.roles().champion == worse
    equal = {"base": base, "loss": 0.01, "base_loss": 0.01}
    assert Registry(registry.folder / "other").save(says(1.0), description() | {"against_base": equal}) is not None
    assert Registry(registry.folder / "other").roles().champion is not None


def test_a_base_model_that_cannot_be_used_leaves_a_cold_start(registry: Registry, caplog: pytest.LogCaptureFixture) -> None:
    def refused() -> Forecaster:
        raise RegistryError("its hash differs")

    models = Models(registry, load_base=refused)
    assert models.champion == ("", None)
    assert models.confidence == Confidence.LOW
    assert "forecasts start cold until this fleet has a model of its own: its hash differs" in caplog.text


def _url(connection: psycopg.Connection[Any]) -> str:
    info = connection.info
    return f"postgresql+psycopg://{info.user}:{info.password}@{info.host}:{info.port}/{info.dbname}"


def test_a_damaged_registry_is_reported_and_forecasts_continue(
    registry: Registry, connection: psycopg.Connection[Any], make_history: Callable[..., History], caplog: pytest.LogCaptureFixture
) -> None:
    champion, challenger = (registry.save(says(label), description()) for label in (0.0, 3.0))
    history = make_history(np.full((2, MINUTES), 20.0))
    models = Models(registry)
    live(models, connection, history, range(20, 22))
    whole = (registry.folder / "roles.json").read_bytes()
    (registry.folder / "roles.json").write_bytes(b"{")
    file = registry.folder / challenger / "model.json"
    body = orjson.loads(file.read_bytes())
    file.write_bytes(orjson.dumps({**body, "margins": {}}))
    live(models, connection, history, range(22, 24))
    assert models.champion[0] == champion
    restarted = Models(registry)  # it has only the store to learn the roles from
    live(restarted, connection, history, range(24, 26))
    assert restarted.champion[0] == champion
    assert "hash differs" in row(connection, challenger)["problem"]
    assert len([record for record in caplog.records if "roles.json cannot be read" in record.message]) == 2  # once by each process
    (registry.folder / "roles.json").write_bytes(whole)
    file.write_bytes(orjson.dumps(body))
    live(restarted, connection, history, range(26, 27))
    assert "problem" not in row(connection, challenger)
    assert restarted.roles.challenger == challenger


def test_of_two_processes_one_works_and_the_other_takes_over_when_it_ends(database: str) -> None:
    first, second = (SingletonLock(database.replace("+psycopg", ""), 99, "test") for _ in range(2))
    assert first.held()
    assert first.newly_acquired
    assert not second.held()
    assert first.held()
    assert not first.newly_acquired
    first.release()
    assert second.held()
    assert second.newly_acquired
    second.release()
