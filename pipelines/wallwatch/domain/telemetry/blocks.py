"""Blocks: all samples of one measurement that a host sends at one time, as one message of `wallwatch.blocks`. Pure, as `decode` is.

`{"name": "rnic", "tags": {"host": ...}, "fields": "0-3,7", "rows": [[time, [tag, ...], [value, ...]], ...]}`. What every sample has
stands once: the tags of the host, and which fields there are. A row has its own tags and the values of these fields, by their places in
`blocks.yaml`; a field without a place is named in `more`. So a field that could not be read is not in the block, and never zero.

`BlockReader` turns a block into the samples that single messages would have been, so what follows does not know in which form they came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from wallwatch.domain.telemetry import keys
from wallwatch.domain.telemetry.block_layouts import Layout, Named, layouts, name_at, names_of
from wallwatch.domain.telemetry.block_memory import Memory, size_of
from wallwatch.domain.telemetry.decode import Decoded, Message, Refused, Sender, check_sender, check_tags, check_time
from wallwatch.domain.telemetry.registry import Measurement, measurements
from wallwatch.domain.telemetry.rows import plain_rows
from wallwatch.domain.telemetry.shared_text import shared_text
from wallwatch.domain.telemetry.shown import shown

TOPIC = "wallwatch.blocks"

MOST_ROWS = 1_000
"""Rows of a block: twice what collectors write. Each may become a dead letter, so their number must be bounded."""
MOST_ENVELOPE_BYTES = 16_384
"""Everything of a block but its rows: it is repeated in the dead letter of each refused row."""
MOST_REMEMBERED_BYTES = 256 * 1024 * 1024
"""Of envelopes and tags of rows that stay checked: two measurements of 40,000 RNICs, and the envelopes of their hosts, fit."""
_ROWS = b'"rows":'
_NAME = b'{"name":"'
_NUL = b"\\u0000"


@dataclass(slots=True)
class Envelope:
    """Everything of a block but its rows, checked."""

    measurement: Measurement
    layout: Layout
    tags: dict[str, str]
    """Those of all rows, without the telemetry key."""
    telemetry_key: str | None
    named: Named
    fields: str
    more: list[str]
    """What named the fields."""
    rows: dict[tuple[Any, ...], dict[str, str]] = field(default_factory=dict)
    """Tags of rows that were checked already."""
    remembered: bool = False
    """Whether it stays, with the tags of its rows."""

    def tags_of(self, own: list[Any]) -> dict[str, str]:
        """All tags of a row, checked.

        Raises
        ------
        Refused
            When they are not tags of this measurement.
        """
        names = self.layout.tags
        tags = self.tags | {name_at(names, place): tag for place, tag in enumerate(own) if tag is not None}
        return check_tags(dict(sorted(tags.items())), self.measurement)[0]  # of two wrong ones, the first in a single message


class RefusedRow(NamedTuple):
    """One row that can't be used, and the message that stands for it alone: a single one, or a block where the row has no such form."""

    topic: str
    value: bytes
    reason: str
    detail: str


class ReadBlock(NamedTuple):
    """The samples of a block."""

    measurement: str
    samples: list[Decoded]
    refused: list[RefusedRow]
    had_key: bool = False
    """Whether it had a telemetry key, which is not in the samples."""


class ReadRows(NamedTuple):
    """The samples of a block whose fields need not be dictionaries (`rows.Row`)."""

    samples: list[Message]
    refused: list[RefusedRow]


