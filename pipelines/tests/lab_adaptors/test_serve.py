"""The device's side of dut/1, with a device that is a dictionary."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from wallwatch.lab.adaptors import ADAPTORS, DESCRIPTIONS
from wallwatch.lab.adaptors.parameters import Parameter, completed
from wallwatch.lab.adaptors.serve import Description, DeviceFailed, Measured, Metric, serve

PARAMETERS = (
    Parameter("masks", "integer", "classifier", 3, minimum=1, maximum=9, step=2, scale="log", unit="masks"),
    Parameter("cache", "boolean", "cache", True),
    Parameter("verb", "choice", "traffic", "write", values=("write", 1)),
)


class Dictionary:
    """Fails with 9 masks."""

    def __init__(self) -> None:
        self.tested: list[dict[str, Any]] = []
        self.closed = False

    @property
    def description(self) -> Description:
        return Description("dict", "a dictionary", PARAMETERS, (Metric("us", "us", "lower"),), ("S6",), True, 0.5)

    def test(self, config: Mapping[str, Any]) -> Measured:
        if config["masks"] == 9:
            raise DeviceFailed("nine is too many")
        self.tested.append(dict(config))
        return Measured({"us": 1.5}, ["S6"], {"dry_run": True})

    def reset(self) -> None:
        if not self.tested:
            raise OSError("nothing to reset")
        self.tested.clear()


@contextmanager
def opened(device: Dictionary) -> Iterator[Dictionary]:
    try:
        yield device
    finally:
        device.closed = True


def ask(device: Dictionary, *lines: str | dict[str, Any]) -> list[dict[str, Any]]:
    requests = io.StringIO("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    answers = io.StringIO()
    assert serve(opened(device), requests, answers) == 0
    assert device.closed
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_describe_has_the_protocols_fields() -> None:
    (answer,) = ask(Dictionary(), {"op": "describe"})
    assert answer["protocol"] == "dut/1"
    assert answer["default"] == {"masks": 3, "cache": True, "verb": "write"}
    assert answer["topology"] is None
    assert answer["sequential"] is True
    assert answer["parameters"] == [
        {"name": "masks", "kind": "integer", "component": "classifier", "min": 1, "max": 9, "step": 2, "scale": "log", "unit": "masks"},
        {"name": "cache", "kind": "boolean", "component": "cache"},
        {"name": "verb", "kind": "choice", "component": "traffic", "values": ["write", 1]},
    ]


def test_a_test_takes_the_defaults_of_what_is_left_out_and_returns_its_id() -> None:
    device = Dictionary()
    answers = ask(device, {"op": "test", "id": ["any", 1], "config": {"masks": 5}})
    assert answers == [{"id": ["any", 1], "status": "ok", "symptoms": ["S6"], "metrics": {"us": 1.5}, "dry_run": True}]
    assert device.tested == [{"masks": 5, "cache": True, "verb": "write"}]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"masks": 11}, "masks must be a whole number from 1 to 9"),
        ({"masks": 4}, "in steps of 2, not 4"),
        ({"masks": True}, "not True"),
        ({"masks": "3"}, "not '3'"),
        ({"cache": 1}, "cache must be true or false, not 1"),
        ({"verb": True}, "verb must be one of ['write', 1], not True"),
        ({"other": 1}, "unknown parameter 'other'"),
        (None, "config must be an object"),
    ],
)
def test_a_configuration_outside_the_ranges_is_invalid_and_never_reaches_the_device(config: object, reason: str) -> None:
    device = Dictionary()
    (answer,) = ask(device, {"op": "test", "id": 1, "config": config})
    assert (answer["id"], answer["status"]) == (1, "invalid")
    assert reason in answer["reason"]
    assert device.tested == []


def test_a_failure_is_an_error_with_its_reason_and_the_device_stays() -> None:
    answers = ask(
        Dictionary(),
        {"op": "test", "id": 1, "config": {"masks": 9}},
        {"op": "reset", "id": 2},
        {"op": "test", "id": 3, "config": {}},
        {"op": "reset", "id": 4},
    )
    assert [(a["id"], a["status"], a.get("reason")) for a in answers] == [
        (1, "error", "nine is too many"),
        (2, "error", "nothing to reset"),
        (3, "ok", None),
        (4, "ok", None),
    ]


def test_each_bad_request_gets_one_answer() -> None:
    answers = ask(Dictionary(), "{torn", "[1]", {"op": "dance", "id": 7}, "", {"op": "describe"})
    assert [a.get("status") for a in answers] == ["error", "error", "error", None]
    assert "not JSON" in answers[0]["reason"]
    assert "use describe, test or reset" in answers[2]["reason"]


def test_the_ledger_has_each_operation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUT_LEDGER", str(tmp_path / "ledger"))
    ask(
        Dictionary(),
        {"op": "describe"},
        {"op": "test", "id": 1, "config": {}},
        {"op": "reset", "id": 2},
        {"op": "test", "config": {"x": 1}},
    )
    noted = [json.loads(line) for line in (tmp_path / "ledger").read_text().splitlines()]
    assert [(line["op"], line["status"]) for line in noted] == [("test", "ok"), ("reset", "ok"), ("test", "invalid")]


def test_a_device_that_cannot_be_opened_ends_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager
    def absent() -> Iterator[Dictionary]:
        raise DeviceFailed("not installed: ovs-vswitchd")
        yield Dictionary()

    assert serve(absent(), io.StringIO(""), io.StringIO()) == 1
    assert "not installed: ovs-vswitchd" in capsys.readouterr().err


PROGRAM = """
import sys
from contextlib import contextmanager
from pathlib import Path
from wallwatch.lab.adaptors.serve import Description, Measured, serve

class Quiet:
    description = Description("quiet", "", (), (), (), False, 1)
    def test(self, config): return Measured({})
    def reset(self): pass

@contextmanager
def opened():
    try:
        yield Quiet()
    finally:
        Path(sys.argv[1]).write_text("closed")

raise SystemExit(serve(opened(), sys.stdin, sys.stdout))
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, None])
def test_a_signal_and_the_end_of_requests_close_the_device(tmp_path: Path, ending: signal.Signals | None) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "end")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ.copy()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"op":"describe"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["name"] == "quiet"
        if ending is None:
            process.stdin.close()
        else:
            process.send_signal(ending)
        assert process.wait(60) == 0
    assert (tmp_path / "end").read_text() == "closed"


def test_each_adaptor_has_a_function_and_a_description() -> None:
    from importlib import import_module

    assert ADAPTORS.keys() == DESCRIPTIONS.keys()
    for target in ADAPTORS.values():
        module, function = target.split(":")
        assert callable(getattr(import_module(module), function))


def test_defaults_are_inside_their_ranges() -> None:
    assert completed(PARAMETERS, {}) == ({"masks": 3, "cache": True, "verb": "write"}, [])
