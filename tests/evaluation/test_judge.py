"""`python -m tests.evaluation.judge` at the command line."""

import gzip
import json
from pathlib import Path

from tests.evaluation.judge import app
from typer.testing import CliRunner

run = CliRunner().invoke

SAMPLE = {
    "name": "rnic_offload",
    "timestamp": 1_790_000_000_000_000_000,
    "tags": {"host": "host01", "rack": "r1", "pci": "0000:17:00.0"},
    "fields": {"flows_offloaded": 10},
}


def recording(folder: Path, *lines: bytes) -> Path:
    folder.mkdir()
    (folder / "telemetry.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines) + b"\n"))
    truth = {"symptom": "S1", "cause": "C5", "host": "host01", "pci": "0000:17:00.0", "from": "2026-09-21T14:13:30Z", "to": None}
    (folder / "truth.jsonl").write_text(json.dumps(truth) + "\n")
    return folder


def samples(count: int) -> list[bytes]:
    return [json.dumps({**SAMPLE, "timestamp": 1_790_000_000_000_000_000 + i * 10_000_000_000}).encode() for i in range(count)]


def test_a_folder_of_recordings_gives_a_matrix_and_the_worst_cases(tmp_path: Path) -> None:
    recording(tmp_path / "quiet", *samples(60))
    found = run(app, [str(tmp_path)])
    assert found.exit_code == 0, found.output
    for words in ("1 recordings", "actual \\ detected", "macro F1: 0.000", "missed: S1 in quiet, host01 0000:17:00.0", "was detected"):
        assert words in found.output


def test_unusable_lines_are_counted_and_reported(tmp_path: Path) -> None:
    recording(tmp_path / "damaged", *samples(20), b"{", b"[1]", b'{"name": "rnic"}', *samples(1))
    found = run(app, [str(tmp_path), "--json"])
    problems = json.loads(found.stdout)["problems"]
    assert problems["telemetry: not_json"] == 1
    assert sum(problems.values()) == 3


def test_a_folder_without_recordings_is_refused_with_what_to_do(tmp_path: Path) -> None:
    found = run(app, [str(tmp_path)])
    assert found.exit_code == 2
    assert "fleetsim record" in found.output
