"""Writes a series to files, runs `wallwatch vnic detect` on them as a user would, and reads its answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.isolation_series.rows import write_csv
from tests.isolation_series.series import Series
from typer.testing import CliRunner

RATES = re.compile(r"_bps$|_pps$|_per_s$|_mbps$")


@dataclass(frozen=True)
class Said:
    """What was said of one interval."""

    victims: tuple[str, ...]
    aggressors: tuple[str, ...]
    mechanism: str | None


@dataclass(frozen=True)
class Answer:
    """What a detector said of a series, by the end of the interval."""

    broken: dict[float, Said]
    unknown: frozenset[float]
    absurd: tuple[str, ...]
    """Numbers that cannot be: negative, infinite, or several times what the RNIC can carry."""


class Refused(Exception):
    """The command failed; the message is what it printed."""


def name(series: Series) -> str:
    """What the files of a series are called."""
    return f"{series.kind.replace(' ', '-')}-{series.seed}"


def write(series: Series, folder: Path) -> tuple[Path, Path]:
    """Write the CSV, the promises, and the truth (which the command never sees); return the first two."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = name(series)
    rows, slo, truth = (folder / f"{stem}{end}" for end in (".csv", ".slo.json", ".truth.json"))
    write_csv(rows, (entry.reading for entry in series.telemetry.entries), series.empty, series.t_format)
    slo.write_text(json.dumps(promises(series), indent=1))
    told = {"kind": series.kind, "seed": series.seed, "interval_s": series.interval_s, "facts": series.facts}
    truth.write_text(json.dumps({**told, "intervals": [asdict(one) for one in series.telemetry.intervals()]}, indent=1))
    return rows, slo


def promises(series: Series) -> dict[str, Any]:
    """The SLO file of a series."""
    slo: dict[str, dict[str, float]] = {}
    for one in series.tenants:
        slo[one.name] = {
            "min_bps": one.min_bps,
            "max_bps": one.max_bps,
            "p50_us": one.slo_p50_us,
            "p99_us": one.slo_p99_us,
            "loss": one.slo_loss,
        }
        if one.policed_bps is not None:
            slo[one.name]["policed_bps"] = one.policed_bps
    return {"nic_bps": series.card.nic_bps, "slo": slo}


def detect(series: Series, folder: Path) -> Answer:
    """Run the command on a series. Raises Refused when it fails."""
    from wallwatch.cli.main import app

    rows, slo = write(series, folder)
    result = CliRunner().invoke(app, ["vnic", "detect", str(rows), "--slo", str(slo), "--json"])
    if result.exit_code != 0:
        raise Refused(f"{rows}: exit code {result.exit_code}: {result.output[-400:]} {result.exception!r}")
    return read(json.loads(result.stdout), series.card.nic_bps)


def read(printed: dict[str, Any], nic_bps: float) -> Answer:
    """Read what the command printed."""
    broken = {
        round(float(one["t"]), 3): Said(tuple(one["victims"]), tuple(one["aggressors"]), one["mechanism"]) for one in printed["seconds"]
    }
    absurd = tuple(f"{key} = {value}" for key, value in numbers(printed) if not possible(key, value, nic_bps))
    return Answer(broken, frozenset(round(float(t), 3) for t in printed["unknown"]), absurd)


def numbers(printed: Any, key: str = "") -> Iterator[tuple[str, float]]:
    """All numbers with the name of what holds them."""
    if isinstance(printed, dict):
        for inner, value in printed.items():
            yield from numbers(value, str(inner))
    elif isinstance(printed, list):
        for value in printed:
            yield from numbers(value, key)
    elif isinstance(printed, int | float) and not isinstance(printed, bool):
        yield key, float(printed)


def possible(key: str, value: float, nic_bps: float) -> bool:
    """Whether a rate can be one: not negative, finite, at most four times the port's (packets: of 64 bytes)."""
    if not math.isfinite(value):
        return False
    if not RATES.search(key):
        return True
    most = {"s": nic_bps, "m": nic_bps / 1e6}.get("m" if key.endswith("_mbps") else "s", nic_bps) * 4
    return 0 <= value <= most
