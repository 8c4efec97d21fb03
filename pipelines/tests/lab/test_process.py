"""What the client makes of devices that break the protocol: a clear error each, and never a wrong match of answer and question."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wallwatch.domain.lab.device import Config
from wallwatch.lab.faults import BadDevice, DeviceGone
from wallwatch.lab.process import DeviceProcess

HEALTHY: Config = {"masks": 1, "offload": True, "mtu": 1500}
FAILING: Config = {"masks": 40, "offload": True, "mtu": 9000}


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The planted device does its misdeed once, also after a restart."""
    path = tmp_path / "misdeed-done"
    monkeypatch.setenv("MISDEED_DONE", str(path))
    return path


def test_a_device_that_behaves_is_described_tested_and_reset(planted: Callable[..., str]) -> None:
    process = DeviceProcess(planted())
    assert process.device.by_name["masks"].maximum == 64
    assert process.test(HEALTHY).metrics == {"bw_gbps": 98.0}
    assert process.test(FAILING).symptoms == ("S6",)
    assert process.reset().status == "ok"
    process.close()


@pytest.mark.parametrize(
    ("misdeed", "kind", "words"),
    [
        ("dies", "died", "exit code 7 without an answer; its stderr ends with: cannot reach the card"),
        ("truncated", "truncated line", "in the middle of a line: "),
        ("garbage", "no JSON", "'Segmentation fault\\x00'; messages belong on stderr"),
        ("list", "no JSON", "no JSON object: '[1, 2]'"),
        ("no_id", "wrong id", "without an id"),
        ("wrong_id", "wrong id", "answered id '10' to question 3"),
        ("twice_differently", "answered twice", "a line that nobody asked for"),
        ("nan", "number that is not finite", "bw_gbps = 'nan'"),
        ("huge", "number that is not finite", "bw_gbps = 'inf'"),
        ("text_metric", "invalid answer", "bw_gbps = 'fast', which is no number"),
        ("unknown_metric", "unknown metric", "'latency_us', which its description does not list"),
        ("unknown_symptom", "unknown symptom", "'S9', which its description does not list"),
        ("unknown_status", "invalid answer", "status 'fine'; it must be ok, invalid or error"),
    ],
)
def test_a_broken_answer_is_an_error_that_says_what_was_received(
    planted: Callable[..., str], done: Path, misdeed: str, kind: str, words: str
) -> None:
    warnings: list[str] = []
    process = DeviceProcess(planted(misdeed), warn=warnings.append)
    answers = [process.test(HEALTHY) for _ in range(3)]
    # The second of two answers may arrive with the first one, or when the next question is asked.
    answers += [process.test(FAILING), process.test(FAILING), process.test(FAILING)]
    process.close()
    assert done.exists(), "the device must have done it"
    broken = [answer for answer in answers if answer.status != "ok"]
    assert [answer.fault for answer in broken] == [kind]
    assert words in str(broken[0].reason)
    assert len(warnings) == 1
    assert words in warnings[0]
    for expected, answer in zip([(), (), (), ("S6",), ("S6",), ("S6",)], answers, strict=True):
        assert answer.status == "error" or answer.symptoms == expected, "an answer belongs to its question"


@pytest.mark.parametrize(
    ("misdeed", "words"),
    [
        ("hangs", "did not answer within 0.5 s"),
        ("endless", "a line without an end"),
        ("old_id", "answered question 2 with its last answer again"),
    ],
)
def test_a_device_that_hangs_is_ended_and_started_again(planted: Callable[..., str], done: Path, misdeed: str, words: str) -> None:
    process = DeviceProcess(planted(misdeed, 2), timeout_s=20)
    process.test(HEALTHY)
    pid = process.pid
    process._given_timeout_s = 0.5
    assert words in str(process.test(HEALTHY).reason)
    with pytest.raises(ProcessLookupError):
        os.kill(pid or 0, 0)
    process._given_timeout_s = 20  # a busy machine takes its time
    assert process.test(FAILING).symptoms == ("S6",)
    process.close()


