"""Which measurements a placement asks for."""

from wallwatch.domain.contention.placement import Kind
from wallwatch.domain.contention.sharing import Resident
from wallwatch.domain.contention.worth_measuring import next_measurements

CURVE = ((0.0, 0.0), (4.0, 0.2))


def resident(name: str, most_drop: float, error: float) -> Resident:
    return Resident(Kind(name, 2, most_drop), 500.0, memory_load=1.0, memory_curve=CURVE, memory_errors=(0.0, error) if error else ())


def test_measurements_go_where_the_outcome_is_open() -> None:
    close, far = resident("close", 0.1, 0.02), resident("far", 0.19, 0.02)
    kinds = {one.kind: one for one in (close, far)}
    wanted = next_measurements([(close.kind, close.kind, far.kind)] * 4, kinds, 40)
    assert sum(one.repeats for one in wanted) == 40
    at_load = {(one.function, one.memory_load): one.repeats for one in wanted}
    assert at_load[("close", 2.0)] > 20, "its drop of 10% is just what it may lose"
    assert at_load[("close", 0.0)] == 16, "a drop compares with the throughput alone"
    assert sum(count for (name, _), count in at_load.items() if name == "far") == 0


def test_nothing_is_asked_where_curves_are_exact_or_functions_alone() -> None:
    exact, alone = resident("exact", 0.1, 0.0), resident("alone", 0.1, 0.02)
    kinds = {one.kind: one for one in (exact, alone)}
    assert next_measurements([(exact.kind, exact.kind, exact.kind), (alone.kind,)], kinds, 10) == []
