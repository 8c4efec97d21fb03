"""Conditions under which the lab may touch an RNIC. Each is checked before every change and while a test runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from wallwatch.lab.adaptors.perftest.operations import Command, Executor
from wallwatch.lab.adaptors.perftest.setup import Setup
from wallwatch.lab.adaptors.serve import DeviceFailed

_HEALTH_TIMEOUT_S = 30


class Refused(DeviceFailed):
    """The lab may not go on; what it changed has to be undone."""


@dataclass
class Guard:
    """The cordon, the emergency stop and the host's health."""

    setup: Setup
    executor: Executor
    sick: str | None = None
    """Why the lab was stopped for good."""

    def check(self) -> None:
        """Raise Refused if the RNIC is not cordoned, the emergency stop is on, or the host was sick before."""
        if self.sick is not None:
            raise Refused(self.sick)
        if self.setup.stop_file.exists():
            raise Refused(f"emergency stop: {self.setup.stop_file} exists; remove the file to go on")
        reason = not_cordoned(self.setup.cordon_dir, self.setup.pci)
        if reason is not None:
            raise Refused(reason)

    def check_health(self) -> None:
        """Run the health command. A complaint ends the lab for good: a person has to look at the host and start it again."""
        try:
            self.executor.do(Command(self.setup.health_command), _HEALTH_TIMEOUT_S, self.check)
        except Refused:
            raise
        except DeviceFailed as error:
            self.sick = f"the host's health command complains, so the lab has stopped: {error}"
            raise Refused(self.sick) from error


def not_cordoned(cordon_dir: Path, pci: str) -> str | None:
    """Why an RNIC may not be tested, None if the agent has cordoned it.

    The agent writes `<pci>.json` with the RNIC's address in `pci`. A file that cannot be read counts as no cordon.
    """
    path = cordon_dir / f"{pci}.json"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{pci} is not cordoned ({path} does not exist); cordon it first: containers may be using it"
    except (OSError, ValueError) as error:
        return f"the cordon of {pci} cannot be read ({path}: {error}); cordon it again"
    if not isinstance(record, dict) or record.get("pci") != pci:
        return f"{path} is not a cordon of {pci}; cordon it again"
    return None
