"""The collector's policies: its tables match the catalogue, and it reports the same violations as the domain's watcher.

The collector's tests read two files. These tests compare them with the current catalogue; WALLWATCH_UPDATE_GOLDEN=1 rewrites them.
"""

import json
import os
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.tables import tables
from wallwatch.domain.policies.watch import LOSSES, Event, Violation, Watch
from wallwatch_local.paths import REPOSITORY

TESTDATA = REPOSITORY / "collectors/internal/ltl/testdata"
STREAMS, EVENTS = 30, 60
HOST, PCI = "host01", "0000:17:00.0"
EDGE = [policy for policy in policies().values() if policy.where == "edge"]


def is_kept_at(file: Path, text: bytes) -> bool:
    if os.environ.get("WALLWATCH_UPDATE_GOLDEN"):
        file.write_bytes(text)
    return file.read_bytes() == text


def stream(seed: int) -> dict[str, Any]:
    """Events of a few subjects in a random order, lost ones among them, and what the watcher says of them. Whole milliseconds: the
    collector's traces keep no more."""
    rng = random.Random(seed)
    kinds = sorted({(kind, tuple(p.when.items())) for policy in EDGE for p in policy.propositions.values() for kind in p.kind})
    watch, events, violations, at_us = Watch(EDGE), [], [], 1_000_000_000
    for _ in range(EVENTS):
        at_us += rng.choice([0, 1000, 1_000_000, 20_000_000, 90_000_000])
        kind, when = rng.choice(kinds) if rng.random() < 0.97 else (rng.choice(sorted(LOSSES)), ())
        fields = {
            "flow": f"0000000{rng.randrange(2)}-0000-0000-0000-000000000001",
            "device": f"0000:17:00.{rng.randrange(2, 4)}",
            "command": "A",
        }
        event = Event(kind, at_us, HOST, PCI, {**fields, **(dict(when) if rng.random() < 0.8 else {})})
        events.append({"kind": kind, "pci": PCI, "at_us": at_us, "fields": event.fields})
        violations += watch.take(event)
    violations += watch.tick(1 << 60)
    reported = sorted((described(one) for one in violations), key=lambda one: (one["policy"], one["subject"], one["at_us"]))
    counts = {id: {name: n for name, n in asdict(found).items() if name != "evicted"} for id, found in watch.counts().items()}
    return {"seed": seed, "events": events, "violations": reported, "counts": counts}


def described(violation: Violation) -> dict[str, Any]:
    return {
        "policy": violation.policy,
        "subject": " ".join(part for part in violation.subject if part != HOST) or "host",
        "at_us": violation.at_us,
        "steps": [{"at_us": step.at_us, "propositions": step.propositions} for step in violation.steps],
    }


def test_the_tables_of_the_collectors_tests_are_those_of_the_catalogue() -> None:
    assert is_kept_at(TESTDATA / "policies.json", tables(policies().values()))


def test_the_collectors_tests_ask_for_what_the_watcher_says() -> None:
    streams = [stream(seed) for seed in range(STREAMS)]
    reported = {violation["policy"] for one in streams for violation in one["violations"]}
    assert reported == {policy.id for policy in EDGE}, "every policy of the edge is violated somewhere"
    assert is_kept_at(TESTDATA / "streams.json", (json.dumps(streams, separators=(",", ":")) + "\n").encode())
