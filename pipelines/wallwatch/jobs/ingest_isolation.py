"""Isolation in ingest: from the topic `wallwatch.isolation` into `vf_broken`, `vf_minute` and `rnic_isolation`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
import psycopg

from wallwatch.domain.isolation.messages import BrokenMessage, IsolationMessage, MinuteMessage, NowMessage
from wallwatch.store.isolation_tables import SECONDS, VALUES

_KEY = ("time", "rnic_id", "vf", "generation", "pod", "tenant")
_BROKEN = (*_KEY, "interval_s", "estimated", "mechanism", "reason", "aggressors", "load", "port_drops_per_s")
_MINUTE = (*_KEY, "slo", *SECONDS, *VALUES, "state")
_NOW = ("rnic_id", "at", "doubt", "mechanism", "load", "port_mbps", "vfs")
_TYPES = {
    "time": "timestamptz", "at": "timestamptz", "rnic_id": "int", "vf": "int", "estimated": "bool", "aggressors": "jsonb", "vfs": "jsonb",
    **dict.fromkeys(("interval_s", "load", "port_drops_per_s", "port_mbps", *SECONDS, *VALUES), "float8"),
}  # fmt: skip
_KNOWN = " + ".join(name for name in ("kept_s", "broken_s", "not_promised_s"))


def _insert(table: str, columns: Sequence[str], then: str) -> str:
    """An INSERT of one array per column."""
    arrays = ", ".join(f"%({name})s::{_TYPES.get(name, 'text')}[]" for name in columns)
    names = ", ".join(columns)
    return f"INSERT INTO {table} AS old ({names}) SELECT {names} FROM unnest({arrays}) AS n ({names}) {then}"  # noqa: S608 - names are those above


# A restarted job reads two minutes again: its first minute may begin late, so of two the one that knows more stays.
_MORE_KNOWN = (
    "ON CONFLICT (rnic_id, time, vf, generation) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _MINUTE[4:])
    + f" WHERE {' + '.join(f'excluded.{n}' for n in _KNOWN.split(' + '))} > {' + '.join(f'old.{n}' for n in _KNOWN.split(' + '))}"
)
_NEWER = (
    "ON CONFLICT (rnic_id) DO UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in _NOW[1:]) + " WHERE excluded.at >= old.at"
)
_WRITE_BROKEN = _insert("vf_broken", _BROKEN, "ON CONFLICT DO NOTHING")
_WRITE_MINUTE = _insert("vf_minute", _MINUTE, _MORE_KNOWN)
_WRITE_NOW = _insert("rnic_isolation", _NOW, _NEWER)


class StoredIsolation(NamedTuple):
    """One message with the number of its RNIC."""

    rnic_id: int
    message: IsolationMessage


@dataclass(slots=True)
class _Rows:
    broken: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)
    minute: dict[tuple[Any, ...], tuple[Any, ...]] = field(default_factory=dict)
    now: dict[int, tuple[Any, ...]] = field(default_factory=dict)


def _broken(rows: _Rows, rnic_id: int, message: BrokenMessage) -> None:
    aggressors = orjson.dumps([one.model_dump(exclude={"generation"}) for one in message.aggressors]).decode()
    for victim in message.vfs:
        key = (message.at, rnic_id, victim.vf)
        rows.broken[key] = (
            *key, victim.generation, victim.pod, victim.tenant, message.interval_s, message.estimated, message.mechanism, victim.reason,
            aggressors, message.load, message.port_drops_per_s,
        )  # fmt: skip


def _minute(rows: _Rows, rnic_id: int, message: MinuteMessage) -> None:
    for part in message.vfs:
        key = (message.at, rnic_id, part.vf, part.generation)
        before = rows.minute.get(key)
        if before is None or _known(part) >= sum(before[i] for i in _KNOWN_AT):
            rows.minute[key] = (message.at, rnic_id, *(getattr(part, name) for name in _MINUTE[2:]))


_KNOWN_AT = tuple(_MINUTE.index(name) for name in _KNOWN.split(" + "))


def _known(part: Any) -> float:
    return float(part.kept_s + part.broken_s + part.not_promised_s)


def _now(rows: _Rows, rnic_id: int, message: NowMessage) -> None:
    before = rows.now.get(rnic_id)
    if before is None or message.at >= before[1]:
        vfs = orjson.dumps(message.vfs).decode()
        rows.now[rnic_id] = (rnic_id, message.at, message.doubt, message.mechanism, message.load, message.port_mbps, vfs)


def write(connection: psycopg.Connection[Any], messages: Iterable[StoredIsolation]) -> dict[str, int]:
    """Store messages inside the caller's transaction; returns the rows that were added or changed, by table."""
    rows = _Rows()
    for rnic_id, message in messages:
        match message:
            case BrokenMessage():
                _broken(rows, rnic_id, message)
            case MinuteMessage():
                _minute(rows, rnic_id, message)
            case NowMessage():
                _now(rows, rnic_id, message)
    written: dict[str, int] = {}
    for table, statement, columns, values in (
        ("vf_broken", _WRITE_BROKEN, _BROKEN, rows.broken.values()),
        ("vf_minute", _WRITE_MINUTE, _MINUTE, rows.minute.values()),
        ("rnic_isolation", _WRITE_NOW, _NOW, rows.now.values()),
    ):
        if values:
            arrays = dict(zip(columns, map(list, zip(*values, strict=True)), strict=True))
            written[table] = connection.execute(statement.encode(), arrays).rowcount
    return written


def minutes(messages: Iterable[StoredIsolation]) -> set[int]:
    """The minutes of `vf_minute` that these messages have, counted from 1970; the roll-ups compute their buckets again."""
    return {int(m.message.at.timestamp() // 60) for m in messages if isinstance(m.message, MinuteMessage)}
