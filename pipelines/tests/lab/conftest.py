"""Planted devices and a small search, so that these tests judge processes, journal and campaigns and not the search itself."""

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from wallwatch.domain.lab.device import Device
from wallwatch.domain.lab.report import Report
from wallwatch.domain.lab.tester import Options, Outcome, SearchEnd, Tester

PLANTED = Path(__file__).with_name("planted_device.py")


@pytest.fixture(scope="session")
def planted() -> Callable[..., str]:
    """The command of a planted device that does a misdeed."""

    def command(*arguments: object) -> str:
        return shlex.join([sys.executable, "-S", str(PLANTED), *map(str, arguments)])

    return command


def sweep(device: Device, tester: Tester, options: Options) -> Report:
    """A stand-in for the search: the default, a sweep of the masks, a batch and a reset. Notes hold what it saw."""
    report = Report(device, options)
    bad: list[int] = []

    def note(masks: int, outcome: Outcome) -> None:
        if outcome.symptoms:
            bad.append(masks)
        if outcome.status != "ok":
            report.notes.append(f"masks {masks}: {outcome.status}")

    try:
        for _ in range(5):
            note(1, tester.test(dict(device.default), "baseline"))
        values: Sequence[int] = range(1, 65, 3)
        for masks in values:
            note(masks, tester.test(device.default | {"masks": masks}, "discover"))
        tester.reset("control")
        batch = [31, 32, 33, 30]
        for masks, outcome in zip(batch, tester.test_all([device.default | {"masks": masks} for masks in batch], "threshold"), strict=True):
            note(masks, outcome)
    except SearchEnd as end:
        report.stopped = str(end)
    report.notes.append(f"bad: {bad}")
    return report


@pytest.fixture(scope="session")
def search() -> Callable[[Device, Tester, Options], Report]:
    return sweep
