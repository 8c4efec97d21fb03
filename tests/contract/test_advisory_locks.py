"""Jobs and backend share one database, and so the numbers of its advisory locks: two that use one number wait for each other, unseen."""

import re
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = ("backend/wallwatch_backend", "pipelines/wallwatch", "migrations/versions")
# The seed of a hash makes locks of their own of it: modules may share one.
NUMBER = re.compile(r"(?<!, )\b7_?241_?(\d{3})\b")

SHARED = {"026": {"migrations/versions/0035_packing_by_rnics.py", "pipelines/wallwatch/jobs/packing.py"}}
"""On purpose: the database's function packs under the lock of the job that calls it, whoever else may call it (decision 0052)."""


def test_each_advisory_lock_has_a_number_of_its_own() -> None:
    used = defaultdict(set)
    for folder in SOURCES:
        for path in (REPOSITORY / folder).rglob("*.py"):
            for number in NUMBER.findall(path.read_text(encoding="utf-8")):
                used[number].add(str(path.relative_to(REPOSITORY)))
    assert len(used) > 5, "the numbers are written in another way than this test looks for"
    assert {number: files for number, files in used.items() if len(files) > 1} == SHARED
