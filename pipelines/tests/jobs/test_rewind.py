"""Offsets that a process which starts again begins with."""

from wallwatch.jobs.rewind import Marks


def test_offsets_stay_two_minutes_behind_the_newest_message_of_each_partition() -> None:
    marks = Marks(120.0)
    for second in range(601):
        marks.add(0, second, float(second))
        if second < 60:
            marks.add(1, 1000 + second, float(second))
    assert marks.behind() == {0: 480, 1: 1000}  # the other partition has been read for less than two minutes


def test_until_two_minutes_were_read_the_first_offset_stays() -> None:
    marks = Marks(120.0)
    for second in range(100):
        marks.add(0, 7 + second, float(second))
    assert marks.behind() == {0: 7}


def test_a_backlog_that_is_read_fast_never_moves_the_offset_too_far() -> None:
    marks = Marks(120.0)
    for offset in range(100_000):
        marks.add(0, offset, offset / 10_000)  # hours of messages in ten seconds
    assert marks.behind() == {0: 0}


def test_after_a_rebalance_nothing_is_left() -> None:
    marks = Marks(120.0)
    marks.add(0, 5, 1.0)
    marks.clear()
    assert marks.behind() == {}
