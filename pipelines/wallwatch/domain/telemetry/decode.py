"""Telegraf's JSON messages to samples of the registry's measurements. Pure: no clock, no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from wallwatch.domain.telemetry import keys
from wallwatch.domain.telemetry.identities import FIELDS, FORMS, OF_FINDINGS, Checked
from wallwatch.domain.telemetry.registry import Measurement, measurements
from wallwatch.domain.telemetry.shown import shown

EARLIEST_NS = 1_577_836_800_000_000_000
"""2020-01-01: no host that runs a collector believes in an earlier date, unless its clock was never set."""
_MOST_BRACKETS = 200
"""A message with fewer cannot be nested too deeply to be written again."""


class Refused(Exception):
    """A message that can't be used: `reason` is a short code, the text one sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Message(NamedTuple):
    """One telemetry message of a host, its envelope checked and its fields not yet."""

    measurement: str
    tags: Mapping[str, str]
    at_ns: int
    fields: Mapping[str, Any]


class Decoded(NamedTuple):
    """One message of a telemetry topic, its envelope checked and its fields not yet."""

    tags: Mapping[str, str]
    at_ns: int
    fields: dict[str, Any]


_tags = Checked(FORMS)
_fields = {name: Checked(forms) for name, forms in FIELDS.items()}
_derived = Checked(OF_FINDINGS)


class Sender(NamedTuple):
    """Who sent a message, as far as Kafka and the telemetry keys show it."""

    record_key: bytes | None
    """Key of the Kafka record; state is kept by it, so it must be the host."""
    proves: Callable[[str, object], bool]
    """Whether a telemetry key is one of this host (`keys.Keys.proves`)."""


def parse_json(value: bytes | None) -> dict[str, Any]:
    """The message's JSON object."""
    if value is None:
        raise Refused("empty", "the message has no value")
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise Refused("not_json", str(error)) from error
    if not isinstance(found, dict):
        raise Refused("not_an_object", f"a JSON object was expected, not {type(found).__name__}")
    if _may_be_deep(value):
        try:
            orjson.dumps(found)  # it reads 1,024 levels and writes 254
        except TypeError:
            raise Refused("wrong_type", "the message is nested too deeply") from None
    if b"\\u0000" in value:
        raise Refused("nul_character", "PostgreSQL stores no text with a NUL character")
    return found


def _may_be_deep(value: bytes) -> bool:
    """Whether a message has enough brackets to be nested deeply. That telemetry has not is soon seen; counting takes longer."""
    of_tags = value.find(b"{", len(b'{"fields":{'))
    if value.find(b"{", of_tags + 1) < 0 and b"[" not in value:
        return False
    return value.count(b"[") + value.count(b"{") > _MOST_BRACKETS


def check_names(names: Mapping[str, object]) -> None:
    """Check the names inside a finding, a forecast or a message of isolation.

    Raises
    ------
    Refused
        With the reason `bad_identity`.
    """
    wrong = _derived.wrong(names)
    if wrong is not None:
        raise Refused("bad_identity", wrong)


def decode(value: bytes | None, measurement: Measurement, latest_ns: int, sender: Sender | None = None) -> Decoded:
    """Read the envelope of one message. The telemetry key is never part of the result.

    Parameters
    ----------
    value : bytes or None
        The message's value.
    measurement : Measurement
        What its topic carries.
    latest_ns : int
        Latest acceptable time, ns since 1970.
    sender : Sender, optional
        Who sent it, which is then checked; without it any host is believed.

    Raises
    ------
    Refused
        With one of the reasons `empty, not_json, not_an_object, nul_character, wrong_measurement, missing_tag, wrong_type, bad_identity,
        wrong_principal, bad_timestamp`.
    """
    return _decoded(parse_json(value), measurement, latest_ns, sender)


def _decoded(found: dict[str, Any], measurement: Measurement, latest_ns: int, sender: Sender | None) -> Decoded:
    at_ns, fields = found.get("timestamp"), found.get("fields")
    tags, key = _origin(found, measurement, fields)
    if sender is not None:
        check_sender(sender, tags["host"], key)
    return Decoded(tags, check_time(at_ns, latest_ns), fields)  # type: ignore[arg-type]  # `_origin` has checked that it is a dict


