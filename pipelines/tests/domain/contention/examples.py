"""Models and own loads of the example profiles of the documentation."""

from functools import cache
from pathlib import Path

from wallwatch.domain.contention.card import Occupant, Traffic
from wallwatch.domain.contention.composition import Pattern
from wallwatch.domain.contention.function_model import FunctionModel
from wallwatch.domain.contention.profile_files import ProfileFile, Profiles, read_profiles, train_profiles

EXAMPLES = Path(__file__).resolve().parents[4] / "docs/examples/functions"


@cache
def profiles(function: str) -> Profiles:
    return read_profiles([ProfileFile(file.name, file.read_text()) for file in sorted((EXAMPLES / function).iterdir())])


@cache
def model(function: str, pattern: Pattern = Pattern.PIPELINE) -> FunctionModel:
    return train_profiles(function, profiles(function), pattern)


def occupant(name: str, function: str, flows: float = 8000.0, mtbr: float = 0.0, **more: object) -> Occupant:
    own = profiles(function).own_load
    assert own is not None
    options = {"model": model(function), "counters": own.at(flows), **more}
    return Occupant(name, Traffic(flows, 1518.0, mtbr), **options)  # type: ignore[arg-type]
