"""Campaigns: limits, retries, failing devices, several processes, and resuming."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wallwatch.domain.lab.tester import BudgetReached
from wallwatch.lab.campaign import Search, read_report, resume, run
from wallwatch.lab.faults import BadDevice
from wallwatch.lab.journal import FILE_NAME, JournalError
from wallwatch.lab.options import CampaignOptions, Hooks
from wallwatch.lab.progress import Progress

Command = Callable[..., str]
ALL = 32
"""Operations of the search of these tests."""


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The operations that the device saw, in its order."""
    path = tmp_path / "ledger"
    monkeypatch.setenv("DUT_LEDGER", str(path))
    return lambda: path.read_text().splitlines() if path.exists() else []


def without_time(report: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in report.items() if name != "seconds"}


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE_NAME).read_text().splitlines()]


def test_a_campaign_leaves_a_journal_and_a_report(
    planted: Command, search: Search, tmp_path: Path, ledger: Callable[[], list[str]]
) -> None:
    folder = tmp_path / "c"
    report = run(folder, planted(), CampaignOptions(), search=search)
    assert report["complete"]
    assert report["notes"] == ["bad: [34, 37, 40, 43, 46, 49, 52, 55, 58, 61, 64, 32, 33]"]
    assert (report["tests"], report["resets"]) == (ALL, 1)
    assert report["phases"] == {"baseline": 5, "discover": 22, "control": 1, "threshold": 4}
    assert read_report(folder) == report
    found = lines(folder)
    assert [one["kind"] for one in found] == ["campaign", *["test"] * 27, "reset", *["test"] * 4, "end"]
    assert [one["n"] for one in found[1:-1]] == list(range(1, ALL + 1))
    assert len(ledger()) == ALL
    assert found[-1] == {"kind": "end", "complete": True, "why": None, "elapsed_s": found[-1]["elapsed_s"]}


def test_a_finished_campaign_is_read_again_without_its_device(
    planted: Command, search: Search, tmp_path: Path, ledger: Callable[[], list[str]]
) -> None:
    report = run(tmp_path / "c", planted(), CampaignOptions(), search=search)
    before = (tmp_path / "c" / FILE_NAME).read_bytes()
    assert without_time(resume(tmp_path / "c", search=search)) == without_time(report)
    assert (tmp_path / "c" / FILE_NAME).read_bytes() == before
    assert len(ledger()) == ALL


@pytest.mark.parametrize("budget", [1, 7, 28, 30])
@pytest.mark.parametrize("parallel", [1, 3])
def test_the_budget_is_never_exceeded_and_a_larger_one_continues(
    planted: Command, search: Search, tmp_path: Path, ledger: Callable[[], list[str]], budget: int, parallel: int
) -> None:
    report = run(tmp_path / "c", planted(), CampaignOptions(budget=budget, parallel=parallel), search=search)
    assert (report["complete"], report["stopped"], report["tests"]) == (False, "budget reached", budget)
    assert len(ledger()) == budget
    whole = resume(tmp_path / "c", budget=100, search=search)
    assert whole["complete"]
    assert whole["notes"] == ["bad: [34, 37, 40, 43, 46, 49, 52, 55, 58, 61, 64, 32, 33]"]
    assert len(ledger()) == ALL


def test_several_processes_give_the_same_answers_in_the_same_order(planted: Command, search: Search, tmp_path: Path) -> None:
    alone = run(tmp_path / "a", planted(), CampaignOptions(), search=search)
    together = run(tmp_path / "b", planted(), CampaignOptions(parallel=4), search=search)
    assert without_time(alone) == without_time(together)
    assert without_time(resume(tmp_path / "b", search=search)) == without_time(alone)


