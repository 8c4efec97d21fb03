"""Versions as the API presents them, and the models behind them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch_backend.contention.models.models import NetworkFunctionRow, NfModelVersionRow
from wallwatch_backend.contention.models.schemas import FunctionTerms, NfVersion, NfVersionSummary

_OF_ROW = ("id", "number", "state", "note", "created_by", "created_at", "promoted_by", "promoted_at", "retired_at")
_OF_CARD = ("pattern", "rows", "reasons", "accelerator", "ranges")


@lru_cache(maxsize=64)
def loaded(text: str) -> FunctionModel:
    """The model of a version, which never changes; reading one takes some milliseconds."""
    return FunctionModel.from_json(orjson.loads(text))


def summary(row: NfModelVersionRow) -> NfVersionSummary:
    return NfVersionSummary.model_validate(_fields(row))


def version(row: NfModelVersionRow) -> NfVersion:
    more = {"function": row.function, "nic_model": row.nic_model, "firmware": row.firmware}
    return NfVersion.model_validate({**_fields(row), **more, "files": row.card["files"], "own_load": row.own_load or []})


def terms(row: NetworkFunctionRow | None) -> FunctionTerms:
    return FunctionTerms.model_validate({} if row is None else {"cores": row.cores, "sla_drop": row.sla_drop})


def _fields(row: NfModelVersionRow) -> Mapping[str, Any]:
    figures = row.card["cross_validation"]
    return {
        **{name: getattr(row, name) for name in _OF_ROW},
        **{name: row.card[name] for name in _OF_CARD},
        **{name: figures[name] for name in ("mape", "within_5", "within_10")},
        "own_load_known": row.own_load is not None,
    }
