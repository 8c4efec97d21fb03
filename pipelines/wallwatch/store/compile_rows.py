"""`python -m wallwatch.store.compile_rows`: compiles the loops of `compiled_rows`, so that the first process of a checkout need not wait.

numba keeps what it compiled next to the module, or where NUMBA_CACHE_DIR says, for this processor.
"""

from __future__ import annotations

import sys

import orjson

from wallwatch.domain.telemetry.block_layouts import layouts
from wallwatch.domain.telemetry.blocks import BlockReader
from wallwatch.domain.telemetry.registry import Measurement, measurements
from wallwatch.store import compiled_rows
from wallwatch.store.block_columns import BlockColumns
from wallwatch.store.column_encoder import ColumnEncoder
from wallwatch.store.encode import Encoded, TableEncoder

_AT_NS = 1_790_000_000_000_000_000
_TAGS = {"rnic": '"host":"h","pci":"0000:3b:00.0"', "rnic_mask": '"direction":"egress","host":"h","mask":"ff","pci":"0000:3b:00.0"'}
"""numba compiles for the types of what it is called with, and these differ where a table has text columns."""


def encode_examples() -> int:
    """Encode one message and one block of each kind in columns; returns how many rows were written."""
    rows = 0
    for name, tags in _TAGS.items():
        measurement = measurements()[name]
        table = TableEncoder(measurement, "rnic_id", measurement.text_columns, measurement.number_columns)
        encoder = ColumnEncoder(measurement, table)
        field = next(field.name for field in measurement.columns if field.type == "int")
        encoder.learn({field: 1})
        message = f'{{"fields":{{"{field}":12}},"name":"{name}","tags":{{{tags}}},"timestamp":{_AT_NS}}}'.encode()
        encoded = Encoded(measurement.table, table.columns)
        for scanned in encoder.scan([message], 2 * _AT_NS):
            encoder.encode(scanned, [1], encoded)
        rows += encoded.row_count + _rows_of_a_block(measurement, encoder, encoded, field, tags)
    return rows


def _rows_of_a_block(measurement: Measurement, encoder: ColumnEncoder, encoded: Encoded, field: str, tags: str) -> int:
    """The same sample in a block: it is read by a loop of its own, and written by the same one."""
    own = orjson.loads("{" + tags + "}")
    layout = layouts()[measurement.name]
    row = [_AT_NS, [own.get(name) for name in layout.tags], [12]]
    block = {"name": measurement.name, "tags": {"host": "h"}, "fields": str(layout.fields.index(field)), "rows": [row]}
    value, columns, before = orjson.dumps(block), BlockColumns(measurement, BlockReader()), encoded.row_count
    known = columns.known(value, None)
    for blocks in columns.scan([None if known is None else (value, known)], 2 * _AT_NS):
        blocks.scanned.places = [0]
        encoder.encode(blocks.scanned, [1], encoded)
    return encoded.row_count - before


def main() -> None:
    """Compile, and say how many variants there are."""
    encode_examples()
    variants = sum(len(loop.signatures) for loop in (compiled_rows.scan, compiled_rows.scan_blocks, compiled_rows.write_rows))
    sys.stdout.write(f"{variants} variants of the loops are compiled\n")


if __name__ == "__main__":
    main()
