"""What NVSentinel says of a node, from the node's own labels, annotations and conditions: pure.

Names as in NVSentinel's public source (docs/decisions/0049): a condition's type is the check, and its reason the check with `IsNotHealthy`;
its message names what is affected (`NIC:mlx5_0 NICPort:1`). The prefix of the labels about a cordon can be configured there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from wallwatch_backend.cluster.conditions import parsed

CORDON = "cordon"
"""Name of the report that NVSentinel cordoned the node; other names are those of checks."""
_SERVICE = "NVSentinel"
_BY, _NOT_BY, _REASON, _TIME = "cordon-by", "uncordon-by", "cordon-reason", "cordon-timestamp"
_IS_CORDONED = "quarantineHealthEventIsCordoned"
_STATE = "dgxc.nvidia.com/nvsentinel-state"
_TIME_FORMAT = "%Y-%m-%dT%H-%M-%SZ"
_UNHEALTHY = "IsNotHealthy"
_DEVICE = re.compile(r"(?:^|[\s;])(?:NIC|PCI):([^\s;]{1,64})")
_ACTION = re.compile(r"\s*Recommended Action=(\w+)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_LONGEST = 500
"""Characters of a text, and how many reports and devices: more is not of a node."""
_MOST = 64
_READ = 8192
"""Characters of a message that are read; NVSentinel cuts its own at 1,024. Whoever may write conditions may write a megabyte."""


@dataclass(frozen=True)
class Report:
    """One thing that NVSentinel says of a node."""

    name: str
    since: datetime
    text: str
    devices: tuple[str, ...] = ()
    """InfiniBand devices and PCI addresses that it is about; none: the node."""


def reports_of(node: Mapping[str, Any]) -> tuple[Report, ...]:
    """Return what NVSentinel says of a node, as the API server describes it: what is unhealthy, and whether it cordoned the node."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    found = [report for each in conditions[:_MOST] if (report := _check(each)) is not None]
    checks = {(report.name, report.since): report for report in found}.values()
    cordon = _cordon(node, min((report.since for report in checks), default=None))
    return (*((cordon,) if cordon is not None else ()), *checks)


def _check(condition: Mapping[str, Any]) -> Report | None:
    name, since = str(condition.get("type")), parsed(condition.get("lastTransitionTime"))
    if condition.get("status") != "True" or condition.get("reason") != f"{name}{_UNHEALTHY}" or since is None:
        return None
    if name == CORDON or _NAME.fullmatch(name) is None:  # no check has such a name
        return None
    message = _printable(str(condition.get("message") or "")[:_READ])
    return Report(name, since, readable(message), tuple(dict.fromkeys(_DEVICE.findall(message)))[:_MOST])


def _printable(text: str) -> str:
    r"""Return a text with one space for whatever is not shown: line breaks, characters that PostgreSQL refuses, changes of direction.

    >>> _printable("port\x00 down,\n \u202eunwod")
    'port down, unwod'
    """
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def readable(message: str) -> str:
    """Return a message with its sentences apart, and the action as a person would write it.

    >>> readable("NIC:mlx5_0 NICPort:1 port down Recommended Action=REPLACE_VM;")
    'NIC:mlx5_0 NICPort:1 port down (recommended action: REPLACE_VM)'
    """
    parts = (_ACTION.sub(r" (recommended action: \1)", part.strip()) for part in message.split(";") if part.strip())
    text = "; ".join(parts)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _cordon(node: Mapping[str, Any], oldest: datetime | None) -> Report | None:
    """A cordon that people have removed, and one that NVSentinel only would have made (dry run), are none."""
    metadata, spec = node.get("metadata") or {}, node.get("spec") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    if not spec.get("unschedulable") or annotations.get(_IS_CORDONED) != "True":
        return None
    by = (key for key, service in labels.items() if service == _SERVICE and key.endswith(_BY) and not key.endswith(_NOT_BY))
    prefix = next(by, _BY).removesuffix(_BY)
    since = _time(labels.get(f"{prefix}{_TIME}")) or oldest
    if since is None:
        return None
    reason, state = labels.get(f"{prefix}{_REASON}"), labels.get(_STATE)
    return Report(CORDON, since, ", ".join(str(each)[:_LONGEST] for each in (reason, state and f"state: {state}") if each))


def _time(text: object) -> datetime | None:
    try:
        return datetime.strptime(str(text), _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def sentence(host: str, report: Report) -> str:
    """Say it, for the timeline of an incident.

    >>> sentence("host01", Report(CORDON, datetime(2026, 1, 2), "NIC-fatal, state: draining"))
    'NVSentinel cordoned the node host01: NIC-fatal, state: draining.'
    """
    if report.name == CORDON:
        return f"NVSentinel cordoned the node {host}{f': {report.text}' if report.text else ''}."
    return f"NVSentinel on the node {host}: {report.name}{f': {report.text}' if report.text else ' is unhealthy'}."
