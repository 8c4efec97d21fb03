"""`python -m tests.evaluation.demo_hour`: record an hour of the demo, and show what is reported outside its scripted faults."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import typer
from tests.evaluation import document
from tests.evaluation.demo_hour_section import outside, text
from tests.evaluation.draw import Drawn
from tests.evaluation.record import record
from tests.evaluation.scoring.run import evaluate

from wallwatch.domain.policies.load import policies
from wallwatch.domain.policies.tables import tables
from wallwatch.recordings import load
from wallwatch_local.hosts import SCENARIOS
from wallwatch_local.paths import binary

LENGTH_S, INTERVAL_S = 3600, 10

app = typer.Typer()


@app.command()
def main(
    fleetsim: Path | None = typer.Option(None, help="recording program; by default the one that `make setup` has built"),
    out: Path | None = typer.Option(None, help="folder for the recording; by default a temporary one"),
    write: bool = typer.Option(False, "--write", help="store the figures in docs/evaluation-demo-hour.json and write docs/evaluation.md"),
) -> None:
    """Record (2 minutes on one core), judge, print; exit code 1 if anything was reported where nothing is wrong."""
    with TemporaryDirectory() as temporary:
        folder = out or Path(temporary)
        compiled = Path(temporary) / "policies.json"
        compiled.write_bytes(tables(policies().values()))
        drawn = Drawn("demo-hour", (SCENARIOS / "demo.yaml").read_text(), LENGTH_S, INTERVAL_S)
        record(fleetsim or binary("fleetsim"), drawn, folder / drawn.name, compiled)
        found = judged(folder / drawn.name)
    print(text(found))
    if write:
        document.DEMO_HOUR.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        document.main([])
    sys.exit(1 if outside(found) else 0)


def judged(folder: Path) -> dict[str, Any]:
    """What was reported in a recording, by whether its place has a scripted fault (or a marginal one: both verdicts are right there)."""
    recording, result = load(folder), evaluate(folder)
    places = {(each.host, each.pci) for each in recording.truths}
    violated = violations(recording.lines())
    return {
        "rnic_hours": round(result.rnics * result.length_ms / 3_600_000, 1),
        "rnics": result.rnics,
        "faulty": len({f"{host} {pci}" for host, pci in places}),
        "symptoms": sorted({one.truth.symptom for one in result.judged if one.outcome == "found"}),
        "findings_outside": [f"{one.symptom} {one.host} {one.pci}" for one in result.false],
        "violations": sum(violated.values()),
        "violations_outside": {" ".join(place): n for place, n in sorted(violated.items()) if place[1:] not in places},
    }


def violations(lines: Any) -> Counter[tuple[str, str, str]]:
    """Violations that the collectors counted, by policy, host and PCI address ("" for a policy of the host)."""
    found: Counter[tuple[str, str, str]] = Counter()
    for line in lines:
        message = orjson.loads(line)
        if message["name"] == "policy_state":
            tags = message["tags"]
            count = int(message["fields"].get("violations", 0))
            if count:
                found[tags["policy"], tags["host"], tags.get("pci", "")] += count
    return found


if __name__ == "__main__":
    app()
