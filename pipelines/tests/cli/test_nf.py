"""`wallwatch nf` as it is called from a shell: answers, and every kind of file that cannot be used."""

import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines.tests.cli.test_cli import imported_by
from pipelines.tests.domain.contention.contended_card import memory_rows, text
from scipy.optimize import milp
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app

FUNCTIONS: list[dict[str, Any]] = [
    {"name": "acl", "sla_drop": 0.1, "solo_kpps": 700, "memory_load": 1, "memory_curve": [[0, 0], [3, 0.2]], "count": 6},
    {"name": "ids", "sla_drop": 0.2, "solo_kpps": 700, "memory_load": 0.2, "engines": {"regex": {"n": 1, "t": 0.0005, "rate": 700}}},
    {"name": "ids", "count": 3},
]


def nf(*words: object) -> Result:
    return CliRunner().invoke(app, ["nf", *map(str, words)])


def answer(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(result: Result, *parts: str) -> None:
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit), "a traceback, not a refusal"
    for part in parts:
        assert part in result.stderr


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profiles")
    (folder / "sample_yala_mem_train").write_text(text(memory_rows(50, 1)))
    (folder / "sample_slomo_train").write_text(text(memory_rows(50, 2, flows=16_000)))
    (folder / "sample_yala_reg_train").write_text("330.0 0.00085\n628.0 0.00148\n")
    return folder


