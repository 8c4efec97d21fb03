"""The models of the job `forecast`: follow the registry's roles, and compare champion and challenger with what happened.

While the registry has no champion that can be used, the base model takes its place.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from wallwatch.domain.forecast.confidence import Confidence, confidence_of
from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.domain.forecast.interval_widths import IntervalWidths
from wallwatch.domain.forecast.predict import Forecast, predict
from wallwatch.domain.forecast.window import Window
from wallwatch.forecasting.live.comparison import Comparison
from wallwatch.forecasting.live.outcomes import Outcomes
from wallwatch.forecasting.live.score import Score
from wallwatch.forecasting.registry import base_model
from wallwatch.forecasting.registry.folder import Registry, RegistryError, Roles
from wallwatch.jobs.metrics import FORECAST_BEYOND, FORECAST_DRIFTED, FORECAST_ERROR_RATIO, FORECAST_LIVE_ERROR, FORECAST_UNUSABLE

log = logging.getLogger(__name__)

_MODEL = """
INSERT INTO forecast_model (id, role, trained_at, description, live) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET role = excluded.role, description = excluded.description, live = excluded.live, updated_at = now()
"""
_UNUSABLE = "UPDATE forecast_model SET role = %s, live = live || jsonb_build_object('problem', %s::text), updated_at = now() WHERE id = %s"
_CHANGE = """
INSERT INTO forecast_model_change (at, action, model, champion_before, by, reason) VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""


