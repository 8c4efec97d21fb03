"""How many RNICs one host may register: a host with a valid key that invents PCI addresses must not fill the table `rnic`."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import psycopg

from wallwatch.domain.telemetry.identities import MOST_RNICS
from wallwatch.store.identities import Identities

FORGOTTEN_DAYS = 7
"""An RNIC of which no sample came for so long no longer counts: cards are replaced and moved to other slots, and their names stay in the
table. A host that invents names gets `MOST_RNICS` more of them each week."""

COUNTED_S = 10.0
"""The rows of a host that may have too many are read again at most this often: a flood of invented names costs few queries. What another
process has registered since then is refused until it is read."""

_COUNT = """
SELECT r.host, count(*) FROM rnic r LEFT JOIN rnic_state s USING (rnic_id)
WHERE r.host = ANY(%s) AND GREATEST(r.first_seen, s.updated_at) > now() - make_interval(days => %s) GROUP BY r.host
"""
"""By the clock of the database: what hosts write about time is their own. Only samples set `updated_at`, findings do not: those that
concern a host are shown on removed cards, too."""

WithDatabase = Callable[[Callable[[psycopg.Connection[Any]], None]], None]


class Admission:
    """Says which new RNICs are refused. Hosts with few, which are nearly all, cost no query.

    Each process counts the RNICs that it knows of, and reads the table only when there would be too many of these: each of several
    processes may let a host register `MOST_RNICS`.
    """

    def __init__(self, identities: Identities, with_database: WithDatabase, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._identities = identities
        self._with_database = with_database
        self._clock_s = clock_s
        self._counted: dict[str, tuple[float, int]] = {}
        """Host -> when its rows were read, and for how many more RNICs there was room then."""

    def refused(self, new: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """Of RNICs (host, PCI address) that are not known, those that are not in the table either and for which their host has no room.

        The caller registers the others.
        """
        wanted = Counter(host for host, _ in new)
        full = {host for host, count in wanted.items() if len(self._identities.of_host.get(host, ())) + count > MOST_RNICS}
        if not full:
            return set()
        room = self._room(full)
        stored = self._identities.rnics
        found: set[tuple[str, str]] = set()
        for host, pci in new:
            if host in full and (host, pci) not in stored:  # another process may have registered it
                if room[host] > 0:
                    room[host] -= 1
                else:
                    found.add((host, pci))
        for host in full:
            self._counted[host] = (self._counted[host][0], room[host])
        return found

    def _room(self, hosts: Collection[str]) -> dict[str, int]:
        now_s = self._clock_s()
        self._counted = {host: known for host, known in self._counted.items() if now_s - known[0] < COUNTED_S}
        due = [host for host in hosts if host not in self._counted]
        if due:
            counts: dict[str, int] = {}

            def read(connection: psycopg.Connection[Any]) -> None:
                counts.update(connection.execute(_COUNT, [due, FORGOTTEN_DAYS]).fetchall())
                # After the count: what another process registers in between is known, and never refused.
                self._identities.load_rnics(connection, due)

            self._with_database(read)
            self._counted |= {host: (now_s, max(MOST_RNICS - counts.get(host, 0), 0)) for host in due}
        return {host: self._counted[host][1] for host in hosts}


def detail(host: str) -> str:
    """The sentence of a refusal."""
    return f"{host} has {MOST_RNICS} RNICs that were seen within {FORGOTTEN_DAYS} days; another one is refused"
