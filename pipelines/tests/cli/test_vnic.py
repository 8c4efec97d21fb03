"""`wallwatch vnic detect` and `report`: output, and every kind of file that cannot be judged."""

import gzip
import json
from pathlib import Path

import pytest
from pipelines.tests.domain.isolation.test_dirty_series import TRUTH, WORLD, rows
from typer.testing import CliRunner, Result

from wallwatch.cli.main import app
from wallwatch.domain.isolation.csv_rows import COLUMNS

HEADER = ",".join(COLUMNS)


def slo(nic_bps: float = WORLD.nic_bps, **more: dict[str, float]) -> str:
    keys = ("min_bps", "max_bps", "p50_us", "p99_us", "loss")
    promises = {vf: {key: getattr(promise, key) for key in keys} for vf, promise in WORLD.slos().items()}
    return json.dumps({"nic_bps": nic_bps, "slo": promises | more})


@pytest.fixture(scope="module")
def series() -> str:
    return "\n".join([HEADER, *(",".join(row) for row in rows(WORLD.readings(90)))]) + "\n"


def vnic(folder: Path, command: str, content: str | bytes | None, promises: str | bytes, *options: str) -> Result:
    file, promised = folder / "series.csv", folder / "slo.json"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    promised.write_bytes(promises if isinstance(promises, bytes) else promises.encode())
    return CliRunner().invoke(app, ["vnic", command, str(file), "--slo", str(promised), *options])


@pytest.mark.parametrize("packed", [False, True])
def test_detect_prints_the_broken_seconds_as_json(tmp_path: Path, series: str, packed: bool) -> None:
    ran = vnic(tmp_path, "detect", gzip.compress(series.encode()) if packed else series, slo(), "--json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert set(found) == {"seconds", "unknown", "counts"}
    assert [second["t"] for second in found["seconds"]] == TRUTH
    assert found["seconds"][0] == {
        "t": 1020,
        "victims": ["vf0", "vf1", "vf3", "vf4", "vf5"],
        "aggressors": ["vf2"],
        "mechanism": "ingress packet rate",
    }
    assert found["unknown"] == []
    assert found["counts"]["rows"] == 91 * 7


def test_detect_prints_a_line_per_broken_second(tmp_path: Path, series: str) -> None:
    lines = vnic(tmp_path, "detect", series, slo()).stdout.splitlines()
    assert lines[0] == "1020  ingress packet rate: vf2 -> vf0, vf1, vf3, vf4, vf5"
    assert lines[-1] == "90 intervals judged, 18 broken, 0 unknown"


def test_report_adds_up_the_seconds_of_each_vf(tmp_path: Path, series: str) -> None:
    found = json.loads(vnic(tmp_path, "report", series, slo(), "--target", "0.9", "--json").stdout)
    by_vf = {row["vf"]: row for row in found["vfs"]}
    assert (by_vf["vf0"]["broken_s"], by_vf["vf0"]["kept_s"], by_vf["vf0"]["kept_share"]) == (18.0, 72.0, 0.8)
    assert by_vf["vf0"]["budget_left"] == pytest.approx(-1.0)
    assert (by_vf["vf2"]["aggressor_s"], by_vf["vf2"]["not_promised_s"]) == (11.0, 11.0)
    table = vnic(tmp_path, "report", series, slo()).stdout.splitlines()
    assert table[0].split()[0] == "VF"
    assert len(table) == 7


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file"),
        ("", "the file is empty"),
        (HEADER + "\n", "a header and no rows"),
        ("t,entity,rx_bytes\n1,vf0,2\n", "lacks the columns rx_packets"),
        (bytes(range(256)) * 40, "lacks the columns"),
        (HEADER + "\nx,vf0,1,1,1,1,1,1,1,1\n", "no row can be read; line 2: t is 'x'"),
        (HEADER + "\n" + "9" * 100_000, "no row can be read"),
        (gzip.compress((HEADER + "\n" + "1,vf0,1,1,1,1,1,1,,\n" * 5000).encode(), mtime=0)[:60], "damaged or cut off"),
        (b"\x1f\x8b" + b"garbage", "damaged or cut off"),
        (HEADER + "\n1,vf0,1,1,1,1,1,1,,\n2,vf0,1,1,1,1,1,1,,\n", "promises to vf1, vf2, vf3, vf4, vf5"),
    ],
)
def test_a_file_that_is_no_series_is_refused_with_the_reason(tmp_path: Path, content: str | bytes | None, problem: str) -> None:
    ran = vnic(tmp_path, "detect", content, slo(), "--json")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert problem in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("promises", "problem"),
    [
        (slo(1e9, vf0={"min_bps": 2e9, "max_bps": 5e9}), "add up to 2,000 Mbit/s, more than the link's 1,000 Mbit/s"),
        (slo(eth0={"max_bps": 1e9}), "'eth0' is not the name of a VF"),
        (slo(vf9={"max_bps": 1e9}), "promises to vf9, and"),
        ("{", "not JSON"),
        (b"\xff\xfe\x00", "not text"),
    ],
)
def test_promises_that_cannot_be_kept_or_read_are_refused(tmp_path: Path, series: str, promises: str | bytes, problem: str) -> None:
    ran = vnic(tmp_path, "detect", series, promises, "--json")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert problem in ran.stderr


def test_bad_rows_and_vfs_without_a_promise_are_reported_and_the_rest_is_judged(tmp_path: Path, series: str) -> None:
    promises = json.loads(slo())
    del promises["slo"]["vf5"]
    promises["slo"]["vf0"]["max_mbps"] = 7
    ran = vnic(tmp_path, "detect", series + "oops\n", json.dumps(promises), "--json")
    assert ran.exit_code == 0
    assert [second["t"] for second in json.loads(ran.stdout)["seconds"]] == TRUTH
    assert "vf5 without a promise" in ran.stderr
    assert "1 of 638 rows are malformed" in ran.stderr
    assert "ignored vf0.max_mbps" in ran.stderr
