"""Files of functions and cards for `wallwatch nf place`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wallwatch.cli.nf_input import is_number, number, read_json, refuse

if TYPE_CHECKING:
    from wallwatch.domain.contention.placement import Kind
    from wallwatch.domain.contention.round_robin import EngineUser
    from wallwatch.domain.contention.sharing import Resident

CORES_OF_CARD, CORES_OF_FUNCTION = 8, 2
"""Of a BlueField-2, and what the paper gives each function (section 7.5.1)."""
MOST_FUNCTIONS = 100_000
COMMAND = "place"
_KEYS = {
    "name",
    "count",
    "cores",
    "sla_drop",
    "solo_kpps",
    "pattern",
    "memory_load",
    "memory_curve",
    "memory_measurements",
    "engines",
    "drop_error",
}
_LARGEST_FALL = 0.1
"""Of a curve from one point to the next: more is no noise of a measurement."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Equal cards; `count` is None where as many as required may be used."""

    cores: int
    count: int | None
    names: tuple[str, ...] = ()

    def name(self, at: int) -> str:
        return self.names[at] if at < len(self.names) else f"nic{at}"


def read_cards(file: Path) -> Cards:
    """`[{"name": ..., "cores": 8}, ...]` or `{"cores": 8, "count": 100}`."""
    body = read_json(COMMAND, file)
    if isinstance(body, list) and body and all(isinstance(card, dict) for card in body):
        sizes = {_whole(f"{file}: card {at}", card, "cores", CORES_OF_CARD) for at, card in enumerate(body)}
        if len(sizes) > 1:
            refuse(COMMAND, f"{file}: cards have {', '.join(map(str, sorted(sizes)))} cores: place each size separately")
        return Cards(sizes.pop(), len(body), tuple(str(card.get("name", f"nic{at}")) for at, card in enumerate(body)))
    if not isinstance(body, dict):
        refuse(COMMAND, f"{file}: a list of cards (objects with name and cores), or an object with cores and count, is required")
    count = None if body.get("count") is None else _whole(str(file), body, "count", 1)
    return Cards(_whole(str(file), body, "cores", CORES_OF_CARD), count)


def read_functions(file: Path, residents: dict[Kind, Resident]) -> list[Kind]:
    """Arrivals in order; fills `residents` with what contention of each kind depends on."""
    body = read_json(COMMAND, file)
    functions = body.get("functions") if isinstance(body, dict) else body
    if not isinstance(functions, list):
        refuse(COMMAND, f"{file}: a list of functions is required")
    arrivals: list[Kind] = []
    defined: dict[str, Resident] = {}
    for at, function in enumerate(functions):
        where = f"{file}: function {at}"
        if not isinstance(function, dict):
            refuse(COMMAND, f"{where}: an object is required")
        resident = _resident(where, function, defined)
        residents[resident.kind] = resident
        arrivals += [resident.kind] * _whole(where, function, "count", 1)
        if len(arrivals) > MOST_FUNCTIONS:
            refuse(COMMAND, f"{file}: more than {MOST_FUNCTIONS} functions")
    return arrivals


