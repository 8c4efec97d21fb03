"""Histories from recordings, and what their cards' mechanism could do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from wallwatch.domain.forecast.physical import link_gbps
from wallwatch.domain.forecast.targets import Floats
from wallwatch.domain.forecast.window import History
from wallwatch.evaluation.recording import load
from wallwatch.forecasting.history import COUNTS, FIELDS, Rnic, history
from wallwatch.forecasting.ports import COUNTERS, counted
from wallwatch.forecasting.remote import REPORTS

PERFORMANCE = "truth_performance.jsonl"
_REPORTED = {
    "peers": "peers", "further": "peers_other_packets_per_s", "addresses": "tunnel_addresses", "sources": "tunnel_sources",
    "q_ingress": "q_ingress",
}  # fmt: skip
_LATE_NS = 5_000_000_000
_MINUTE_NS = 60_000_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """What the mechanism could do in each minute of a history: arrays (rnics, minutes), NaN while an RNIC did not send."""

    bandwidth_gbps: Floats
    latency_us: Floats


def read(folder: Path) -> History:
    """The history of a recording.

    Raises
    ------
    NotARecording
        When the folder holds none.
    """
    recording = load(folder)
    models: dict[Rnic, str | None] = {(h["host"], r["pci"]): r["model"] for h in recording.run.get("hosts", []) for r in h["rnics"]}
    columns: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", *FIELDS)}
    changes: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", "change")}
    reports: dict[str, list[Any]] = {name: [] for name in REPORTS}
    links: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", "gbps")}
    ports: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", "sent_gbps", "sends", "receives")}
    before: dict[Rnic, tuple[int, dict[str, Any]]] = {}
    for line in recording.lines():
        if b'"name":"rnic_offload"' in line:
            message = orjson.loads(line)
            _identify(columns, message)
            for field in FIELDS:
                columns[field].append(message["fields"].get(field))
            if "peers" in message["fields"] or "tunnel_addresses" in message["fields"]:
                _identify(reports, message)
                for name, field in _REPORTED.items():
                    reports[name].append(message["fields"].get(field))
        elif b'"name":"rnic"' in line:
            message = orjson.loads(line)
            speed, lanes = (message["fields"].get(name) for name in ("pci_link_speed_gts", "pci_link_width"))
            if speed and lanes:
                _identify(links, message)
                links["gbps"].append(float(link_gbps(np.array(speed), np.array(lanes))))
            _note(ports, before, message)
        elif b'"name":"event"' in line and b'"cni_' in line:
            message = orjson.loads(line)
            change = COUNTS.get(message["tags"].get("kind", ""))
            if change is not None and message["tags"].get("pci"):
                _identify(changes, message)
                changes["change"].append(change)
    samples = pl.DataFrame(columns, schema_overrides=dict.fromkeys(FIELDS, pl.Float64), strict=False)
    told = pl.DataFrame(reports, schema=REPORTS, strict=False)
    return history(samples, pl.DataFrame(changes), models, pl.DataFrame(links), told, pl.DataFrame(ports))


def _note(ports: dict[str, list[Any]], before: dict[Rnic, tuple[int, dict[str, Any]]], message: dict[str, Any]) -> None:
    """What a port's counters say since its sample before."""
    key, fields = (message["tags"]["host"], message["tags"]["pci"]), message["fields"]
    at_ns, old = before.get(key, (message["timestamp"], {}))
    found = counted(fields.get("tx_gbps"), old, fields, (message["timestamp"] - at_ns) / 1e9)
    before[key] = message["timestamp"], {name: fields.get(name) for name in COUNTERS}
    _identify(ports, message)
    ports["sent_gbps"].append(found.sent_gbps)
    ports["sends"].append(found.sends)
    ports["receives"].append(found.receives)


def _identify(columns: dict[str, list[Any]], message: dict[str, Any]) -> None:
    columns["host"].append(message["tags"]["host"])
    columns["pci"].append(message["tags"]["pci"])
    columns["minute"].append(minute_of(message["timestamp"]))


def minute_of(at_ns: int) -> int:
    """The minute that a sample speaks of: the one that it ends, also where collection comes a little late (jitter).

    >>> minute_of(60_000_000_000), minute_of(60_500_000_000), minute_of(70_000_000_000)
    (0, 0, 1)
    """
    return (at_ns - _LATE_NS) // _MINUTE_NS


def measured(folder: Path, of: History) -> Measured:
    """The mechanism's own performance, on the grid of the recording's history.

    Raises
    ------
    FileNotFoundError
        When it was recorded without `--performance`.
    """
    places = {name: i for i, name in enumerate(of.names)}
    found = np.full((2, len(of.names), of.minutes), np.nan)
    for line in (folder / PERFORMANCE).read_bytes().splitlines():
        one = orjson.loads(line)
        minute = int((datetime.fromisoformat(one["at"]).timestamp() - 0.001) // 60) - of.first_minute
        if 0 <= minute < of.minutes:
            found[:, places[one["host"], one["pci"]], minute] = one["bandwidth_gbps"], one["latency_us"]
    return Measured(found[0], found[1])
