"""Plays cases once and keeps what the collector sent, so that rules can be judged again without playing."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
from tests.raw_hosts.case import Case
from tests.raw_hosts.play import Played, play

HERE = Path(__file__).parent
JUDGES = frozenset({"__main__.py", "kept.py", "run.py", "section.py", "tables.py", "verdict.py"})
"""Modules that play nothing."""


def file_of(folder: Path, case: Case) -> Path:
    """Where the telemetry of a case is kept.

    >>> from tests.raw_hosts.cases import all_cases
    >>> file_of(Path("kept"), all_cases()[0]).suffixes
    ['.jsonl', '.gz']
    """
    return folder / f"{re.sub('[^a-z0-9]+', '-', case.name.lower()).strip('-')}.jsonl.gz"


def sources() -> str:
    """A digest of everything here that plays: what an older version played is played again. The collector is not part of it."""
    digest = hashlib.sha256()
    for file in sorted(HERE.rglob("*.py")):
        if file.name not in JUDGES and not file.name.startswith("test_"):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def keep(folder: Path, case: Case, played: Played, version: str) -> None:
    """Write one case's telemetry; the first line says what it is."""
    folder.mkdir(parents=True, exist_ok=True)
    head = {"case": case.name, "seed": case.seed, "version": version, "errors": dict(played.errors)}
    unfinished = file_of(folder, case).with_suffix(".part")
    with gzip.open(unfinished, "wb", compresslevel=3) as file:
        file.write(b"\n".join([orjson.dumps(head), *played.messages]))
    unfinished.rename(file_of(folder, case))


def kept(folder: Path, case: Case, version: str) -> Played | None:
    """What was kept of a case, or None where nothing was, or another version of it."""
    file = file_of(folder, case)
    if not file.exists():
        return None
    with gzip.open(file, "rb") as lines:
        head, *messages = lines.read().split(b"\n")
    known = orjson.loads(head)
    if (known["case"], known["seed"], known["version"]) != (case.name, case.seed, version):
        return None
    played = Played(messages=[line for line in messages if line])
    played.errors.update(known["errors"])
    return played


def play_once(
    cases: Sequence[Case], folder: Path, fresh: bool = False, report: Callable[[Case], None] = lambda _: None
) -> dict[str, Played]:
    """Telemetry of each case by its name; what is not kept yet is played, one case at a time."""
    version = sources()
    found: dict[str, Played] = {}
    for case in cases:
        played = None if fresh else kept(folder, case, version)
        if played is None:
            report(case)
            played = play(case)
            keep(folder, case, played, version)
        found[case.name] = played
    return found
