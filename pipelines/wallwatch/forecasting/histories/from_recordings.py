"""Histories from recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from wallwatch.domain.forecast.physical_model import link_gbps
from wallwatch.domain.forecast.window import History
from wallwatch.forecasting.histories.assemble import COUNTS, FIELDS, Rnic, history
from wallwatch.forecasting.histories.peer_queries import REPORTS
from wallwatch.forecasting.histories.port_load import COUNTERS, congested, sent_gbps
from wallwatch.recordings import load

_REPORTED = {
    "peers": "peers", "further": "peers_other_packets_per_s", "addresses": "tunnel_addresses", "sources": "tunnel_sources",
    "q_ingress": "q_ingress",
}  # fmt: skip
_LATE_NS = 5_000_000_000
_MINUTE_NS = 60_000_000_000


def read_history(folder: Path) -> History:
    """The history of a recording.

    Raises
    ------
    NotARecording
        When the folder has none.
    """
    recording = load(folder)
    models: dict[Rnic, str | None] = {(h["host"], r["pci"]): r["model"] for h in recording.run.get("hosts", []) for r in h["rnics"]}
    columns: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", *FIELDS)}
    changes: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", "change")}
    reports: dict[str, list[Any]] = {name: [] for name in REPORTS}
    links: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", "gbps")}
    ports: dict[str, list[Any]] = {name: [] for name in ("host", "pci", "minute", "at_ns", "tx_gbps", *COUNTERS)}
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
            _identify(ports, message)
            ports["at_ns"].append(message["timestamp"])
            ports["tx_gbps"].append(message["fields"].get("tx_gbps"))
            for what, names in COUNTERS.items():
                ports[what].append(next((message["fields"][name] for name in names if name in message["fields"]), None))
        elif b'"name":"event"' in line and b'"cni_' in line:
            message = orjson.loads(line)
            change = COUNTS.get(message["tags"].get("kind", ""))
            if change is not None and message["tags"].get("pci"):
                _identify(changes, message)
                changes["change"].append(change)
    samples = pl.DataFrame(columns, schema_overrides=dict.fromkeys(FIELDS, pl.Float64), strict=False)
    peer_reports = pl.DataFrame(reports, schema=REPORTS, strict=False)
    return history(samples, pl.DataFrame(changes), models, pl.DataFrame(links), peer_reports, _ports(ports))


def _ports(counted: dict[str, list[Any]]) -> pl.DataFrame:
    """Sent bandwidth, and which ports were congested, from each sample to the next; see `history`."""
    floats = dict.fromkeys(("tx_gbps", *COUNTERS), pl.Float64)
    frame = pl.DataFrame(counted, schema_overrides={"at_ns": pl.Int64, **floats}, strict=False).sort("at_ns")
    seconds = pl.col("at_ns").diff() / 1e9
    frame = frame.with_columns((pl.col(name).diff() / seconds).over("host", "pci") for name in COUNTERS)
    rates = {name: frame[name].to_numpy() for name in COUNTERS}
    slow = congested(rates)
    sent = sent_gbps(frame["tx_gbps"].to_numpy(), rates["packets"])
    flags = {"sends": slow.sends, "receives": slow.receives}
    return frame.select("host", "pci", "minute").with_columns(pl.Series("sent_gbps", sent), *(pl.Series(k, v) for k, v in flags.items()))


def _identify(columns: dict[str, list[Any]], message: dict[str, Any]) -> None:
    columns["host"].append(message["tags"]["host"])
    columns["pci"].append(message["tags"]["pci"])
    columns["minute"].append(minute_of(message["timestamp"]))


def minute_of(at_ns: int) -> int:
    """The minute that a sample belongs to: the one that it ends, also when collection is slightly late (jitter).

    >>> minute_of(60_000_000_000), minute_of(60_500_000_000), minute_of(70_000_000_000)
    (0, 0, 1)
    """
    return (at_ns - _LATE_NS) // _MINUTE_NS
