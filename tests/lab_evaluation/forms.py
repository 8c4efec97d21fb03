"""`python -m tests.lab_evaluation.forms`: how well the lab's causes predict devices whose faults are no conjunctions.

There are many ways to write such a fault down, so only predictions are judged: of S6, on configurations drawn evenly and near failing ones.
"""

from __future__ import annotations

from random import Random
from statistics import median

import typer
from tests.lab_evaluation.adapter import lab_report
from tests.lab_evaluation.judge import LEAST_F1
from tests.lab_evaluation.naive import BUDGET
from tests.lab_evaluation.reported import read_causes

from dut_zoo.forms import FORMS, FormDevice
from dut_zoo.parameters import Config

FRESH = 1500
"""Configurations drawn evenly, and as many near failing ones."""
MOST_MOVED = 3
"""Parameters in which the latter differ from a failing one."""


def judged(device: FormDevice) -> list[Config]:
    """Configurations to judge predictions with."""
    rng = Random(f"{device.name}/fresh")
    even = [device.draw(rng) for _ in range(FRESH)]
    failing = [one for one in even if device.fails(one)]
    near = []
    for _ in range(FRESH):
        config = dict(rng.choice(failing))
        for one in rng.sample(device.parameters, rng.randint(1, MOST_MOVED)):
            config[one.name] = one.draw(rng)
        near.append(config)
    return even + near


def f1_of(form: str, seed: int) -> tuple[float, int, int]:
    """F1 of the predictions of the causes found in a device, tests, and causes that were not proven."""
    device = FormDevice(form, seed)
    report = lab_report(device, BUDGET, seed)
    causes = read_causes(report, tuple(device.parameters))
    right = wrong = 0
    for config in judged(device):
        fails, said = device.fails(config), any(one.holds(config) for one in causes)
        right += fails and said
        wrong += fails != said
    return 2 * right / max(2 * right + wrong, 1), device.ledger.operations, sum(not one["proven"] for one in report["causes"])


def main(seeds: int = typer.Option(5, help="devices of each form")) -> None:
    """Print a table."""
    typer.echo("| form | n | F1 ≥ 0.98 | F1, median | F1, least | not proven | tests, median | tests, most |")
    typer.echo("|---|---:|---:|---:|---:|---:|---:|---:|")
    for form in FORMS:
        found = [f1_of(form, seed) for seed in range(1, seeds + 1)]
        f1s, tests, unproven = zip(*found, strict=True)
        good = sum(one >= LEAST_F1 for one in f1s)
        cells = [form, seeds, good, f"{median(f1s):.4f}", f"{min(f1s):.4f}", sum(unproven), f"{median(tests):.0f}", max(tests)]
        typer.echo("| " + " | ".join(map(str, cells)) + " |")


if __name__ == "__main__":
    typer.run(main)
