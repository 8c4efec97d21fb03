"""The one place that knows how the lab is called: it sees a planted device and returns the lab's report."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dut_zoo.device import Device

ENTRY = ("wallwatch.domain.lab.search", "run_lab")


class NoLab(RuntimeError):
    """The lab is not there, or is called in another way."""


class Tester:
    """A planted device in this process, as the search sees a device."""

    def __init__(self, device: Device) -> None:
        self._device = device

    def describe(self) -> dict[str, Any]:
        """What the device describes."""
        return self._device.describe()

    def test(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Test one configuration."""
        return self._device.test(config)

    def reset(self) -> dict[str, Any]:
        """Reset the device."""
        return self._device.reset()


def lab_report(device: Device, budget: int, seed: int) -> dict[str, Any]:
    """The report of the lab on a device.

    Raises
    ------
    NoLab
        The lab is not installed.
    """
    try:
        run_lab = getattr(import_module(ENTRY[0]), ENTRY[1])
    except (ImportError, AttributeError) as reason:
        raise NoLab(f"there is no {'.'.join(ENTRY)}: {reason}") from reason
    report: dict[str, Any] = run_lab(Tester(device), budget=budget, seed=seed)
    return report
