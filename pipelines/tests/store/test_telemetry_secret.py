"""The file of the fleet's telemetry secret: created once, rotated with an overlap, followed by running jobs."""

import logging
import threading
from pathlib import Path

import pytest

from wallwatch.domain.telemetry.keys import BadSecret, key_of
from wallwatch.store import telemetry_secret
from wallwatch.store.telemetry_secret import TelemetryKeys, read, read_or_create, retire_former, rotate


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "secrets" / "telemetry.secret"


def test_the_secret_is_created_once_and_only_its_owner_may_read_it(file: Path) -> None:
    first = read_or_create(file)
    assert read_or_create(file) == first
    assert file.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_processes_that_start_together_agree_on_one_secret(file: Path) -> None:
    found: list[tuple[bytes, ...]] = []
    threads = [threading.Thread(target=lambda: found.append(read_or_create(file))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [read(file)] * 8


def test_a_rotation_keeps_one_former_secret_until_it_is_ended(file: Path) -> None:
    (first,) = read_or_create(file)
    rotate(file)
    second, former = read(file)
    assert former == first
    rotate(file)
    assert read(file)[1] == second, "the secret before the former one has ended"
    assert file.stat().st_mode & 0o777 == 0o600
    assert retire_former(file)
    assert len(read(file)) == 1
    assert not retire_former(file)


def test_a_secret_that_everybody_may_read_is_refused(file: Path) -> None:
    read_or_create(file)
    file.chmod(0o644)
    with pytest.raises(PermissionError, match="chmod 600"):
        read(file)
    file.chmod(0o640)
    read(file)  # for a job that runs as another user of the same group


def test_a_damaged_secret_is_refused_and_not_quoted(file: Path) -> None:
    read_or_create(file)
    file.write_text("my secret\n")
    with pytest.raises(BadSecret) as refusal:
        read(file)
    assert "my secret" not in str(refusal.value)


def test_a_running_job_follows_the_file(file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(telemetry_secret, "LOOK_EVERY_S", 0.0)
    (first,) = read_or_create(file)
    keys = TelemetryKeys(file)
    assert keys.wait(threading.Event())

    def accepts(secret: bytes) -> bool:
        sender = keys.sender(b"host01")
        assert sender is not None
        return sender.proves("host01", key_of(secret, "host01"))

    assert accepts(first)
    rotate(file)
    second = read(file)[0]
    assert accepts(first)
    assert accepts(second)
    assert keys.of("host01") == key_of(second, "host01")
    retire_former(file)
    assert not accepts(first)
    file.unlink()
    with caplog.at_level(logging.ERROR):
        assert accepts(second), "what was read last stays"
    assert "the previous one stays" in caplog.text


def test_without_a_file_everybody_is_believed_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    keys = TelemetryKeys(None)
    assert keys.wait(threading.Event())
    assert keys.sender(b"x") is None
    assert keys.of("x") is None
    assert "WALLWATCH_TELEMETRY_SECRET_FILE" in caplog.text


def test_no_message_is_judged_before_there_is_a_secret(file: Path) -> None:
    keys = TelemetryKeys(file)
    stop = threading.Event()
    stop.set()
    assert not keys.wait(stop)
    with pytest.raises(RuntimeError):
        keys.sender(b"x")
