"""`python -m tests.evaluation [SET...]`: draws scenarios, records them, evaluates the recordings. `make evaluate` runs it.

With all of the final sets (catalogue, held-out, quiet) it also writes docs/evaluation.json and docs/evaluation.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from tests.evaluation import document
from tests.evaluation.draw import HELD_OUT
from tests.evaluation.record import CannotRecord, record_all
from tests.evaluation.scoring.cases import cases
from tests.evaluation.scoring.run import evaluate_all
from tests.evaluation.scoring.scores import Result, summary
from tests.evaluation.scoring.tables import text
from tests.evaluation.sets import HELD, SETS, wanted

from wallwatch_local.paths import REPOSITORY, local_dir

FINAL = ("catalogue", "held-out", "quiet")


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.evaluation", description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; without one: {', '.join(FINAL)}")
    parser.add_argument("--seeds", type=_seeds, help="only these seeds of each set, such as 1-20 or 7")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="recordings to process in parallel")
    parser.add_argument("--out", type=Path, default=local_dir() / "evaluation", help="folder of the recordings")
    parser.add_argument("--fresh", action="store_true", help="repeat existing recordings")
    parser.add_argument("--record-only", action="store_true", help="do not evaluate")
    parser.add_argument("--fleetsim", type=Path, help="recording program; by default built from collectors/")
    parser.add_argument("--json", type=Path, help="write figures and cases of each set to this file")
    parser.add_argument("--cases", type=int, default=40, help="number of worst cases to print")
    found = parser.parse_args(given)
    unknown = set(found.sets) - set(SETS)
    if unknown:
        parser.error(f"unknown set {', '.join(sorted(unknown))}: choose from {', '.join(SETS)}")
    return found


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def build(folder: Path) -> Path:
    """Build the simulator from the current tree."""
    program = folder / "fleetsim"
    command = ["go", "build", "-mod=readonly", "-o", str(program), "./cmd/fleetsim"]
    subprocess.run(command, cwd=REPOSITORY / "collectors", env=os.environ | {"CGO_ENABLED": "0"}, check=True)
    return program


def main(given: list[str]) -> int:
    """Record and evaluate; 1 when something could not be recorded."""
    options = arguments(given)
    options.out.mkdir(parents=True, exist_ok=True)
    fleetsim = options.fleetsim or build(options.out)
    names = options.sets or FINAL
    results: dict[str, list[Result]] = {}
    for name in names:
        try:
            folders = record_all(fleetsim, wanted(name, options.seeds), options.out / name, options.processes, options.fresh)
        except CannotRecord as error:
            print(error, file=sys.stderr)
            return 1
        if options.record_only:
            continue
        began = time.monotonic()
        results[name] = evaluate_all(folders, options.processes)
        print(f"{name}: evaluated in {time.monotonic() - began:.0f} s", file=sys.stderr)
    found = {name: {**summary(some), "cases": cases(some)} for name, some in results.items()}
    for name, figures in found.items():
        print(f"\n=== {name}\n{text(figures, figures['cases'], options.cases)}")
    if options.json:
        options.json.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2))
    if found and not options.seeds and set(FINAL) <= set(names):
        document.write(found, made(found))
    return 0


def made(found: Mapping[str, Any]) -> str:
    """How the figures were computed."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    version = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    seeds = f"{HELD_OUT + 1} to {HELD_OUT + HELD}"
    count = sum(figures["recordings"] for figures in found.values())
    return (
        f"`make evaluate` at version {version}: {count} recordings; seeds of the held-out scenarios: {seeds}.\n"
        "Recordings stay in `.local/evaluation` and are reused; `ARGS=--fresh` repeats them.\n"
        "`make evaluate ARGS='development --seeds 1-20'` evaluates a part and does not change this page."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
