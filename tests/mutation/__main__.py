"""`make mutate`: would the tests notice? Writes docs/mutation.json and docs/mutation.md.

Mutants are drawn by a seed, so that a run can be repeated, and areas take turns, so that each has its share of the time.
"""

import argparse
import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.mutation.areas import AREAS, Area
from tests.mutation.document import RESULT
from tests.mutation.document import main as write_document
from tests.mutation.mutants import REPOSITORY, Mutant
from tests.mutation.run import Verdict, check_unchanged, copy_to, sample, verdicts


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="decides which mutants are drawn (default 1)")
    parser.add_argument("--minutes", type=float, default=60, help="for all areas together (default 60)")
    parser.add_argument("--sample", type=int, default=60, help="mutants per area, as far as time allows (default 60)")
    parser.add_argument("--area", action="append", choices=[area.name for area in AREAS], help="only this one; the others' results stay")
    parser.add_argument("--more", action="store_true", help="keep the verdicts of the run before, and add those that it had no time for")
    parser.add_argument("--again", action="store_true", help="only those that survived in the run before")
    return parser.parse_args()


def name_of(verdict: Verdict) -> str:
    """A rule in words: the symptom's rule, or the signal that a cause's rule tests."""
    mutant = verdict.mutant
    if signal := re.search(r"signal: (\w+)", mutant.before):
        return f"evidence {signal[1]}"
    lines = (REPOSITORY / mutant.path).read_text(encoding="utf-8").splitlines()[: mutant.line]
    return next((found[1] for line in reversed(lines) if (found := re.match(r" *rule: (\S+)", line))), Path(mutant.path).stem)


def row_of(verdict: Verdict) -> dict[str, Any]:
    mutant = verdict.mutant
    return {
        "area": mutant.area,
        "key": mutant.key,
        "name": name_of(verdict),
        "line": mutant.line,
        "outcome": verdict.outcome,
        "noticed_by": verdict.noticed_by,
    }


def run_area(area: Area, chosen: list[Mutant], minutes: float, done: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Verdicts on mutants, after those that are done."""
    rows = list(done)
    if not chosen:
        return rows
    with tempfile.TemporaryDirectory(prefix="wallwatch-mutation-") as folder:
        copy_to(Path(folder))
        deadline = time.monotonic() + 60 * minutes
        check_unchanged(area, chosen, Path(folder))
        for verdict in verdicts(area, chosen, Path(folder), deadline):
            rows.append(row_of(verdict))
            print(
                f"{area.name} {len(rows)}/{len(chosen) + len(done)} {verdict.outcome} {verdict.seconds:.0f} s {verdict.mutant.key}",
                flush=True,
            )
    return rows


def main() -> None:
    options = arguments()
    run: dict[str, Any] = json.loads(RESULT.read_text()) if RESULT.exists() else {"verdicts": []}
    wanted = [area for area in AREAS if options.area is None or area.name in options.area]
    begun = time.monotonic()
    for at, area in enumerate(wanted):
        left = options.minutes - (time.monotonic() - begun) / 60
        rows = [row for row in run["verdicts"] if row["area"] == area.name]
        done = rows if options.more else [row for row in rows if row["outcome"] != "survived"] if options.again else []
        known = {(row["key"], row["line"]) for row in done}
        chosen = [mutant for mutant in sample(area, options.sample, options.seed) if (mutant.key, mutant.line) not in known]
        if options.again:
            survivors = {(row["key"], row["line"]) for row in rows} - known
            chosen = [mutant for mutant in area.mutants(area.name) if (mutant.key, mutant.line) in survivors]
        rows = run_area(area, chosen, left / (len(wanted) - at), done)
        if options.again:
            rows = [*done, *({**row, "again": True} for row in rows[len(done) :])]
        run["verdicts"] = [row for row in run["verdicts"] if row["area"] != area.name] + rows
        areas = [{"name": a.name, "title": a.title, "possible": len(a.mutants(a.name)), "sampled": a.sampled} for a in AREAS]
        run |= {"seed": options.seed, "areas": areas}
        RESULT.write_text(json.dumps(run, indent=1) + "\n")
        write_document([])


if __name__ == "__main__":
    main()
