"""The journal survives kills and full disks, and refuses what does not belong to it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wallwatch.lab.journal import FILE_NAME, Journal, JournalError, read_journal

HEADER: dict[str, Any] = {
    "kind": "campaign",
    "version": 1,
    "dut": "device",
    "describe": {},
    "options": {},
    "at": "2026-11-23T00:00:00+00:00",
}


def line(n: int, status: str = "ok") -> dict[str, Any]:
    return {"kind": "test", "n": n, "phase": "discover", "config": {"a": n}, "attempt": 1, "status": status, "elapsed_s": n / 10}


def written(folder: Path, *lines: dict[str, Any]) -> Path:
    journal = Journal.create(folder, HEADER)
    for one in lines:
        journal.append(one)
    journal.close()
    return folder / FILE_NAME


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "c", line(1), line(3), line(2))
    content = read_journal(path)
    assert sorted(content.lines) == [1, 2, 3]
    assert content.header == HEADER
    assert content.seconds == 0.3
    assert content.torn is None


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_last_line_is_cut_off_and_said(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "c", line(1), line(2))
    path.write_bytes(path.read_bytes()[:-cut])
    journal, content = Journal.continued(path.parent)
    assert list(content.lines) == [1]
    assert content.torn is not None
    journal.append(line(2))
    journal.close()
    again = read_journal(path)
    assert sorted(again.lines) == [1, 2]
    assert again.torn is None


def test_zeros_that_a_power_cut_left_at_the_end_are_cut_off(tmp_path: Path) -> None:
    path = written(tmp_path / "c", line(1))
    path.write_bytes(path.read_bytes() + b"\0" * 100 + b"\n")
    journal, content = Journal.continued(path.parent)
    journal.close()
    assert list(content.lines) == [1]
    assert read_journal(path).torn is None


def test_a_damaged_line_before_intact_ones_is_refused_by_number(tmp_path: Path) -> None:
    path = written(tmp_path / "c", line(1), line(2))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{damaged\n" + lines[2])
    with pytest.raises(JournalError, match="line 2 is damaged, and intact lines follow"):
        read_journal(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "delete the folder"),
        ('{"kind": "something"}\n', "no journal of a campaign"),
        ('{"kind": "campaign", "version": 2}\n', "version 2"),
        ('{"kind": "campaign", "version": 1}\n{"kind": "other"}\n', "line 2 is neither"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(JournalError, match=words):
        read_journal(tmp_path / FILE_NAME)


def test_a_folder_without_a_journal_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="give the folder of a campaign"):
        Journal.continued(tmp_path)


def test_a_second_campaign_in_the_same_folder_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "c", line(1))
    before = path.read_bytes()
    with pytest.raises(JournalError, match="wallwatch lab resume"):
        Journal.create(tmp_path / "c", HEADER)
    assert [one.name for one in path.parent.iterdir()] == [FILE_NAME]
    assert path.read_bytes() == before


def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    path = written(tmp_path / "c", line(1))
    assert list(read_journal(path).lines) == [1]
    with pytest.raises(JournalError, match="wallwatch lab resume"):
        Journal.create(tmp_path / "c", HEADER)
    assert [one.name for one in path.parent.iterdir()] == [FILE_NAME]


def test_only_one_process_continues_a_campaign(tmp_path: Path) -> None:
    written(tmp_path / "c", line(1))
    journal, _ = Journal.continued(tmp_path / "c")
    with pytest.raises(JournalError, match="another process is running the campaign"):
        Journal.continued(tmp_path / "c")
    journal.close()
    Journal.continued(tmp_path / "c")[0].close()


def test_answers_that_are_asked_again_are_kept_apart(tmp_path: Path) -> None:
    path = written(tmp_path / "c", line(1), line(2, "error"), line(3, "error"), {"kind": "again", "from": 2}, line(2))
    content = read_journal(path)
    assert [content.lines[n]["status"] for n in (1, 2)] == ["ok", "ok"]
    assert 3 not in content.lines
    assert [one["n"] for one in content.dropped] == [2, 3]


def test_a_full_disk_is_said_and_the_lines_before_are_intact(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk: both cut a write in the middle."""
    program = f"""
import resource
from pathlib import Path
from wallwatch.lab.journal import Journal, JournalFull
journal = Journal.create(Path({str(tmp_path / "c")!r}), {HEADER!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    for n in range(1, 100):
        journal.append({{"kind": "test", "n": n, "config": {{"a": n}}, "status": "ok"}})
except JournalFull as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "could not be written: File too large" in ran.stdout
    assert "make room and continue with `wallwatch lab resume" in ran.stdout
    content = read_journal(tmp_path / "c" / FILE_NAME)
    assert content.torn is None
    assert sorted(content.lines) == list(range(1, len(content.lines) + 1))
    assert len(content.lines) > 5