class BlockReader:
    """Reads blocks. It remembers envelopes and tags that were right and proved: those of a host repeat with every block.

    Parameters
    ----------
    wanted : collection of str, optional
        Measurements to read; blocks of others are empty. Without it, all.
    most_bytes : int
        What is remembered takes about so much at most.
    """

    def __init__(self, wanted: Sequence[str] | None = None, most_bytes: int = MOST_REMEMBERED_BYTES) -> None:
        self._wanted = None if wanted is None else tuple(_NAME + name.encode() + b'"' for name in layouts() if name in wanted)
        self._memory: Memory[Envelope] = Memory(most_bytes)

    def envelope(self, raw: bytes) -> Envelope | None:
        """The envelope whose text, from the first brace to the comma before the rows, is `raw`; None if it is not a right one."""
        known = self._memory.known.get(raw)
        if known is not None:
            return known
        if not raw.endswith(b","):
            return None
        try:
            known = _envelope(_parsed(raw[:-1] + b"}"), len(raw))
            _check_first_name(raw, known.measurement.name)
        except Refused:
            return None
        return known

    def read(self, value: bytes | None, latest_ns: int, sender: Sender | None = None) -> ReadBlock:
        """The measurement of a block, its samples, and rows that were refused.

        Parameters
        ----------
        value, latest_ns, sender
            As of `decode`.

        Raises
        ------
        Refused
            When the block as a whole can't be used, for the reasons of `decode`, or `out_of_range` when it is too large.
        """
        if self._is_unwanted(value):
            return ReadBlock("", [], [])
        envelope, rows, plain = self._checked(value, sender)
        good, bad = self._rows(envelope, rows, latest_ns, plain)
        return ReadBlock(envelope.measurement.name, good, bad, envelope.telemetry_key is not None)

    def read_rows(self, value: bytes | None, latest_ns: int, sender: Sender | None = None) -> ReadRows:
        """The samples of a block and its refused rows, as `read` finds them, for who asks for few fields: it takes half the time."""
        if self._is_unwanted(value):
            return ReadRows([], [])
        envelope, rows, plain = self._checked(value, sender)
        name = envelope.measurement.name
        samples = plain_rows(name, rows, envelope.rows, envelope.named.form, latest_ns) if plain else None
        if samples is not None:
            return ReadRows(samples, [])
        good, bad = self._rows(envelope, rows, latest_ns, plain)
        return ReadRows([Message(name, *one) for one in good], bad)

    def _is_unwanted(self, value: bytes | None) -> bool:
        return self._wanted is not None and value is not None and value.startswith(_NAME) and not value.startswith(self._wanted)

    def _checked(self, value: bytes | None, sender: Sender | None) -> tuple[Envelope, list[Any], bool]:
        """The envelope and the rows of a block, and whether the rows have no more in them than their brackets show."""
        envelope, rows, raw, plain = self._split(value)
        if sender is not None:
            check_sender(sender, envelope.tags["host"], envelope.telemetry_key)
        if len(rows) > MOST_ROWS:
            raise Refused("out_of_range", f"a block has at most {MOST_ROWS} rows, not {len(rows)}")
        if not envelope.remembered and raw is not None:
            envelope.remembered = self._memory.keep(raw, envelope, envelope)
        return envelope, rows, plain and value is not None and _NUL not in value

    def _rows(self, envelope: Envelope, rows: list[Any], latest_ns: int, plain: bool) -> tuple[list[Decoded], list[RefusedRow]]:
        """The samples, and the rows that were refused; without `plain`, each row is checked for what its text may hide."""
        good: list[Decoded] = []
        bad: list[RefusedRow] = []
        count, (_, sorted_names, pick, _) = len(envelope.named.names), envelope.named
        for row in rows:
            try:
                text = b"" if plain else _dumped([[row]], "a row")  # as deep as it is in a block
            except Refused as refusal:
                bad.append(_alone(envelope, None, refusal.reason, str(refusal)))
                continue
            try:
                at_ns, own, values = row
                if type(values) is not list or len(values) != count:
                    raise ValueError
            except (TypeError, ValueError):
                if plain:  # its brackets may be another row's
                    return self._rows(envelope, rows, latest_ns, False)
                detail = f"a row is [time, [tags], [{count} values]], not {shown(row, 80)}"
                bad.append(_alone(envelope, row, "wrong_type", detail))
                continue
            try:
                if text and _NUL in text:
                    raise Refused("nul_character", "PostgreSQL stores no text with a NUL character")
                tags = self._known_tags(envelope, own)
                good.append(Decoded(tags, check_time(at_ns, latest_ns), dict(zip(sorted_names, pick(values), strict=True))))
            except Refused as refusal:
                if plain:
                    return self._rows(envelope, rows, latest_ns, False)
                bad.append(_as_single(envelope, row, refusal))
        return good, bad

    def _split(self, value: bytes | None) -> tuple[Envelope, list[Any], bytes | None, bool]:
        """The envelope, checked, and the rows, which are not; the envelope's text, if it may be remembered by it.

        At last whether the rows have as many brackets as right ones, and no braces: either all are flat or one is refused.
        """
        if value is None:
            raise Refused("empty", "the message has no value")
        at = value.find(_ROWS)
        raw = value[:at]
        known = self.envelope(raw) if at > 0 else None
        if known is not None:
            end = value.rstrip()
            try:
                if end.endswith(b"}"):
                    text = end[at + len(_ROWS) : -1]
                    rows = orjson.loads(text)
                    if type(rows) is list:
                        return known, rows, raw, text.count(b"[") == 3 * len(rows) + 1 and b"{" not in text
            except orjson.JSONDecodeError:
                pass  # not in this form; what is wrong is said below
        found = _parsed(value)
        rows = found.pop("rows", None)
        if type(rows) is not list:
            raise Refused("wrong_type", "the rows of a block must be a list")
        envelope = _envelope(found, len(_dumped(found, "the block")))
        _check_first_name(value, envelope.measurement.name)
        return envelope, rows, None, False

    def _known_tags(self, envelope: Envelope, own: Any) -> dict[str, str]:
        """All tags of a row; rows may share them, as nobody changes them afterwards."""
        if type(own) is not list:
            raise Refused("wrong_type", "the tags of a row must be a list")
        key = tuple(own)
        try:
            known = envelope.rows.get(key)
        except TypeError:
            raise Refused("wrong_type", "every tag must be text") from None
        if known is None:
            known = envelope.tags_of(own)
            if envelope.remembered and self._memory.has_room(len(_dumped(own, "a tag")), size_of(key, known)):
                # Drivers, models and addresses on the bus are the same for much of a fleet: each text is kept once.
                known = {name: shared_text(tag) for name, tag in known.items()}
                envelope.rows[tuple(tag if tag is None else shared_text(tag) for tag in key)] = known
        return known


