"""What setup compiles is what ingest calls."""

from wallwatch.store import compiled_rows
from wallwatch.store.compile_rows import encode_examples


def test_the_examples_are_read_in_columns_with_and_without_text_columns() -> None:
    assert encode_examples() == 4
    assert len(compiled_rows.write_rows.signatures) >= 2, "one of tables with text columns, one of those without"
    assert len(compiled_rows.scan.signatures) >= 1
    assert len(compiled_rows.scan_blocks.signatures) >= 1
