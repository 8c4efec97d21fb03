import stat
from pathlib import Path

import psycopg
import pytest

from wallwatch_local import postgres, processes
from wallwatch_local.errors import LocalStackError

pytestmark = pytest.mark.integration


def dsn(url: str) -> str:
    return url.replace("+psycopg", "")


def test_a_server_keeps_its_data_over_a_restart_and_is_gone_after_the_block(tmp_path: Path, free_port: int) -> None:
    with postgres.start(tmp_path, free_port) as url, psycopg.connect(dsn(url)) as connection:
        connection.execute("CREATE TABLE sample (at timestamptz NOT NULL, value int)")
        connection.execute("SELECT create_hypertable('sample', by_range('at'))")
        connection.execute("INSERT INTO sample VALUES ('2026-01-01T00:00:00Z', 7)")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn(url), connect_timeout=2)
    with postgres.start(tmp_path, free_port) as url, psycopg.connect(dsn(url)) as connection:
        assert connection.execute("SELECT value FROM sample").fetchone() == (7,)


def test_no_mount_is_left_behind(tmp_path: Path) -> None:
    with postgres.start(tmp_path):
        pass
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


def test_the_password_is_random_and_its_file_is_private(tmp_path: Path) -> None:
    first, second = postgres.password(tmp_path / "a"), postgres.password(tmp_path / "b")
    assert first != second
    assert postgres.password(tmp_path / "a") == first
    assert stat.S_IMODE((tmp_path / "a" / "password").stat().st_mode) == 0o600


def test_a_wrong_password_is_refused(postgres_url: str) -> None:
    wrong = dsn(postgres_url).replace("wallwatch:", "wallwatch:x", 1)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(wrong)


def test_the_fixture_gives_an_empty_database_with_timescaledb(postgres_url: str) -> None:
    with psycopg.connect(dsn(postgres_url)) as connection:
        assert connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'timescaledb'").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_a_server_that_can_not_start_is_reported_with_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(postgres.SETTINGS, "shared_buffers", "nonsense")
    with pytest.raises(LocalStackError, match="shared_buffers"), postgres.start(tmp_path):
        pass


def test_without_an_installation_the_error_says_to_run_setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "RELEASE", Path("nowhere"))
    with pytest.raises(LocalStackError, match="make setup"):
        postgres.installation()


def test_the_end_of_a_missing_log_says_so(tmp_path: Path) -> None:
    assert processes.last_lines(tmp_path / "none.log") == "(no log was written)"