@pytest.fixture(scope="module")
def model(profiles: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "model.json"
    result = nf("train", "--profiles", profiles, "--out", out, "--nf", "probe")
    assert result.exit_code == 0, result.output
    assert "cross-validation (memory): MAPE" in result.stdout
    return out


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = memory_rows(80, 5)
    file = tmp_path_factory.mktemp("measured") / "test"
    file.write_text(text(np.column_stack([np.zeros((80, 2)), rows])))
    return file


def test_train_writes_the_same_json_each_time_with_hashes_of_its_data(profiles: Path, model: Path, tmp_path: Path) -> None:
    card = answer(nf("train", "--profiles", profiles, "--out", tmp_path / "again.json", "--nf", "probe", "--json"))
    assert (tmp_path / "again.json").read_bytes() == model.read_bytes()
    assert set(card["data"]) == {"sample_yala_mem_train", "sample_slomo_train", "sample_yala_reg_train"}
    assert json.loads(model.read_text())["function"] == "probe"
    assert [file.name for file in tmp_path.iterdir()] == ["again.json"], "no temporary file is left"


def test_evaluate_prints_the_five_figures_in_percent(model: Path, measured: Path) -> None:
    found = answer(nf("evaluate", "--model", model, measured, "--format", "yala", "--json"))
    assert list(found) == ["mape", "within_5", "within_10", "coverage_90", "n"]
    assert found["n"] == 80
    assert 0.5 < found["mape"] < 6
    assert 80 <= found["coverage_90"] <= 100
    assert f"{found['mape']:.2f}%" in nf("evaluate", "--model", model, measured).stdout


def test_predict_takes_rows_with_and_without_a_measurement(model: Path, measured: Path, tmp_path: Path) -> None:
    found = answer(nf("predict", "--model", model, measured, "--json"))
    bare = tmp_path / "bare"
    bare.write_text("\n".join(line.rsplit(" ", 1)[0] for line in measured.read_text().splitlines()))
    assert answer(nf("predict", "--model", model, bare, "--json")) == found
    piped = CliRunner().invoke(app, ["nf", "predict", "--model", str(model), "-", "--json"], input=measured.read_text())
    assert answer(piped) == found
    assert all(row["low_kpps"] < row["throughput_kpps"] < row["high_kpps"] for row in found)


def scenario(mtbr: float) -> dict[str, Any]:
    rates = [1.2, 3e9, 4e7, 2e7, 1.1e9, 3.5e8]
    heavy = {"name": "bench", "counters": [*rates, 9.0], "engine_time": 0.0003}
    return {"traffic": {"flows": 16_000, "mtbr": mtbr}, "competitors": [heavy, {"name": "regex bench", "engine_time": 0.0006}]}


def test_diagnose_names_the_resource_that_binds_and_who_contributes(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "scenarios.json"
    file.write_text(json.dumps([scenario(0), scenario(1000)]))
    low, high = answer(nf("diagnose", "--model", model, file, "--format", "json", "--json"))
    assert (low["bottleneck"], high["bottleneck"]) == ("memory", "regex")
    assert 0 < low["shifts_at_mtbr"] < 1000
    assert low["contributors_kpps"]["bench"] > 0 == low["contributors_kpps"]["regex bench"]
    assert high["contributors_kpps"]["regex bench"] > high["contributors_kpps"]["bench"] > 0
    assert high["comes_back_kpps"] > 0
    assert "regex binds" in nf("diagnose", "--model", model, file, "--format", "json").stdout


def test_share_answers_one_case_or_a_list(tmp_path: Path) -> None:
    case = {"functions": [{"n": 1, "t": 2.0}, {"n": 3, "t": 1.0, "rate": 0.3}, {"n": 1, "t": 1.0, "rate": None}]}
    expected = {"throughput_per_us": pytest.approx([0.7 / 3, 0.3, 0.7 / 3])}
    file = tmp_path / "share.json"
    file.write_text(json.dumps(case))
    assert answer(nf("share", file, "--json")) == expected
    file.write_text(json.dumps([case, {"functions": []}]))
    assert answer(nf("share", file, "--json")) == [expected, {"throughput_per_us": []}]
    assert "per us" in nf("share", file).stdout


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("{", "not valid JSON"),
        ("[3]", "case 0: an object is required"),
        ("{}", "functions must be a list"),
        ('{"functions": [{"n": 0, "t": 1}]}', "function 0: n must be a number of at least 1"),
        ('{"functions": [{"n": 1.5, "t": 1}]}', "n must be a whole number"),
        ('{"functions": [{"n": 1, "t": 0}]}', "t must be a positive"),
        ('{"functions": [{"n": 1, "t": 1e-320}]}', "t is too small"),
        ('{"functions": [{"n": 1, "t": 1, "rate": -1}]}', "rate must be a number of at least 0"),
        ('{"functions": [{"n": 1, "t": NaN}]}', "NaN is not a number in JSON"),
        ('{"functions": [{"n": 1, "t": 1e999}]}', "t must be a number"),
        ('{"functions": [{"n": "1", "t": 1}]}', "n must be a number"),
        (f'{{"functions": [{{"n": 1, "t": 1{"0" * 400}}}]}}', "t must be a number"),
    ],
)
def test_share_refuses_what_is_no_accelerator(tmp_path: Path, content: str, part: str) -> None:
    (tmp_path / "share.json").write_text(content)
    refused(nf("share", tmp_path / "share.json", "--json"), part)


def place(folder: Path, functions: object, cards: object, *options: str) -> Result:
    (folder / "nfs.json").write_text(json.dumps(functions))
    (folder / "nics.json").write_text(json.dumps(cards))
    return nf("place", "--nfs", folder / "nfs.json", "--nics", folder / "nics.json", *options)


@pytest.mark.parametrize("policy", ["fullest", "optimum"])
def test_place_assigns_every_function_within_its_sla(tmp_path: Path, policy: str) -> None:
    found = answer(place(tmp_path, FUNCTIONS, {"cores": 8}, "--policy", policy, "--json"))
    assert len(found["assignment"]) == 10
    assert found["nics_used"] == 3
    assert found["expected_violations"] == found["unplaced"] == 0
    cards = [[row["nf"] for row in found["assignment"] if row["nic"] == nic] for nic in ("nic0", "nic1", "nic2")]
    assert max(card.count("acl") for card in cards) == 2


