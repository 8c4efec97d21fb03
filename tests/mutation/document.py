"""The document of a run: figures for each area, and every mutant that no test noticed, with what it means.

`python -m tests.mutation.document [--check]` writes docs/mutation.md from docs/mutation.json and judged.yaml.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.mutation.mutants import REPOSITORY

RESULT, DOCUMENT = REPOSITORY / "docs/mutation.json", REPOSITORY / "docs/mutation.md"
JUDGED = Path(__file__).with_name("judged.yaml")

Row = Mapping[str, Any]
"""A verdict: area, key, line, outcome, noticed_by."""

WITHOUT_EFFECT = "without effect"


def text_of(run: Mapping[str, Any], judged: Mapping[str, Mapping[str, str]]) -> str:
    """The whole document.

    Parameters
    ----------
    run : mapping
        As `__main__` writes it: seed, areas (name, title, possible), verdicts.
    judged : mapping
        Key of a mutant that survived -> `effect` ("without effect" or "hole") and `why`.
    """
    parts = [INTRODUCTION.format(seed=run["seed"]), _table(run, judged)]
    for area in run["areas"]:
        rows = [row for row in run["verdicts"] if row["area"] == area["name"]]
        survivors = [row for row in rows if row["outcome"] == "survived"]
        if survivors:
            parts.append(f"## {area['title']}: what no test noticed\n\n" + _survivors(survivors, judged))
        if not area["sampled"]:
            parts.append(f"## {area['title']}: which test notices\n\n" + _noticed(rows))
    return "\n".join(parts)


INTRODUCTION = """\
# Would the tests notice?

Written by `make mutate` (seed {seed}): it changes one comparison, number, condition or statement at a time, in a
copy of the repository, and runs the tests that must notice. A mutant that no test notices is a hole in the tests, or changes nothing that
matters; `tests/mutation/judged.yaml` says which, after someone has looked. How to run it and to read it:
[How do I see what the tests miss?](contributing/how-do-i-see-what-the-tests-miss.md)

*Score*: noticed mutants, as a share of those that have an effect. Samples are small, and those of a handful say nothing:
read the holes, not the percentages.
Mutants that survived a first look, and that a test has been written for since, count as noticed; without them, the
score is that of tests that did not know the mutant.
"""


def _table(run: Mapping[str, Any], judged: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        "| area | possible mutants | run | noticed | of these after a first look | not noticed | of these without effect | score |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for area in run["areas"]:
        rows = [row for row in run["verdicts"] if row["area"] == area["name"] and row["outcome"] != "invalid"]
        survived = [row for row in rows if row["outcome"] == "survived"]
        harmless = sum(judged.get(row["key"], {}).get("effect") == WITHOUT_EFFECT for row in survived)
        noticed, counted = len(rows) - len(survived), len(rows) - harmless
        since = sum(bool(row.get("again")) and row["outcome"] != "survived" for row in rows)
        score = f"{noticed / counted:.0%}" if counted else "not run"
        lines.append(
            f"| {area['title']} | {area['possible']:,} | {len(rows)} | {noticed} | {since} | {len(survived)} | {harmless} | {score} |"
        )
    return "\n".join(lines) + "\n"


def _survivors(rows: list[Row], judged: Mapping[str, Mapping[str, str]]) -> str:
    lines = ["| mutant | judgement |", "|---|---|"]
    for row in sorted(rows, key=lambda row: row["key"]):
        said = judged.get(row["key"], {"effect": "not judged yet", "why": ""})
        path, _, change = row["key"].partition(": ")
        lines.append(f"| `{path}:{row['line']}` {_code(change)} | {said['effect']}{': ' if said['why'] else ''}{said['why']} |")
    return "\n".join(lines) + "\n"


def _noticed(rows: list[Row]) -> str:
    lines = ["| rule | test |", "|---|---|"]
    for row in sorted(rows, key=lambda row: (row["key"].partition(":")[0], row["line"])):
        path = row["key"].partition(":")[0].rpartition("/")[2]
        lines.append(f"| {row['name']} (`{path}:{row['line']}`) | {_code(row['noticed_by']) if row['noticed_by'] else '**none**'} |")
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"


def main(arguments: list[str]) -> int:
    """Write the page or, with --check, compare; 1 when it is out of date."""
    new = text_of(json.loads(RESULT.read_text(encoding="utf-8")), yaml.safe_load(JUDGED.read_text(encoding="utf-8")) or {})
    if "--check" not in arguments:
        DOCUMENT.write_text(new, encoding="utf-8")
        return 0
    if DOCUMENT.read_text(encoding="utf-8") != new:
        print("docs/mutation.md is out of date: run 'make generate'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
