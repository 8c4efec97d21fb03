"""Speaks `dut/1` for a device: one JSON object per line in, one per line out."""

from __future__ import annotations

import json
from typing import Any, TextIO

from dut_zoo.device import Device


def answer(device: Device, line: str) -> dict[str, Any]:
    """The answer to one line."""
    try:
        request = json.loads(line)
        operation = request["op"]
    except (ValueError, TypeError, KeyError) as reason:
        return {"id": None, "status": "error", "reason": f"not a request of dut/1: {reason}"}
    if operation == "describe":
        return device.describe()
    identity = request.get("id")
    if operation == "reset":
        return {"id": identity, **device.reset()}
    if operation == "test" and isinstance(request.get("config"), dict):
        return {"id": identity, **device.test(request["config"])}
    return {"id": identity, "status": "error", "reason": f"unknown operation or no config: {operation!r}"}


def serve(device: Device, requests: TextIO, answers: TextIO) -> None:
    """Answer until the end of the requests."""
    for line in requests:
        if line.strip():
            answers.write(json.dumps(answer(device, line)) + "\n")
            answers.flush()