class Models:
    """Champion and challenger: load them, compare their forecasts with what happened, and publish the result."""

    def __init__(self, registry: Registry, promote_better: bool = False, load_base: Callable[[], Forecaster] = base_model.load) -> None:
        self._registry = registry
        self._base: Forecaster | None = None
        try:
            self._base = load_base()
        except RegistryError as error:
            log.error("forecasts start cold until this fleet has a model of its own: %s", error)
        self._promote_better = promote_better
        self.roles = Roles()
        self._loaded: dict[str, Forecaster] = {}
        self._problems: dict[str, tuple[object, str]] = {}
        """By model: the signature of its file when it could not be used, and the reason."""
        self._logged: set[str] = set()
        self._scores: dict[str, Score] = {}
        self._outcomes: dict[str, Outcomes] = {}
        self._comparison: Comparison | None = None
        self._live: dict[str, dict[str, Any]] = {}
        """What the table has from earlier runs of this job, and about models that do not forecast now."""
        self._drifted: dict[str, bool] = {}
        self._changes = -1

    @property
    def champion(self) -> tuple[str, Forecaster | None]:
        """Id and model whose forecasts are published: the champion, otherwise the base model; an empty id and None for a cold start."""
        found = self._loaded.get(self.roles.champion or "")
        if found is not None:
            return self.roles.champion or "", found
        return ("", None) if self._base is None else (self._base.meta["id"], self._base)

    @property
    def widths(self) -> IntervalWidths | None:
        """Of the intervals of the model whose forecasts are published; None for a cold start."""
        outcomes = self._outcomes.get(self.champion[0])
        return None if outcomes is None else outcomes.widths

    @property
    def _base_forecasts(self) -> bool:
        return self._base is not None and self.champion[1] is self._base

    @property
    def confidence(self) -> Confidence:
        """In forecasts of the model whose forecasts are published."""
        model, found = self.champion
        drifted = model in self._scores and self._scores[model].drifted
        return confidence_of(trained=found is not None, base=self._base_forecasts, drifted=drifted)

    def follow(self, connection: psycopg.Connection[Any]) -> None:
        """Read the registry's roles and the stored scores of their models. Errors are logged once; forecasts continue without the model."""
        rows = connection.execute("SELECT id, live, role FROM forecast_model").fetchall()
        self._live = {row[0]: row[1] for row in rows}
        try:
            self.roles = self._registry.roles()
        except RegistryError as error:
            self._log_once("forecasts continue with the last known roles", str(error))
            if self.roles.champion is None:
                known = {role: model for model, _, role in rows}
                self.roles = Roles(known.get("champion"), known.get("challenger"))
        wanted = [model for model in (self.roles.champion, self.roles.challenger) if model is not None]
        for model in wanted:
            signature = self._registry.signature(model)
            if model in self._loaded or (model in self._problems and self._problems[model][0] == signature):
                continue
            try:
                self._loaded[model] = self._registry.load(model)
                self._problems.pop(model, None)
            except RegistryError as error:
                self._problems[model] = (signature, str(error))
                log.error("forecasts continue without model %s, the %s: %s", model, self.roles.of(model), error)
        self._loaded = {model: found for model, found in self._loaded.items() if model in wanted}
        self._problems = {model: why for model, why in self._problems.items() if model in wanted}
        if self._base is not None and self._base_forecasts:
            self._loaded[self._base.meta["id"]] = self._base
        for model in self._loaded:
            self._scores.setdefault(model, Score.restored(self._live.get(model, {})))
            self._outcomes.setdefault(model, Outcomes.restored(self._live.get(model, {})))
        self._scores = {model: score for model, score in self._scores.items() if model in self._loaded}
        self._outcomes = {model: outcomes for model, outcomes in self._outcomes.items() if model in self._loaded}
        champion, challenger = self.champion[0], self.roles.challenger
        if champion not in self._loaded or challenger not in self._loaded or challenger is None:
            self._comparison = None
        elif self._comparison is None or (self._comparison.champion, self._comparison.challenger) != (champion, challenger):
            self._comparison = Comparison.restored(champion, challenger, self._live.get(challenger, {}).get("state"))

    def judge(self, window: Window, made: Forecast) -> None:
        """Compare the predictions for this minute with its values, and remember the new forecasts of champion (`made`) and challenger."""
        values, models = window.values[:, -1], list(window.models)
        losses = {
            model: self._scores[model].settle(made.minute, values, models, forecaster.meta.get("metrics", {}))
            for model, forecaster in self._loaded.items()
        }
        if self._comparison is not None:
            champion, challenger = losses.get(self._comparison.champion), losses.get(self._comparison.challenger)
            if champion is not None and challenger is not None:
                self._comparison.add(made.minute, champion, challenger)
        for model, forecaster in self._loaded.items():
            outcomes = self._outcomes[model]
            outcomes.settle(made.minute, values, made.performance.bandwidth_now)
            own = made if model == self.champion[0] else predict(window, forecaster, outcomes.widths)
            self._scores[model].note(own)
            outcomes.note(own)

    def publish(self, connection: psycopg.Connection[Any]) -> None:
        """Write the state of the models to the store; report drift in the log and as metrics."""
        self._watch()
        described = self._registered()
        base = [self._base.meta] if self._base is not None and self._base_forecasts else []
        for meta in (*described, *base):
            role = base_model.ROLE if meta in base else self.roles.of(meta["id"])
            row = [meta["id"], role, datetime.fromisoformat(meta["trained_at"]), Jsonb(meta)]
            connection.execute(_MODEL, [*row, Jsonb(self._live_of(meta["id"]))])
        unreadable = self._problems.keys() - {meta["id"] for meta in described}
        for model in unreadable:
            connection.execute(_UNUSABLE, [self.roles.of(model), self._problems[model][1], model])
        if described:
            kept = [*(meta["id"] for meta in (*described, *base)), *unreadable]
            connection.execute("DELETE FROM forecast_model WHERE NOT id = ANY(%s)", [kept])
        if len(self.roles.changes) and hash(self.roles.changes[-1]) != self._changes:
            for c in self.roles.changes:
                connection.execute(_CHANGE, [datetime.fromisoformat(c.at), c.action, c.model, c.champion_before, c.by, c.reason])
            self._changes = hash(self.roles.changes[-1])

    def promote_if_better(self) -> None:
        """Promote the challenger when it is better on live data and the settings allow it; never one that was rolled back."""
        comparison = self._comparison
        if not self._promote_better or comparison is None or comparison.verdict != "better":
            return
        if self.roles.was_rolled_back(comparison.challenger):
            return
        described = comparison.describe()
        losses = f"loss {described['loss']} vs. {described['champion_loss']} over {described['hours']} hours"
        reason = f"better than {comparison.champion} on live data: {losses}"
        try:
            self._registry.promote(comparison.challenger, "wallwatch job forecast", reason)
            log.warning("model %s is now the champion: %s", comparison.challenger, reason)
        except RegistryError as error:
            self._log_once(f"model {comparison.challenger} cannot be promoted", str(error))

    def _live_of(self, model: str) -> dict[str, Any]:
        """What the table says about a model; for a model that does not forecast now, the last entry."""
        if model not in self._scores:
            live = {name: value for name, value in self._live.get(model, {}).items() if name not in ("judged", "state", "problem")}
            return {**live, "problem": self._problems[model][1]} if model in self._problems else live
        live = self._scores[model].describe() | {"widths": self._outcomes[model].state()}
        if self._comparison is not None and self._comparison.challenger == model:
            live |= {"judged": self._comparison.describe(), "state": self._comparison.state()}
        return live

    def _watch(self) -> None:
        """Export drift and unusable models as metrics; log changes of drift."""
        FORECAST_UNUSABLE.set(len(self._problems))
        base = self.champion[0] if self._base_forecasts else None
        for role, model in {"champion": self.roles.champion, "challenger": self.roles.challenger, base_model.ROLE: base}.items():
            score = self._scores.get(model or "")
            for gauge, value in _gauges(score).items():
                if value is None:
                    gauge.remove(role)
                else:
                    gauge.labels(role).set(value)
            if model is None or score is None or self._drifted.get(model, False) == score.drifted:
                continue
            self._drifted[model] = score.drifted
            if score.drifted:
                log.warning(
                    "drift: the fleet no longer matches the training data of model %s (%s): its errors at 15 minutes are %.1f times those "
                    "at training, and %.0f %% of them exceed the 95th percentile at training. Train again: wallwatch forecast train",
                    model, role, score.ratio or 0.0, 100 * score.beyond,
                )  # fmt: skip
            else:
                log.info("no drift any more: the fleet matches the training data of model %s (%s) again", model, role)

    def _registered(self) -> list[dict[str, Any]]:
        try:
            return self._registry.describe(lambda problem: self._log_once("a model is skipped", problem))
        except RegistryError as error:
            self._log_once("models cannot be listed", str(error))
            return []

    def _log_once(self, what: str, why: str) -> None:
        if why not in self._logged:
            self._logged.add(why)
            log.error("%s: %s", what, why)


def _gauges(score: Score | None) -> Mapping[Any, float | None]:
    if score is None:
        return dict.fromkeys((FORECAST_LIVE_ERROR, FORECAST_BEYOND, FORECAST_ERROR_RATIO, FORECAST_DRIFTED))
    return {
        FORECAST_LIVE_ERROR: score.error,
        FORECAST_BEYOND: score.beyond,
        FORECAST_ERROR_RATIO: score.ratio,
        FORECAST_DRIFTED: float(score.drifted),
    }
