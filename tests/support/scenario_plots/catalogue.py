"""The result of every scenario, stored next to the plots: docs/images/scenarios/catalogue.json."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from scenario_plots.recording import Recording
from wallwatch_local.paths import REPOSITORY

PLOTS = REPOSITORY / "docs" / "images" / "scenarios"
FILE = PLOTS / "catalogue.json"
FEWEST_SECONDS = 5
"""Broken seconds with the same VFs from which the table shows them: single ones are those in which a load begins or ends."""


def entry(recording: Recording) -> dict[str, Any]:
    """The data of a recording that the table shows."""
    truth = sorted({(one.symptom, one.cause, one.host, one.pci) for one in recording.truth})
    broken = Counter(recording.broken)
    seconds = [
        {
            "mechanism": one.mechanism,
            "host": one.host,
            "pci": one.pci,
            "victims": list(one.victims),
            "aggressors": list(one.aggressors),
            "seconds": count,
        }
        for one, count in sorted(broken.items(), key=lambda item: (item[0].host, item[0].pci, -item[1]))
        if count >= FEWEST_SECONDS
    ]
    result: dict[str, Any] = {
        "recorded_s": recording.run["recorded_s"],
        "hosts": len(recording.run["hosts"]),
        "rnics": sum(len(host["rnics"]) for host in recording.run["hosts"]),
        "truth": [{"symptom": symptom, "cause": cause, "host": host, "pci": pci} for symptom, cause, host, pci in truth],
    }
    return result | ({"isolation": seconds} if seconds else {})


def load(file: Path = FILE) -> dict[str, Any]:
    """The kept catalogue, empty before the first time."""
    kept: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return kept


def save(entries: dict[str, Any], file: Path = FILE) -> None:
    """Keep it."""
    file.write_text(json.dumps(dict(sorted(entries.items())), indent=1) + "\n")
