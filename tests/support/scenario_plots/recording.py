"""Reads what `fleetsim record` wrote: series of one RNIC, events, and the truth. Times are seconds after the recording's start."""

import gzip
import json
import math
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Interval:
    """A symptom as the mechanism has it; `to_s` is None while it lasts at the recording's end."""

    symptom: str
    cause: str
    host: str
    pci: str
    from_s: float
    to_s: float | None


@dataclass(frozen=True)
class BrokenSecond:
    """A second in which tenants of an RNIC harmed others; VFs by number."""

    host: str
    pci: str
    mechanism: str
    victims: tuple[int, ...]
    aggressors: tuple[int, ...]


@dataclass
class Recording:
    """One recording in memory."""

    run: dict[str, Any]
    messages: list[dict[str, Any]]
    truth: list[Interval]
    broken: list[BrokenSecond] = field(default_factory=list)
    start_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.start_s = datetime.fromisoformat(self.run["start"]).timestamp()

    def series(self, host: str, pci: str, name: str) -> tuple[list[float], list[float]]:
        """Times and values of a field of `rnic`, `rnic_offload` or, for the whole host, `ovs_datapath`.

        Where a sample is missing a NaN stands, so that a line drawn through the values is broken there.
        """
        times: list[float] = []
        values: list[float] = []
        longest = 1.5 * self.run["interval_s"]
        for message in self.messages:
            tags = message["tags"]
            if tags["host"] != host or tags.get("pci", pci) != pci or message["name"] not in ("rnic", "rnic_offload", "ovs_datapath"):
                continue
            if name not in message["fields"]:
                continue
            at = message["timestamp"] / 1e9 - self.start_s
            if times and at - times[-1] > longest:
                times.append((times[-1] + at) / 2)
                values.append(math.nan)
            times.append(at)
            values.append(float(message["fields"][name]))
        return times, values

    def events(self, host: str, kinds: tuple[str, ...]) -> list[tuple[float, str]]:
        """Times and kinds of a host's events."""
        return [
            (message["timestamp"] / 1e9 - self.start_s, message["tags"]["kind"])
            for message in self.messages
            if message["name"] == "event" and message["tags"]["host"] == host and message["tags"]["kind"] in kinds
        ]


def read(folder: Path) -> Recording:
    """Read a recording."""
    run = json.loads((folder / "run.json").read_text())
    with gzip.open(folder / "telemetry.jsonl.gz", "rt") as lines:
        messages = [json.loads(line) for line in lines]
    start_s = datetime.fromisoformat(run["start"]).timestamp()
    # A symptom has a line when it begins and one with the same beginning when it has ended.
    ended: dict[tuple[str, ...], Interval] = {}
    for line in (folder / "truth.jsonl").read_text().splitlines():
        one = json.loads(line)
        if one.get("marginal"):  # an expert would contradict neither who calls it the symptom nor who does not
            continue
        to_s = None if one["to"] is None else datetime.fromisoformat(one["to"]).timestamp() - start_s
        from_s = datetime.fromisoformat(one["from"]).timestamp() - start_s
        key = (one["symptom"], one["host"], one["pci"], one["from"])
        ended[key] = Interval(one["symptom"], one["cause"], one["host"], one["pci"], from_s, to_s)
    return Recording(run, messages, list(ended.values()), _broken_seconds(folder / "truth-isolation.jsonl"))


def _broken_seconds(file: Path) -> list[BrokenSecond]:
    """The broken seconds that are not marginal; a scenario without tenants has no such file."""
    lines = file.read_text().splitlines() if file.exists() else []
    seconds = (json.loads(line) for line in lines)
    return [
        BrokenSecond(
            one["host"],
            one["pci"],
            one["mechanism"],
            tuple(vf["vf"] for vf in one["victims"]),
            tuple(vf["vf"] for vf in one["aggressors"]),
        )
        for one in seconds
        if not one.get("marginal")
    ]
