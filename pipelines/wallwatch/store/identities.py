"""`(host, pci)` and `host` as small numbers, cached in memory and stored in the tables `rnic` and `host`.

Ingest is the only writer. Attributes that change (a new firmware, a renamed device) update the row; the number stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from wallwatch.domain.catalogue.load import model_of

ATTRIBUTES = ("rack", "driver", "fw_ver", "ibdev", "netdev", "pci_id", "hca_type", "board_id", "link_layer")


CENTRE = ""
"""Replaces the host's name in cross-host messages of the server. Its number is 0, which no host has."""

_COLUMNS = ("host", "pci", "model", *ATTRIBUTES)

_ROWS = "json_to_recordset(%s::json) AS n (" + ", ".join(f"{c} text" for c in _COLUMNS) + ")"
"""All rows as one parameter: a statement for each, or a list for each column, costs some thirty times as much in this process."""

# A device that has just vanished has few tags: what was known of it stays.
_UPSERT_ALL = f"""
INSERT INTO rnic ({", ".join(_COLUMNS)}) SELECT {", ".join(_COLUMNS)} FROM {_ROWS}
ON CONFLICT (host, pci) DO UPDATE SET {", ".join(f"{c} = COALESCE(excluded.{c}, rnic.{c})" for c in _COLUMNS[2:])}
RETURNING rnic_id, host, pci, rack, model
""".encode()  # noqa: S608 - names are those above

_UPSERT_RACK = f"""
INSERT INTO rnic (host, pci, rack) SELECT host, pci, rack FROM {_ROWS}
ON CONFLICT (host, pci) DO UPDATE SET host = excluded.host
RETURNING rnic_id, host, pci, rack, model
""".encode()  # noqa: S608 - names are those above

_UPSERT_HOSTS = b"""
INSERT INTO host (host, rack) SELECT host, rack FROM json_to_recordset(%s::json) AS n (host text, rack text)
ON CONFLICT (host) DO UPDATE SET rack = excluded.rack RETURNING host, host_id
"""


@dataclass(slots=True)
class Rnic:
    """One RNIC as the store knows it."""

    rnic_id: int
    host: str
    pci: str
    rack: str
    model: str | None
    tags: Mapping[str, str] | None = None
    """The tags of the newest `rnic` message, to notice a change."""


class Identities:
    """The numbers of all RNICs and hosts that this process has seen."""

    def __init__(self) -> None:
        self.rnics: dict[tuple[str, str], Rnic] = {}
        self.by_id: dict[int, Rnic] = {}
        self.hosts: dict[str, int] = {CENTRE: 0}
        self.of_host: dict[str, list[int]] = {}
        """RNICs of each host."""

    def load(self, connection: psycopg.Connection[Any]) -> None:
        """Read all known RNICs and hosts."""
        for row in connection.execute("SELECT rnic_id, host, pci, rack, model FROM rnic"):
            self._remember(Rnic(*row))
        self.hosts.update(connection.execute("SELECT host, host_id FROM host").fetchall())

    def load_rnics(self, connection: psycopg.Connection[Any], hosts: Collection[str]) -> None:
        """Read those RNICs of some hosts that other processes have registered since."""
        for row in connection.execute("SELECT rnic_id, host, pci, rack, model FROM rnic WHERE host = ANY(%s)", [list(hosts)]):
            rnic = Rnic(*row)
            if rnic.rnic_id not in self.by_id:  # what is known has tags, too
                self._remember(rnic)

    def _remember(self, rnic: Rnic) -> None:
        if rnic.rnic_id not in self.by_id:
            self.of_host.setdefault(rnic.host, []).append(rnic.rnic_id)
        self.rnics[rnic.host, rnic.pci] = rnic
        self.by_id[rnic.rnic_id] = rnic

    def upsert_rnics(self, connection: psycopg.Connection[Any], wanted: Mapping[tuple[str, str], Mapping[str, str]], full: bool) -> None:
        """Insert new RNICs and update changed ones.

        Parameters
        ----------
        wanted : mapping of (host, pci) to tags
        full : bool
            The tags come from the measurement `rnic`, which has all attributes; other measurements only have the rack and never overwrite
            attributes.
        """
        rows = []
        for (host, pci), tags in sorted(wanted.items()):  # in an order in which two processes cannot block each other
            row: dict[str, str | None] = {name: tags.get(name) or None for name in ATTRIBUTES}
            model = model_of(row["pci_id"], row["hca_type"])
            rows.append({**row, "host": host, "pci": pci, "rack": tags.get("rack", ""), "model": model})
        found = connection.execute(_UPSERT_ALL if full else _UPSERT_RACK, [orjson.dumps(rows).decode()])
        for rnic_id, host, pci, rack, model in found:
            self._remember(Rnic(rnic_id, host, pci, rack, model, wanted[host, pci] if full else None))

    def upsert_hosts(self, connection: psycopg.Connection[Any], wanted: Mapping[str, str]) -> None:
        """Insert new hosts (name -> rack)."""
        rows = [{"host": host, "rack": rack} for host, rack in sorted(wanted.items())]
        self.hosts.update(connection.execute(_UPSERT_HOSTS, [orjson.dumps(rows).decode()]).fetchall())
