"""The fixes, and how each is taken out: `removals.yaml`."""

from dataclasses import dataclass
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]
WEAKNESSES = range(1, 13)
"""As the review of November 2026 numbers them."""


@dataclass(frozen=True)
class Removal:
    """One fix, and the tests that must fail without it."""

    weakness: int
    what: str
    file: str
    before: str
    after: str
    tests: list[str]

    @property
    def is_of_the_pages(self) -> bool:
        """Whether its tests are those of the frontend."""
        return self.file.startswith("frontend/")

    def applied_to(self, text: str) -> str:
        """The text of the file without the fix.

        Raises
        ------
        ValueError
            When the fix is not there exactly once, so that the entry is out of date.
        """
        if text.count(self.before) != 1:
            raise ValueError(f"{self.file}: {self.before.strip().splitlines()[0]!r} is there {text.count(self.before)} times, not once")
        return text.replace(self.before, self.after)


def removals() -> list[Removal]:
    """All entries, in the order of the review."""
    return [Removal(**entry) for entry in yaml.safe_load((Path(__file__).parent / "removals.yaml").read_text(encoding="utf-8"))]
