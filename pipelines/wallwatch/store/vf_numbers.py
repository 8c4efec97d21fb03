"""Which number a virtual function has, by its PCI address: it comes from the newest sample of the function."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import psycopg

from wallwatch.domain.telemetry.shared_text import shared_text

SOUGHT_EVERY_S = 15.0
"""How often functions are looked for that were not sampled yet; collectors sample them once in an interval."""
SAMPLED_LATELY = timedelta(minutes=10)
"""A function that was sought in all samples may have been sampled this long ago by now."""
SAMPLED_WITHIN = timedelta(days=7)
"""A function's number comes from a sample at most this old."""
MOST_AT_ONCE = 5_000
"""Functions that one statement asks for: some 2 MB of names. A fleet of 40,000 RNICs may have several 100,000."""

_NUMBERS = """
SELECT w.host, w.pci, w.device, v.vf FROM unnest(%(hosts)s::text[], %(pcis)s::text[], %(devices)s::text[]) AS w (host, pci, device)
JOIN rnic r ON r.host = w.host AND r.pci = w.pci
CROSS JOIN LATERAL (
  SELECT s.vf FROM vf_sample s WHERE s.rnic_id = r.rnic_id AND s.vf_pci = w.device AND s.time > %(since)s ORDER BY s.time DESC LIMIT 1
) v
"""
# Packed hours are read for functions without a row, once for all of an RNIC.
_PACKED_NUMBERS = """
WITH wanted AS (
  SELECT host, pci, array_agg(device) AS devices
  FROM unnest(%(hosts)s::text[], %(pcis)s::text[], %(devices)s::text[]) AS w (host, pci, device) GROUP BY host, pci
)
SELECT w.host, w.pci, v.vf_pci, v.vf FROM wanted w JOIN rnic r ON r.host = w.host AND r.pci = w.pci
CROSS JOIN LATERAL (
  SELECT DISTINCT ON (s.vf_pci) s.vf_pci, s.vf FROM vf_sample_all s
  WHERE s.rnic_id = r.rnic_id AND s.vf_pci = ANY (w.devices) AND s.time > %(since)s AND s.hour > %(since)s - INTERVAL '1 hour'
  ORDER BY s.vf_pci, s.time DESC
) v
"""


class Device(NamedTuple):
    """A virtual function by its PCI address, with the RNIC that it belongs to."""

    host: str
    pci: str
    device: str


class VfNumbers:
    """Numbers of the functions that were wanted, as far as they were sampled. `read` is for one thread, `of` for any."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, tuple[str, int]]] = {}
        """By host and PCI address of the function: the RNIC's PCI address, and the number."""
        self._places: dict[tuple[str, int], tuple[str, int]] = {}
        """The same few pairs of all hosts, each once."""
        self._wanted: set[Device] = set()
        self._sought: set[Device] = set()
        """Functions without a number that were looked for in all samples: from now on, new samples are enough."""
        self._sought_due_s = 0.0

    def of(self, device: Device) -> int | None:
        """The number of a function; None until it has been sampled."""
        place = self._numbers.get(device.host, {}).get(device.device)
        return place[1] if place is not None and place[0] == device.pci else None

    def want(self, device: Device) -> None:
        """Look for the number of a function, unless it is known."""
        if self.of(device) is None:
            self._wanted.add(device)

    def read(self, connection: psycopg.Connection[Any], now: datetime, held: Iterable[Device]) -> set[str]:
        """Ask which numbers the wanted functions have; a function that was never sampled is asked for again while it is held.

        Parameters
        ----------
        held
            Those of the wanted functions that are held.

        Returns
        -------
        set of str
            The hosts of functions whose number was found.
        """
        self._wanted.intersection_update(held)
        self._sought &= self._wanted
        monotonic_s = time.monotonic()
        again: set[Device] = set()
        if self._sought and monotonic_s >= self._sought_due_s:
            self._sought_due_s = monotonic_s + SOUGHT_EVERY_S
            again = self._sought
        hosts: set[str] = set()
        for wanted, since in ((self._wanted - self._sought, now - SAMPLED_WITHIN), (again, now - SAMPLED_LATELY)):
            self._look(connection, _NUMBERS, wanted, since, hosts)
        self._look(connection, _PACKED_NUMBERS, self._wanted - self._sought, now - SAMPLED_WITHIN, hosts)
        self._sought = set(self._wanted)
        return hosts

    @property
    def wanted(self) -> Iterator[Device]:
        """The functions without a number."""
        return iter(self._wanted)

    def forget(self, functions: Iterable[tuple[str, str]]) -> None:
        """Forget functions, each with its host, that nobody has held for long."""
        for host, device in functions:
            numbers = self._numbers.get(host)
            if numbers is not None:
                numbers.pop(device, None)
                if not numbers:
                    del self._numbers[host]

    def _look(self, connection: psycopg.Connection[Any], statement: str, wanted: set[Device], since: datetime, hosts: set[str]) -> None:
        asked = list(wanted)
        for begin in range(0, len(asked), MOST_AT_ONCE):
            names = [list(column) for column in zip(*asked[begin : begin + MOST_AT_ONCE], strict=True)]
            values = dict(zip(("hosts", "pcis", "devices"), names, strict=True)) | {"since": since}
            for host, pci, device, number in connection.execute(statement, values):
                found = Device(shared_text(host), shared_text(pci), shared_text(device))
                place = found.pci, number
                self._numbers.setdefault(found.host, {})[found.device] = self._places.setdefault(place, place)
                self._wanted.discard(found)
                hosts.add(found.host)
