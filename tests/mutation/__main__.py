"""`make mutate`: would the tests notice? Writes docs/mutation.json and docs/mutation.md.

Mutants are drawn by a seed, so that a run can be repeated. Another seed draws none that an earlier run has drawn: its score is that of
tests that did not know the mutants.
"""

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.mutation.areas import AREAS, Area
from tests.mutation.document import RESULT, WITHOUT_EFFECT, figures, judgements
from tests.mutation.document import main as write_document
from tests.mutation.mutants import REPOSITORY, Mutant
from tests.mutation.run import Pytest, Runner, Verdict, copy_to, sample, servers, verdicts


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="decides which mutants are drawn (default 1)")
    parser.add_argument("--minutes", type=float, default=60, help="for all areas together (default 60)")
    parser.add_argument("--sample", type=int, default=40, help="mutants per area, as far as time allows (default 40)")
    parser.add_argument("--area", action="append", choices=[area.name for area in AREAS], help="only this one; the others' results stay")
    parser.add_argument("--more", action="store_true", help="keep the verdicts of the run before, and add those that it had no time for")
    parser.add_argument("--again", action="store_true", help="only those that survived in the run before and may have an effect")
    return parser.parse_args()


def name_of(verdict: Verdict) -> str:
    """A rule in words: the symptom's rule, or the signal that a cause's rule tests."""
    mutant = verdict.mutant
    if signal := re.search(r"signal: (\w+)", mutant.before):
        return f"evidence {signal[1]}"
    lines = (REPOSITORY / mutant.path).read_text(encoding="utf-8").splitlines()[: mutant.line]
    return next((found[1] for line in reversed(lines) if (found := re.match(r" *rule: (\S+)", line))), Path(mutant.path).stem)


def row_of(verdict: Verdict, seed: int) -> dict[str, Any]:
    mutant = verdict.mutant
    return {
        "area": mutant.area,
        "key": mutant.key,
        "name": name_of(verdict),
        "line": mutant.line,
        "outcome": verdict.outcome,
        "noticed_by": verdict.noticed_by,
        "seed": seed,
    }


def run_area(area: Area, chosen: list[Mutant], until: float, areas_left: int, seed: int, pytest: Pytest) -> Iterator[dict[str, Any]]:
    """Rows of the verdicts on mutants, as they come: in this area's share of the time until the end of all (of `time.monotonic`)."""
    with servers(area.servers, pytest.folder):
        runner = Runner(area, pytest.folder, pytest)
        runner.prepare(chosen)
        now = time.monotonic()
        deadline = now + (until - now) / areas_left
        for number, verdict in enumerate(verdicts(runner, chosen, deadline), start=1):
            print(f"{area.name} {number}/{len(chosen)} {verdict.outcome} {verdict.seconds:.0f} s {verdict.mutant.key}", flush=True)
            yield row_of(verdict, seed)


def set_aside(run: dict[str, Any], area: Area, seed: int) -> None:
    """Keep an area's rows of another seed as figures: tests have been written for these mutants, which are not drawn again."""
    old = [row for row in run["verdicts"] if row["area"] == area.name and row.get("seed", 1) != seed]
    if not old or not area.sampled:
        return
    known = {mutant.key: mutant.fingerprint for mutant in area.mutants(area.name)}
    run["known"][area.name] = sorted({*run["known"].get(area.name, ()), *(known[row["key"]] for row in old if row["key"] in known)})
    for drawn in sorted({row.get("seed", 1) for row in old}):
        rows = [row for row in old if row.get("seed", 1) == drawn]
        run["earlier"].append({"area": area.name, "seed": drawn} | figures(rows, judgements()))
    run["verdicts"] = [row for row in run["verdicts"] if row not in old]


def choose(run: dict[str, Any], area: Area, options: argparse.Namespace) -> tuple[list[dict[str, Any]], list[Mutant]]:
    """Rows that stay, and mutants to run."""
    rows = [row for row in run["verdicts"] if row["area"] == area.name]
    if options.again:
        judged = judgements()
        again = [row for row in rows if row["outcome"] == "survived" and judged.get(row["key"], {}).get("effect") != WITHOUT_EFFECT]
        survivors = {(row["key"], row["line"]) for row in again}
        stay = [row for row in rows if row not in again]
        of_key = {(mutant.key, mutant.line): mutant for mutant in area.mutants(area.name)}  # two of one line may have the same key
        return stay, [mutant for key, mutant in of_key.items() if key in survivors]
    stay = rows if options.more else []
    done = {(row["key"], row["line"]) for row in stay}
    drawn = sample(area, options.sample, options.seed, frozenset(run["known"].get(area.name, ())))
    return stay, [mutant for mutant in drawn if (mutant.key, mutant.line) not in done]


def main() -> None:
    options = arguments()
    with warm_pytest() as pytest:
        run_areas(options, pytest)


def run_areas(options: argparse.Namespace, pytest: Pytest) -> None:
    """Run the wanted areas, one after the other; the result and the page are written after each."""
    run: dict[str, Any] = {"verdicts": [], "earlier": [], "known": {}, "minutes": {}}
    run |= json.loads(RESULT.read_text()) if RESULT.exists() else {}
    wanted = [area for area in AREAS if options.area is None or area.name in options.area]
    begun = time.monotonic()
    for at, area in enumerate(wanted):
        since = time.monotonic()
        if not options.again:
            set_aside(run, area, options.seed)
        stay, chosen = choose(run, area, options)
        new = list(run_area(area, chosen, begun + 60 * options.minutes, len(wanted) - at, options.seed, pytest)) if chosen else []
        rows = [*stay, *({**row, "again": True} for row in new)] if options.again else [*stay, *new]
        run["verdicts"] = [row for row in run["verdicts"] if row["area"] != area.name] + rows
        if not options.again:
            spent = (time.monotonic() - since) / 60 + (run["minutes"].get(area.name, 0.0) if options.more else 0.0)
            run["minutes"][area.name] = round(spent, 1)
        run["areas"] = [{"name": a.name, "title": a.title, "possible": len(a.mutants(a.name)), "sampled": a.sampled} for a in AREAS]
        RESULT.write_text(json.dumps(run, indent=1) + "\n")
        write_document([])


@contextmanager
def warm_pytest() -> Iterator[Pytest]:
    """A warm pytest in a copy of the repository."""
    with tempfile.TemporaryDirectory(prefix="wallwatch-mutation-") as folder:
        copy_to(Path(folder))
        pytest = Pytest(Path(folder))
        try:
            yield pytest
        finally:
            pytest.close()


if __name__ == "__main__":
    main()
