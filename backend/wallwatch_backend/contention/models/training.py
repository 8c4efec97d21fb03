"""Trains a model in a separate process: plain data in, plain data out."""

from typing import Any, TypedDict

import orjson

from wallwatch.domain.contention.acceptance import judge
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.profile_columns import MEMORY_PROFILE
from wallwatch.domain.contention.profile_files import ProfileFile, ProfileKind, UnusableProfiles, kind_of, read_profiles, train_profiles
from wallwatch.domain.contention.profile_rows import BadProfile


class Trained(TypedDict):
    """What a training gives; `problem` says why it gives nothing."""

    problem: str | None
    accepted: bool
    model: str
    card: dict[str, Any]
    own_load: list[dict[str, float]] | None


def train(function: str, pattern: str, files: list[tuple[str, str]], present: str | None) -> Trained:
    """Train on files of (name, text) and judge the result against the present model, given as JSON."""
    try:
        profiles = read_profiles([ProfileFile(name, text) for name, text in files])
        model = train_profiles(function, profiles, Pattern(pattern))
    except (BadProfile, UnusableProfiles) as problem:
        return Trained(problem=str(problem), accepted=False, model="", card={}, own_load=None)
    rows = profiles.rows[ProfileKind.MEMORY]
    verdict = judge(model, rows, None if present is None else FunctionModel.from_json(orjson.loads(present)))
    units = {column.name: column.unit for column in MEMORY_PROFILE}
    engine = model.engine
    card = {
        "cross_validation": dict(model.memory.cross_validation),
        "reasons": list(verdict.reasons),
        "pattern": model.pattern.value,
        "rows": len(rows),
        "accelerator": None if engine is None else {"queues": engine.queues, "t0": engine.t0, "a": engine.a},
        "ranges": [{"name": name, "unit": units[name], "low": low, "high": high} for name, (low, high) in model.ranges.items()],
        "files": [
            {"name": name, "kind": kind.value, "rows": len(profiles.rows[kind]), "sha256": profiles.hashes[name]}
            for name, _ in files
            if (kind := kind_of(name)) is not None
        ],
    }
    own = profiles.own_load
    text = orjson.dumps(model.as_json(), option=orjson.OPT_SORT_KEYS).decode()
    return Trained(problem=None, accepted=verdict.accepted, model=text, card=card, own_load=None if own is None else own.as_json())
