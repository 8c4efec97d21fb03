"""Which configurations let packets through: tables chained by parameters, from entries to exits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dut_zoo.parameters import Config, Value


@dataclass(frozen=True)
class Edge:
    """A connection, active when every parameter in `when` has the value given there."""

    source: str
    target: str
    when: tuple[tuple[str, Value], ...] = ()

    def active(self, config: Config) -> bool:
        """Whether packets take it."""
        return all(config[name] == value for name, value in self.when)

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        ends: dict[str, Any] = {"from": self.source, "to": self.target}
        return ends | ({"when": dict(self.when)} if self.when else {})


@dataclass(frozen=True)
class Topology:
    """Entries, exits and the edges between them."""

    entries: tuple[str, ...]
    exits: tuple[str, ...]
    edges: tuple[Edge, ...]

    def fault(self, config: Config) -> str | None:
        """Why a configuration is not valid: a loop or an end that is no exit; None when it is valid."""
        for entry in self.entries:
            reason = self._follow(entry, (), config)
            if reason:
                return reason
        return None

    def _follow(self, node: str, path: tuple[str, ...], config: Config) -> str | None:
        if node in path:
            return f"packet loop at {node}"
        if node in self.exits:
            return None
        targets = [edge.target for edge in self.edges if edge.source == node and edge.active(config)]
        if not targets:
            return f"{node} leads nowhere"
        for target in targets:
            reason = self._follow(target, (*path, node), config)
            if reason:
                return reason
        return None

    def describe(self) -> dict[str, Any]:
        """As in `describe`."""
        return {"entries": list(self.entries), "exits": list(self.exits), "edges": [edge.describe() for edge in self.edges]}
