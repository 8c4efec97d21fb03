"""From bytes to text."""

import gzip

import pytest

from wallwatch.domain.perftest import text as perftest_text
from wallwatch.domain.perftest.text import text_of

TEXT = "Send BW Test\n #bytes\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_known_by_its_mark(encoding: str) -> None:
    assert text_of(TEXT.encode(encoding)) == TEXT


def test_gzip_is_unpacked_with_all_its_members() -> None:
    assert text_of(gzip.compress(TEXT.encode()) + gzip.compress(b"more")) == TEXT + "more"


def test_of_a_gzip_file_that_was_cut_off_the_beginning_is_used() -> None:
    long = "".join(f"{n} {n * n}\n" for n in range(2000))
    assert long.startswith(text_of(gzip.compress(long.encode())[:-500])[:100])
    assert text_of(gzip.compress(long.encode())[:-500])


def test_a_gzip_file_that_unpacks_to_a_flood_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perftest_text, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="larger than"):
        text_of(gzip.compress(b"0" * 100_000))


def test_bytes_that_are_no_text_are_no_error() -> None:
    assert "#bytes" in text_of(b"\xff\x00\xfe #bytes")
