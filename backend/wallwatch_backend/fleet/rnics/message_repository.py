"""The stored telemetry of one host as the messages that it came in."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from heapq import merge
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, select

from wallwatch.domain.telemetry.decode import Message
from wallwatch.domain.telemetry.registry import measurements
from wallwatch.store.packed import hours_within, offload_sample_all, rnic_sample_all
from wallwatch.store.tables import datapath_sample, event, rnic
from wallwatch.store.tables import host as host_table
from wallwatch_backend.kit.database import ReadSession

_KEYS = frozenset({"time", "rnic_id", "host_id", "pci", "kind", "datapath", "other", "hour"})
_IDENTITY = ("rack", "pci_id", "hca_type", "driver", "fw_ver")
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MICROSECOND = timedelta(microseconds=1)


async def messages_of_host(session: ReadSession, identity: Row[Any], start: datetime, end: datetime, most: int) -> list[Message]:
    """What an RNIC's signals follow from, in the order of the times: its samples, the offload samples of all RNICs of its host, those of
    the host's datapaths, the host's events. At most `most` messages of each kind, the oldest first.
    """
    host_id = select(host_table.c.host_id).where(host_table.c.host == identity.host).scalar_subquery()
    neighbours = {each.rnic_id: each for each in (await session.execute(select(rnic).where(rnic.c.host == identity.host))).all()}
    of_host = {"host": identity.host}

    async def rows(table: Table, where: ColumnElement[bool]) -> Sequence[Row[Any]]:
        within = (table.c.time >= start, table.c.time < end, hours_within(table, start, end))
        query = select(table).where(where, *within).order_by(table.c.time).limit(most)
        return (await session.execute(query)).all()

    ports = await rows(rnic_sample_all, rnic_sample_all.c.rnic_id == identity.rnic_id)
    offloads = await rows(offload_sample_all, offload_sample_all.c.rnic_id.in_(neighbours))
    datapaths = await rows(datapath_sample, datapath_sample.c.host_id == host_id)
    events = await rows(event, event.c.host_id == host_id)
    counters = _counters("rnic", ports)
    read = (
        [_message("event", row, of_host | {"pci": row.pci, "kind": row.kind}) for row in events],
        [_message("ovs_datapath", row, of_host | {"datapath": row.datapath}) for row in datapaths],
        [_message("rnic", row, _tags(identity), counters) for row in ports],
        [_message("rnic_offload", row, _tags(neighbours[row.rnic_id])) for row in offloads],
    )
    full = [found[-1].at_ns for found in read if len(found) == most]
    ordered = merge(*read, key=lambda message: message.at_ns)
    return [message for message in ordered if message.at_ns <= min(full)] if full else list(ordered)


def _tags(identity: Row[Any]) -> dict[str, str]:
    known = {name: getattr(identity, name) for name in _IDENTITY}
    return {"host": identity.host, "pci": identity.pci} | {name: value for name, value in known.items() if value}


def _message(measurement: str, row: Row[Any], tags: dict[str, str], counters: frozenset[str] = frozenset()) -> Message:
    values = row._mapping
    fields = dict.fromkeys(counters, 0) | {name: value for name, value in values.items() if value is not None and name not in _KEYS}
    return Message(measurement, tags, (row.time - _EPOCH) // _MICROSECOND * 1000, fields | (values.get("other") or {}))


def _counters(measurement: str, rows: Sequence[Row[Any]]) -> frozenset[str]:
    """Counters in `other` that the RNIC has: where a row lacks one of them it stood at zero, which is not stored."""
    known = measurements()[measurement].fields
    return frozenset(name for row in rows for name in row.other or () if name in known and known[name].kind == "counter")
