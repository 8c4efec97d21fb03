"""Behaviours of transport engines on recordings of the simulated fleet: each is found where its mechanism is, in time, and nowhere else."""

import gzip
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.evaluation.behaviours import draw
from tests.evaluation.scoring.replay import Episode, replay

from wallwatch_local import hosts
from wallwatch_local.paths import binary

INTERVAL_S = 10
FIRST, SECOND = "0000:17:00.0", "0000:3b:00.0"

BEGIN: dict[tuple[str, str, str], float] = {
    ("B1", "host01", FIRST): 45 + 30,
    ("B2", "host02", FIRST): 60,
    ("B3", "host06", FIRST): 75,
    ("B4", "host04", SECOND): 30,
    ("B5", "host02", FIRST): 60,
    ("B8", "host02", FIRST): 60,
    ("B8", "host03", FIRST): 60,
}
"""When each begins in the scenario `transport`, s. B1 holds once the class was held for 30 s. Whoever waits for the pipeline of host02 has
timers of its own: its readers, and the writer on host03."""


def findings(folder: Path, scenario: str, seed: int) -> list[Episode]:
    """Episodes of one scenario's recording."""
    arguments = ["--scenario", hosts.scenario_file(scenario), "--out", folder, "--for", "5m", "--interval", f"{INTERVAL_S}s"]
    subprocess.run([binary("fleetsim"), "record", *arguments, "--seed", str(seed)], check=True, capture_output=True)
    with gzip.open(folder / "telemetry.jsonl.gz") as lines:
        found = replay(lines)
    assert not found.problems
    return found.episodes


@pytest.mark.integration
@pytest.mark.parametrize("seed", [922, 1])
def test_each_behaviour_is_found_within_three_samples_of_its_begin_and_nothing_else_is(tmp_path: Path, seed: int) -> None:
    first: dict[tuple[str, str, str], float] = {}
    start_ms = 1_767_225_600_000  # 2026-01-01, at which recordings begin
    for one in findings(tmp_path, "transport", seed):
        place = (one.symptom, one.host, one.pci)
        first[place] = min(first.get(place, 1e9), (one.raised_ms - start_ms) / 1000)
    assert first.keys() == BEGIN.keys()
    late = {place: (first[place], begin) for place, begin in BEGIN.items() if not begin < first[place] <= begin + 3 * INTERVAL_S + 1}
    assert late == {}


@pytest.mark.integration
@pytest.mark.parametrize("seed", [923, 2])
def test_what_looks_like_a_behaviour_and_is_none_raises_nothing(tmp_path: Path, seed: int) -> None:
    assert [(one.symptom, one.host, one.pci, one.summary) for one in findings(tmp_path, "transport-near-misses", seed)] == []


def test_fleets_of_healthy_engines_have_no_mechanism_of_a_behaviour() -> None:
    for number in range(1, 40):
        scenario = yaml.safe_load(draw(number).text)
        placed = {(one["host"], one["rnic"]): one for one in scenario["overrides"]}
        for stream in scenario["streams"]:
            ends = placed[stream["host"], stream["rnic"]], placed[stream["peer_host"], stream["peer_rnic"]]
            models = [end["model"] for end in ends]
            assert not ("losing" in stream and models[0] == "CX-4 Lx")
            assert not ("tail_losses_per_second" in stream and not ends[0]["transport"]["adaptive_off"])
            assert not ("marked" in stream and models[1] == "E810" and not ends[1]["transport"]["notification_point_off"])
            data = models[::-1] if stream["verb"] == "read" else models
            assert not (data == ["E810", "CX-5"] and stream["queue_pairs"] >= 16)
