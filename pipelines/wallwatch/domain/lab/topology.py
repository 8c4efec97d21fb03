"""Which configurations a device's topology allows, so that none is sent that loops or reaches nothing (paper, section 4.1, Fig. 9)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from wallwatch.domain.lab.device import Config, Device, Edge, Value

ATTEMPTS = 2000
"""Nodes of the search tree that one completion visits at most."""


@dataclass(frozen=True)
class _Undecided:
    """The walk depends on a parameter that has no value yet."""

    parameter: str


class Topology:
    """Checks configurations and completes partial ones. A device without a topology allows everything."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._edges: dict[str, list[Edge]] = defaultdict(list)
        topology = device.topology
        self._entries = topology.entries if topology else ()
        self._exits = topology.exits if topology else frozenset()
        names: dict[str, None] = {}
        for edge in topology.edges if topology else ():
            self._edges[edge.source].append(edge)
            names.update(dict.fromkeys(edge.when))
        self.parameters = tuple(names)
        self._known: dict[tuple[Value, ...], bool] = {}

    def is_valid(self, config: Mapping[str, Value]) -> bool:
        """Every way from every entry ends at an exit and meets no node twice."""
        key = tuple(config[name] for name in self.parameters)
        if key not in self._known:
            self._known[key] = self._walk(config) is True
        return self._known[key]

    def complete(self, partial: Mapping[str, Value], rng: random.Random, preferred: Mapping[str, Value] | None = None) -> Config | None:
        """Values of the topology's parameters that keep those of `partial` and are valid; None if there are none.

        A parameter that no walk meets takes its preferred value, or any. Preferred values are tried first.
        """
        config = {name: value for name, value in partial.items() if name in self.parameters}
        attempts = [ATTEMPTS]
        if not self._extend(config, rng, preferred or {}, attempts):
            return None
        for name in self.parameters:
            if name not in config:
                config[name] = preferred[name] if preferred and name in preferred else rng.choice(self._candidates(name))
        return {**partial, **config}

    def _extend(self, config: Config, rng: random.Random, preferred: Mapping[str, Value], attempts: list[int]) -> bool:
        attempts[0] -= 1
        if attempts[0] < 0:
            return False
        state = self._walk(config)
        if not isinstance(state, _Undecided):
            return state
        values = self._candidates(state.parameter)
        rng.shuffle(values)
        if state.parameter in preferred:
            values.sort(key=lambda one: one != preferred[state.parameter])
        for value in values:
            config[state.parameter] = value
            if self._extend(config, rng, preferred, attempts):
                return True
        del config[state.parameter]
        return False

    def _candidates(self, name: str) -> list[Value]:
        """Values of a parameter that may make a difference: all of a choice; of others those that edges ask for, and a few more."""
        parameter = self._device.by_name[name]
        if parameter.kind in ("choice", "boolean"):
            return list(parameter.values)
        asked = [edge.when[name] for edges in self._edges.values() for edge in edges if name in edge.when]
        more = (
            parameter.levels(parameter.minimum, parameter.maximum)
            if parameter.kind == "integer"
            else (parameter.values, parameter.values[::-1])
        )
        return list(dict.fromkeys([*filter(parameter.contains, asked), *more]))

    def _walk(self, config: Mapping[str, Value]) -> bool | _Undecided:
        undecided: _Undecided | None = None
        for entry in self._entries:
            state = self._follow(entry, (), config)
            if state is False:
                return False
            if isinstance(state, _Undecided):
                undecided = undecided or state
        return undecided or True

    def _follow(self, node: str, met: tuple[str, ...], config: Mapping[str, Value]) -> bool | _Undecided:
        if node in self._exits:
            return True
        if node in met:
            return False
        undecided: _Undecided | None = None
        is_open = False
        for edge in self._edges[node]:
            state = self._is_open(edge, config)
            if isinstance(state, _Undecided):
                undecided = undecided or state
            elif state:
                is_open = True
                further = self._follow(edge.target, (*met, node), config)
                if further is False:
                    return False
                if isinstance(further, _Undecided):
                    undecided = undecided or further
        return undecided or is_open

    def _is_open(self, edge: Edge, config: Mapping[str, Value]) -> bool | _Undecided:
        undecided: _Undecided | None = None
        for name, value in edge.when.items():
            if name not in config:
                undecided = undecided or _Undecided(name)
            elif config[name] != value:
                return False
        return undecided or True
