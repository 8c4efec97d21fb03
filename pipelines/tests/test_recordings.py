"""Recordings on disk, whole and damaged."""

import gzip
from pathlib import Path

import orjson
import pytest

from wallwatch.recordings import NotARecording, find, load

BEGIN = {"symptom": "S1", "cause": "C5", "host": "host01", "pci": "0000:17:00.0", "from": "2026-01-01T00:00:50.5Z", "to": None}


def make(folder: Path, telemetry: bytes = b'{"a":1}\n', truth: bytes = b"") -> Path:
    folder.mkdir(parents=True)
    (folder / "telemetry.jsonl.gz").write_bytes(gzip.compress(telemetry))
    (folder / "truth.jsonl").write_bytes(truth)
    return folder


def test_the_line_that_ends_a_symptom_replaces_the_one_that_begins_it(tmp_path: Path) -> None:
    lines = [BEGIN, {**BEGIN, "to": "2026-01-01T00:02:00Z"}, {**BEGIN, "symptom": "S5"}]
    recording = load(make(tmp_path / "one", truth=b"\n".join(map(orjson.dumps, lines))))
    assert [(t.symptom, None if t.to_ms is None else t.to_ms - t.from_ms) for t in recording.truths] == [("S1", 69_500), ("S5", None)]


def test_lines_that_are_not_understood_are_counted_and_the_others_kept(tmp_path: Path) -> None:
    text = b"\n".join([b"{", b"[]", b'"x"', b'{"symptom": "S1"}', orjson.dumps({**BEGIN, "from": "soon"}), orjson.dumps(BEGIN)])
    recording = load(make(tmp_path / "one", truth=text))
    assert len(recording.truths) == 1
    assert recording.problems == {"truth: a line that cannot be parsed": 5}


def test_a_recording_that_was_cut_in_the_middle_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = make(tmp_path / "one", b"".join(b'{"number": %d}\n' % n for n in range(100_000)))
    file = folder / "telemetry.jsonl.gz"
    file.write_bytes(file.read_bytes()[:-20_000])
    recording = load(folder)
    assert 1000 < len(list(recording.lines())) < 100_000
    assert recording.problems == {"telemetry: the file ends in the middle": 1}


def test_recordings_are_found_below_a_folder_each_once_and_in_order(tmp_path: Path) -> None:
    made = [make(tmp_path / "set" / name) for name in ("b", "a", "c")]
    assert find([tmp_path / "set", made[0]]) == sorted(made)


def test_what_is_missing_is_reported_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotARecording, match="fleetsim record"):
        find([tmp_path])
    with pytest.raises(NotARecording, match="is not a folder"):
        find([tmp_path / "nowhere"])
    folder = make(tmp_path / "one")
    (folder / "truth.jsonl").unlink()
    with pytest.raises(NotARecording, match="every finding would count as false"):
        load(folder)
    (folder / "truth.jsonl").touch()
    (folder / "run.json").write_text("[]")
    with pytest.raises(NotARecording, match="not a JSON object"):
        load(folder)
