"""Blocks as collectors write them, from single messages: what tests and benchmarks send in the form of `wallwatch.blocks`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from wallwatch.domain.telemetry.block_layouts import layouts
from wallwatch.domain.telemetry.blocks import BlockReader, single
from wallwatch_testing.ingest_batches import Record

OF_ALL = ("host", "rack", "telemetry_key")


def ranges(places: Iterable[int]) -> str:
    """Places as `fields` names them.

    >>> ranges([0, 1, 2, 7, 9, 10])
    '0-2,7,9-10'
    """
    found: list[list[int]] = []
    for place in sorted(places):
        if found and found[-1][1] == place - 1:
            found[-1][1] = place
        else:
            found.append([place, place])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def block(messages: Sequence[Mapping[str, Any]], values: list[list[bytes]] | None = None) -> bytes:
    """A block of messages of one host and measurement that have the same fields and, but for their places, the same tags.

    `values` are the texts of the fields' values, sorted by name, in place of those of the messages.
    """
    first = messages[0]
    layout = layouts()[first["name"]]
    names = sorted(first["fields"])
    known = sorted((name for name in names if name in layout.fields), key=layout.fields.index)
    more = [name for name in names if name not in layout.fields]
    tags = {name: tag for name, tag in first["tags"].items() if name not in layout.tags}
    rows = []
    for number, message in enumerate(messages):
        own = [message["tags"].get(name) for name in layout.tags]
        while own and own[-1] is None:
            own.pop()
        texts = [orjson.dumps(message["fields"][name]) for name in names] if values is None else values[number]
        by_name = dict(zip(names, texts, strict=True))
        row = b",".join(by_name[name] for name in (*known, *more))
        rows.append(b"[%d,%b,[%b]]" % (message["timestamp"], orjson.dumps(own), row))
    head = {"name": first["name"], "tags": tags, "fields": ranges(map(layout.fields.index, known))} | ({"more": more} if more else {})
    return orjson.dumps(head)[:-1] + b',"rows":[' + b",".join(rows) + b"]}"


def singles(raw: bytes) -> list[dict[str, Any]]:
    """The messages that a block stands for, without telemetry keys."""
    name, samples, *_ = BlockReader().read(raw, 2**63 - 1)
    return [orjson.loads(single(name, *sample)) for sample in samples]


def in_blocks(records: Iterable[Record]) -> list[Record]:
    """The same samples in blocks: those of a host that stand together, of the same second, measurement and fields."""
    found: list[Record] = []
    waiting: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    time: tuple[Any, int] | None = None

    def finish() -> None:
        for (_, key, *_), messages in waiting.items():
            found.append(Record("blocks", block(messages), key, len(found)))
        waiting.clear()

    for record in records:
        message = orjson.loads(record.content or b"")
        if message["name"] not in layouts():
            finish()
            found.append(record)
            continue
        now = (record.record_key, message["timestamp"] // 1_000_000_000)
        if now != time:
            finish()
            time = now
        loose = sorted((name, tag) for name, tag in message["tags"].items() if name not in layouts()[message["name"]].tags)
        waiting.setdefault((message["name"], record.record_key, tuple(message["fields"]), tuple(loose)), []).append(message)
    finish()
    return found
