"""The tests of a journal as what they measured: what calibration takes of a campaign."""

from __future__ import annotations

from wallwatch.domain.lab.device import Config
from wallwatch.domain.lab.models import Test
from wallwatch.lab.journal import Content


class NoBaseline(ValueError):
    """The campaign ended before it measured a healthy configuration."""


def baseline_and_tests(journal: Content) -> tuple[Config, list[Test]]:
    """The configuration of the baseline, and each test that succeeded as (configuration, metrics), in their order.

    Raises
    ------
    NoBaseline
        When no test of the baseline succeeded.
    """
    succeeded = [line for _, line in sorted(journal.lines.items()) if line.get("kind") == "test" and line.get("status") == "ok"]
    baseline = next((line["config"] for line in succeeded if line.get("phase") == "baseline"), None)
    if baseline is None:
        raise NoBaseline("The campaign ended before it measured its baseline; run it again with a larger budget.")
    return baseline, [(line["config"], line.get("metrics") or {}) for line in succeeded]
