"""Devices that break the protocol, one way each; what they answer correctly comes from a planted device."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any, TextIO

from dut_zoo.device import Device
from dut_zoo.serve import answer

AFTER = 7
"""The test with which a bad device begins to misbehave."""
LATE_S = 2.0

Write = Callable[[dict[str, Any]], None]


def dies(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Ends without an answer."""
    os._exit(3)


def hangs(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Never answers again."""
    while True:
        time.sleep(3600)


def twice(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Answers each test twice."""
    write(right)
    write(right)


def wrong_id(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Answers with the id of another test."""
    write(right | {"id": f"not-{right['id']}"})


def garbage(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Writes what is not JSON."""
    raw.write("Segmentation fault? \x00 {]\n")
    raw.flush()


def late(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Answers each test `LATE_S` later."""
    time.sleep(LATE_S)
    write(right)


def truncated(right: dict[str, Any], write: Write, raw: TextIO) -> None:
    """Breaks off in the middle of an answer."""
    text = json.dumps(right)
    raw.write(text[: len(text) // 2])
    raw.flush()
    os._exit(0)


WAYS: dict[str, Callable[[dict[str, Any], Write, TextIO], None]] = {
    "dies": dies,
    "hangs": hangs,
    "twice": twice,
    "wrong-id": wrong_id,
    "garbage": garbage,
    "changes-description": dies,
    "late": late,
    "truncated": truncated,
}


def changed(description: dict[str, Any], times: int) -> dict[str, Any]:
    """What a device describes that is another one in each process, and once more each time it is asked again."""
    return description | {"name": f"{description['name']}-{os.getpid()}-{times}", "parameters": description["parameters"][times - 1 :]}


def serve(device: Device, way: str, requests: TextIO, answers: TextIO, after: int = AFTER) -> None:
    """Answer as `serve.serve` does until operation number `after`, then misbehave in this way.

    `changes-description` dies with that operation, so that whoever starts it again has to notice that it describes another device.
    """

    def write(right: dict[str, Any]) -> None:
        answers.write(json.dumps(right) + "\n")
        answers.flush()

    describes = 0
    for line in requests:
        if not line.strip():
            continue
        right = answer(device, line)
        if "protocol" in right:
            describes += 1
            write(changed(right, describes) if way == "changes-description" else right)
        elif device.ledger.operations < after:
            write(right)
        else:
            WAYS[way](right, write, answers)
