"""Reading a scenario: every key, type and range is checked, and an error says where and what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from enum import StrEnum
from math import isfinite
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from wallwatch.domain.isolation.shares.water_filling import MinimaExceedCapacity, Request, fair_shares
from wallwatch.domain.isolation.simulation.ingress import TICK_US
from wallwatch.domain.isolation.simulation.scenario import Scenario, Vf

MOST_WORK = 50_000_000
"""Packets, or ticks of VFs: some minutes of computing; a scenario with more is refused rather than run for hours."""
TICK_WORK = 20
"""A VF's tick costs about as much as this many packets."""
LONGEST_COST_US = 100.0
LARGEST = 1e9
MORE_THAN_ZERO = {
    "max_mbps", "packet_bytes", "senders", "flows", "packets", "round_trip_us", "duration_ms", "line_gbps", "packet_us", "nic_ring",
    "vf_queue", "pull_batch", "process_batch", "memory_us", "pccb_epoch_us", "pccp_epoch_us", "threshold_us", "limit_mbps", "offered_kpps",
    "descriptors", "wheel_cap", "vf_cap", "guest_ring", "flow_limit", "pccb_alpha", "ewma",
}  # fmt: skip
AT_LEAST = {"packet_us": 0.01, "drop_us": 0.01, "memory_us": 100.0, "pccb_epoch_us": TICK_US, "pccp_epoch_us": TICK_US}
AT_MOST_ONE = {"pccb_alpha", "ewma", "beta", "variation"}


class BadScenario(ValueError):
    """A scenario that cannot be run, with the place and what is expected there."""


def read_scenario(document: object) -> Scenario:
    """The scenario in a JSON document; numbers may be `int`, `float` or `Decimal`. Raises `BadScenario`."""
    scenario = _read(Scenario, document, "scenario")
    assert isinstance(scenario, Scenario)  # noqa: S101  # _read builds what it is asked for
    _check(scenario)
    return scenario


def _read(kind: Any, value: object, where: str) -> Any:
    """`value` as `kind`, which is one of the types that the scenario's dataclasses use."""
    if get_origin(kind) is UnionType:
        return None if value is None else _read(next(one for one in get_args(kind) if one is not type(None)), value, where)
    if is_dataclass(kind):
        return _object(kind, value, where)
    if get_origin(kind) is tuple:
        if not isinstance(value, list):
            raise BadScenario(f"{where} must be a list")
        return tuple(_read(get_args(kind)[0], one, f"{where}[{at}]") for at, one in enumerate(value))
    if get_origin(kind) is Mapping:
        if not isinstance(value, dict):
            raise BadScenario(f"{where} must be an object with a name for each entry")
        return {name: _read(get_args(kind)[1], one, f"{where}.{name}") for name, one in value.items()}
    return _plain(kind, value, where)


def _object(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, dict):
        raise BadScenario(f"{where} must be an object")
    types = get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(set(value) - set(known)):
        raise BadScenario(f"{where}: unknown key {unknown[0]!r} (known: {', '.join(known)})")
    required = [name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING]
    if missing := [name for name in required if name not in value]:
        raise BadScenario(f"{where}: {missing[0]} is required")
    return kind(**{name: _read(types[name], one, f"{where}.{name}") for name, one in value.items()})


def _plain(kind: Any, value: object, where: str) -> Any:
    name = where.rpartition(".")[2]
    if kind is bool or kind is str:
        if not isinstance(value, kind):
            raise BadScenario(f"{where} must be {'true or false' if kind is bool else 'text'}")
        return value
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        if value not in [one.value for one in kind]:
            raise BadScenario(f"{where} must be one of {', '.join(one.value for one in kind)}")
        return kind(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or (kind is int and not isinstance(value, int)):
        raise BadScenario(f"{where} must be {'a whole number' if kind is int else 'a number'}")
    if not isfinite(value) or value < 0 or value > LARGEST:
        raise BadScenario(f"{where} must be from 0 to {LARGEST:g}, not {value}")
    if name in MORE_THAN_ZERO and value == 0:
        raise BadScenario(f"{where} must be more than 0")
    if value < AT_LEAST.get(name, 0):
        raise BadScenario(f"{where} must be at least {AT_LEAST[name]:g}, not {value}")
    if name in AT_MOST_ONE and value > 1:
        raise BadScenario(f"{where} must be at most 1, not {value}")
    return kind(value)


def _check(scenario: Scenario) -> None:
    """What concerns more than one value."""
    if not scenario.vfs:
        raise BadScenario("scenario.vfs: at least one VF is required")
    if scenario.warmup_ms >= scenario.duration_ms:
        raise BadScenario("scenario.warmup_ms must be less than duration_ms")
    for name, vf in scenario.vfs.items():
        _check_vf(f"scenario.vfs.{name}", vf)
        cost_us = scenario.engine.packet_us + scenario.engine.byte_us * vf.packet_bytes + vf.extra_cost_us + scenario.engine.pull_us
        if cost_us > LONGEST_COST_US:
            raise BadScenario(f"scenario.vfs.{name}: a packet would cost {cost_us:g} us of CPU time (at most {LONGEST_COST_US:g})")
    try:
        fair_shares(scenario.line_gbps * 1000, [Request(vf.min_mbps, vf.max_mbps) for vf in scenario.vfs.values()])
    except MinimaExceedCapacity as problem:
        raise BadScenario(f"scenario.vfs, in Mbit/s: {problem}") from None
    names = {*scenario.vfs, *(vf.tenant for vf in scenario.vfs.values() if vf.tenant)}
    for change in scenario.what_if:
        if change.name not in names:
            raise BadScenario(f"scenario.what_if: no VF or tenant is called {change.name!r} (known: {', '.join(sorted(names))})")
    for one in (scenario, scenario.changed()):
        if (work := _work(one)) > MOST_WORK:
            raise BadScenario(f"scenario: the simulation would take {work:.3g} steps, at most {MOST_WORK:.3g} are run: shorten duration_ms")


def _work(scenario: Scenario) -> float:
    """About how much there is to compute, in packets."""
    kpps = sum(max((demand.kpps for demand in vf.demands), default=0.0) for vf in scenario.vfs.values())
    if any(vf.window for vf in scenario.vfs.values()):
        kpps += 1000.0 / scenario.engine.packet_us  # as many as the engine processes
    return kpps * scenario.duration_ms + TICK_WORK * len(scenario.vfs) * scenario.duration_ms * 1000.0 / TICK_US


def _check_vf(where: str, vf: Vf) -> None:
    if vf.min_mbps > vf.max_mbps:
        raise BadScenario(f"{where}: max_mbps {vf.max_mbps:g} is below min_mbps {vf.min_mbps:g}")
    if vf.window is not None and vf.demands:
        raise BadScenario(f"{where}: either demands or a window, not both")
    times = [demand.at_ms for demand in vf.demands]
    if times != sorted(set(times)):
        raise BadScenario(f"{where}.demands must be in order of at_ms, each at its own time")
    if len({demand.packet_bytes for demand in vf.demands}) > 1:
        raise BadScenario(f"{where}.demands: one packet_bytes per VF is required; describe other packets as another VF")
