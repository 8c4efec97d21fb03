"""`python -m tests.bench.ledger [NAME...]`: compare with the committed ledger; exit code 1 for a loss beyond noise.

`--update` writes what was measured into the ledger.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from tests.bench.ledger.entries import Entry, is_loss, read, write
from tests.bench.ledger.paired import Paired
from tests.bench.ledger.short import SHORT

from wallwatch.jobs import compiled_stage
from wallwatch_local.paths import REPOSITORY


def run(name: str) -> tuple[Paired, str]:
    """Measure in a process of its own, so that no benchmark is affected by memory that another left behind."""
    first = "from wallwatch.jobs import compiled_stage; assert compiled_stage.use(); " if SHORT[name].compiled else ""
    code = f"{first}from tests.bench.ledger.__main__ import print_one; print_one({name!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the benchmark {name} failed:\n{done.stderr[-4000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    return Paired(tuple(found["ratios"]), found["work_us"], found["reference_us"]), found["reference"]


def print_one(name: str) -> None:
    """Measure in this process and print the result as JSON."""
    benchmark = SHORT[name]
    paired = benchmark.run()
    result = {"ratios": paired.ratios, "work_us": paired.work_us, "reference_us": paired.reference_us, "reference": benchmark.reference}
    sys.stdout.write(json.dumps(result) + "\n")


def line(name: str, paired: Paired, entry: Entry | None) -> str:
    """What is printed about one benchmark."""
    known = "new" if entry is None else f"ledger {entry.ratio:.2f} + {entry.allowed:.0%}"
    figures = f"{paired.ratio:6.2f} times its reference ({known}; rounds {min(paired.ratios):.2f} to {max(paired.ratios):.2f})"
    return f"{name:18} {figures}; {paired.work_us:.1f} and {paired.reference_us:.1f} µs of CPU"


def main() -> int:
    """Compare or update."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.ledger", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"from {', '.join(SHORT)}; all without names")
    parser.add_argument("--update", action="store_true", help="write the ledger instead of comparing")
    asked = parser.parse_args()
    wanted = asked.names or list(SHORT)
    if unknown := set(wanted) - set(SHORT):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    entries = read()
    losses = []
    for name in wanted:
        if SHORT[name].compiled and not compiled_stage.folder().is_dir():
            print(f"{name:18} left out: the stage was not compiled from this source (python -m wallwatch.jobs.compile_stage)")
            continue
        paired, reference = run(name)
        entry = entries.get(name)
        if not asked.update and entry is not None and is_loss(entry, paired):
            paired, _ = run(name)  # a loss has to show twice
            if is_loss(entry, paired):
                losses.append(name)
        print(line(name, paired, entry) + (": LOSS" if name in losses else ""), flush=True)
        if asked.update:
            entries[name] = Entry.of(paired, reference)
        elif entry is None:
            losses.append(name)
    if asked.update:
        write(entries)
    elif losses:
        print(
            f"slower than the ledger allows: {', '.join(losses)}. Find the reason, or accept it with `--update` and say why.",
            file=sys.stderr,
        )
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
