"""`wallwatch nf profile` on a device whose function is known: what it measures, continues and writes."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app

DEVICE = """
import json, os, sys
traffic = {"flows": (1000, 64000, 16000), "packet_bytes": (64, 1518, 1518), "mtbr": (0, 1000, 0)}
bench = {"bench_rate": (0, 1000, 0), "bench_kb": (100, 10000, 100)}
engine = {"engine_bench_queues": (0, 4, 0), "engine_bench_ns": (500, 8000, 500)}
components = {"traffic": traffic, "contention": bench, "accelerator": engine}
names = "throughput_kpps competitors_ipc competitors_instructions competitors_l2_reads competitors_l2_writes competitors_memory_reads"
names = (names + " competitors_memory_writes competitors_working_set_mb own_ipc own_instructions own_l2_reads own_l2_writes").split()
names += "own_memory_reads own_memory_writes own_working_set_mb".split()
default = {name: one[2] for group in components.values() for name, one in group.items()}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "describe":
        parameters = [
            {"name": name, "kind": "integer", "component": component, "min": low, "max": high, "step": 1}
            for component, group in components.items() for name, (low, high, _) in group.items()
        ]
        answer = {"protocol": "dut/1", "name": "probe", "description": "", "parameters": parameters, "symptoms": [], "topology": None,
                  "metrics": [{"name": name, "unit": "", "better": "higher"} for name in names[: None if len(sys.argv) < 3 else 1]],
                  "sequential": False, "default": default, "seconds_per_test": 0.01}
    else:
        c = {**default, **asked["config"]}
        with open(sys.argv[1], "a") as ledger:
            ledger.write(line)
        rate = c["bench_rate"] * 1e5
        memory = 1000 / (1 + c["flows"] / 64000 + rate / 1e8 * (0.2 + c["bench_kb"] / 20000))
        own, queues = 2e-4 + 2e-6 * c["mtbr"], 2
        kpps = min(memory, queues / (queues * own + c["engine_bench_queues"] * c["engine_bench_ns"] * 1e-6))
        on = 1 if rate else 0
        counters = [1.2 * on, 3e9 * on, rate, rate / 2, 1e9 * on, 3e8 * on, c["bench_kb"] / 1000 * on]
        own = [1.1, 2e9, 3e7, 1e7, 8e8, 2e8, c["flows"] / 1e4]
        answer = {"id": asked["id"], "status": "ok", "symptoms": [], "metrics": dict(zip(names, [kpps, *counters, *own]))}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def device(tmp_path: Path) -> str:
    (tmp_path / "device.py").write_text(DEVICE)
    return f"{sys.executable} {tmp_path / 'device.py'} {tmp_path / 'asked'}"


def profile(device: str, out: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["nf", "profile", "--dut", device, "--out", str(out), "--quota", "40", "--nf", "probe", *options])


def asked(folder: Path) -> list[dict[str, object]]:
    file = folder / "asked"
    return [json.loads(line)["config"] for line in file.read_text().splitlines()] if file.exists() else []


def test_a_profile_keeps_its_quota_and_trains_a_model(device: str, tmp_path: Path) -> None:
    ran = profile(device, tmp_path / "out", "--json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["measured"] == len(asked(tmp_path)) == 40
    assert found["attributes"] == ["flows"]
    assert found["engine"]["n"] == 2
    assert (found["engine"]["t0"], found["engine"]["a"]) == pytest.approx((2e-4, 2e-6), rel=1e-3)
    assert found["engine"]["t0_error"] < 1e-3 * 2e-4, "the device measures without noise"
    assert found["pattern"]["detected"] == "pipeline"
    assert found["pattern"]["errors"]["pipeline"] < 0.01 < found["pattern"]["errors"]["run_to_completion"]
    assert (tmp_path / "out" / "pattern").read_text() == "pipeline\n"
    engine = [line.split() for line in (tmp_path / "out" / "probe_reg_train").read_text().splitlines()]
    assert {tuple(row[2:]) for row in engine} == {("2", "1518")}
    own = [line.split() for line in (tmp_path / "out" / "probe_own_load").read_text().splitlines()]
    assert {row[0] for row in own} >= {"1000", "16000", "64000"}
    assert all(float(row[8]) == float(row[0]) / 1e4 for row in own)
    trained = CliRunner().invoke(app, ["nf", "train", "--profiles", str(tmp_path / "out"), "--out", str(tmp_path / "m.json"), "--json"])
    assert trained.exit_code == 0, trained.output
    assert json.loads(trained.stdout)["cross_validation"]["mape"] < 5


def test_a_killed_profile_goes_on_where_it_was_and_measures_nothing_twice(device: str, tmp_path: Path) -> None:
    assert profile(device, tmp_path / "whole").exit_code == 0
    whole = asked(tmp_path)
    (tmp_path / "asked").unlink()
    (tmp_path / "killed").mkdir()
    lines = (tmp_path / "whole" / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "killed" / "journal.jsonl").write_text("".join(lines[:13]) + lines[13][:20])
    assert profile(device, tmp_path / "killed").exit_code == 0
    assert asked(tmp_path) == whole[12:]
    for name in ("probe_mem_train", "probe_reg_train", "probe_own_load"):
        assert (tmp_path / "killed" / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_a_plan_lists_what_the_next_measurements_are_and_measures_nothing(device: str, tmp_path: Path) -> None:
    first = json.loads(profile(device, tmp_path / "out", "--plan", "--json").stdout)
    assert [one["flows"] for one in first] == [16_000, 64_000, 1000, 16_000]
    assert asked(tmp_path) == []
    assert profile(device, tmp_path / "out").exit_code == 0
    assert asked(tmp_path)[:4] == first
    assert json.loads(profile(device, tmp_path / "out", "--plan", "--json").stdout) == []
    # By hand, step by step, the same configurations come out as in the run.
    journal, whole = (tmp_path / "out" / "journal.jsonl").read_text().splitlines(keepends=True), asked(tmp_path)
    (tmp_path / "part").mkdir()
    for done in (4, 10, 20, 36):
        (tmp_path / "part" / "journal.jsonl").write_text("".join(journal[: done + 1]))
        planned = json.loads(profile(device, tmp_path / "part", "--plan", "--json").stdout)
        assert planned[0] == whole[done]
        assert all(one in whole for one in planned)


def test_a_device_that_cannot_be_profiled_is_refused(device: str, tmp_path: Path) -> None:
    ran = profile(f"{device} without", tmp_path / "out")
    assert ran.exit_code == 2
    assert "it has no metric competitors_ipc" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_a_quota_that_the_accelerator_would_use_up_is_refused(device: str, tmp_path: Path) -> None:
    ran = profile(device, tmp_path / "out", "--quota", "15")
    assert ran.exit_code == 2
    assert "the quota must be at least 24" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_device_is_refused(device: str, tmp_path: Path) -> None:
    assert profile(device, tmp_path / "out").exit_code == 0
    ran = profile(device, tmp_path / "out", "--seed", "2")
    assert ran.exit_code == 2
    assert "choose another --out" in ran.stderr
