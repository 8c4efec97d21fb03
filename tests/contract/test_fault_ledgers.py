"""The ledgers of `make faults` would notice: what is lost or there twice is named."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults_campaign import kept, ledgers
from tests.faults_campaign.ledgers import Order
from tests.faults_campaign.page import page
from tests.faults_campaign.settling import follow

from wallwatch_local.paths import REPOSITORY


class Rows:
    """A database that answers each query with the next rows."""

    def __init__(self, *answers: list[tuple[Any, ...]]) -> None:
        self._answers = list(answers)

    def execute(self, query: object) -> Any:
        rows = self._answers.pop(0)

        class Cursor(list[tuple[Any, ...]]):
            def fetchall(self) -> list[tuple[Any, ...]]:
                return list(self)

        return Cursor(rows)


def sample(at_us: int) -> dict[str, Any]:
    return {"name": "rnic", "timestamp": at_us * 1000, "tags": {"host": "h1", "pci": "p"}, "fields": {}}


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    (tmp_path / "h1" / "agent").mkdir(parents=True)
    lines = [json.dumps(sample(at)) for at in (1, 2, 3, 4)]
    (tmp_path / "h1" / ledgers.LEDGER_FILE).write_text("\n".join(lines) + '\n{"name": "rnic", "timest')
    return tmp_path


def test_the_campaign_starts_without_what_pytest_adds_to_the_path() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "tests.faults_campaign", "--help"]
    done = subprocess.run(
        command, cwd=REPOSITORY, env={**environment, "WALLWATCH_FAULTS_INSIDE": "yes"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "--faults" in done.stdout


def test_a_sample_that_is_neither_stored_nor_refused_is_lost_and_one_stored_twice_is_doubled(hosts: Path) -> None:
    rows = [("h1", "p", "1"), ("h1", "p", "2"), ("h1", "p", "2")]
    found = ledgers.samples(Rows(rows), ledgers.ledger_of(hosts), "rnic", {("h1", "p", "3")})  # type: ignore[arg-type]
    assert (found.went_in, found.came_out, found.refused) == (4, 2, 1)
    assert (found.lost, found.doubled, found.is_even) == (["h1 p 4"], ["h1 p 2"], False)


def test_a_finding_without_an_incident_is_lost() -> None:
    found = ledgers.findings(Rows([("f1",), ("f2",)], [("f1",), ("f1",)]))  # type: ignore[arg-type]
    assert (found.lost, found.doubled) == (["f2"], ["f1"])


def test_an_order_that_never_ended_and_a_command_that_a_host_began_twice_are_found(hosts: Path) -> None:
    records = [{"kind": "started", "command_id": "c1"}, {"kind": "result", "command_id": "c1"}, {"kind": "started", "command_id": "c1"}]
    (hosts / "h1" / "agent" / "journal.jsonl").write_text("\n".join(map(json.dumps, records)) + "\ncut")
    found = ledgers.commands([Order("r1", "h1"), Order("r2", "h1"), Order("r3", "h1")], {"r1": "confirmed", "r2": "running"}, hosts)
    assert (found.lost, found.doubled) == (["r2: running", "r3: unknown to the API"], ["c1"])


OPENED = [("i1", "incident.opened"), ("i1", "incident.opened"), ("i2", "incident.opened")] + [
    ("again", f"incident.{event}") for event in ("opened", "resolved", "opened")
]


def test_a_delivery_that_never_came_and_an_incident_opened_twice_are_found() -> None:
    database = Rows([("d1", "S1 on h1"), ("d2", "S6 on h1")], OPENED)
    found = ledgers.webhooks(database, ["d1", "d1"])  # type: ignore[arg-type]
    assert (found.lost, found.doubled) == (["d2: S6 on h1"], ["i1"])


def test_the_page_names_what_was_lost() -> None:
    balance = {"what": "rnic", "went_in": 4, "came_out": 3, "refused": 0, "lost": ["h1 p 4"], "doubled": []}
    report = {
        "at": "2026-11-24T00:00:00Z",
        "seed": 1,
        "scenario": "demo",
        "minutes": 60.0,
        "cores": 2,
        "loads": [0.5, 3.1],
        "faults": [{"kind": "kill", "target": "ingest", "seconds": 0, "detail": "", "failed": None}],
        "clocks": True,
        "started_by_hand": [],
        "orders_refused": 0,
        "orders_unanswered": 0,
        "balances": [balance],
    }
    text = page(report)
    assert "| rnic | 4 | 3 | 0 | 1 | 0 |" in text
    assert "- rnic: lost h1 p 4; doubled none" in text


def followed(*missing: int | None, stalled_s: float = 3, longest_s: float = 100) -> tuple[bool, float]:
    """What `follow` says of counts that come one a second, the last one for ever, and when; None is a question that fails."""
    passed, counts = [0.0], list(missing)

    def ask() -> int:
        count = counts.pop(0) if len(counts) > 1 else counts[0]
        if count is None:
            raise OSError("it is starting again")
        return count

    def pause(seconds: float) -> None:
        passed[0] += seconds

    return follow(ask, stalled_s, longest_s, lambda: passed[0], pause), passed[0]


def test_what_becomes_less_is_waited_for_and_what_does_not_is_given_up() -> None:
    assert followed(9, 8, 8, 7, None, 6, 3, 1, 0) == (True, 8)
    assert followed(9, 8, 8, 8) == (False, 4)
    assert followed(None) == (False, 3)
    assert followed(*range(50, 0, -1), longest_s=10) == (False, 10)


def test_only_plain_files_are_kept(tmp_path: Path) -> None:
    source, target = tmp_path / "from", tmp_path / "to"
    (source / "logs").mkdir(parents=True)
    (source / "postgres").mkdir()
    (source / "logs/ingest.log").write_text("a line\n")
    (source / "postgres/big").write_text("not wanted")
    (source / "everything").symlink_to("/")
    (source / "logs/link").symlink_to(source / "logs/ingest.log")
    (source / "circle").symlink_to(source)
    os.mkfifo(source / "logs/pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(source / "s"))
        assert kept.copy_tree(source, target, without=("postgres",)) == 1
    assert [one for one in target.rglob("*") if not one.is_dir()] == [target / "logs/ingest.log"]
