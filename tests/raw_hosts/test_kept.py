"""What played hosts sent is kept, and played again when what plays it has changed."""

from collections import Counter
from pathlib import Path

import pytest
from tests.raw_hosts import kept
from tests.raw_hosts.case import Case
from tests.raw_hosts.play import Played

CASE = Case("two RNICs, 10 s", lambda host: None, seed=7)
OTHER = Case("another", lambda host: None)
SENT = Played([b'{"name":"rnic","timestamp":1}', b'{"name":"rnic","timestamp":2}'], Counter({"rnic: not there": 2}), 1.5)


def test_what_was_sent_comes_back_in_order_with_the_errors(tmp_path: Path) -> None:
    kept.keep(tmp_path, CASE, SENT, "v1")
    found = kept.kept(tmp_path, CASE, "v1")
    assert found is not None
    assert (found.messages, found.errors) == (SENT.messages, SENT.errors)


def test_another_version_another_seed_and_another_case_are_not_what_was_kept(tmp_path: Path) -> None:
    kept.keep(tmp_path, CASE, SENT, "v1")
    assert kept.kept(tmp_path, CASE, "v2") is None
    assert kept.kept(tmp_path, Case(CASE.name, CASE.make, seed=8), "v1") is None
    assert kept.kept(tmp_path, OTHER, "v1") is None


def test_a_host_that_sent_nothing_is_kept_too(tmp_path: Path) -> None:
    kept.keep(tmp_path, CASE, Played(), "v1")
    found = kept.kept(tmp_path, CASE, "v1")
    assert found is not None
    assert found.messages == []


def test_only_what_is_not_kept_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def play(case: Case) -> Played:
        played.append(case.name)
        return SENT

    monkeypatch.setattr(kept, "play", play)
    kept.play_once([CASE], tmp_path)
    assert set(kept.play_once([CASE, OTHER], tmp_path)) == {CASE.name, OTHER.name}
    assert played == [CASE.name, OTHER.name]
    kept.play_once([CASE], tmp_path, fresh=True)
    assert played == [CASE.name, OTHER.name, CASE.name]


def test_the_version_does_not_depend_on_what_judges_or_tests() -> None:
    names = {file.name for file in kept.HERE.rglob("*.py")}
    assert names > kept.JUDGES
    assert not {"play.py", "case.py", "collector.py", "liveness.py"} & kept.JUDGES