def _resident(where: str, function: dict[str, Any], defined: dict[str, Resident]) -> Resident:
    """The function; a name that came before must mean the same, and alone (`{"name": ...}`) repeats it."""
    from wallwatch.domain.contention.composition import Pattern
    from wallwatch.domain.contention.placement import Kind
    from wallwatch.domain.contention.sharing import Resident

    name = function.get("name")
    if not isinstance(name, str) or not name:
        refuse(COMMAND, f"{where}: name is required")
    if name in defined and set(function) <= {"name", "count"}:
        return defined[name]
    if unknown := sorted(set(function) - _KEYS):
        refuse(COMMAND, f"{where} ({name}): unknown keys {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    where = f"{where} ({name})"
    most_drop = number(COMMAND, where, function, "sla_drop")
    if most_drop >= 1:
        refuse(COMMAND, f"{where}: sla_drop is a share of the solo throughput, below 1 (0.1 for 10%), not {most_drop:g}")
    solo = number(COMMAND, where, function, "solo_kpps")
    if solo <= 0:
        refuse(COMMAND, f"{where}: solo_kpps must be positive")
    pattern = function.get("pattern", "pipeline")
    if pattern not in list(Pattern):
        refuse(COMMAND, f"{where}: pattern must be {' or '.join(Pattern)}")
    cores = _whole(where, function, "cores", CORES_OF_FUNCTION)
    load = number(COMMAND, where, function, "memory_load", 0.0)
    error = number(COMMAND, where, function, "drop_error", 0.0)
    kind = Kind(name, cores, most_drop, error)
    curve, errors = _curve_and_errors(where, function)
    resident = Resident(kind, solo, Pattern(pattern), load, curve, _engines(where, function), errors)
    if name in defined and defined[name] != resident:
        refuse(COMMAND, f"{where}: another function of this name differs: give each kind its own name")
    defined[name] = resident
    return resident


def _curve_and_errors(where: str, function: dict[str, Any]) -> tuple[tuple[tuple[float, float], ...], tuple[float, ...]]:
    """The curve with its errors: fitted to measurements, or given and taken as exact."""
    from wallwatch.domain.contention.measured_curve import UnusableMeasurements, fit

    rows = function.get("memory_measurements")
    if rows is None:
        return _curve(where, function), ()
    if "memory_curve" in function:
        refuse(COMMAND, f"{where}: give memory_curve or memory_measurements, not both")
    if not isinstance(rows, list):
        refuse(COMMAND, f"{where}: memory_measurements must be a list of [competitors' load, throughput in kpps]")
    measurements = []
    for at, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != 2 or not all(is_number(v) for v in row):
            refuse(COMMAND, f"{where}: measurement {at} must be [competitors' load, throughput in kpps]")
        load, throughput = float(row[0]), float(row[1])
        if not (load >= 0 and throughput > 0):
            refuse(COMMAND, f"{where}: measurement {at}: the load must be at least 0 and the throughput positive, not {row[0]}, {row[1]}")
        measurements.append((load, throughput))
    try:
        curve = fit(measurements)
    except UnusableMeasurements as problem:
        refuse(COMMAND, f"{where}: {problem}")
    return curve.points, curve.errors


def _curve(where: str, function: dict[str, Any]) -> tuple[tuple[float, float], ...]:
    """The curve as it is given, or the closest that ascends: measured points may fall by their noise, and be negative by it."""
    from wallwatch.domain.contention.measured_curve import ascending

    points = function.get("memory_curve", [])
    good = isinstance(points, list) and all(
        isinstance(point, list) and len(point) == 2 and all(is_number(v) for v in point) for point in points
    )
    if not good:
        refuse(COMMAND, f"{where}: memory_curve must be a list of [competitors' load, drop]")
    loads, drops = [float(point[0]) for point in points], [float(point[1]) for point in points]
    if loads != sorted(set(loads)):
        refuse(COMMAND, f"{where}: memory_curve must ascend in load")
    if any(not -_LARGEST_FALL < drop < 1 for drop in drops):
        refuse(COMMAND, f"{where}: drops of memory_curve are shares of the solo throughput, from 0 to below 1")
    if any(later < earlier - _LARGEST_FALL for earlier, later in pairwise(drops)):
        refuse(COMMAND, f"{where}: memory_curve must ascend in drop; it falls by more than noise ({_LARGEST_FALL:g})")
    return tuple(zip(loads, ascending(drops), strict=True))


def _engines(where: str, function: dict[str, Any]) -> dict[str, EngineUser]:
    from wallwatch.domain.contention.round_robin import EngineUser

    engines = function.get("engines", {})
    if not isinstance(engines, dict) or not all(isinstance(use, dict) for use in engines.values()):
        refuse(COMMAND, f"{where}: engines must be an object such as {json.dumps({'regex': {'n': 1, 't': 0.0005, 'rate': 700}})}")
    found = {}
    for engine, use in engines.items():
        place = f"{where}: engine {engine}"
        time = number(COMMAND, place, use, "t")
        if time <= 0:
            refuse(COMMAND, f"{place}: t must be positive (1/kpps)")
        rate = inf if use.get("rate") is None else number(COMMAND, place, use, "rate")
        found[engine] = EngineUser(_whole(place, use, "n", 1), time, rate)
    return found


def _whole(where: str, body: dict[str, Any], name: str, default: int) -> int:
    value = number(COMMAND, where, body, name, float(default), low=1)
    if not value.is_integer():
        refuse(COMMAND, f"{where}: {name} must be a whole number, not {value:g}")
    return int(value)