def test_after_the_time_nothing_more_is_tested(planted: Command, search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUT_DELAY_S", "0.1")
    report = run(tmp_path / "c", planted(), CampaignOptions(max_time_s=0.5), search=search)
    assert report["stopped"] == "time reached"
    assert report["tests"] < ALL
    assert resume(tmp_path / "c", search=search)["tests"] == report["tests"], "the time of earlier sessions counts"
    monkeypatch.setenv("DUT_DELAY_S", "0")
    assert resume(tmp_path / "c", max_time_s=1000, search=search)["complete"]


def test_whoever_runs_a_campaign_can_stop_it(planted: Command, search: Search, tmp_path: Path) -> None:
    seen: list[Progress] = []
    hooks = Hooks(on_progress=seen.append, should_stop=lambda: "emergency stop" if len(seen) == 9 else None)
    report = run(tmp_path / "c", planted(), CampaignOptions(), hooks, search)
    assert (report["stopped"], report["tests"]) == ("emergency stop", 9)
    assert [one.operations for one in seen] == list(range(1, 10))
    assert all(one.remaining is not None and one.remaining[0] <= one.remaining[1] for one in seen)
    assert resume(tmp_path / "c", search=search)["complete"]


def test_an_error_is_asked_again_and_counted(planted: Command, search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISDEED_DONE", str(tmp_path / "done"))
    warnings: list[str] = []
    report = run(tmp_path / "c", planted("dies", 8), CampaignOptions(), Hooks(on_warning=warnings.append), search)
    assert report["complete"]
    assert report["tests"] == ALL + 1, "a retry costs an operation"
    assert "1 operations were retries after an error of the device (at most 3 attempts each)" in report["notes"]
    assert "the adaptor broke the protocol: died 1×" in report["notes"]
    assert [(one["status"], one["attempt"]) for one in lines(tmp_path / "c")[8:10]] == [("error", 1), ("ok", 2)]
    assert ["exit code 7" in text for text in warnings] == [True]
    assert without_time(resume(tmp_path / "c", search=search)) == without_time(report)


def test_a_device_that_only_fails_ends_the_campaign_which_goes_on_when_it_works(
    planted: Command, search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = tmp_path / "repaired"
    monkeypatch.setenv("MISDEED_DONE", str(done))
    # The misdeed is undone after each, so that it happens for ever.
    script = tmp_path / "device.sh"
    script.write_text(f"rm -f {done}.*; MISDEED_DONE={done}.$$ exec {planted('garbage', 0)}\n")
    report = run(tmp_path / "c", f"sh {script}", CampaignOptions(), search=search)
    assert "device failed: 3 operations in a row had no answer; the last: wrote a line that is no JSON" in report["stopped"]
    assert report["tests"] == 9
    script.write_text(f"exec {planted()}\n")
    whole = resume(tmp_path / "c", search=search)
    assert whole["complete"]
    assert whole["tests"] == ALL + 9, "the failed operations were paid"
    assert without_time(resume(tmp_path / "c", search=search)) == without_time(whole)


def test_a_device_that_became_another_ends_the_campaign(
    planted: Command, search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISDEED_DONE", str(tmp_path / "done"))
    report = run(tmp_path / "c", planted("changes", 5), CampaignOptions(), search=search)
    assert report["stopped"].startswith("device failed: the device describes itself differently than before: symptoms was")
    assert report["tests"] == 5


def test_a_device_with_memory_is_tested_by_one_process(
    planted: Command, search: Search, tmp_path: Path, ledger: Callable[[], list[str]]
) -> None:
    assert run(tmp_path / "c", planted("memory"), CampaignOptions(parallel=4), search=search)["complete"]
    batch = [json.loads(one)["config"]["masks"] for one in ledger()[-4:]]
    assert batch == [31, 32, 33, 30], "in the order in which they were asked"


def test_a_journal_of_another_search_is_refused(planted: Command, search: Search, tmp_path: Path) -> None:
    run(tmp_path / "c", planted(), CampaignOptions(budget=10), search=search)

    def other(device: Any, tester: Any, options: Any) -> Any:
        return tester.test(device.default | {"mtu": 9000}, "baseline")

    with pytest.raises(JournalError, match=r"operation 1 of the journal .*config.mtu was '1500' and is '9000'; .*start a new campaign"):
        resume(tmp_path / "c", search=other)
    assert resume(tmp_path / "c", budget=100, search=search)["complete"], "the journal is as it was"


def test_a_campaign_resumes_only_with_the_same_device(
    planted: Command, search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISDEED_DONE", str(tmp_path / "done"))
    run(tmp_path / "c", planted("changes", 0), CampaignOptions(budget=5), search=search)
    (tmp_path / "done").touch()
    report = resume(tmp_path / "c", budget=100, search=search)
    assert report["stopped"].startswith("device failed: the device describes itself differently")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (CampaignOptions(target="S7"), "has the symptoms and metrics S6, bw_gbps"),
        (CampaignOptions(only=("masks", "vfs")), "--only vfs: planted has the parameters masks, offload, mtu"),
    ],
)
def test_options_that_the_device_cannot_satisfy_are_refused(
    planted: Command, search: Search, tmp_path: Path, options: CampaignOptions, words: str
) -> None:
    with pytest.raises(BadDevice, match=words):
        run(tmp_path / "c", planted(), options, search=search)
    assert not (tmp_path / "c").exists()


def test_a_search_that_lets_the_end_pass_is_reported_without_causes(planted: Command, tmp_path: Path) -> None:
    def careless(device: Any, tester: Any, options: Any) -> Any:
        while True:
            tester.test(device.default, "baseline")

    report = run(tmp_path / "c", planted(), CampaignOptions(budget=4), search=careless)
    assert (report["stopped"], report["tests"], report["causes"]) == (str(BudgetReached("budget reached")), 4, [])


def test_a_missing_or_damaged_report_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="wallwatch lab resume"):
        read_report(tmp_path)
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(JournalError, match="is damaged"):
        read_report(tmp_path)
