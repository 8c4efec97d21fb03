"""Reads the messages of `wallwatch.findings`; the form is in docs/contracts.md."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from wallwatch.domain.telemetry.decode import Refused, check_names, parse_json

_FINDING_TEXTS = [
    "finding_id",
    "host",
    "symptom",
    "state",
    "started_at",
    "at",
    "severity",
    "blast_radius",
    "rule",
    "title",
    "summary",
]
_FINDING_MAYBE = ("pci", "rack", "explanation", "model", "driver", "fw_ver")
"""Texts that may be empty or, from an older classifier, absent."""

_FINDING_LISTS = ("evidence", "hypotheses", "remedies")


def decode_finding(value: bytes | None) -> dict[str, Any]:
    """Read one message of `wallwatch.findings`."""
    found = parse_json(value)
    for name in _FINDING_TEXTS:
        if not isinstance(found.get(name), str) or not found[name]:
            raise Refused("missing_field", f"the finding's {name!r} is missing or is not text")
    for name in _FINDING_MAYBE:
        if not isinstance(found.setdefault(name, ""), str):
            raise Refused("wrong_type", f"the finding's {name!r} is not text")
    check_names(found)
    for name in _FINDING_LISTS:
        if not isinstance(found.get(name), list):
            raise Refused("missing_field", f"the finding's {name!r} is missing or is not a list")
    for name in ("started_at", "at"):
        try:
            aware = datetime.fromisoformat(found[name]).tzinfo is not None
        except ValueError:
            aware = False
        if not aware:
            raise Refused("bad_timestamp", f"the finding's {name!r} is not an RFC 3339 time: {found[name][:40]!r}")
    try:
        UUID(found["finding_id"])
    except ValueError as error:
        raise Refused("wrong_type", f"the finding's id is not a UUID: {found['finding_id'][:40]!r}") from error
    if found["state"] not in ("active", "cleared"):
        raise Refused("out_of_range", f"the finding's state must be active or cleared, not {found['state'][:40]!r}")
    return found
