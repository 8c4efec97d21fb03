"""Batches of `ingest` without Kafka and without a database, and what is in them in a form that can be compared."""

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from wallwatch.domain.telemetry.decode import Decoded, Sender
from wallwatch.jobs.ingest_batch import Batch, BatchBuilder
from wallwatch.store.encode import Encoded
from wallwatch.store.identities import Identities, Rnic


class Record(NamedTuple):
    """A record as Kafka's client hands it over."""

    measurement: str
    content: bytes | None
    record_key: bytes | None = b"h1"
    number: int = 0

    def topic(self) -> str:
        return f"wallwatch.{self.measurement}"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self.number

    def value(self) -> bytes | None:
        return self.content

    def key(self) -> bytes | None:
        return self.record_key


class IdentitiesInMemory(Identities):
    """The numbers that a database would give: in the order in which RNICs and hosts were first seen."""

    def upsert_rnics(self, connection: Any, wanted: Mapping[tuple[str, str], Mapping[str, str]], full: bool) -> None:
        for (host, pci), tags in sorted(wanted.items()):
            known = self.rnics.get((host, pci))
            number = len(self.rnics) + 1 if known is None else known.rnic_id
            self._remember(Rnic(number, host, pci, tags.get("rack", ""), None, tags if full else None))

    def upsert_hosts(self, connection: Any, wanted: Mapping[str, str]) -> None:
        for host in sorted(wanted):
            self.hosts.setdefault(host, len(self.hosts))


@dataclass
class Builder:
    """A builder of batches, and what it said about each decoded message."""

    builder: BatchBuilder
    identities: IdentitiesInMemory
    heard: list[tuple[str, Mapping[str, str], int]]


def builder(in_columns: bool, sender: Callable[[bytes | None], Sender | None] = lambda record_key: None, future_s: float = 60) -> Builder:
    """A builder with a database that is always there and empty."""
    identities = IdentitiesInMemory()
    heard: list[tuple[str, Mapping[str, str], int]] = []

    def hear(measurement: str, messages: Iterable[Decoded]) -> None:
        heard.extend((measurement, message.tags, message.at_ns) for message in messages)

    def with_database(work: Callable[[Any], None]) -> None:
        work(None)

    made = BatchBuilder(identities, with_database, int(future_s * 1e9), hear, sender, in_columns)
    return Builder(made, identities, heard)


def rows_of(encoded: Encoded) -> list[bytes]:
    """Every row of a table, those of blocks taken apart."""
    found = list(encoded.rows)
    for block in encoded.blocks:
        at = 0
        while at < len(block):
            begin = at
            (columns,) = struct.unpack_from(">h", block, at)
            assert columns == len(encoded.columns)
            at += 2
            for _ in range(columns):
                (length,) = struct.unpack_from(">i", block, at)
                at += 4 + max(length, 0)
            found.append(block[begin:at])
    assert len(found) == encoded.row_count
    return found


def content(batch: Batch) -> dict[str, Any]:
    """What a batch would write, without an order."""
    return {
        "rows": {table: Counter(rows_of(encoded)) for table, encoded in batch.tables.items() if encoded.row_count},
        "minutes": {table: sorted(encoded.minutes) for table, encoded in batch.tables.items() if encoded.row_count},
        "unknown fields": {table: encoded.unknown_fields for table, encoded in batch.tables.items() if encoded.unknown_fields},
        "rejected": Counter((letter.reason, letter.detail, letter.value) for letter in batch.rejected),
        "offsets": batch.offsets,
        "rates": batch.news.rates,
        "offload": batch.news.offload,
    }
