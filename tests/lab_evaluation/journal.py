"""Keeps the rows of an evaluation that takes hours, so that one that was stopped goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lab_evaluation.run import Row, Task, read_row


def append(path: Path, row: Row) -> None:
    """Write one row down."""
    with path.open("a") as file:
        file.write(json.dumps(row.stored() | {"overhead_ms": row.overhead_ms}) + "\n")


def read_journal(path: Path | None) -> dict[Task, Row]:
    """The rows that were written down; a line that was cut off by the end of the process is none."""
    kept: dict[Task, Row] = {}
    for line in path.read_text().splitlines() if path and path.exists() else ():
        try:
            row = read_row(json.loads(line))
        except ValueError:
            continue
        kept[Task(row.kind, row.seed)] = row
    return kept
