"""The benchmarks of the ledger that start servers: minutes each, for `make bench-check`."""

from __future__ import annotations

from tests.bench import ingest
from tests.bench.ledger.paired import Paired
from tests.bench.ledger.short import Short

MESSAGES, ROUNDS = 120_000, 5


def ingest_job() -> Paired:
    """The whole job `ingest` as it drains a backlog of 40,000 RNICs that it knows."""
    rounds = ingest.against_the_floor(MESSAGES, ROUNDS)
    return Paired.of([one.ingest_us * MESSAGES / 1e6 for one in rounds], [one.floor_us * MESSAGES / 1e6 for one in rounds], MESSAGES)


LONG = {
    "ingest_job": Short(ingest_job, "consuming the same messages, orjson.loads of each, and COPY of the same rows' ready bytes"),
}