def _parsed(value: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise Refused("not_json", str(error)) from error
    if not isinstance(found, dict):
        raise Refused("not_an_object", f"a JSON object was expected, not {type(found).__name__}")
    return found


def _dumped(value: Any, what: str) -> bytes:
    """The text of what was read, which may be nested more deeply than can be written."""
    try:
        return orjson.dumps(value)
    except TypeError:
        raise Refused("wrong_type", f"{what} is nested too deeply") from None


def _check_first_name(value: bytes, name: str) -> None:
    """Who sorts blocks by their first bytes must find the name there that JSON has in the end."""
    if value.startswith(_NAME) and not value.startswith(_NAME + name.encode() + b'"'):
        raise Refused("wrong_measurement", f"the block begins with the name of another measurement than {name}")


def _envelope(found: dict[str, Any], size: int) -> Envelope:
    if size > MOST_ENVELOPE_BYTES:
        raise Refused("out_of_range", f"a block without its rows has at most {MOST_ENVELOPE_BYTES} bytes, not {size}")
    text = _dumped(found, "the block")
    name, tags, more = found.get("name"), found.get("tags"), found.get("more", [])
    if not isinstance(name, str) or name not in layouts():
        raise Refused("wrong_measurement", f"{shown(name, 60)!r} is not a measurement that is sent in blocks")
    if _NUL in text:
        raise Refused("nul_character", "PostgreSQL stores no text with a NUL character")
    if not isinstance(tags, dict) or set(map(type, tags.values())) != {str}:
        raise Refused("wrong_type", "the tags of a block must be a JSON object with texts")
    if not tags.get("host"):
        raise Refused("missing_tag", "the tag 'host' is missing or empty")
    if not isinstance(more, list) or not all(isinstance(one, str) for one in more):
        raise Refused("wrong_type", "`more` must be a list of names of fields")
    fields = found.get("fields")
    if not isinstance(fields, str):
        raise Refused("wrong_type", "`fields` must be the places of the fields, such as '0-5,7'")
    named = names_of(name, fields, tuple(more))
    of_all = dict(tags)
    telemetry_key = of_all.pop(keys.TAG, None)
    return Envelope(measurements()[name], layouts()[name], of_all, telemetry_key, named, fields, more)


def _as_single(envelope: Envelope, row: list[Any], refusal: Refused) -> RefusedRow:
    """A refused row as the single message that it stands for, so that it can be sent again to its own topic."""
    at_ns, own, values = row
    if not isinstance(own, list):
        return _alone(envelope, row, refusal.reason, str(refusal))
    tags = _with_key(envelope) | {name_at(envelope.layout.tags, place): tag for place, tag in enumerate(own) if tag is not None}
    value = single(envelope.measurement.name, tags, at_ns, dict(zip(envelope.named.sorted_names, envelope.named.pick(values), strict=True)))
    return RefusedRow(envelope.measurement.topic, value, refusal.reason, str(refusal))


def single(measurement: str, tags: Mapping[str, Any], at_ns: Any, fields: Mapping[str, Any]) -> bytes:
    """A sample as a message of its own, as a collector writes it."""
    return orjson.dumps({"fields": fields, "name": measurement, "tags": tags, "timestamp": at_ns}, option=orjson.OPT_SORT_KEYS)


def _alone(envelope: Envelope, row: Any, reason: str, detail: str) -> RefusedRow:
    """A refused row as a block of its own."""
    of_all = {"name": envelope.measurement.name, "tags": _with_key(envelope), "fields": envelope.fields, "more": envelope.more}
    return RefusedRow(TOPIC, orjson.dumps({**of_all, "rows": [row]}), reason, detail)


def _with_key(envelope: Envelope) -> dict[str, Any]:
    key = envelope.telemetry_key
    return dict(envelope.tags) if key is None else {**envelope.tags, keys.TAG: key}
