"""What a report says of the device's usual values and of its noise."""

from __future__ import annotations

from wallwatch.domain.lab.judge import Judge
from wallwatch.domain.lab.repeats import CHANCE_TESTS, SHOWN


def baseline_of(judge: Judge, healthy: bool) -> dict[str, object]:
    """The metrics of the healthy device, and how many tests that took."""
    return {
        "healthy": healthy,
        "tests": judge.operations.get("baseline", 0),
        "metrics": {
            name: {"median": one.median, "scale": one.scale, "unit": one.metric.unit, "better": one.metric.better}
            for name, one in judge.levels.items()
        },
    }


def noise_of(judge: Judge) -> dict[str, object]:
    """How often a repeated test said something else."""
    rate = judge.flips / judge.repeats if judge.repeats else 0.0
    return {"flip_rate": round(rate, 4), "repeats": judge.repeats, "sequential_decisions": judge.is_flaky}


def chance_notes(judge: Judge) -> list[str]:
    """What a report says of symptoms that are a matter of chance."""
    return [
        f"{one} is a matter of chance on this device: a configuration counts as failing where it shows in {SHOWN} of up to {CHANCE_TESTS}"
        " tests. Inside a cause it may show rarely; conditions say where it can show at all."
        for one in sorted(judge.by_chance, key=str)
    ]
