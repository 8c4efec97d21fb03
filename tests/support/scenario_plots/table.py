"""Writes the table of scenarios in docs/scenarios.md (with `--check`, it only compares)."""

import re
import sys
from pathlib import Path
from typing import Any

from scenario_plots import catalogue
from wallwatch_local.hosts import SCENARIOS, first_comment
from wallwatch_local.paths import REPOSITORY

PAGE = REPOSITORY / "docs" / "scenarios.md"


def row(file: Path, entry: dict[str, Any] | None) -> str:
    """One scenario; its symptoms are known once it was recorded."""
    if entry is None:
        return f"| `{file.stem}` | {first_comment(file)} | not recorded yet | | |"
    truth = entry["truth"]
    broken = entry.get("isolation", [])
    lines = [f"{one['symptom']} on {one['host']} `{one['pci']}`" for one in truth]
    lines += [
        f"isolation on {one['host']} `{one['pci']}`: {_vfs(one['victims'])} broken by {_vfs(one['aggressors'])} for {one['seconds']} s"
        for one in broken
    ]
    where = "<br>".join(lines) or "none"
    causes = "<br>".join([*(one["cause"] for one in truth), *(one["mechanism"] for one in broken)])
    return f"| `{file.stem}` | {first_comment(file)} | {where} | {causes} | {entry['rnics']} on {entry['hosts']} |"


def _vfs(numbers: list[int]) -> str:
    return ", ".join(f"VF {number}" for number in numbers)


def table(entries: dict[str, Any]) -> str:
    """Markdown table of all scenarios."""
    rows = (row(file, entries.get(file.stem)) for file in sorted(SCENARIOS.glob("*.yaml"), key=lambda file: file.stem))
    return "\n".join(["| scenario | description | symptoms | causes | RNICs on hosts |", "|---|---|---|---|---|", *rows])


def main(arguments: list[str], page: Path = PAGE) -> int:
    """Write or compare; 1 when the page is out of date."""
    old = page.read_text()
    content = table(catalogue.load())
    new, found = re.subn(
        r"(<!-- catalogue -->\n).*?(<!-- /catalogue -->)", lambda match: f"{match[1]}{content}\n{match[2]}", old, flags=re.DOTALL
    )
    if found != 1:
        raise ValueError("docs/scenarios.md has no section <!-- catalogue --> ... <!-- /catalogue -->")
    if "--check" in arguments:
        if new != old:
            print("docs/scenarios.md is out of date: run 'make generate'", file=sys.stderr)
        return int(new != old)
    page.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
