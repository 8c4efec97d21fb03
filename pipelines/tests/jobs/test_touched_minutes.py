"""Which RNICs late minutes are computed for: those that were noted, if they stand for all samples of the minutes."""

import threading
import time

from wallwatch.jobs import late_minutes
from wallwatch.jobs.late_minutes import together
from wallwatch.jobs.maintenance import Maintenance
from wallwatch.jobs.touched_minutes import TouchedMinutes
from wallwatch.settings import Settings
from wallwatch.store.encode import LateRnics

HOUR = 500_000
FIRST = HOUR * 60
KEY = ("rnic_sample", HOUR)


def late(rnics: set[int], before: int = FIRST + 60) -> LateRnics:
    return LateRnics(before, {HOUR: rnics})


def test_rnics_of_several_batches_are_all_computed() -> None:
    touched = TouchedMinutes()
    touched.add("rnic_sample", [FIRST], late({1}))
    touched.add("rnic_sample", [FIRST + 59], late({2, 3}))
    assert touched.hours_before(FIRST + 60) == {KEY: ({FIRST, FIRST + 59}, {1, 2, 3})}
    assert touched.hours_before(FIRST + 59) == {KEY: ({FIRST}, {1, 2, 3})}
    assert touched.hours_before(FIRST) == {}


def test_a_minute_with_samples_that_were_not_late_yet_stands_for_any_rnic() -> None:
    touched = TouchedMinutes()
    touched.add("rnic_sample", [FIRST, FIRST + 1], late({1}, before=FIRST + 1))
    touched.add("rnic_sample", [FIRST + 1], late({2}))
    assert touched.hours_before(FIRST + 60) == {KEY: ({FIRST, FIRST + 1}, None)}
    assert touched.hours_before(FIRST + 1) == {KEY: ({FIRST}, {1, 2})}, "the other minute is another matter"


def test_minutes_noted_without_rnics_stand_for_any() -> None:
    touched = TouchedMinutes()
    touched.add("rnic_sample", [FIRST], late({1}))
    touched.add("rnic_sample", [FIRST])
    touched.add("offload_sample", [FIRST], late({1}))
    assert touched.hours_before(FIRST + 60) == {KEY: ({FIRST}, None), ("offload_sample", HOUR): ({FIRST}, {1})}


def test_what_could_not_be_computed_is_noted_again_with_what_came_meanwhile() -> None:
    failed, meanwhile = TouchedMinutes(), TouchedMinutes()
    failed.add("rnic_sample", [FIRST], late({1}))
    meanwhile.add("rnic_sample", [FIRST + 1], late({2}))
    meanwhile.merge(failed)
    assert meanwhile.hours_before(FIRST + 60) == {KEY: ({FIRST, FIRST + 1}, {1, 2})}
    failed.add("rnic_sample", [FIRST])
    meanwhile.merge(failed)
    assert meanwhile.hours_before(FIRST + 60) == {KEY: ({FIRST, FIRST + 1}, None)}


def test_the_same_rnics_in_two_batches_count_once() -> None:
    rnics = set(range(late_minutes.MOST_RNICS))
    assert together(rnics, rnics) == rnics
    assert together(rnics, [late_minutes.MOST_RNICS]) is None


def test_nothing_is_noted_of_minutes_whose_samples_are_not_kept() -> None:
    settings = Settings()
    maintenance = Maintenance(settings, threading.Event())
    oldest = int(time.time() - settings.retention_days * 86_400) // 60
    minutes = [oldest - 1, oldest + 60]
    of_hour = {minute // 60: {1} for minute in minutes}
    maintenance.touched({"rnic_sample": minutes}, {"rnic_sample": LateRnics(oldest + 61, of_hour)})
    assert maintenance._touched.hours_before(oldest + 61) == {("rnic_sample", minutes[1] // 60): ({minutes[1]}, {1})}
    assert list(maintenance._touched._rnics) == [("rnic_sample", minutes[1] // 60)]
