"""Recordings as `fleetsim record` writes them: `telemetry.jsonl[.gz]`, `truth.jsonl`, `run.json` in one folder.

Other recorders may omit `run.json`; its content is then derived from the telemetry. Unreadable lines are counted and skipped, so a
truncated recording is still usable.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from wallwatch.domain.instants import ms_of

TELEMETRY = ("telemetry.jsonl.gz", "telemetry.jsonl")


class NotARecording(Exception):
    """A folder lacks required files; the text says which, and what to do."""


@dataclass(frozen=True, slots=True)
class Truth:
    """One symptom that an expert with a view into the mechanism would name, ms since 1970. `to_ms` is None when it lasted until the end."""

    symptom: str
    cause: str
    host: str
    pci: str
    from_ms: int
    to_ms: int | None
    marginal: bool = False
    """Just below the expert's threshold: both verdicts, symptom and no symptom, count as right."""


@dataclass(slots=True)
class Recording:
    folder: Path
    telemetry: Path
    truths: list[Truth]
    run: dict[str, Any]
    """`run.json`, empty when the file does not exist."""
    problems: Counter[str] = field(default_factory=Counter)
    """Lines that could not be read, by reason."""

    @property
    def name(self) -> str:
        return self.folder.name

    def lines(self) -> Iterator[bytes]:
        """The telemetry in the order of the file, one JSON message each."""
        opener = gzip.open if self.telemetry.suffix == ".gz" else open
        with opener(self.telemetry, "rb") as lines:
            try:
                for line in lines:
                    if not line.isspace():
                        yield line
            except (EOFError, zlib.error, gzip.BadGzipFile):
                self.problems["telemetry: the file ends in the middle"] += 1


def find(folders: list[Path]) -> list[Path]:
    """The folders that hold a recording, at or below those given, in order.

    Raises
    ------
    NotARecording
        When a given folder does not exist or holds none.
    """
    found: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise NotARecording(f"{folder} is not a folder; expected a folder that `fleetsim record --out` has written")
        below = sorted({file.parent for name in TELEMETRY for file in folder.rglob(name)})
        if not below:
            raise NotARecording(f"{folder} and its subfolders have no {' or '.join(TELEMETRY)}; create one with `fleetsim record`")
        found += [one for one in below if one not in found]
    return found


def load(folder: Path) -> Recording:
    """Open one recording.

    Raises
    ------
    NotARecording
        When telemetry or truth is missing, or `run.json` is not a JSON object.
    """
    telemetry = next((folder / name for name in TELEMETRY if (folder / name).is_file()), None)
    if telemetry is None:
        raise NotARecording(f"{folder} has no {' or '.join(TELEMETRY)}")
    truth = folder / "truth.jsonl"
    if not truth.is_file():
        raise NotARecording(f"{truth} is missing, so every finding would count as false; put an empty file there if nothing was wrong")
    recording = Recording(folder, telemetry, [], _run(folder / "run.json"))
    recording.truths = _truths(truth.read_bytes(), recording.problems)
    return recording


def _run(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        found = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise NotARecording(f"{file} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise NotARecording(f"{file} is not a JSON object")
    return found


def _truths(text: bytes, problems: Counter[str]) -> list[Truth]:
    """Each symptom has a line when it begins (`to` is null) and one with the same `from` when it ends: the later one counts."""
    found: dict[tuple[str, str, str, str, bool], Truth] = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            one = orjson.loads(line)
            marginal = one.get("marginal") is True
            key = (one["host"], one.get("pci") or "", one["symptom"], one["from"], marginal)
            to = one.get("to")
            found[key] = Truth(one["symptom"], one["cause"], *key[:2], ms_of(one["from"]), None if to is None else ms_of(to), marginal)
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError):
            problems["truth: a line that cannot be parsed"] += 1
    return sorted(found.values(), key=lambda t: (t.from_ms, t.host, t.pci, t.symptom))
