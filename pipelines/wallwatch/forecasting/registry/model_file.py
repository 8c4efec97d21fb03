"""A trained model as JSON: what is written, and what must hold before it is used again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import lightgbm
import numpy as np
import orjson

from wallwatch.domain.forecast import decline_model
from wallwatch.domain.forecast.features import NAMES
from wallwatch.domain.forecast.forecaster import Forecaster, digest
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, targets
from wallwatch.forecasting.registry.roles import RegistryError


def body_of(forecaster: Forecaster, description: Mapping[str, Any], trained_at: datetime) -> dict[str, Any]:
    """The file of a model. Its id, the first 12 digits of its SHA-256, is in `meta`, which becomes the forecaster's own."""
    sha256 = digest(forecaster)
    forecaster.meta = {
        **description,
        "id": sha256[:12],
        "sha256": sha256,
        "trained_at": trained_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "features": list(NAMES),
        "horizons_min": list(HORIZONS_MIN),
        "quantiles": list(QUANTILES),
    }
    body: dict[str, Any] = {
        "margins": {name: margins.tolist() for name, margins in forecaster.margins.items()},
        "cold": {name: margins.tolist() for name, margins in forecaster.cold.items()},
        "reach": forecaster.reach.tolist(),
        "cold_reach": None if forecaster.cold_reach is None else forecaster.cold_reach.tolist(),
        "boosters": {name: [b.model_to_string() for b in some] for name, some in forecaster.boosters.items()},
        "decline_booster": None if forecaster.decline_booster is None else forecaster.decline_booster.model_to_string(),
    }
    body["meta"] = {**forecaster.meta, "content_sha256": _content(body)}
    return body


def forecaster_of(body: Mapping[str, Any], file: str, advice: str) -> Forecaster:
    """Read a model back.

    Parameters
    ----------
    body
        With `meta`.
    file : str
        Where it was read from, for messages.
    advice : str
        What to do about a damaged file.

    Raises
    ------
    RegistryError
        When its hash does not match its content, or it was trained for other features.
    """
    meta = body["meta"]
    model = meta.get("id")
    damaged = f"{file} was modified after training: its hash differs. {advice}"
    try:
        if "content_sha256" in meta and meta["content_sha256"] != _content(body):
            raise RegistryError(damaged)  # before LightGBM reads it, because LightGBM does not validate its input
        if (
            meta["features"] != list(NAMES)
            or meta["horizons_min"] != list(HORIZONS_MIN)
            or not set(body["boosters"]) <= {t.name for t in targets()}
        ):
            raise RegistryError(f"model {model} was trained for other features or horizons than this version uses: train a new one")
        falls = lightgbm.Booster(model_str=body["decline_booster"]) if body.get("decline_booster") else None
        if falls is not None and falls.feature_name() != list(decline_model.NAMES):
            raise RegistryError(f"model {model} predicts declines from other features than this version uses: train a new one")
        forecaster = Forecaster(
            {name: [lightgbm.Booster(model_str=text) for text in some] for name, some in body["boosters"].items()},
            {name: np.array(margins) for name, margins in body["margins"].items()},
            {name: np.array(margins) for name, margins in body.get("cold", {}).items()},
            np.array(body["reach"]),
            None if body["cold_reach"] is None else np.array(body["cold_reach"]),
            falls,
            meta,
        )
        same = digest(forecaster) == meta["sha256"]
    except (KeyError, TypeError, ValueError, AttributeError, lightgbm.basic.LightGBMError) as error:
        raise RegistryError(f"{file} is damaged ({error!r}). {advice}") from error
    if not same:
        raise RegistryError(damaged)
    return forecaster


def _content(body: Mapping[str, Any]) -> str:
    """SHA-256 over a model's file without its description."""
    rest = {name: value for name, value in body.items() if name != "meta"}
    return hashlib.sha256(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)).hexdigest()
