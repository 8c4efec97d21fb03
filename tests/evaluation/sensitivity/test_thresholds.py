"""Which numbers are moved, by how much, and whether each has a reason."""

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest
from tests.evaluation.sensitivity.constants import numbers, reasons
from tests.evaluation.sensitivity.thresholds import CONSTANTS, Threshold, asks_whether, side_of, thresholds, with_limit

from wallwatch.domain import symptoms
from wallwatch.domain.catalogue.load import causes, detected
from wallwatch.domain.catalogue.models import Bound
from wallwatch.domain.symptoms import detect, host, silence

EVERY = list(thresholds())


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(symptoms.__path__):
        yield importlib.import_module(f"{symptoms.__name__}.{found.name}")


def named(text: str) -> Threshold:
    return next(one for one in EVERY if text in one.name)


def test_every_threshold_has_a_reason_and_a_name_of_its_own() -> None:
    assert [one.name for one in EVERY if len(one.why.split()) < 3] == []
    assert len({one.name for one in EVERY}) == len(EVERY)


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__.rpartition(".")[2])
def test_every_number_of_the_stage_has_its_reason_below_it(module: ModuleType) -> None:
    assert [name for name in numbers(module) if name not in reasons(module)] == []


def test_every_bound_that_decides_is_moved() -> None:
    """Counted from the catalogue: bounds of required conditions and gates, and tests of causes, without those that ask whether."""
    bounds: set[int] = set()
    for entry in detected().values():
        assert entry.definition is not None
        for one in entry.definition.conditions:
            if one.role != "supporting":
                bounds |= {id(b) for b in (one.raise_, one.clear) if b is not None and not asks_whether(one.signal, b)}
    bounds |= {id(rule.test) for cause in causes().values() for rule in cause.rules if not asks_whether(rule.signal, rule.test)}
    assert {id(bound) for one in EVERY for bound in one.bounds} == bounds


def test_every_duration_that_decides_is_moved() -> None:
    definitions = [entry.definition for entry in detected().values() if entry.definition is not None]
    wanted = sum(bool(d.raise_for_s) + bool(d.clear_for_s) + len(d.not_with) for d in definitions)
    assert sum(one.kind == "duration" for one in EVERY) == wanted


def test_a_test_that_causes_share_is_moved_for_all_of_them() -> None:
    shared = named("flows_wall_share is evidence for C1, C4, C5")
    with shared.at(0.72):
        assert {rule.test.at_least for c in ("C1", "C4", "C5") for rule in causes()[c].rules if rule.signal == "flows_wall_share"} == {0.72}


@pytest.mark.parametrize("threshold", EVERY, ids=lambda one: one.name)
def test_a_moved_threshold_is_back_afterwards_even_if_something_fails(threshold: Threshold) -> None:
    before = [side_of(bound) for bound in threshold.bounds]

    def failing() -> None:
        with threshold.at(threshold.value * 3 + 1):
            assert not before or [side_of(bound) for bound in threshold.bounds] != before
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert [side_of(bound) for bound in threshold.bounds] == before


def test_constants_and_durations_are_read_where_the_stage_reads_them() -> None:
    with named("SLACK of detect").at(0.5), named("LONG_PAUSE_S of host").at(30.0), named("SILENT_S of silence").at(72.0):
        assert (detect.SLACK, host.LONG_PAUSE_S, silence.SILENT_S) == (0.5, 30.0, 72.0)
    definition = detected()["S1"].definition
    assert definition is not None
    with named("S1 is not raised this long after S8").at(72.0), named("S1 is gone for this long").at(16.0):
        assert (definition.not_with["S8"], definition.clear_for_s) == (72.0, 16.0)
    assert (definition.not_with["S8"], definition.clear_for_s, detect.SLACK) == (90, 20, 0.9)


def test_the_moved_constants_exist_and_are_numbers() -> None:
    for module, name, *_ in CONSTANTS:
        assert name in numbers(module)


def test_a_bound_keeps_its_direction() -> None:
    assert with_limit(Bound(below=0.07), 0.056) == Bound(below=0.056)
