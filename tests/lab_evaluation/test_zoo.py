"""The planted devices are what they say: truth and answers agree, defaults are healthy, and every operation is counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from dut_zoo.bad import WAYS
from dut_zoo.conditions import Boundary, Condition
from dut_zoo.device import Device
from dut_zoo.draft import FEWEST_TESTS, MOST_TESTS
from dut_zoo.kinds import ALL, KINDS, make
from dut_zoo.near import fresh
from dut_zoo.planted import Fault, Planted

SEEDS = range(1, 5)
EVERY = [(kind, seed) for kind in ALL for seed in SEEDS]


@pytest.mark.parametrize(("kind", "seed"), EVERY)
def test_a_description_keeps_to_the_protocol_and_to_the_limits_of_the_specification(kind: str, seed: int) -> None:
    planted = make(kind, seed)
    described = json.loads(json.dumps(planted.describe()))
    assert described["protocol"] == "dut/1"
    assert 9 <= len(described["parameters"]) <= 20
    assert FEWEST_TESTS <= planted.brute_force <= MOST_TESTS
    names = [one["name"] for one in described["parameters"]]
    assert len(set(names)) == len(names)
    assert set(described["default"]) == set(names)
    assert planted.invalid(described["default"]) is None
    assert planted == make(kind, seed), "the same device each time"


@pytest.mark.parametrize(("kind", "seed"), EVERY)
def test_the_default_is_healthy_unless_the_trap_is_that_it_is_not(kind: str, seed: int) -> None:
    planted = make(kind, seed)
    assert planted.bad(planted.default) == (kind == "trap-default")


@pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind, seed in EVERY if kind not in ("flaky", "trap-errors")])
def test_the_truth_and_the_device_agree_on_every_configuration(kind: str, seed: int) -> None:
    planted = make(kind, seed)
    device = Device(planted)
    bases = device.test(planted.default)["metrics"]
    device.reset()
    for config in fresh(planted, 200, seed):
        answer = device.test(config)
        if planted.memory:
            device.reset()
        assert answer["status"] == "ok"
        held = [fault for fault in planted.faults if fault.holds(config)]
        crashed = [fault for fault in held if fault.crash]
        assert set(answer["symptoms"]) == {fault.symptom for fault in crashed or held if fault.symptom}
        degraded = {name for fault in held for name in fault.effects}
        if crashed:
            assert not any(answer["metrics"].values())
        elif planted.blur.noise < 0.01 and not planted.blur.drift and kind != "trap-default":
            assert {name for name, value in answer["metrics"].items() if worsening(planted, name, bases[name], value) > 0.055} <= degraded
            silent = {fault.metric for fault in held if fault.metric}
            assert all(worsening(planted, name, bases[name], answer["metrics"][name]) > 0.04 for name in silent)


def worsening(planted: Planted, name: str, usual: float, actual: float) -> float:
    """How much worse a metric is, as a share."""
    metric = next(one for one in planted.metrics if one.name == name)
    return (usual - actual) / usual if metric.higher_is_better else (actual - usual) / usual


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "healthy"])
def test_each_fault_can_be_seen_alone_and_each_of_its_conditions_matters(kind: str) -> None:
    for seed in SEEDS:
        planted = make(kind, seed)
        configs = fresh(planted, 4000, seed)
        for fault in planted.faults:
            assert any(planted.active(config) == [fault] for config in configs), f"{planted.name}: {fault} is never seen alone"
            for one in fault.conditions:
                others = [other for other in fault.conditions if other is not one]
                broken = [config for config in configs if not one.holds(config) and all(other.holds(config) for other in others)]
                assert broken, f"{planted.name}: the others imply {one}"


def test_half_of_the_fresh_configurations_lie_on_both_sides_of_the_faults() -> None:
    planted = make("conjunction", 2)
    close = fresh(planted, 2000, 1)[1000:]
    assert 0.35 < sum(planted.bad(config) for config in close) / len(close) < 0.65
    assert all(planted.invalid(config) is None for config in close)


def test_the_kinds_hold_what_their_names_say() -> None:
    def every(kind: str) -> list[Planted]:
        return [make(kind, seed) for seed in range(1, 31)]

    assert all({one.parameter for one in conditions(device)} and len(device.faults) == 1 for device in every("threshold"))
    assert any(len(conditions(device)) == 2 for device in every("threshold")), "windows"
    assert {len(device.faults[0].conditions) for device in every("conjunction")} == {2, 3, 4}
    assert {one.form for device in every("boundary") for one in boundaries(device)} == {"*", "+", "/"}
    assert all(any(one.op == "before" for one in conditions(device)) for device in every("order"))
    assert all(any(one.op in ("!=", "in") for one in conditions(device)) for device in every("inequality"))
    assert all(0.8 <= device.blur.shows <= 0.95 and device.blur.false_alarm <= 0.02 for device in every("flaky"))
    assert all(0.01 <= device.blur.noise <= 0.03 and device.faults[0].metric for device in every("noisy"))
    assert all(2 <= len(device.faults) <= 3 for device in every("several"))
    assert all([fault.symptom for fault in device.faults] == ["S3", "S6"] and device.faults[0].crash for device in every("hidden"))
    assert all(device.topology for device in every("topology"))
    assert all(device.memory for device in every("memory"))
    assert all(not device.faults for device in every("healthy"))
    assert {len(fault.conditions) for device in every("random") for fault in device.faults} == {1, 2, 3, 4}
    named = [[fault.symptom for fault in device.faults if fault.symptom] for device in every("several")]
    assert any(len(set(symptoms)) < len(symptoms) for symptoms in named), "two faults with the same symptom"
    assert any(device.topology and "wire" in device.topology.exits for device in every("topology"))
    assert len(KINDS) == 12


def conditions(device: Planted) -> list[Condition]:
    return [one for fault in device.faults for one in fault.conditions if isinstance(one, Condition)]


def boundaries(device: Planted) -> list[Boundary]:
    return [one for fault in device.faults for one in fault.conditions if isinstance(one, Boundary)]


def test_a_crash_hides_the_other_fault() -> None:
    planted = make("hidden", 1)
    both = next(config for config in fresh(planted, 4000, 1) if all(fault.holds(config) for fault in planted.faults))
    answer = Device(planted).test(both)
    assert answer["symptoms"] == ["S3"]
    assert not any(answer["metrics"].values())


def test_a_flaky_device_shows_its_symptom_as_often_as_planted() -> None:
    planted = make("flaky", 1)
    failing = next(config for config in fresh(planted, 2000, 1) if planted.bad(config))
    device = Device(planted, seed=4)
    shown = sum(bool(device.test(failing)["symptoms"]) for _ in range(2000)) / 2000
    assert shown == pytest.approx(planted.blur.shows, abs=0.03)


def test_noise_is_repeatable_by_seed_and_differs_between_seeds() -> None:
    planted = make("noisy", 3)

    def answers(seed: int) -> list[object]:
        device = Device(planted, seed)
        return [device.test(planted.default)["metrics"] for _ in range(5)]

    assert answers(1) == answers(1) != answers(2)


def test_a_device_with_memory_is_bad_until_a_reset() -> None:
    planted = make("memory", 1)
    device = Device(planted)
    assert device.test(planted.default)["symptoms"] == []
    failing = next(config for config in fresh(planted, 2000, 1) if planted.bad(config))
    shown = device.test(failing)["symptoms"]
    assert shown == [planted.faults[0].symptom]
    assert device.test(planted.default)["symptoms"] == shown
    device.reset()
    assert device.test(planted.default)["symptoms"] == []


def test_loops_dead_ends_and_what_is_outside_the_domain_are_invalid_and_counted() -> None:
    planted = make("topology", 2)
    assert planted.topology is not None
    rng = Random(1)
    drawn = [{one.name: one.draw(rng) for one in planted.parameters} for _ in range(400)]
    reasons = {planted.topology.fault(config) for config in drawn}
    assert None in reasons
    assert any(reason and "loop" in reason for reason in reasons)
    device = Device(planted)
    expected = 0
    for config in drawn:
        invalid = planted.topology.fault(config) is not None
        expected += invalid
        assert (device.test(config)["status"] == "invalid") == invalid
    assert device.ledger.invalid == expected > 0
    assert device.test({"no_such": 1})["status"] == "invalid"
    number = next(one for one in planted.parameters if one.describe()["kind"] == "integer")
    for wrong in (-5, True, "1", 10**9, None, [1]):
        assert device.test({number.name: wrong})["status"] == "invalid"


def test_a_device_starts_with_an_error_now_and_then_and_a_retry_passes() -> None:
    device = Device(make("trap-errors", 1))
    kinds = [device.test({})["status"] for _ in range(300)]
    assert 1 <= kinds.count("error") <= 40
    assert kinds.count("ok") + kinds.count("error") == 300


def test_a_metric_that_improves_never_gets_worse() -> None:
    for seed in SEEDS:
        planted = make("trap-improvement", seed)
        metric = planted.metrics[-1]
        trend = next(one for one in planted.trends if one.metric == metric.name)
        device = Device(planted)
        usual = device.test(planted.default)["metrics"][metric.name]
        moved = [worsening(planted, metric.name, usual, device.test(config)["metrics"][metric.name]) for config in fresh(planted, 200, 1)]
        assert trend.metric not in {name for fault in planted.faults for name in fault.effects}
        assert max(moved) < 0.05
        assert min(moved) < -0.1


# The executables.


def started(*options: str, ledger: Path | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "DUT_SEED": "5"}
    if ledger:
        environment["DUT_LEDGER"] = str(ledger)
    command = [sys.executable, "-m", "dut_zoo", *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def exchange(requests: list[dict[str, object]], *options: str, ledger: Path | None = None) -> list[str]:
    with started(*options, ledger=ledger) as process:
        lines, _ = process.communicate("".join(json.dumps(one) + "\n" for one in requests), timeout=120)
    return lines.splitlines()


def test_the_executable_answers_in_order_and_keeps_a_ledger(tmp_path: Path) -> None:
    planted = make("several", 2)
    configs = fresh(planted, 50, 1)
    requests: list[dict[str, object]] = [{"op": "describe"}]
    requests += [{"op": "test", "id": number, "config": config} for number, config in enumerate(configs)]
    requests += [{"op": "reset", "id": "r"}, {"op": "test", "id": None, "config": {"no_such": 1}}, {"op": "what", "id": 9}]
    lines = [json.loads(line) for line in exchange(requests, "--device", "several", "--seed", "2", ledger=tmp_path / "ledger")]
    assert lines[0] == json.loads(json.dumps(planted.describe()))
    device = Device(planted, seed=5)
    assert lines[1:51] == [{"id": number, **device.test(config)} for number, config in enumerate(configs)]
    assert lines[51] == {"id": "r", "status": "ok"}
    assert lines[52]["status"] == "invalid"
    assert lines[53]["status"] == "error"
    counted = [json.loads(line)["op"] for line in (tmp_path / "ledger").read_text().splitlines()]
    assert counted == ["test"] * 50 + ["reset", "test"]


def test_the_list_shows_every_device() -> None:
    with started("--list") as process:
        text, _ = process.communicate(timeout=120)
    assert [line.split()[0] for line in text.splitlines()] == list(ALL)


def test_bad_devices_are_right_until_they_misbehave() -> None:
    requests: list[dict[str, object]] = [{"op": "describe"}, *({"op": "test", "id": number, "config": {}} for number in range(1, 5))]

    def answers(way: str) -> list[str]:
        lines = exchange(requests, "--device", "threshold", "--bad", way, "--after", "3")
        assert [json.loads(line).get("id") for line in lines[1:3]] == [1, 2]
        return lines[3:]

    assert answers("dies") == []
    assert [json.loads(line)["id"] for line in answers("twice")] == [3, 3, 4, 4]
    assert [json.loads(line)["id"] for line in answers("wrong-id")] == ["not-3", "not-4"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(answers("garbage")[0])
    with pytest.raises(json.JSONDecodeError):
        json.loads(answers("truncated")[0])
    assert [json.loads(line)["id"] for line in answers("late")] == [3, 4]
    assert set(WAYS) == {"dies", "hangs", "twice", "wrong-id", "garbage", "changes-description", "late", "truncated"}


def test_a_hanging_device_gives_no_answer_and_can_be_killed() -> None:
    with started("--device", "threshold", "--bad", "hangs", "--after", "1") as process:
        assert process.stdin
        process.stdin.write('{"op":"test","id":1,"config":{}}\n')
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.kill()


def test_a_device_that_changes_its_description_differs_in_each_process_and_when_asked_again() -> None:
    asked: list[dict[str, object]] = [{"op": "describe"}, {"op": "describe"}]
    first, second = exchange(asked, "--device", "threshold", "--bad", "changes-description")
    (other,) = exchange(asked[:1], "--device", "threshold", "--bad", "changes-description")
    assert len({first, second, other}) == 3


def test_a_fault_without_a_symptom_has_exactly_one_metric() -> None:
    silent = [fault for kind, seed in EVERY for fault in make(kind, seed).faults if not fault.symptom]
    assert silent
    assert all(len(fault.effects) == 1 for fault in silent)
    assert isinstance(silent[0], Fault)