def test_place_says_what_has_no_place(tmp_path: Path) -> None:
    result = place(tmp_path, FUNCTIONS, [{"name": "bf2-a"}, {"name": "bf2-b"}], "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["unplaced"] == 2
    assert {row["nic"] for row in found["assignment"]} == {"bf2-a", "bf2-b", None}
    assert "2 functions have no place" in result.stderr
    assert "no card: " in place(tmp_path, FUNCTIONS, [{"name": "bf2-a"}]).stdout


def test_place_takes_a_measured_curve_with_its_noise(tmp_path: Path) -> None:
    """Points that fall by noise are no reason to refuse the batch, and the error of a drop costs cards."""
    noisy = {"name": "a", "count": 40, "sla_drop": 0.1, "solo_kpps": 500, "memory_load": 1}
    noisy["memory_curve"] = [[0, -0.004], [1, 0.052], [2, 0.048], [3, 0.095]]
    exact, careful = (answer(place(tmp_path, [{**noisy, "drop_error": error}], {"cores": 8}, "--json")) for error in (0.0, 0.01))
    assert (exact["nics_used"], exact["expected_violations"]) == (10, 0)
    assert careful["nics_used"] > 10
    assert careful["expected_violations"] <= 0.4
    daring = answer(place(tmp_path, [{**noisy, "drop_error": 0.01}], {"cores": 8}, "--json", "--risk", "0.5"))
    assert daring["nics_used"] == 10
    assert daring["expected_violations"] > 0.4


def test_place_fits_measurements_and_says_what_to_measure_next(tmp_path: Path) -> None:
    loads = [0.0] * 4 + [0.5 * at for at in range(1, 15)]
    rows = [[load, 500 * (1 - 0.05 * min(load, 4)) * (1 + 0.01 * (-1) ** at)] for at, load in enumerate(loads)]
    function = {"name": "a", "count": 80, "sla_drop": 0.11, "solo_kpps": 500, "memory_load": 1, "memory_measurements": rows}
    found = answer(place(tmp_path, [function], {"cores": 8}, "--json", "--measure", "12"))
    assert found["expected_violations"] <= 0.8
    assert found["nics_used"] > 20, "three neighbours take 15%, and two take 10%, give or take 1%: not all cards may risk that"
    assert {one["nf"] for one in found["measure_next"]} == {"a"}
    assert sum(one["repeats"] for one in found["measure_next"]) == 12
    assert "measure a next to a load of" in place(tmp_path, [function], {"cores": 8}, "--measure", "12").stdout


def test_place_prints_nothing_but_its_answer_even_where_the_solver_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """HiGHS writes to the process's stdout past Python, here as C does it: buffered, so that the line may come out long after the call."""
    c_library = ctypes.CDLL(None)

    def talkative(*arguments: Any, **options: Any) -> Any:
        c_library.printf(b"a stray line of the solver\n")
        return milp(*arguments, **options)

    monkeypatch.setattr("wallwatch.domain.contention.batch_placement.milp", talkative)
    answer(place(tmp_path, FUNCTIONS, {"cores": 8}, "--json"))
    c_library.fflush(None)
    printed = capfd.readouterr()
    assert "stray" not in printed.out
    assert printed.err.count("a stray line of the solver") == 1


@pytest.mark.parametrize(
    ("functions", "cards", "part"),
    [
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_measurements": [[0, 1]]}], {}, "1 measurements: at least 8"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_measurements": [[0, "x"]]}], {}, "measurement 0 must be"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_measurements": [[0, -2]]}], {}, "measurement 0: the load must be"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_curve": [], "memory_measurements": []}], {}, "not both"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_curve": [[0, 0.3], [1, 0.1]]}], {}, "falls by more than noise"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_curve": [[0, 0], [1, 1.2]]}], {}, "shares of the solo throughput"),
        ([{"name": "a"}], {}, "sla_drop must be a number"),
        ([{"name": "a", "sla_drop": 10, "solo_kpps": 1}], {}, "below 1 (0.1 for 10%)"),
        ([{"sla_drop": 0.1}], {}, "function 0: name is required"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "core": 2}], {}, "unknown keys core"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "cores": 16}], {}, "a needs 16 cores"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "memory_curve": [[1, 0.2], [0, 0.3]]}], {}, "must ascend"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": 1, "engines": {"regex": {"t": 0}}}], {}, "t must be positive"),
        ([{"name": "a", "sla_drop": 0.1, "solo_kpps": s} for s in (1, 2)], {}, "another function of this name differs"),
        ([], [{"cores": 8}, {"cores": 16}], "cards have 8, 16 cores"),
        ([], 3, "a list of cards"),
        (3, {}, "a list of functions is required"),
    ],
)
def test_place_refuses_what_it_cannot_place(tmp_path: Path, functions: object, cards: object, part: str) -> None:
    refused(place(tmp_path, functions, cards, "--json"), part)


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("", "there are no rows"),
        ("1 2 3", "row 1: 3 columns, but 10 are required"),
        ("16384 1518 1.3 3.2e9 5.6e7 2.7e7 1.2e9 4.0e8 11.8 nan", "row 1, column 10 (throughput_kpps)"),
        ("16384 1518 1.3 3.2e9 5.6e7 2.7e7 1.2e9 4.0e8 11.8 650000000", "row 1, column 10 (throughput_kpps)"),
    ],
)
def test_train_refuses_bad_profiles_with_row_and_column(tmp_path: Path, row: str, part: str) -> None:
    (tmp_path / "sample_yala_mem_train").write_text(row)
    refused(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m.json"), "sample_yala_mem_train", part)
    assert not (tmp_path / "m.json").exists()


def test_train_refuses_folders_without_a_profile_and_bytes(tmp_path: Path) -> None:
    refused(nf("train", "--profiles", tmp_path / "none", "--out", tmp_path / "m"), "is not a folder")
    refused(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m"), "a file *mem_train* is required")
    (tmp_path / "a_mem_train").write_bytes(b"\xff\xfe\x00")
    refused(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m"), "is not text")
    (tmp_path / "b_mem_train").write_text("x")
    refused(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m"), "several files", "--nf")
    refused(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m", "--pattern", "x"), "--pattern or", "must be")


def test_train_takes_the_pattern_that_a_profile_detected(profiles: Path, tmp_path: Path) -> None:
    for file in profiles.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "pattern").write_text("run_to_completion\n")
    answer(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m.json", "--json"))
    assert json.loads((tmp_path / "m.json").read_text())["pattern"] == "run_to_completion"
    answer(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m.json", "--pattern", "pipeline", "--json"))
    assert json.loads((tmp_path / "m.json").read_text())["pattern"] == "pipeline"
    (tmp_path / "pattern").write_text("pipe")
    refused(nf("train", "--profiles", tmp_path, "--out", tmp_path / "m.json"), "must be pipeline or run_to_completion, not pipe")


@pytest.mark.parametrize("content", ["{}", "[]", "x", '{"format": 1}'])
def test_what_is_no_model_is_refused(tmp_path: Path, measured: Path, content: str) -> None:
    (tmp_path / "m.json").write_text(content)
    for command in ("evaluate", "predict", "diagnose"):
        refused(nf(command, "--model", tmp_path / "m.json", measured), "m.json")


def test_a_model_out_of_reach_and_rows_in_another_unit_are_refused(model: Path, measured: Path, tmp_path: Path) -> None:
    refused(nf("evaluate", "--model", tmp_path / "none", measured), "cannot be read")
    lines = [line.rsplit(" ", 1) for line in measured.read_text().splitlines()]
    (tmp_path / "pps").write_text("\n".join(f"{front} {float(last) * 1000}" for front, last in lines))
    refused(nf("evaluate", "--model", model, tmp_path / "pps", "--json"), "row 1, column 12 (throughput_kpps)", "not pps")
    (tmp_path / "s.json").write_text('{"traffic": {"flows": 0}}')
    refused(nf("predict", "--model", model, tmp_path / "s.json", "--format", "json"), "flows must be a number of at least 1")
    refused(nf("predict", "--model", model, measured, "--format", "csv"), "--format must be yala or json")


def test_the_help_imports_no_learning() -> None:
    assert not imported_by("nf", "--help") & {"lightgbm", "numba", "numpy", "scipy"}