def check_time(at_ns: object, latest_ns: int) -> int:
    """Check the time of a sample.

    Raises
    ------
    Refused
        With the reason `bad_timestamp`.
    """
    if type(at_ns) is not int or not EARLIEST_NS <= at_ns <= latest_ns:
        raise Refused("bad_timestamp", f"the timestamp {shown(at_ns, 40)} is not in nanoseconds, before 2020 or too far in the future")
    return at_ns


def _origin(found: dict[str, Any], measurement: Measurement, fields: object) -> tuple[dict[str, str], str | None]:
    """The tags of a message, checked, and its telemetry key."""
    name, tags = found.get("name"), found.get("tags")
    if name != measurement.name:
        known = "a known measurement" if isinstance(name, str) and name in measurements() else "unknown"
        raise Refused("wrong_measurement", f"the topic carries {measurement.name}, the message contains {shown(name, 60)!r} ({known})")
    if not isinstance(tags, dict) or not isinstance(fields, dict):
        raise Refused("wrong_type", "tags and fields must be JSON objects")
    tags, key = check_tags(tags, measurement)
    wrong = _fields[measurement.name].wrong(fields) if measurement.name in _fields else None
    if wrong is not None:
        raise Refused("bad_identity", wrong)
    return tags, key


def check_tags(tags: dict[str, Any], measurement: Measurement) -> tuple[dict[str, str], str | None]:
    """Check the tags of a sample, which are changed in place; returns them without the telemetry key, and that key.

    Raises
    ------
    Refused
        With one of the reasons `missing_tag, wrong_type, bad_identity`.
    """
    for tag in measurement.key_tags:
        if not tags.get(tag):
            raise Refused("missing_tag", f"the tag {tag!r} is missing or empty")
    if "host" not in tags:  # empty for server-side policies over all hosts; required above otherwise
        raise Refused("missing_tag", "the tag 'host' is missing")
    if set(map(type, tags.values())) != {str}:
        raise Refused("wrong_type", "every tag must be text")
    key = tags.pop(keys.TAG, None)
    pci = tags.get("pci")
    if pci and not pci.islower():
        tags["pci"] = pci.lower()
    wrong = _tags.wrong(tags)
    if wrong is not None:
        raise Refused("bad_identity", wrong)
    return tags, key


def decode_origin(value: bytes, measurement: Measurement) -> tuple[dict[str, str], str | None]:
    """Read who sent a message from a JSON object that has its name and tags and nothing else: the checked tags, and the telemetry key.

    Fields, time and sender are the caller's to check.

    Raises
    ------
    Refused
        As `decode` does; also when the object has anything else.
    """
    found = parse_json(value)
    if found.keys() != {"name", "tags"}:
        raise Refused("not_an_object", "only name and tags were expected")
    return _origin(found, measurement, {})


def proves(sender: Sender, host: str, telemetry_key: str | None) -> bool:
    """Whether the record's key and the telemetry key are those of the host."""
    try:
        check_sender(sender, host, telemetry_key)
    except Refused:
        return False
    return True


def check_sender(sender: Sender, host: str, key: str | None) -> None:
    """Check that the record's key and the telemetry key are those of the host.

    Only the server writes in the name of no host, under the id of a policy; its key is that of the empty name.

    Raises
    ------
    Refused
        With the reason `wrong_principal`.
    """
    if host and sender.record_key != host.encode():
        record_key = (sender.record_key or b"")[:40].decode(errors="replace")
        raise Refused("wrong_principal", f"the record's key {record_key!a} is not the host {host}")
    if key is None:
        raise Refused("wrong_principal", f"{host or 'the server'} sent no telemetry key (tag {keys.TAG!r})")
    if not sender.proves(host, key):
        raise Refused("wrong_principal", f"the telemetry key is not one of {host or 'the server'}")


def decode_message(value: bytes | None, latest_ns: int) -> Message:
    """Read one telemetry message of the measurement that it names: for recordings, which hold all measurements in one file.

    Raises
    ------
    Refused
        As `decode` does.
    """
    found = parse_json(value)
    name = found.get("name")
    if not isinstance(name, str) or name not in measurements():
        raise Refused("wrong_measurement", f"the message contains {shown(name, 60)!r}, which is not a known measurement")
    decoded = _decoded(found, measurements()[name], latest_ns, None)
    return Message(name, decoded.tags, decoded.at_ns, decoded.fields)
