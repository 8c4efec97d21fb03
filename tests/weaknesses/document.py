"""The table in docs/security.md: each fix that was taken out, and the test that failed."""

import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime

from tests.weaknesses.removals import REPOSITORY, Removal

PAGE = REPOSITORY / "docs/security.md"
BEGIN, END = "<!-- Written by `make weaknesses`: begin -->", "<!-- end -->"


def row(removal: Removal) -> str:
    """How the table begins that line: what was taken out."""
    return f"| {removal.weakness} | {removal.what} |"


def table(chosen: list[Removal], proven: Mapping[tuple[int, str], str], commit: str, day: str) -> str:
    """The lines between the marks."""
    lines = [
        f"{len(chosen)} fixes were taken out one by one, of commit {commit} on {day}; each time a test failed.",
        "",
        "| no. | without the fix | what failed |",
        "|---|---|---|",
    ]
    lines += [f"{row(one)} `{re.sub(r'^.*/', '', proven[one.weakness, one.what]).split('[')[0]}` |" for one in chosen]
    return "\n".join(lines)


def write_table(chosen: list[Removal], proven: Mapping[tuple[int, str], str]) -> None:
    """Replace what is between the marks."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.strip()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    written = table(chosen, proven, commit, f"{datetime.now(UTC):%Y-%m-%d}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}", encoding="utf-8")