def test_the_same_answer_twice_is_counted_and_harms_nothing(planted: Callable[..., str]) -> None:
    warnings: list[str] = []
    process = DeviceProcess(planted("twice", 0), warn=warnings.append)
    answers = [process.test(config) for config in (HEALTHY, FAILING, HEALTHY, FAILING)]
    process.close()
    assert [answer.symptoms for answer in answers] == [(), ("S6",), (), ("S6",)]
    assert sum(answer.repeated for answer in answers) >= 3, "the last repetition may arrive after the end"
    assert len(warnings) == 1
    assert "the same answer twice" in warnings[0]


def test_the_error_of_a_device_is_passed_on_with_its_reason(planted: Callable[..., str]) -> None:
    process = DeviceProcess(planted("error", 1))
    answer = process.test(HEALTHY)
    assert (answer.status, answer.reason, answer.fault) == ("error", "the link is down", None)
    process.close()


def test_much_text_on_stderr_blocks_nothing(planted: Callable[..., str]) -> None:
    process = DeviceProcess(planted("floods", 0))
    assert [process.test(HEALTHY).status for _ in range(3)] == ["ok"] * 3
    process.close()


def test_another_description_after_a_restart_ends_the_campaign(planted: Callable[..., str], done: Path) -> None:
    process = DeviceProcess(planted("changes", 1))
    assert process.test(HEALTHY).fault == "died"
    with pytest.raises(DeviceGone, match=r"symptoms was .* start a new campaign"):
        process.test(HEALTHY)
    process.close()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "is empty"),
        ("sh -c 'x", "cannot be split"),
        ("/nowhere/device", "cannot be started: /nowhere/device: No such file or directory"),
        ("false", "did not describe itself: it ended with exit code 1"),
        ("echo hello", "no JSON: 'hello'"),
        ("""echo '{"protocol":"dut/2"}'""", "protocol is 'dut/2'"),
    ],
)
def test_a_command_that_is_no_device_is_refused_with_the_reason(command: str, words: str) -> None:
    with pytest.raises(BadDevice, match=r".") as refused:
        DeviceProcess(command).describe()
    assert words in str(refused.value)


def test_the_timeout_follows_what_the_device_states(tmp_path: Path) -> None:
    description = '{"protocol":"dut/1","parameters":[{"name":"a","kind":"boolean"}],"default":{"a":true},"seconds_per_test":%s}'
    for stated, expected_s in (("30", 150.0), ("0.001", 5.0), ("null", 5.0)):
        file = tmp_path / "description"
        file.write_text(description % stated + "\n")
        process = DeviceProcess(f"cat {file}")
        process.describe()
        assert process.timeout_s == expected_s
        process.kill()


def test_a_device_that_ignores_the_end_of_stdin_is_ended(tmp_path: Path) -> None:
    description = '{"protocol":"dut/1","parameters":[{"name":"a","kind":"boolean"}],"default":{"a":true}}'
    script = tmp_path / "stays.sh"
    script.write_text(f"#!/bin/sh\ntrap '' TERM\necho '{description}'\nwhile :; do sleep 1; done\n")
    process = DeviceProcess(f"sh {script}")
    process.describe()
    pid = process.pid
    begin = time.monotonic()
    process.kill()
    assert time.monotonic() - begin < 30
    with pytest.raises(ProcessLookupError):
        os.kill(pid or 0, 0)


def _runs(pid: int) -> bool:
    """Whether a process runs; one that ended and that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.parametrize("own_end", ["cat > /dev/null", "exit 3"], ids=["ends with its stdin", "dies at once"])
@pytest.mark.parametrize("on_term", ["", "trap '' TERM; "], ids=["child ends on SIGTERM", "child ignores SIGTERM"])
def test_what_a_device_left_running_ends_with_it(tmp_path: Path, own_end: str, on_term: str) -> None:
    description = '{"protocol":"dut/1","parameters":[{"name":"a","kind":"boolean"}],"default":{"a":true}}'
    script, child = tmp_path / "forks.sh", tmp_path / "child"
    script.write_text(f"#!/bin/sh\n({on_term}while :; do sleep 1; done) &\necho $! > {child}\nread line\necho '{description}'\n{own_end}\n")
    process = DeviceProcess(f"sh {script}", timeout_s=2)
    process.describe()
    pid = int(child.read_text())
    assert _runs(pid), "it holds the device's stdout"
    if own_end == "exit 3":
        assert process.test(HEALTHY).status == "error"
    process.close()
    deadline = time.monotonic() + 60
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)
