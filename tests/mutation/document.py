"""The document of a run: figures for each area, and every mutant that no test noticed, with what it means.

`python -m tests.mutation.document [--check]` writes docs/mutation.md from docs/mutation.json and judged.yaml.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from tests.mutation.mutants import REPOSITORY

RESULT, DOCUMENT = REPOSITORY / "docs/mutation.json", REPOSITORY / "docs/mutation.md"
JUDGED = Path(__file__).with_name("judged.yaml")

Row = Mapping[str, Any]
"""A verdict: area, key, line, outcome, noticed_by."""

WITHOUT_EFFECT = "without effect"


def judgements() -> dict[str, dict[str, str]]:
    """Key of a mutant that survived -> `effect` ("without effect" or "hole") and `why`."""
    return yaml.safe_load(JUDGED.read_text(encoding="utf-8")) or {}


def figures(rows: Sequence[Row], judged: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """Numbers of mutants: run, noticed at first, noticed since a test was written, without effect, and not noticed though they have one."""
    counted = [row for row in rows if row["outcome"] != "invalid"]
    survived = [row for row in counted if row["outcome"] == "survived"]
    since = sum(bool(row.get("again")) and row["outcome"] != "survived" for row in counted)
    harmless = sum(judged.get(row["key"], {}).get("effect") == WITHOUT_EFFECT for row in survived)
    return {
        "run": len(counted),
        "noticed": len(counted) - len(survived) - since,
        "since": since,
        "harmless": harmless,
        "holes": len(survived) - harmless,
    }


def text_of(run: Mapping[str, Any], judged: Mapping[str, Mapping[str, str]]) -> str:
    """The whole document.

    Parameters
    ----------
    run : mapping
        As `__main__` writes it: areas (name, title, possible), verdicts, earlier rounds, minutes of each area.
    judged : mapping
        As `judgements` reads it.
    """
    parts = [INTRODUCTION, _table(run, judged), *_earlier(run)]
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

Written by `make mutate`: it changes one comparison, number, condition or statement at a time, in a
copy of the repository, and runs the tests that must notice. A mutant that no test notices is a hole in the tests, or changes nothing that
matters; `tests/mutation/judged.yaml` says which, after someone has looked. How to run it and to read it:
[How do I see what the tests miss?](contributing/how-do-i-see-what-the-tests-miss.md)

*Score*: mutants noticed at first, as a share of those that have an effect. No test was written for these mutants before they ran: each
seed draws only mutants that no earlier run has drawn. *Now*: the same, with the tests that were written for mutants of this sample.
Samples are small: the 95% interval (Wilson) says how far the score of all mutants may be from that of the sample.
"""


def _table(run: Mapping[str, Any], judged: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        "| area | possible mutants | seed | run | noticed | without effect | score | 95% interval | noticed since | holes | now "
        "| minutes |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for area in run["areas"]:
        rows = [row for row in run["verdicts"] if row["area"] == area["name"]]
        seeds = ", ".join(str(seed) for seed in sorted({row.get("seed", 1) for row in rows})) if area["sampled"] else "all"
        n = figures(rows, judged)
        minutes = run.get("minutes", {}).get(area["name"])
        lines.append(
            f"| {area['title']} | {area['possible']:,} | {seeds} | {n['run']} | {n['noticed']} | {n['harmless']} | {_score(n)} | "
            f"{_interval(n)} | {n['since']} | {n['holes']} | {_score(n, now=True)} | {'' if minutes is None else minutes} |"
        )
    total = sum(run.get("minutes", {}).values())
    return "\n".join(lines) + "\n" + (f"\nAll areas together: {total:.0f} minutes.\n" if total else "")


def _score(n: Mapping[str, int], *, now: bool = False) -> str:
    with_effect = n["run"] - n["harmless"]
    return f"{(n['noticed'] + n['since'] * now) / with_effect:.0%}" if with_effect else "not run"


def _interval(n: Mapping[str, int]) -> str:
    """Wilson's interval of the score, with z = 1.96 (Wilson, J. Am. Stat. Assoc. 22, 1927)."""
    size, z = n["run"] - n["harmless"], 1.96
    if not size:
        return ""
    share = n["noticed"] / size
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * (share * (1 - share) / size + z * z / (4 * size * size)) ** 0.5
    return f"{max(0.0, middle - half):.0%} to {min(1.0, middle + half):.0%}"


def _earlier(run: Mapping[str, Any]) -> Iterator[str]:
    """Rounds before: what was found, and closed."""
    if not run.get("earlier"):
        return
    titles = {area["name"]: area["title"] for area in run["areas"]}
    lines = [
        "## Earlier rounds\n",
        "Their mutants are drawn no more, because tests have been written for those that survived.\n",
        "| area | seed | run | noticed | without effect | score | noticed since | holes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n in run["earlier"]:
        lines.append(
            f"| {titles[n['area']]} | {n['seed']} | {n['run']} | {n['noticed']} | {n['harmless']} | {_score(n)} "
            f"| {n['since']} | {n['holes']} |"
        )
    yield "\n".join(lines) + "\n"


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
    new = text_of(json.loads(RESULT.read_text(encoding="utf-8")), judgements())
    if "--check" not in arguments:
        DOCUMENT.write_text(new, encoding="utf-8")
        return 0
    if DOCUMENT.read_text(encoding="utf-8") != new:
        print("docs/mutation.md is out of date: run 'make generate'", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
