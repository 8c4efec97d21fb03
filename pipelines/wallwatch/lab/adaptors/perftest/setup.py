"""The file that says what the lab may do to an RNIC. It can only narrow the limits that are compiled in here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from wallwatch.lab.adaptors.parameters import Parameter

LIMITS = (
    Parameter("verb", "choice", "verbs", "write", values=("write", "send", "read")),
    Parameter("message_bytes", "integer", "verbs", 65536, minimum=2, maximum=8388608, scale="log", unit="B"),
    Parameter("qps", "integer", "queue pairs", 1, minimum=1, maximum=1024, scale="log"),
    Parameter("mtu", "choice", "port", 4096, values=(256, 512, 1024, 2048, 4096), unit="B"),
    Parameter("tx_depth", "integer", "queue pairs", 128, minimum=1, maximum=1024, scale="log"),
    Parameter("masks", "integer", "eSwitch", 0, minimum=0, maximum=256),
    Parameter("flows_per_mask", "integer", "eSwitch", 1, minimum=1, maximum=64, scale="log"),
    Parameter("vfs", "integer", "PCIe functions", 0, minimum=0, maximum=127),
)
"""Every parameter that the lab can vary on a host, with its widest range."""
MOST_CHANGES_PER_SECOND = 1000.0
"""The number of flow insertions per second at which kernels stagnate (paper, Table 1, C2)."""
LONGEST_APPLY_S = 600
"""Making or undoing all changes of one configuration: what an operator waits for after an emergency stop."""

_PCI = re.compile(r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$")
_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$")
_ADDRESS = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,252}$")
_REQUIRED = ("pci", "netdev", "rdma_device", "peer", "health_command", "parameters")
_OPTIONAL = (
    "peer_command", "peer_rdma_device", "changes_per_second", "cordon_dir", "stop_file", "undo_file", "kernel_log", "run_seconds",
    "port", "sysfs",
)  # fmt: skip


class BadSetup(ValueError):
    """The file is unusable; the message gives the reason and what to write instead."""


@dataclass(frozen=True)
class Setup:
    """What the lab may do, and to which RNIC."""

    pci: str
    netdev: str
    """Gets the TC rules: the device at whose ingress the RDMA packets are matched."""
    rdma_device: str
    peer: str
    """Address of the other host."""
    peer_command: tuple[str, ...]
    """Runs a command on the other host, such as ssh with its arguments."""
    peer_rdma_device: str
    health_command: tuple[str, ...]
    """Ends with another status than 0 when the host is not well."""
    parameters: tuple[Parameter, ...]
    changes_per_second: float
    cordon_dir: Path
    stop_file: Path
    """While it exists, nothing is changed or sent."""
    undo_file: Path
    kernel_log: Path | None
    run_seconds: int
    port: int
    sysfs: Path


def load(path: Path) -> Setup:
    """Read a setup in YAML or JSON.

    Raises
    ------
    BadSetup
        If it cannot be read, misses an entry, has an unknown one, or allows more than `LIMITS`.
    """
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadSetup(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise BadSetup(f"{path} must have entries: {', '.join(_REQUIRED)}")
    return parsed(content)


def parsed(content: Mapping[str, Any]) -> Setup:
    """A setup from its entries. Raises BadSetup."""
    absent = [name for name in _REQUIRED if name not in content]
    unknown = [str(name) for name in content if name not in (*_REQUIRED, *_OPTIONAL)]
    if absent or unknown:
        raise BadSetup(f"missing entries: {absent}; unknown entries: {unknown}; there are {', '.join((*_REQUIRED, *_OPTIONAL))}")
    rate = content.get("changes_per_second", 10)
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= MOST_CHANGES_PER_SECOND:
        raise BadSetup(f"changes_per_second must be above 0 and at most {MOST_CHANGES_PER_SECOND:.0f}, not {rate!r}")
    rdma_device = _text(content, "rdma_device", _NAME)
    kernel_log = content.get("kernel_log")
    parameters = _parameters(content["parameters"])
    _check_pace(parameters, float(rate))
    return Setup(
        pci=_text(content, "pci", _PCI),
        netdev=_text(content, "netdev", _NAME),
        rdma_device=rdma_device,
        peer=_text(content, "peer", _ADDRESS),
        peer_command=_words(content, "peer_command", ["ssh", "-o", "BatchMode=yes", str(content["peer"])]),
        peer_rdma_device=_text(content, "peer_rdma_device", _NAME, rdma_device),
        health_command=_words(content, "health_command"),
        parameters=parameters,
        changes_per_second=float(rate),
        cordon_dir=_path(content, "cordon_dir", "/var/lib/wallwatch-agent/cordon"),
        stop_file=_path(content, "stop_file", "/run/wallwatch/lab.stop"),
        undo_file=_path(content, "undo_file", "/var/lib/wallwatch-agent/lab-undo.jsonl"),
        kernel_log=None if kernel_log is None else _path(content, "kernel_log", ""),
        run_seconds=_whole(content, "run_seconds", 3, 1, 60),
        port=_whole(content, "port", 18515, 1024, 65535),
        sysfs=_path(content, "sysfs", "/sys"),
    )


def _check_pace(parameters: tuple[Parameter, ...], per_second: float) -> None:
    most = {parameter.name: parameter.maximum for parameter in parameters}
    changes = most.get("masks", 0) * most.get("flows_per_mask", 1) + most.get("vfs", 0)
    if changes / per_second > LONGEST_APPLY_S:
        raise BadSetup(
            f"{changes} changes at {per_second:g} per second take {changes / per_second:.0f} s, at most {LONGEST_APPLY_S} s are allowed: "
            "lower the ranges of masks and flows_per_mask, or raise changes_per_second"
        )


def _parameters(allowed: object) -> tuple[Parameter, ...]:
    if not isinstance(allowed, dict) or not allowed:
        raise BadSetup("parameters must name what may vary, such as {masks: {min: 0, max: 32, default: 0}}")
    known = {parameter.name: parameter for parameter in LIMITS}
    chosen = []
    for name, range_ in allowed.items():
        if name not in known:
            raise BadSetup(f"the lab cannot vary {name!r}; it can vary {', '.join(known)}")
        chosen.append(_narrowed(known[name], range_))
    return tuple(chosen)


def _narrowed(limit: Parameter, range_: object) -> Parameter:
    keys = {"values", "default"} if limit.kind == "choice" else {"min", "max", "step", "default"}
    if not isinstance(range_, dict) or not set(range_) <= keys:
        raise BadSetup(f"the range of {limit.name} must be an object of {', '.join(sorted(keys))}, not {range_!r}")
    if limit.kind == "choice":
        values = range_.get("values", list(limit.values))
        if not isinstance(values, list) or not values or any(limit.problem(value) for value in values):
            raise BadSetup(f"{limit.name} may only have values of {list(limit.values)}, not {values!r}")
        narrow = Parameter(limit.name, "choice", limit.component, range_.get("default", values[0]), values=tuple(values), unit=limit.unit)
    else:
        low, high, step = range_.get("min", limit.minimum), range_.get("max", limit.maximum), range_.get("step", 1)
        for value in (low, high):
            if problem := limit.problem(value):
                raise BadSetup(problem)
        if isinstance(step, bool) or not isinstance(step, int) or step < 1 or low > high:
            raise BadSetup(f"the range of {limit.name} needs min <= max and a step of at least 1, not {range_!r}")
        narrow = Parameter(
            limit.name, "integer", limit.component, range_.get("default", low), minimum=low, maximum=high, step=step,
            scale="linear" if low < 1 else limit.scale, unit=limit.unit,
        )  # fmt: skip
    if problem := narrow.problem(narrow.default):
        raise BadSetup(f"the default is outside the range: {problem}")
    return narrow


def _text(content: Mapping[str, Any], name: str, form: re.Pattern[str], default: str | None = None) -> str:
    value = content.get(name, default)
    if not isinstance(value, str) or not form.match(value):
        raise BadSetup(f"{name} has an invalid format: {value!r}; it must match {form.pattern}")
    return value


def _words(content: Mapping[str, Any], name: str, default: list[str] | None = None) -> tuple[str, ...]:
    value = content.get(name, default)
    if not isinstance(value, list) or not value or not all(isinstance(word, str) and word for word in value):
        raise BadSetup(f"{name} must be a list of a program and its arguments, not {value!r}")
    return tuple(value)


def _path(content: Mapping[str, Any], name: str, default: str) -> Path:
    value = content.get(name, default)
    if not isinstance(value, str) or not value.startswith("/"):
        raise BadSetup(f"{name} must be an absolute path, not {value!r}")
    return Path(value)


def _whole(content: Mapping[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = content.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadSetup(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return value
