"""`(host, pci)` and `host` as small numbers, kept in memory and in the tables `rnic` and `host`.

Ingest is the only writer. Attributes that change (a new firmware, a renamed device) update the row; the number stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from wallwatch.domain.catalogue.load import model_of

ATTRIBUTES = ("rack", "driver", "fw_ver", "ibdev", "netdev", "pci_id", "hca_type", "board_id", "link_layer")


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
    """The numbers of all RNICs and hosts that this process has met."""

    def __init__(self) -> None:
        self.rnics: dict[tuple[str, str], Rnic] = {}
        self.by_id: dict[int, Rnic] = {}
        self.hosts: dict[str, int] = {}

    def load(self, connection: psycopg.Connection[object]) -> None:
        """Read everything that is known already."""
        for rnic_id, host, pci, rack, model in connection.execute("SELECT rnic_id, host, pci, rack, model FROM rnic"):  # type: ignore[misc]
            self._remember(Rnic(rnic_id, host, pci, rack, model))
        self.hosts.update(connection.execute("SELECT host, host_id FROM host").fetchall())  # type: ignore[call-overload]

    def _remember(self, rnic: Rnic) -> None:
        self.rnics[rnic.host, rnic.pci] = rnic
        self.by_id[rnic.rnic_id] = rnic

    def upsert_rnics(self, connection: psycopg.Connection[object], wanted: Mapping[tuple[str, str], Mapping[str, str]], full: bool) -> None:
        """Insert new RNICs and update changed ones.

        Parameters
        ----------
        wanted : mapping of (host, pci) to tags
        full : bool
            The tags come from the measurement `rnic`, which has all attributes; other measurements know the rack alone and never
            overwrite what is there.
        """
        with connection.cursor() as cursor:
            for (host, pci), tags in sorted(wanted.items()):
                values = {name: tags.get(name) or None for name in ATTRIBUTES}
                values["rack"] = values["rack"] or ""
                model = model_of(values["pci_id"], values["hca_type"])
                columns = ["host", "pci", "model", *values]
                keep = [f"{c} = excluded.{c}" for c in columns[2:]] if full else ["host = excluded.host"]
                # A device that vanished has no tags of its own for a while: what was known of it stays.
                keep = [k if not full or k.startswith("rack") else f"{k.split(' ')[0]} = COALESCE(excluded.{k.split(' ')[0]}, rnic.{k.split(' ')[0]})" for k in keep]
                cursor.execute(
                    f"INSERT INTO rnic ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))}) "  # type: ignore[arg-type] # noqa: S608
                    f"ON CONFLICT (host, pci) DO UPDATE SET {', '.join(keep)} RETURNING rnic_id, rack, model",
                    [host, pci, model, *values.values()],
                )
                rnic_id, rack, known_model = cursor.fetchone()  # type: ignore[misc]
                self._remember(Rnic(rnic_id, host, pci, rack, known_model, dict(tags) if full else None))

    def upsert_hosts(self, connection: psycopg.Connection[object], wanted: Mapping[str, str]) -> None:
        """Insert hosts (name -> rack) that are new."""
        for host, rack in sorted(wanted.items()):
            row = connection.execute(
                "INSERT INTO host (host, rack) VALUES (%s, %s) ON CONFLICT (host) DO UPDATE SET rack = excluded.rack RETURNING host_id",
                [host, rack],
            ).fetchone()
            self.hosts[host] = row[0]  # type: ignore[index]
