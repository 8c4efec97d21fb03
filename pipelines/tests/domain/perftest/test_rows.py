"""One line of perftest's table: what is a measurement, and what is not."""

import pytest

from wallwatch.domain.perftest.rows import Unusable, columns_of, row_of, unknown_unit

BANDWIDTH = columns_of(" #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]")
LATENCY = columns_of(" #bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] 99% percentile[usec]")
DAMAGED, NOTHING = "truncated or damaged", "nothing was measured"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("65536 1000 92.6 92.5 0.1764", ""),
        ("65536 1000 92.6 92.5 0.1764 17", ""),  # a newer version has more columns
        ("65536 1000 92.6 92.5", DAMAGED),
        ("", DAMAGED),
        ("65536 1000 92.6 92.5 x", DAMAGED),
        ("65536 1000 nan 92.5 0.1764", "nan or inf"),
        ("65536 1000 92.6 inf 0.1764", "nan or inf"),
        ("0 1000 92.6 92.5 0.1764", DAMAGED),
        ("1 1000 0 0.0008 0.0001", ""),
        ("-1 1000 92.6 92.5 0.1764", DAMAGED),
        ("1.5 1000 92.6 92.5 0.1764", DAMAGED),
        ("65536 1000 92.6 -92.5 0.1764", DAMAGED),
        ("65536 1000 92.6 1e15 0.1764", DAMAGED),
        ("65536 1000 0 0 0", NOTHING),
        ("65536 1000 92.6 0 0.1764", ""),
        ("65536 1000 0 92.5 0.1764", ""),
        ("65536 1000 92.6 92.5 0.35", "the message rate gives 183.5"),
        ("65536 1000 92.6 92.5 0.05", "the message rate gives 26.2"),
        ("1000 1000 0 9.0 1.249", ""),  # 9.992: differs by less than a tenth of the larger one
        ("1000 1000 0 9.0 1.251", "the message rate gives 10.0"),
        ("1000 1000 0 10.0 1.1251", ""),
        ("1000 1000 0 10.0 1.1249", "the message rate gives 9.0"),
        ("8388608 1000 0 92.5 0.0099", ""),  # too few digits to be compared
        ("1000 1000 0 92.5 0.01", "the message rate gives 0.1"),
    ],
)
def test_a_line_is_a_measurement_or_says_why_not(line: str, reason: str) -> None:
    if reason:
        with pytest.raises(Unusable, match=reason):
            row_of(line, BANDWIDTH)
    else:
        row_of(line, BANDWIDTH)


def test_without_columns_a_line_says_nothing() -> None:
    with pytest.raises(Unusable, match=DAMAGED):
        row_of("1 2 3", [])


def test_times_are_microseconds_whatever_their_unit() -> None:
    assert row_of("2 1000 2.7 4.1 2.74 2.75 0.08 2.95", LATENCY).p99_us == 2.95
    nanoseconds = [column.replace("usec", "nsec") for column in LATENCY]
    row = row_of("2 1000 2700 4100 2740 2750 80 2950", nanoseconds)
    assert [row.average_us, row.typical_us, row.p99_us] == pytest.approx([2.75, 2.74, 2.95])
    assert row_of("2 1000 1 1 0 0.5 0 1", [column.replace("usec", "msec") for column in LATENCY]).average_us == 500.0
    assert row_of("2 1000 1 1 0.5 0 0 1", LATENCY).typical_us == 0.5
    with pytest.raises(Unusable, match=NOTHING):
        row_of("2 1000 1 1 0 0 0 1", LATENCY)


def test_a_decimal_comma_has_two_or_six_digits_behind_it() -> None:
    assert row_of("65536 1000 92,60 92,53 0,176487", BANDWIDTH).average_gbps == 92.53
    for line in ("65536 1000 92,60 92,534 0,176487", "65536 1000 92,60 92,5 0,176487"):
        with pytest.raises(Unusable, match=DAMAGED):
            row_of(line, BANDWIDTH)


@pytest.mark.parametrize(
    ("head", "unknown"),
    [
        (" #bytes BW average[Gb/sec] t_avg[usec]", None),
        (" #bytes BW average[Tb/sec]", "BW average[Tb/sec]"),
        (" #bytes t_avg[cycles]", "t_avg[cycles]"),
        (" #bytes MsgRate[Mpps] CPU_Util[%]", None),
    ],
)
def test_a_bandwidth_or_time_of_an_unknown_unit_is_named(head: str, unknown: str | None) -> None:
    assert unknown_unit(columns_of(head)) == unknown
