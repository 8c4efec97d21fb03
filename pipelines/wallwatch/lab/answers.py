"""Reads and checks one line of an adaptor: is it the answer to this question, and does it hold only what the description promises?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import orjson

from wallwatch.domain.lab.device import Device
from wallwatch.lab.faults import DeviceFault, shown

Status = Literal["ok", "invalid", "error"]


@dataclass(frozen=True)
class Answer:
    """One operation's answer. `fault` is the kind of a broken protocol behind an `error`; `seconds` is the time until the answer.

    `repeated` counts lines that the adaptor wrote twice since the last operation.
    """

    status: Status
    symptoms: tuple[str, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    reason: str | None = None
    fault: str | None = None
    seconds: float = 0.0
    repeated: int = 0


def parse_line(line: bytes) -> dict[str, Any]:
    """The JSON object of a line.

    Raises
    ------
    DeviceFault
        `no JSON`: no JSON, or no object. NaN and Infinity pass, which Python and Go programs write: `read_test` names them.
    """
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise DeviceFault(
                "no JSON", f"wrote a line that is no JSON: {shown(line)}; messages belong on stderr, one JSON object per line on stdout"
            ) from None
    if not isinstance(found, dict):
        raise DeviceFault("no JSON", f"wrote a line that is no JSON object: {shown(line)}")
    return found


def check_id(raw: Mapping[str, Any], number: int, line: bytes) -> None:
    """Raises `wrong id` unless the answer belongs to question `number`."""
    if "id" not in raw:
        raise DeviceFault("wrong id", f"answered question {number} without an id: {shown(line)}; an answer repeats the id of its question")
    if raw["id"] != number or isinstance(raw["id"], bool):
        raise DeviceFault("wrong id", f"answered id {shown(raw['id'])} to question {number}: {shown(line)}")


def read_test(raw: Mapping[str, Any], device: Device, line: bytes) -> Answer:
    """The answer to `test`.

    Raises
    ------
    DeviceFault
        a status that `dut/1` does not have, a symptom or metric that the description does not list, a value that is no finite number
    """
    status = _status(raw, ("ok", "invalid", "error"), line)
    if status == "invalid":
        return Answer("invalid", reason=_reason(raw))
    if status == "error":
        return Answer("error", reason=_reason(raw))
    return Answer("ok", _symptoms(raw, device, line), _metrics(raw, device, line))


def read_reset(raw: Mapping[str, Any], line: bytes) -> Answer:
    """The answer to `reset`; `dut/1` knows `ok`, and `error` is understood as everywhere."""
    status = _status(raw, ("ok", "error"), line)
    return Answer("ok") if status == "ok" else Answer("error", reason=_reason(raw))


def _status(raw: Mapping[str, Any], allowed: tuple[str, ...], line: bytes) -> str:
    status = raw.get("status")
    if isinstance(status, str) and status in allowed:
        return status
    _refuse("invalid answer", f"answered status {shown(status)}; it must be {', '.join(allowed[:-1])} or {allowed[-1]}", line)


def _reason(raw: Mapping[str, Any]) -> str:
    reason = raw.get("reason")
    return str(reason) if reason else "the device gave no reason"


def _symptoms(raw: Mapping[str, Any], device: Device, line: bytes) -> tuple[str, ...]:
    symptoms = raw.get("symptoms", [])
    if not isinstance(symptoms, list):
        _refuse("invalid answer", f"answered symptoms {shown(symptoms)}, which is no list", line)
    for symptom in symptoms:
        if symptom not in device.symptoms:
            _refuse("unknown symptom", f"answered symptom {shown(symptom)}, which its description does not list", line)
    return tuple(sorted(set(symptoms)))


def _metrics(raw: Mapping[str, Any], device: Device, line: bytes) -> dict[str, float]:
    """A metric may be absent or null: a device that fell over cannot measure everything."""
    metrics = raw.get("metrics", {})
    if not isinstance(metrics, dict):
        _refuse("invalid answer", f"answered metrics {shown(metrics)}, which is no object", line)
    measured = {}
    for name, value in metrics.items():
        if name not in device.metric:
            _refuse("unknown metric", f"answered metric {shown(name)}, which its description does not list", line)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            _refuse("invalid answer", f"answered {name} = {shown(value)}, which is no number", line)
        if not _is_finite(value):
            _refuse("number that is not finite", f"answered {name} = {shown(value)}, which is no finite number", line)
        measured[name] = float(value)
    return measured


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer of more than 308 digits
        return False


def _refuse(kind: Any, text: str, line: bytes) -> NoReturn:
    raise DeviceFault(kind, f"{text}; received {shown(line)}")
