"""The evaluated sets: the catalogue of scenarios, random scenarios for development, random held-out scenarios, and long quiet periods."""

from __future__ import annotations

from collections.abc import Sequence

from tests.evaluation.draw import HELD_OUT, Drawn, draw, quiet_day

from wallwatch_local.paths import REPOSITORY

CATALOGUE_LENGTH_S = 480
DEVELOPMENT, HELD, QUIET_DAYS = 60, 200, 6
"""How many there are of each."""


OUTSIDE_THE_CATALOGUE = {"lossy-transceiver", "contention"}
"""Scenarios whose fault is none of the causes C1 to C8: one is for `unexplained`, which the evaluated sets count as false
(tests/evaluation/test_recordings.py has it), one about network functions on SmartNICs."""


OF_ISOLATION = ("isolation", "vf-")
"""How the names of scenarios begin whose tenants break each other's promises: nothing of Table 1 is there, and the job `isolation` judges
them."""


def catalogue() -> list[Drawn]:
    """The scenarios of the repository, each for 8 minutes at 10 s."""
    scenarios = (REPOSITORY / "tests" / "scenarios").glob("*.yaml")
    files = sorted(file for file in scenarios if file.stem not in OUTSIDE_THE_CATALOGUE and not file.stem.startswith(OF_ISOLATION))
    return [Drawn(file.stem, file.read_text(), CATALOGUE_LENGTH_S, 10) for file in files]


def wanted(name: str, seeds: Sequence[int] | None) -> list[Drawn]:
    """The scenarios of one set, or those of some seeds of it."""
    if name == "catalogue":
        return catalogue()
    if name == "development":
        return [draw(seed) for seed in seeds or range(1, DEVELOPMENT + 1)]
    if name == "held-out":
        return [draw(HELD_OUT + seed) for seed in seeds or range(1, HELD + 1)]
    return [quiet_day(number) for number in seeds or range(1, QUIET_DAYS + 1)]


SETS = ("catalogue", "development", "held-out", "quiet")
