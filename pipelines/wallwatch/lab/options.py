"""What a campaign was asked to do, as its journal keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wallwatch.domain.lab.device import Device
from wallwatch.domain.lab.tester import STRATEGIES, Options, Strategy
from wallwatch.lab.faults import BadDevice
from wallwatch.lab.progress import Progress


@dataclass(frozen=True)
class CampaignOptions:
    """Options of `wallwatch lab run`.

    Parameters
    ----------
    budget
        Most tests and resets together, retries included; None for no limit.
    max_time_s
        Seconds, those of earlier sessions of the same campaign included; a test that runs at that moment is finished.
    target
        A symptom or metric of the device; None for all.
    only
        Parameters that vary; none for all.
    strength
        Up to how many levels every combination is to be covered.
    timeout_s
        For one test or reset; None for a multiple of what the device states.
    """

    budget: int | None = None
    max_time_s: float | None = None
    target: str | None = None
    seed: int = 1
    parallel: int = 1
    strategy: Strategy = "adaptive"
    only: tuple[str, ...] = ()
    strength: int = Options.strength
    timeout_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"only": list(self.only)}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> CampaignOptions:
        known = {name: value for name, value in raw.items() if name in cls.__dataclass_fields__}
        return cls(**known | {"only": tuple(raw.get("only", ()))})

    def for_search(self) -> Options:
        return Options(
            seed=self.seed,
            target=self.target,
            strategy=self.strategy,
            only=self.only,
            parallel=self.parallel,
            budget=self.budget,
            strength=self.strength,
        )

    def check(self, device: Device) -> None:
        """Raises `BadDevice` for options that the device cannot satisfy."""
        targets = (*device.symptoms, *device.metric)
        if self.target is not None and self.target not in targets:
            raise BadDevice(f"--target {self.target}: {device.name} has the symptoms and metrics {', '.join(targets) or '(none)'}")
        unknown = [name for name in self.only if name not in device.by_name]
        if unknown:
            raise BadDevice(f"--only {', '.join(unknown)}: {device.name} has the parameters {', '.join(device.by_name)}")
        if self.strategy not in STRATEGIES:
            raise BadDevice(f"--strategy {self.strategy}: choose from {', '.join(STRATEGIES)}")


@dataclass(frozen=True)
class Hooks:
    """How a campaign reaches whoever runs it. `on_warning` may be called from any thread, the others from the one that runs the campaign.

    `on_begin` once the journal is open, with its folder; `on_progress` after each operation; `on_warning` with a line for each fault
    of the device or journal; `should_stop` before each operation: a text ends the campaign with that reason.
    """

    on_begin: Callable[[Path, Device], None] = lambda *_: None
    on_progress: Callable[[Progress], None] = lambda _: None
    on_warning: Callable[[str], None] = lambda _: None
    should_stop: Callable[[], str | None] = lambda: None
