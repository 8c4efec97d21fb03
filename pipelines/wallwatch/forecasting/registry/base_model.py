"""The base model: trained on simulated fleets and shipped with Wallwatch, so that a new installation is not cold.

`python -m tests.forecast.base_model` writes its file. It forecasts while no model of the fleet itself can be used.
"""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import orjson

from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.forecasting.registry import model_file
from wallwatch.forecasting.registry.roles import RegistryError

FILE = Path(__file__).with_name("base_model.json.xz")
SOURCE = "simulated fleets"
"""In the description of the base model; that of others is `store` or `recordings`."""
ROLE = "base"
"""Of the base model while it forecasts, next to `champion` and the other roles."""
_ADVICE = "Install Wallwatch again"


def load(file: Path | None = None) -> Forecaster:
    """Read the base model; its description is the forecaster's `meta`.

    Raises
    ------
    RegistryError
        When the file is missing or damaged, its hash does not match, or it was trained for other features than this version uses.
    """
    file = file or FILE
    try:
        body: Any = orjson.loads(lzma.decompress(file.read_bytes()))
    except (OSError, lzma.LZMAError, orjson.JSONDecodeError) as error:
        raise RegistryError(f"the base model {file} cannot be read: {error}. {_ADVICE}") from error
    if not isinstance(body, dict) or not isinstance(body.get("meta"), dict):
        raise RegistryError(f"the base model {file} has no description. {_ADVICE}")
    return model_file.forecaster_of(body, f"the base model {file}", _ADVICE)


def write(body: dict[str, Any], file: Path = FILE) -> int:
    """Write a model (`model_file.body_of`) as the base model; returns the bytes of the file."""
    packed = lzma.compress(orjson.dumps(body, option=orjson.OPT_SORT_KEYS), preset=9 | lzma.PRESET_EXTREME)
    file.write_bytes(packed)
    return len(packed)
