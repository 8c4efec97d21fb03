"""The ledgers: what went in at the hosts and by the API, and what is stored, delivered and journalled at the other end."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from wallwatch_backend.remedies.states import REMEDY
from wallwatch_testing.collector import Message
from wallwatch_testing.telemetry_path import TABLES, Key, keys

LEDGER_FILE = "ledger.json"
LEDGER_OUTPUT = f"""
# What was measured, as this host says: the other end is compared with it.
[[outputs.file]]
  alias = "ledger"
  files = ["{LEDGER_FILE}"]
  data_format = "json"
  json_timestamp_units = "1ns"
"""


OVER = frozenset(str(name) for name in REMEDY.where(lambda state: state.over))


@dataclass
class Balance:
    """One comparison: what went in, what came out, and what is missing or there twice."""

    what: str
    went_in: int
    came_out: int
    refused: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)

    @property
    def is_even(self) -> bool:
        return not self.lost and not self.doubled


def ledger_of(hosts: Path) -> list[Message]:
    """Everything that the hosts measured and accepted for sending; a line that a kill cut is none."""
    found = []
    for file in sorted(hosts.glob(f"*/{LEDGER_FILE}")):
        for line in file.read_text(errors="replace").splitlines():
            try:
                found.append(message_of(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                continue
    return found


def message_of(decoded: dict[str, Any]) -> Message:
    return Message(decoded["name"], decoded["timestamp"], decoded["tags"], decoded["fields"])


def samples(database: psycopg.Connection[Any], taken: list[Message], measurement: str, refused: set[Key]) -> Balance:
    """Samples of one measurement: those of the hosts against rows, less what the dead letters have with a reason.

    The fleet goes on meanwhile, so there are rows that `taken` does not have yet; they count only when they are there twice.
    """
    table, join, tags = TABLES[measurement]
    columns = [sql.Identifier(tag) for tag in tags] + [sql.SQL("(extract(epoch FROM time) * 1000000)::bigint::text")]
    query = sql.SQL("SELECT {} FROM {} {}").format(sql.SQL(", ").join(columns), sql.Identifier(table), sql.SQL(join))
    rows: Counter[Key] = Counter(database.execute(query).fetchall())
    expected = keys(taken, measurement)
    lost = sorted(expected - rows.keys() - refused)
    doubled = sorted(key for key, count in rows.items() if count > 1)
    return Balance(
        measurement,
        len(expected),
        len(expected & rows.keys()),
        len(refused & expected - rows.keys()),
        [" ".join(one) for one in lost],
        [" ".join(one) for one in doubled],
    )


def findings(database: psycopg.Connection[Any]) -> Balance:
    """Every finding that was raised has an incident, and no finding is in two that are open at the same time."""
    raised = {
        str(one) for (one,) in database.execute("SELECT DISTINCT finding_id FROM finding WHERE state = 'active' AND rnic_id IS NOT NULL")
    }
    attached = Counter(str(one) for (one,) in database.execute("SELECT finding_id FROM incident_finding"))
    doubled = [one for one, count in attached.items() if count > 1]
    return Balance("findings in incidents", len(raised), len(attached), 0, sorted(raised - attached.keys()), sorted(doubled))


@dataclass(frozen=True)
class Order:
    """A remedy that the API accepted."""

    remedy: str
    host: str


def commands(orders: Iterable[Order], states: dict[str, str], hosts: Path) -> Balance:
    """Every accepted order ended in a state that says so, and no host began one twice."""
    begun: Counter[str] = Counter()
    for file in sorted(hosts.glob("*/agent/journal.jsonl")):
        for line in file.read_text(errors="replace").splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record.get("kind") == "started":
                begun[str(record.get("command_id"))] += 1
    ordered = [one.remedy for one in orders]
    lost = [f"{remedy}: {states.get(remedy, 'unknown to the API')}" for remedy in ordered if states.get(remedy) not in OVER]
    return Balance("orders", len(ordered), sum(begun.values()), 0, lost, [command for command, count in begun.items() if count > 1])


def webhooks(database: psycopg.Connection[Any], received: Iterable[str]) -> Balance:
    """Every delivery that was decided reached the receiver, and no incident was announced as opened twice without having been closed.

    `received` are the ids of the requests that came; one that comes again with its id is a repeat that a receiver drops.
    """
    decided = {str(one): str(about) for one, about in database.execute("SELECT id, about FROM webhook_delivery")}
    seen = Counter(received)
    announced = Counter((str(subject), str(event)) for subject, event in database.execute("SELECT subject, event FROM webhook_delivery"))
    # An incident that was resolved and comes again is opened again.
    doubled = [
        subject
        for (subject, event), count in announced.items()
        if event == "incident.opened" and count > 1 + announced[subject, "incident.resolved"]
    ]
    lost = [f"{identity}: {about}" for identity, about in decided.items() if identity not in seen]
    return Balance("webhook deliveries", len(decided), len(seen), 0, lost, doubled)
