"""`python -m tests.evaluation.behaviours`: RNIC-hours of transport engines that do as they should, and what is reported of them.

Fleets of the four models that Lumina measured, with streams of RDMA all the time that come as close to a behaviour (B1 to B8)
as a healthy engine can: congestion on both classes, incast, lost responses where they are counted, marks that are answered or
whose answer is disabled, starts of connections, lost last packets on timers as they should be.
No mechanism of a behaviour is at work, so every finding of one is false.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import typer
import yaml
from tests.evaluation.draw import PCI, Drawn
from tests.evaluation.record import record
from tests.evaluation.scoring.replay import replay

from wallwatch.domain.catalogue.load import behaviours
from wallwatch.recordings import load
from wallwatch_local.paths import REPOSITORY, binary

RESULTS = REPOSITORY / "docs" / "evaluation-behaviours.json"
MODELS = ("CX-4 Lx", "CX-5", "CX-6 Dx", "E810")
HOSTS, RNICS = 6, 4
LENGTH_S, INTERVAL_S = 1800, 10
RECORDINGS = 88
"""1,056 RNIC-hours."""
Stream = dict[str, Any]

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class Heard:
    """What one recording gave."""

    name: str
    rnic_hours: float
    messages: int
    streams: int
    false: list[str]
    """Findings of behaviours."""
    others: dict[str, int]
    """Findings of the symptoms S1 to S8: they are judged elsewhere (docs/evaluation.md)."""


@dataclass(slots=True)
class Fleet:
    """A scenario in the making."""

    rng: random.Random
    models: dict[tuple[str, str], str]
    overrides: dict[tuple[str, str], dict[str, Any]]
    streams: list[Stream]

    def of(self, *models: str, without: tuple[str, str] | None = None) -> tuple[str, str]:
        """An RNIC of one of these models."""
        return self.rng.choice([place for place, model in self.models.items() if model in models and place != without])

    def stream(self, source: tuple[str, str], target: tuple[str, str], verb: str, **spec: Any) -> None:
        (host, rnic), (peer_host, peer_rnic) = source, target
        times = {"at": f"{self.rng.uniform(30, LENGTH_S - 600):.0f}s"}
        if "every" not in spec:
            times["for"] = f"{self.rng.uniform(60, 900):.0f}s"
        ends = {"host": host, "rnic": rnic, "peer_host": peer_host, "peer_rnic": peer_rnic, "verb": verb}
        stream = {**ends, "priority": 3, "queue_pairs": self.rng.randint(2, 40), **times, **spec}
        data = (target, source) if verb == "read" else (source, target)
        if [self.models[end] for end in data] == ["E810", "CX-5"]:
            # More that start together would be B3.
            stream["queue_pairs"] = min(stream["queue_pairs"], 15)
            stream |= {"losing": min(stream["losing"], 15)} if "losing" in stream else {}
        self.streams.append(stream)


def _slowed_classes(fleet: Fleet) -> None:
    """Both classes of a CX-6 Dx that lends nothing are slowed by congestion control, or neither needs more than its guarantee."""
    here = fleet.of("CX-6 Dx")
    there = fleet.of("CX-5", "CX-6 Dx", without=here)
    fleet.overrides[here].setdefault("transport", {})["guarantees"] = [50, 50]
    at = {"at": f"{fleet.rng.uniform(30, LENGTH_S - 600):.0f}s", "for": "400s"}
    for priority in (0, 1):
        slowed = fleet.rng.random() < 0.5
        load = {"gbps": fleet.rng.randint(40, 90), "marked": 0.02} if slowed else {"gbps": fleet.rng.randint(2, 12)}
        fleet.stream(here, there, "write", **{**at, **load, "priority": priority})


def _incast(fleet: Fleet) -> None:
    """Several writers overload one link, again and again."""
    target = fleet.of(*MODELS)
    at, every = fleet.rng.uniform(30, LENGTH_S - 600), fleet.rng.choice([180, 300, 600])
    for _ in range(fleet.rng.randint(2, 4)):
        times = {"at": f"{at:.0f}s", "for": f"{every // 3}s", "every": f"{every}s"}
        fleet.stream(fleet.of("CX-5", "CX-6 Dx", without=target), target, "write", gbps=fleet.rng.randint(20, 60), **times)


def _counted_losses(fleet: Fleet) -> None:
    """Responses of reads are lost on the way to RNICs that count them and have no slow path for them."""
    here = fleet.of("CX-5", "CX-6 Dx")
    pairs = fleet.rng.randint(4, 40)
    losing = fleet.rng.randint(1, pairs)
    losses = round(fleet.rng.uniform(0.1, 3), 2)
    load = {"queue_pairs": pairs, "losing": losing, "losses_per_second": losses, "gbps": fleet.rng.randint(1, 15)}
    fleet.stream(here, fleet.of(*MODELS, without=here), "read", **load)


def _lost_last_packets(fleet: Fleet) -> None:
    """Lost last packets, on timers that are those of the queue pairs."""
    here = fleet.of("CX-4 Lx", "CX-5", "CX-6 Dx")
    fleet.overrides[here].setdefault("transport", {})["adaptive_off"] = True
    losses = round(fleet.rng.uniform(0.1, 4), 2)
    fleet.stream(here, fleet.of(*MODELS, without=here), "write", gbps=fleet.rng.randint(1, 10), tail_losses_per_second=losses)


def _marks(fleet: Fleet) -> None:
    """The network marks packets; receivers count their answers, or have the notification point off."""
    off = fleet.rng.random() < 0.3
    there = fleet.of("E810") if off else fleet.of("CX-4 Lx", "CX-5", "CX-6 Dx")
    if off:
        fleet.overrides[there].setdefault("transport", {})["notification_point_off"] = True
    marked = round(fleet.rng.uniform(0.0005, 0.05), 4)
    fleet.stream(fleet.of("CX-5", "CX-6 Dx", without=there), there, "write", gbps=fleet.rng.randint(2, 30), marked=marked)


def _starts(fleet: Fleet) -> None:
    """Many connections start together, between models that agree on MigReq; or few, between those that do not (see `stream`)."""
    every = fleet.rng.choice([60, 120, 300])
    times = {"at": f"{fleet.rng.uniform(30, 900):.0f}s", "for": f"{every // 2}s", "every": f"{every}s", "gbps": fleet.rng.randint(1, 10)}
    if fleet.rng.random() < 0.3:
        fleet.stream(fleet.of("E810"), fleet.of("CX-5"), "send", **times, queue_pairs=fleet.rng.randint(2, 15))
        return
    here = fleet.of("CX-4 Lx", "CX-5", "CX-6 Dx", "E810")
    others = ("CX-4 Lx", "CX-6 Dx", "E810") if fleet.models[here] == "E810" else MODELS
    fleet.stream(here, fleet.of(*others, without=here), "send", **times, queue_pairs=fleet.rng.randint(16, 64))


def _plain(fleet: Fleet) -> None:
    here = fleet.of(*MODELS)
    fleet.stream(here, fleet.of(*MODELS, without=here), fleet.rng.choice(["read", "write", "send"]), gbps=fleet.rng.randint(1, 15))


KINDS = (_slowed_classes, _incast, _counted_losses, _lost_last_packets, _marks, _starts, _plain)


def draw(number: int) -> Drawn:
    """The fleet of a number."""
    rng = random.Random(f"wallwatch transport engines {number}")
    places = [(f"host{1 + host:02d}", PCI[rnic]) for host in range(HOSTS) for rnic in range(RNICS)]
    models = {place: MODELS[index % len(MODELS)] for index, place in enumerate(rng.sample(places, len(places)))}
    overrides: dict[tuple[str, str], dict[str, Any]] = {
        (host, rnic): {"host": host, "rnic": rnic, "model": model} for (host, rnic), model in models.items()
    }
    for one in overrides.values():
        if rng.random() < 0.5:
            one["transport"] = {"count_queue_pairs": True}
    fleet = Fleet(rng, models, overrides, [])
    for kind in (*KINDS, *rng.choices(KINDS, k=8)):
        kind(fleet)
    topology = {"racks": 3, "hosts": HOSTS, "rnics_per_host": RNICS, "models": ["CX-5", "E810"], "firmware": "fixed", "vfs": 8}
    with_streams = {(one["host"], one["rnic"]) for one in fleet.streams} | {(one["peer_host"], one["peer_rnic"]) for one in fleet.streams}
    for place, one in overrides.items():
        if place not in with_streams:
            one.pop("transport", None)
    scenario = {
        "name": f"engines-{number:03d}", "seed": number, "topology": topology,
        "workload": [{"kind": "training", "containers": rng.randint(1, 2), "flows": rng.randint(10, 60), "gbps": rng.randint(1, 3)}],
        "overrides": list(overrides.values()), "streams": fleet.streams,
    }  # fmt: skip
    text = f"# Half an hour of transport engines that do as they should, drawn from {number}.\n"
    return Drawn(
        f"engines-{number:03d}", text + yaml.safe_dump(scenario, sort_keys=False, default_flow_style=None, width=200), LENGTH_S, INTERVAL_S
    )


def heard(number: int, fleetsim: Path) -> Heard:
    """Record one fleet, and judge it."""
    drawn = draw(number)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / drawn.name
        record(fleetsim, drawn, folder)
        found = replay(load(folder).lines())
    if found.problems:
        raise RuntimeError(f"{drawn.name}: {found.problems}")
    known = behaviours().keys()
    false = [f"{one.symptom} {one.host} {one.pci} {one.summary}" for one in found.episodes if one.symptom in known]
    others = Counter(one.symptom for one in found.episodes if one.symptom not in known)
    rnics = {(host, pci) for host, pci, _ in found.samples}
    hours = len(rnics) * (found.last_ms - found.first_ms) / 3_600_000
    return Heard(drawn.name, round(hours, 1), found.messages, len(yaml.safe_load(drawn.text)["streams"]), false, dict(others))


def total(results: list[Heard]) -> dict[str, Any]:
    """The figures of all recordings together."""
    return {
        "recordings": len(results),
        "rnic_hours": round(sum(one.rnic_hours for one in results), 1),
        "messages": sum(one.messages for one in results),
        "streams": sum(one.streams for one in results),
        "false": sum(len(one.false) for one in results),
        "each": [asdict(one) for one in results],
    }


def _numbers(text: str) -> Iterator[int]:
    first, _, last = text.partition("-")
    return iter(range(int(first), int(last or first) + 1))


def _kept() -> dict[str, Heard]:
    """Results that are in the file of results, by name."""
    if not RESULTS.exists():
        return {}
    return {one["name"]: Heard(**one) for one in orjson.loads(RESULTS.read_bytes())["each"]}


def _keep(result: Heard) -> None:
    """Add one result to the file, so that a run that is stopped loses only the recording at hand."""
    everything = _kept() | {result.name: result}
    found = total([everything[name] for name in sorted(everything)])
    RESULTS.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@app.command()
def main(
    numbers: str = typer.Option(f"1-{RECORDINGS}", "--numbers", help="which fleets, such as 1-4 or 7"),
    processes: int = typer.Option(1, "--processes", min=1),
    fleetsim: Path | None = typer.Option(None, help="recording program; by default the one that `make setup` has built"),
    write: bool = typer.Option(
        False, "--write", help="add each result to docs/evaluation-behaviours.json as soon as it is there; those that it has are left out"
    ),
) -> None:
    """Record (a quarter of a minute each), judge, print; exit code 1 if a behaviour was reported."""
    program = fleetsim or binary("fleetsim")
    there = _kept() if write else {}
    wanted = [number for number in _numbers(numbers) if draw(number).name not in there]
    false = 0
    with ProcessPoolExecutor(processes) as pool:
        for one in pool.map(heard, wanted, [program] * len(wanted)):
            typer.echo(f"{one.name}: {one.rnic_hours} RNIC-hours, {one.streams} streams, {len(one.false)} false; {one.others}")
            for line in one.false:
                typer.echo(f"  {line}")
            false += len(one.false)
            if write:
                _keep(one)
    sys.exit(1 if false else 0)


if __name__ == "__main__":
    app()
