"""The place of a reading in time."""

from wallwatch.domain.isolation.reading_order import LATE_IN_A_ROW, Order, ReadingOrder
from wallwatch.domain.isolation.readings import Counters, Reading, VfCounters


def reading(t: float, count: int) -> Reading:
    return Reading(t, Counters(*[count] * 6), {"vf0": VfCounters(*[count] * 6)})


def places(*readings: Reading) -> list[Order]:
    order = ReadingOrder()
    return [order.place(one) for one in readings]


def test_readings_in_order_follow_each_other() -> None:
    assert places(reading(1, 1), reading(2, 2), reading(12, 12)) == [Order.FIRST, Order.NEXT, Order.NEXT]


def test_the_same_counters_again_are_a_duplicate() -> None:
    assert places(reading(1, 1), reading(2, 2), reading(2, 2), reading(1.9, 2))[2:] == [Order.DUPLICATE, Order.DUPLICATE]


def test_an_earlier_time_with_smaller_counters_is_late() -> None:
    assert places(reading(1, 1), reading(3, 3), reading(2, 2), reading(4, 4))[2:] == [Order.LATE, Order.NEXT]


def test_an_earlier_time_with_larger_counters_is_a_step_of_the_clock() -> None:
    order = ReadingOrder()
    found = [order.place(one) for one in (reading(100, 1), reading(101, 2), reading(95, 3), reading(96, 4))]
    assert found[2:] == [Order.STEP, Order.NEXT]
    assert (order.previous_t, order.stepped) == (95, reading(95, 3))


def test_one_wrong_time_is_left_out() -> None:
    order = ReadingOrder()
    found = [order.place(one) for one in (reading(100, 1), reading(101, 2), reading(95, 3), reading(103, 4))]
    assert found[2:] == [Order.STEP, Order.NEXT]
    assert (order.previous_t, order.stepped) == (101, None)


def test_a_reading_too_soon_after_the_last_gives_no_giant_rate() -> None:
    assert places(reading(1, 1), reading(2, 2), reading(2.2, 3), reading(3.2, 4))[2:] == [Order.STEP, Order.NEXT]


def test_many_late_readings_in_order_are_a_restarted_host_with_its_clock_set_back() -> None:
    late = [reading(100 + n, n) for n in range(LATE_IN_A_ROW + 2)]
    found = places(reading(5000, 10**6), reading(5001, 10**6 + 1), *late)
    assert found[2:] == [Order.LATE] * (LATE_IN_A_ROW - 1) + [Order.STEP, Order.NEXT, Order.NEXT]
