"""The floor of `ingest`: what a program must do that moves the same messages into the same tables, and nothing else.

`python -m tests.bench.ingest_floor FILE`: reads the topics from their beginning with Kafka's client, parses each message with orjson, and
sends ready bytes of the same rows by COPY into tables without indexes. FILE says which, as JSON: `{"bootstrap", "group", "messages", "url",
"topics": {topic: [file with a COPY in binary form, table]}}`. Prints the CPU time of this process per message, imports not included.
"""

import json
import struct
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import psycopg

from wallwatch import kafka_clients
from wallwatch.kafka_settings import KafkaSettings
from wallwatch.store.encode import COPY_HEADER, COPY_TRAILER

POLL_MESSAGES = 400
ROWS_PER_COPY = 20_000


def ready_bytes(file: Path) -> list[bytes]:
    """The rows of a COPY in binary form, in blocks of `ROWS_PER_COPY`."""
    raw = file.read_bytes()
    at, begin, rows, blocks = len(COPY_HEADER), len(COPY_HEADER), 0, []
    while (columns := struct.unpack_from(">h", raw, at)[0]) >= 0:
        at += 2
        for _ in range(columns):
            at += 4 + max(struct.unpack_from(">i", raw, at)[0], 0)
        rows += 1
        if rows % ROWS_PER_COPY == 0:
            blocks.append(raw[begin:at])
            begin = at
    return [*blocks, raw[begin:at]]


def copy(connection: psycopg.Connection[Any], table: str, block: bytes) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as to:  # type: ignore[arg-type]  # the benchmark's own table
        to.write(b"".join((COPY_HEADER, block, COPY_TRAILER)))


def main() -> None:
    """Measure and print."""
    asked = json.loads(Path(sys.argv[1]).read_text())
    blocks = {topic: (table, ready_bytes(Path(file))) for topic, (file, table) in asked["topics"].items()}
    settings = KafkaSettings(kafka_bootstrap=asked["bootstrap"])
    consumer = kafka_clients.consumer(
        settings, {"group.id": asked["group"], "auto.offset.reset": "earliest", "enable.auto.commit": False, "fetch.wait.max.ms": 100}
    )
    consumer.subscribe(list(blocks))
    while not consumer.assignment():
        consumer.poll(0.1)
    for partition in consumer.assignment():
        partition.offset = 0
        consumer.seek(partition)
    with psycopg.connect(asked["url"], autocommit=True) as connection:
        begin, read = time.process_time(), 0
        while read < asked["messages"]:
            for message in consumer.consume(POLL_MESSAGES, 0.05):
                orjson.loads(message.value() or b"")
                read += 1
        for table, ready in blocks.values():
            for block in ready:
                copy(connection, table, block)
        spent_s = time.process_time() - begin
    consumer.close()
    print(json.dumps({"cpu_us_per_message": spent_s / asked["messages"] * 1e6}))


if __name__ == "__main__":
    main()
