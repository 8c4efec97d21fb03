"""`wallwatch calibrate` and `wallwatch predict`."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from wallwatch.cli.main import app
from wallwatch.domain.catalogue.load import profiles
from wallwatch.domain.performance.formulas import bandwidth_gbps, latency_us

run = CliRunner().invoke
P = profiles()["CX-7"].performance
POINTS = [(cen, sde) for cen in (0, 20, 60) for sde in (0, 20, 60)]


def write(folder: Path, kind: str, cen: int, sde: int, factor: float = 1.0, name: str | None = None) -> Path:
    """A file as perftest writes it, with masks of one way only."""
    file = folder / (name or f"cen_{cen}_cde_0_sen_0_sde_{sde}_send_{kind}.log")
    if kind == "bw":
        gbps = bandwidth_gbps(P, cen, sde) * factor
        rows = "".join(f" {n}   5000   {gbps:.2f}   {gbps:.2f}   {gbps * 1e3 / 8 / n:.6f}\n" for n in (65536, 8388608))
        head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        text = f"        Send BW Test\n Number of qps   : 4\t\tTransport type : IB\n{head}{rows}"
    else:
        us = latency_us(P, cen, sde) * factor
        head = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
        text = f"        Send Latency Test\n{head} 2 1000 {us:.2f} {us:.2f} {us:.2f} {us:.2f}\n"
    file.write_text(text)
    return file


def calibrated(*arguments: str, code: int = 0) -> dict[str, Any]:
    result = run(app, ["calibrate", "perftest", *arguments, "--json"])
    assert result.exit_code == code, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for cen, sde in POINTS:
        write(tmp_path, "bw", cen, sde)
        write(tmp_path, "lat", cen, sde)
    return tmp_path


def test_a_folder_of_files_gives_a_candidate_that_can_be_compared_with_again(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    plot = folder / "residuals.svg"
    found = calibrated(str(folder), "--plot", str(plot))
    assert found["profile"] in ("CX-7", "BF-3")
    assert found["profile_chosen"] == "nearest"
    assert found["bandwidth"]["r_squared"] > 0.99
    assert found["candidate"]["c"] == pytest.approx(P.c, rel=0.02)
    assert plot.read_text().startswith("<svg")
    before = tmp_path_factory.mktemp("before") / "calibration.json"
    before.write_text(json.dumps(found))
    again = calibrated(str(folder), "--current", str(before))
    assert again["bandwidth"]["current_relative_error"] < 0.01
    predicted = run(app, ["predict", "-p", "CX-7", "--ql", "0", "--qr", "0", "--calibration", str(before), "--json"])
    assert json.loads(predicted.stdout)["latency_us"] == pytest.approx(P.c, rel=0.02)
    assert "calibration" in json.loads(predicted.stdout)["interval_basis"]


def test_a_fit_that_is_worse_ends_with_code_3_and_its_reason(tmp_path: Path) -> None:
    for index, (cen, sde) in enumerate(POINTS):
        write(tmp_path, "lat", cen, sde, factor=(1.0, 4.0, 0.3)[index % 3])
    found = calibrated(str(tmp_path), "--profile", "CX-7", code=3)
    assert found["accepted"] is False
    assert found["candidate"] is None
    refused = run(app, ["calibrate", "perftest", str(tmp_path), "--profile", "CX-7"])
    assert refused.exit_code == 3
    assert "refused: latency: R squared" in refused.output


def test_masks_may_come_by_option_or_by_manifest(folder: Path) -> None:
    nameless = write(folder, "lat", 20, 60, name="send_lat.txt")
    others = [str(f) for f in folder.glob("*_lat.log")]
    unknown = run(app, ["calibrate", "perftest", str(nameless)])
    assert unknown.exit_code == 2
    assert "--manifest" in unknown.output
    half = write(folder, "lat", 20, 60, name="cen_20_sde_60_send_lat.txt")
    assert "has no cde, sen" in run(app, ["calibrate", "perftest", str(half)]).output
    half.unlink()
    option = calibrated(*others, str(nameless), "--masks", "cen=20,cde=0,sen=0,sde=60")
    assert option["latency"]["points"][-1]["q_r"] == 60
    manifest = folder / "manifest.json"
    manifest.write_text('{"send_lat.txt": {"cen": 20, "cde": 0, "sen": 0, "sde": 60}}')
    found = calibrated(str(folder), "--manifest", str(manifest))
    assert (found["latency"]["distinct"], found["problems"]) == (len(POINTS), [])


def test_a_folder_for_each_setting_of_masks_is_read_whole_and_each_file_once(folder: Path) -> None:
    for index, (cen, sde) in enumerate(POINTS):
        below = folder / "runs" / f"cen_{cen}_cde_0_sen_0_sde_{sde}" / "client"
        below.mkdir(parents=True)
        write(below, "lat", cen, sde, name="send_lat.log")
        if index == 0:
            (below / "send_lat.log.gz").write_bytes(gzip.compress((below / "send_lat.log").read_bytes()))
    found = calibrated(str(folder / "runs"), str(folder / "runs" / "cen_0_cde_0_sen_0_sde_0"))
    assert (found["latency"]["distinct"], len(found["files"]), found["problems"]) == (len(POINTS), len(POINTS) + 1, [])


def test_measured_lookups_may_be_given_instead_of_masks(folder: Path) -> None:
    nameless = write(folder, "lat", 20, 60, name="send_lat.txt")
    found = calibrated(str(folder / "cen_0_cde_0_sen_0_sde_0_send_lat.log"), str(nameless), "--masks", "ql=20,qr=60")
    assert [(p["q_l"], p["q_r"]) for p in found["latency"]["points"]] == [(0, 0), (20, 60)]


def test_files_that_lack_the_size_that_is_fitted_are_named(folder: Path) -> None:
    alone = folder / "cen_0_cde_0_sen_0_sde_5_send_bw.log"
    alone.write_text(
        (folder / "cen_0_cde_0_sen_0_sde_0_send_bw.log").read_text().replace(" 8388608 ", " 4096 ").replace(" 65536 ", " 512 ")
    )
    notes = calibrated(str(folder))["bandwidth"]["notes"]
    assert any("sde_5" in note and "--bandwidth-bytes" in note for note in notes)


def test_a_manifest_that_names_a_file_which_was_not_given_is_reported(folder: Path) -> None:
    manifest = folder / "manifest.yaml"
    manifest.write_text("send_lta.txt: {ql: 1, qr: 2}\n")
    result = run(app, ["calibrate", "perftest", str(folder), "--manifest", str(manifest)])
    assert "names files that were not given: send_lta.txt" in result.stderr


def test_a_file_that_cannot_be_used_is_named_and_the_others_are_used(folder: Path) -> None:
    (folder / "cen_0_cde_0_sen_0_sde_5_send_lat.log").write_text("connection refused\n")
    found = calibrated(str(folder))
    assert any("sde_5" in problem for problem in found["problems"])
    assert found["latency"]["distinct"] == len(POINTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.log"], "file missing.log does not exist"),
        ([".", "--verb", "dance"], "--verb must be one of"),
        ([".", "--statistic", "mode"], "--statistic must be"),
        ([".", "--plot", "missing/plot.svg"], "folder missing does not exist"),
        ([".", "--plot", "."], "it is a folder"),
        ([__file__, "--masks", "cen=1,cen=2,cde=0,sen=0,sde=0"], "twice"),
        ([__file__, "--masks", "cen=1.5,cde=0,sen=0,sde=0"], "whole number"),
        ([__file__, "--masks", "ql=1,qr=1", "--profile", "CX-9"], "expected one of CX-4"),
        ([__file__, "--masks", "ql=1,qr=1", "--current", __file__], "is not the output of"),
    ],
)
def test_invalid_input_is_reported(arguments: list[str], message: str) -> None:
    result = run(app, ["calibrate", "perftest", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_the_text_says_what_is_not_identifiable(folder: Path) -> None:
    result = run(
        app,
        [
            "calibrate",
            "perftest",
            str(folder / "cen_0_cde_0_sen_0_sde_0_send_lat.log"),
            str(folder / "cen_60_cde_0_sen_0_sde_60_send_lat.log"),
        ],
    )
    assert result.exit_code == 0
    assert "not identifiable from these points" in result.output


def test_a_prediction_has_its_intervals_and_says_where_they_come_from() -> None:
    result = run(app, ["predict", "--profile", "CX-6", "--ql", "10", "--qr", "5", "--json"])
    found = json.loads(result.stdout)
    assert found["bandwidth_gbps"] == pytest.approx(121.39, abs=0.01)
    assert found["latency_us"] == pytest.approx(3.5)
    assert found["bandwidth_gbps_lower"] < found["bandwidth_gbps"] < found["bandwidth_gbps_upper"]
    assert found["interval_level"] == 0.95
    assert "goodness 0.93" in found["interval_basis"]
    assert "95% interval" in run(app, ["predict", "--profile", "ConnectX-6", "--ql", "10", "--qr", "5"]).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "CX-9", "--ql", "1", "--qr", "1"], "expected one of CX-4"),
        (["-p", "CX-6", "--ql", "-1", "--qr", "1"], "Q_l"),
        (["-p", "CX-6", "--ql", "1", "--qr", "1", "--calibration", "missing.json"], "file missing.json does not exist"),
        (["-p", "CX-6", "--ql", "1", "--qr", "1", "--calibration", __file__], "is not the output of `wallwatch calibrate --json`"),
    ],
)
def test_a_prediction_that_cannot_be_made_says_why(arguments: list[str], message: str) -> None:
    result = run(app, ["predict", *arguments])
    assert result.exit_code == 2
    assert message in result.output
