"""The registry of trained models: one folder per model, and the roles (`roles.py`).

The champion's forecasts are published. The challenger forecasts the same in the background, for comparison. Operators can roll back to
former champions. Models without a role are removed when newer ones arrive.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from wallwatch.domain.forecast.forecaster import Forecaster
from wallwatch.forecasting.registry import model_file
from wallwatch.forecasting.registry import roles as roles_file
from wallwatch.forecasting.registry.roles import RegistryError, Roles, account

__all__ = ["Registry", "RegistryError", "Roles"]

_FILE = "model.json"
_ID = re.compile(r"[0-9a-f]{12}")
MOST_UNUSED = 3
"""How many models without a role stay (the newest ones): an operator may still promote one. A model takes a few megabytes."""


def worse_than_base(description: Mapping[str, Any]) -> bool:
    """Whether a model had a higher loss than the base model on the part of its own data that it was not trained on."""
    compared = description.get("against_base") or {}
    return bool(compared) and compared["loss"] > compared["base_loss"]


class Registry:
    """Models in a folder. Writes are atomic: files are written under a temporary name and renamed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._metas: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}

    def save(self, forecaster: Forecaster, description: dict[str, Any], by: str | None = None) -> str:
        """Store a model and return its id, the first 12 digits of its SHA-256.

        The first model of a registry becomes champion, unless its description says that it is worse than the base model; then it becomes
        challenger, as later ones do. Unused models are removed.

        Raises
        ------
        RegistryError
            When the folder cannot be written, or its roles cannot be read.
        """
        self.roles()
        body = model_file.body_of(forecaster, description, datetime.now(UTC))
        model: str = body["meta"]["id"]
        roles_file.write(self.folder / model / _FILE, body)
        by = by or account()
        with roles_file.changing(self.folder) as roles:
            before = roles.champion
            if roles.champion is None and not worse_than_base(description):
                roles.champion = model
            elif model != roles.champion:
                roles.challenger = model
            roles.note("trained", model, before, by, str(description.get("source") or ""))
            self._tidy(roles, by)
        return model

    def _tidy(self, roles: Roles, by: str) -> None:
        """Remove all but the newest models without a role; an unreadable model stays, because its file may be restored."""
        unused = [meta["id"] for meta in self._described(roles, lambda _: None) if meta["role"] == "none"]
        for model in unused[:-MOST_UNUSED]:
            shutil.rmtree(self.folder / model, ignore_errors=True)
            roles.note("removed", model, roles.champion, by, f"no role, and {MOST_UNUSED} newer models without a role exist")

    def load(self, model: str) -> Forecaster:
        """Read a model back.

        Raises
        ------
        RegistryError
            When no model has this id, its hash does not match its content, or it was trained for other features.
        """
        return model_file.forecaster_of(self._body(model), str(self.folder / model / _FILE), "Train again, or restore the file")

    def describe(self, problem: Callable[[str], object]) -> list[dict[str, Any]]:
        """The description of each model with its role, oldest first. Unreadable models are reported to `problem` and skipped."""
        return self._described(self.roles(), problem)

    def _described(self, roles: Roles, problem: Callable[[str], object]) -> list[dict[str, Any]]:
        found = []
        for file in sorted(self.folder.glob(f"*/{_FILE}")):
            model = file.parent.name
            try:
                found.append({**self._meta(model), "role": roles.of(model)})
            except RegistryError as error:
                problem(str(error))
        return sorted(found, key=lambda meta: str(meta["trained_at"]))

    def signature(self, model: str) -> tuple[int, int] | None:
        """A value that changes with the model's file; None without a file."""
        try:
            found = (self.folder / model / _FILE).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def roles(self) -> Roles:
        """The roles of all models.

        Raises
        ------
        RegistryError
            When the file of roles cannot be read.
        """
        return roles_file.read(self.folder)

    def promote(self, model: str, by: str | None = None, reason: str = "") -> Roles:
        """Promote a model to champion; the previous champion becomes challenger, for comparison, and can be restored with a rollback.

        Raises
        ------
        RegistryError
            When it cannot be loaded, or is the champion already.
        """
        if model == self.roles().champion:
            raise RegistryError(f"model {model} is the champion already")
        self.load(model)
        with roles_file.changing(self.folder) as roles:
            before = roles.champion
            roles.former = [one for one in roles.former if one != model]
            if before is not None and before != model:
                roles.former.append(before)
            roles.champion = model
            if roles.challenger in (model, None):
                roles.challenger = before
            roles.note("promoted", model, before, by or account(), reason)
        return roles

    def roll_back(self, by: str | None = None, reason: str = "") -> Roles:
        """Make the previous champion the champion again; the current champion becomes challenger, for comparison.

        Raises
        ------
        RegistryError
            When there is no previous champion.
        """
        former = self.roles().former
        if not former:
            raise RegistryError("there is no previous champion")
        self.load(former[-1])
        with roles_file.changing(self.folder) as roles:
            if not roles.former or roles.former[-1] != former[-1]:
                raise RegistryError("another process changed the champion at the same time: check `wallwatch forecast models`")
            roles.challenger, roles.champion = roles.champion, roles.former.pop()
            roles.note("rolled_back", roles.champion, roles.challenger, by or account(), reason)
        return roles

    def _meta(self, model: str) -> dict[str, Any]:
        """A model's description; its file of several megabytes is read again only when it has changed."""
        known, signature = self._metas.get(model), self.signature(model)
        if known is not None and known[0] == signature:
            return known[1]
        meta: dict[str, Any] = self._body(model)["meta"]
        for name in ("id", "trained_at", "sha256"):
            if not isinstance(meta.get(name), str):
                raise RegistryError(f"{self.folder / model / _FILE} lacks {name!r}. Train again, or restore the file")
        if signature is not None:
            self._metas[model] = (signature, meta)
        return meta

    def _body(self, model: str) -> dict[str, Any]:
        file = self.folder / model / _FILE
        if not _ID.fullmatch(model) or not file.is_file():
            known = ", ".join(sorted(f.parent.name for f in self.folder.glob(f"*/{_FILE}"))) or "none"
            raise RegistryError(f"no model {model!r} in {self.folder} (available: {known})")
        try:
            found: dict[str, Any] = orjson.loads(file.read_bytes())
        except (orjson.JSONDecodeError, OSError) as error:
            raise RegistryError(f"{file} cannot be read: {error}. Train again, or restore the file") from error
        if not isinstance(found, dict) or not isinstance(found.get("meta"), dict):
            raise RegistryError(f"{file} has no description of the model. Train again, or restore the file")
        return found
