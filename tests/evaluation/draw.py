"""Scenarios of the simulated fleet, drawn at random: the same seed gives the same scenario.

Causes and loads are drawn (ingredients.py) from far below to far above the walls of the simulated RNICs. Nothing here knows the
classifier or its thresholds, and nothing says which symptoms must follow: that is up to the mechanisms, and to the truth that they write.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import yaml
from tests.evaluation.ingredients import BENIGN, CAUSES, LONG_BENIGN, Draft, Place, model_for

PCI = ("0000:17:00.0", "0000:3b:00.0", "0000:86:00.0", "0000:af:00.0")
MODELS = ("CX-4", "CX-5", "CX-6", "CX-7", "BF-3", "E810")
HELD_OUT = 3600
"""Seeds above this are for the final figures only. Those below may be looked at: up to 1000 from the start, the others since they served
earlier evaluations."""
QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Drawn:
    """One scenario and how it is to be recorded."""

    name: str
    text: str
    """YAML, as `fleetsim` reads it."""
    length_s: int
    interval_s: int


def draw(seed: int) -> Drawn:
    """The scenario of a seed. Main causes take turns, so that each has its share; everything else is drawn."""
    rng = random.Random(f"wallwatch evaluation {seed}")
    mains = (*CAUSES, QUIET)
    main = mains[seed % len(mains)]
    hosts, rnics = rng.randint(2, 5), rng.randint(1, 4)
    models = [rng.choice(MODELS) for _ in range(rng.randint(2, 6))]
    draft = Draft(rng, firmware=rng.choice(["flawed", "fixed"]), driver="fixed" if rng.random() < 0.7 else "flawed")
    free = [Place(f"host{1 + i // rnics:02d}", PCI[i % rnics]) for i in range(hosts * rnics)]
    rng.shuffle(free)
    chosen = [] if main == QUIET else [main]
    while chosen and rng.random() < 0.3:  # two at once, sometimes three
        chosen.append(rng.choice(list(CAUSES)))
    for name in chosen[: len(free)]:
        place = free.pop()
        model = model_for(name, rng)
        draft.note(f"{name} on {place.host} {place.pci} ({model})")
        CAUSES[name](draft, place, model)
    while free and rng.random() < (0.8 if main == QUIET else 0.5):
        name = rng.choice(list(BENIGN))
        place = free.pop()
        draft.note(f"{name} on {place.host} {place.pci}")
        BENIGN[name](draft, place, None)
    interval_s = rng.choice([1, 2, 5]) if rng.random() < 0.2 else 10
    length_s = rng.randrange(360, 540, 60) if interval_s < 5 else rng.randrange(480, 840, 60)
    topology = {
        "racks": rng.randint(1, hosts), "hosts": hosts, "rnics_per_host": rnics, "models": models, "firmware": draft.firmware,
        "driver": draft.driver, "externals": rng.randint(30, 250),
    }  # fmt: skip
    scenario = {"name": f"random-{seed:04d}", "seed": seed, "topology": topology, "workload": draft.usual_load()}
    scenario |= {
        key: value for key, value in (("overrides", draft.overrides), ("settings", draft.settings), ("events", draft.events)) if value
    }
    comment = f"# Drawn from seed {seed}: {'; '.join(draft.notes) or 'nothing but the usual load'}.\n"
    text = comment + yaml.safe_dump(scenario, sort_keys=False, default_flow_style=None, width=200)
    return Drawn(f"random-{seed:04d}", text, length_s, interval_s)


def quiet_day(number: int, hours: int = 6) -> Drawn:
    """A fleet at ease over a long time, with benign events all the time: false alarms are counted on it."""
    rng = random.Random(f"wallwatch quiet day {number}")
    hosts, rnics = 6, 4
    draft = Draft(rng, firmware=rng.choice(["flawed", "fixed"]), driver=rng.choice(["flawed", "fixed"]), latest_s=hours * 3600 - 1200)
    for i in range(hosts * rnics):
        for _ in range(rng.randint(0, hours // 2)):
            LONG_BENIGN[rng.choice(list(LONG_BENIGN))](draft, Place(f"host{1 + i // rnics:02d}", PCI[i % rnics]), None)
    topology = {
        "racks": 3, "hosts": hosts, "rnics_per_host": rnics, "models": rng.sample(MODELS, len(MODELS)), "firmware": draft.firmware,
        "driver": draft.driver, "externals": rng.randint(30, 250),
    }  # fmt: skip
    scenario = {"name": f"quiet-{number:02d}", "seed": number, "topology": topology, "workload": draft.usual_load(), "events": draft.events}
    text = f"# {hours} hours of a fleet at ease, drawn from {number}.\n" + yaml.safe_dump(
        scenario, sort_keys=False, default_flow_style=None, width=200
    )
    return Drawn(f"quiet-{number:02d}", text, hours * 3600, 10)
