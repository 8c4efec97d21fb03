"""The registry of trained models: a folder with one folder a model, and the roles.

`roles.json` names the champion (whose forecasts are published), the challenger (which forecasts the same, unseen, to be compared) and the
former champions, newest last, to which one can roll back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import orjson

from wallwatch.domain.forecast import fall
from wallwatch.domain.forecast.features import NAMES
from wallwatch.domain.forecast.model import Forecaster, digest
from wallwatch.domain.forecast.targets import HORIZONS_MIN, QUANTILES, targets

ROLES = "roles.json"
_FILE = "model.json"
_ID = re.compile(r"[0-9a-f]{12}")


class RegistryError(Exception):
    """The text says what is wrong and what to do."""


@dataclass
class Roles:
    """Who forecasts."""

    champion: str | None = None
    challenger: str | None = None
    former: list[str] = field(default_factory=list)

    def of(self, model: str) -> str:
        if model == self.champion:
            return "champion"
        if model == self.challenger:
            return "challenger"
        return "former" if model in self.former else "none"


class Registry:
    """Models in a folder. Writing is whole or not at all: files are written under another name and renamed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, forecaster: Forecaster, description: dict[str, Any]) -> str:
        """Store a model and return its id, the first 12 digits of its SHA-256.

        The first model of a registry becomes champion, a later one challenger.
        """
        sha256 = digest(forecaster)
        model = sha256[:12]
        forecaster.meta = {
            **description,
            "id": model,
            "sha256": sha256,
            "trained_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "features": list(NAMES),
            "horizons_min": list(HORIZONS_MIN),
            "quantiles": list(QUANTILES),
        }
        body = {
            "meta": forecaster.meta,
            "margins": {name: margins.tolist() for name, margins in forecaster.margins.items()},
            "cold": {name: margins.tolist() for name, margins in forecaster.cold.items()},
            "reach": forecaster.reach.tolist(),
            "cold_reach": None if forecaster.cold_reach is None else forecaster.cold_reach.tolist(),
            "boosters": {name: [b.model_to_string() for b in some] for name, some in forecaster.boosters.items()},
            "falls": None if forecaster.falls is None else forecaster.falls.model_to_string(),
        }
        (self.folder / model).mkdir(parents=True, exist_ok=True)
        _write(self.folder / model / _FILE, body)
        roles = self.roles()
        if roles.champion is None:
            roles.champion = model
        elif model != roles.champion:
            roles.challenger = model
        _write(self.folder / ROLES, roles.__dict__)
        return model

    def load(self, model: str) -> Forecaster:
        """Read a model back.

        Raises
        ------
        RegistryError
            When there is none with this id, its hash is not that of its content, or it was made for other features.
        """
        body = self._body(model)
        meta = body["meta"]
        if (
            meta["features"] != list(NAMES)
            or meta["horizons_min"] != list(HORIZONS_MIN)
            or not set(body["boosters"]) <= {t.name for t in targets()}
        ):
            raise RegistryError(f"model {model} was trained for other features or horizons than this version has: train a new one")
        falls = lightgbm.Booster(model_str=body["falls"]) if body.get("falls") else None
        if falls is not None and falls.feature_name() != list(fall.NAMES):
            raise RegistryError(f"model {model} foretells declines from other features than this version has: train a new one")
        forecaster = Forecaster(
            {name: [lightgbm.Booster(model_str=text) for text in some] for name, some in body["boosters"].items()},
            {name: np.array(margins) for name, margins in body["margins"].items()},
            {name: np.array(margins) for name, margins in body.get("cold", {}).items()},
            np.array(body["reach"]),
            None if body["cold_reach"] is None else np.array(body["cold_reach"]),
            falls,
            meta,
        )
        if digest(forecaster) != meta["sha256"]:
            raise RegistryError(
                f"{self.folder / model / _FILE} is not what was trained: its hash differs. Train again, or restore the file"
            )
        return forecaster

    def describe(self, problem: Callable[[str], object]) -> list[dict[str, Any]]:
        """What each model says of itself, with its role, oldest first. One that cannot be read is told to `problem` and left out."""
        roles = self.roles()
        found = []
        for file in sorted(self.folder.glob(f"*/{_FILE}")):
            model = file.parent.name
            try:
                found.append({**self._body(model)["meta"], "role": roles.of(model)})
            except RegistryError as error:
                problem(str(error))
        return sorted(found, key=lambda meta: str(meta["trained_at"]))

    def roles(self) -> Roles:
        file = self.folder / ROLES
        return Roles(**orjson.loads(file.read_bytes())) if file.is_file() else Roles()

    def promote(self, model: str) -> Roles:
        """Make a model the champion; the one before is kept to roll back to.

        Raises
        ------
        RegistryError
            When it cannot be loaded, or is the champion already.
        """
        roles = self.roles()
        if model == roles.champion:
            raise RegistryError(f"model {model} is the champion already")
        self.load(model)
        if roles.champion is not None:
            roles.former.append(roles.champion)
        roles.champion = model
        if roles.challenger == model:
            roles.challenger = None
        _write(self.folder / ROLES, roles.__dict__)
        return roles

    def roll_back(self) -> Roles:
        """Make the champion before the present one champion again; the present one becomes challenger, so that one sees if that was right.

        Raises
        ------
        RegistryError
            When there was none before.
        """
        roles = self.roles()
        if not roles.former:
            raise RegistryError("there is no champion before the present one")
        self.load(roles.former[-1])
        roles.challenger, roles.champion = roles.champion, roles.former.pop()
        _write(self.folder / ROLES, roles.__dict__)
        return roles

    def _body(self, model: str) -> dict[str, Any]:
        file = self.folder / model / _FILE
        if not _ID.fullmatch(model) or not file.is_file():
            known = ", ".join(sorted(f.parent.name for f in self.folder.glob(f"*/{_FILE}"))) or "none"
            raise RegistryError(f"no model {model!r} in {self.folder}; there are: {known}")
        try:
            found: dict[str, Any] = orjson.loads(file.read_bytes())
        except orjson.JSONDecodeError as error:
            raise RegistryError(f"{file} is not JSON: {error}. Train again, or restore the file") from error
        if not isinstance(found, dict) or not isinstance(found.get("meta"), dict):
            raise RegistryError(f"{file} does not say what the model is. Train again, or restore the file")
        return found


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_bytes(orjson.dumps(content))
    new.replace(file)
