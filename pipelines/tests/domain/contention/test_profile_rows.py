"""Every kind of profile that is not one, named by row and column."""

from collections.abc import Callable

import numpy as np
import pytest
from pipelines.tests.domain.contention.contended_card import Array, memory_rows, text

from wallwatch.domain.contention.profile_columns import ENGINE_PROFILE, MEMORY_PROFILE
from wallwatch.domain.contention.profile_rows import BadProfile, read, same_counters


def changed(change: Callable[[Array], object]) -> str:
    rows = memory_rows(30, 1)
    change(rows)
    return text(rows)


def swap(first: int, second: int) -> Callable[[Array], object]:
    def change(rows: Array) -> None:
        rows[:, [first, second]] = rows[:, [second, first]]

    return change


def put(row: int, column: int, value: float) -> Callable[[Array], object]:
    def change(rows: Array) -> None:
        rows[row, column] = value

    return change


def scale(column: int, factor: float) -> Callable[[Array], object]:
    def change(rows: Array) -> None:
        rows[:, column] *= factor

    return change


def scale_one(row: int, column: int, factor: float) -> Callable[[Array], object]:
    def change(rows: Array) -> None:
        rows[row, column] *= factor

    return change


def test_good_rows_come_back_as_they_are() -> None:
    rows = memory_rows(30, 1)
    assert np.array_equal(read(text(rows) + "\n\n", MEMORY_PROFILE, "f"), rows)
    assert np.array_equal(read("\ufeff" + text(rows).replace("\n", "\r\n"), MEMORY_PROFILE, "f"), rows)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put(6, 9, np.nan), r"row 7, column 10 \(throughput_kpps\): nan"),
        (put(6, 2, np.inf), r"row 7, column 3 \(ipc\): inf"),
        (put(6, 9, 1e9), r"row 7, column 10 \(throughput_kpps\): 1e\+09"),
        (put(6, 9, 1e5), r"row 7, column 10 \(throughput_kpps\): .*times away from the median"),
        (put(6, 9, -5), r"row 7, column 10"),
        (put(0, 9, 0), r"row 1, column 10"),
        (put(6, 3, 1e18), r"row 7, column 4 \(instructions\)"),
        (scale(9, 1000), r"row 1, column 10 \(throughput_kpps\): .*not pps"),
        (scale(9, 1e-3), r"row 1, column 10 \(throughput_kpps\)"),
        (scale(8, 2.0**20), r"column 9 \(working_set_mb\): .*not in bytes"),
        (scale(6, 1e-6), r"row 1, column 7 \(memory_reads\)"),
        (scale(3, 1e-6), r"row 1, column 4 \(instructions\)"),
        (scale(3, 1e-1), r"row 1, column 4 \(instructions\): .* instructions/s cannot do"),
        (swap(0, 1), r"column 2 \(packet_bytes\)"),
        (swap(2, 3), r"row 1, column 3 \(ipc\)"),
        (swap(2, 9), r"row 1, column 3 \(ipc\)"),
        (swap(4, 5), r"column 6 \(l2_writes\): more than l2_reads in 30 of 30 rows.*swapped"),
        (swap(6, 7), r"column 8 \(memory_writes\): more than memory_reads.*swapped"),
        (swap(4, 6), r"column 5 \(l2_reads\): .*columns in another order"),
        (swap(8, 9), r"column 10 \(throughput_kpps\)"),
        (swap(3, 6), r"column 4 \(instructions\)"),
        (swap(1, 9), r"column 10 \(throughput_kpps\): 1518 in all rows, while packet_bytes differs.*swapped"),
        (put(6, 0, 1e9), r"row 7, column 1 \(flows\)"),
        (put(6, 2, 0), r"row 7, column 3 \(ipc\): 0, although there are"),
        (put(6, 8, 0), r"row 7, column 9 \(working_set_mb\): 0, although there are"),
        (scale_one(6, 9, 10), r"row 7, column 10 \(throughput_kpps\): .* times away from the median .* of rows with similar traffic"),
        (scale_one(6, 9, 0.1), r"row 7, column 10 \(throughput_kpps\): .* of rows with similar traffic"),
    ],
)
def test_a_defect_is_named_by_row_and_column(change: Callable[[Array], object], where: str) -> None:
    with pytest.raises(BadProfile, match=where):
        read(changed(change), MEMORY_PROFILE, "f")


@pytest.mark.parametrize("word", ["1_000", "\uff11\uff12", "0x10", "1,5", "1e", "--1", "None"])
def test_what_only_a_program_takes_for_a_number_is_refused(word: str) -> None:
    lines = changed(lambda _: None).splitlines()
    lines[4] = f"{word} {lines[4].split(' ', 1)[1]}"
    with pytest.raises(BadProfile, match=r"row 5, column 1 \(flows\): .* is not a number"):
        read("\n".join(lines), MEMORY_PROFILE, "f")


def test_two_profiles_of_a_function_must_have_their_counters_in_the_same_columns() -> None:
    rows, reference = memory_rows(30, 1), memory_rows(30, 2, flows=16_000)
    same_counters(rows, reference, MEMORY_PROFILE, "a", "b")
    swap(4, 7)(rows)
    with pytest.raises(BadProfile, match=r"a: column 5 \(l2_reads\): .* in b: another unit or order"):
        same_counters(rows, reference, MEMORY_PROFILE, "a", "b")


def test_a_missing_column_names_the_row_and_the_columns() -> None:
    lines = changed(lambda _: None).splitlines()
    lines[3] = lines[3].rsplit(" ", 1)[0]
    with pytest.raises(BadProfile, match=r"f: row 4: 9 columns, but 10 are required: flows, packet_bytes, ipc"):
        read("\n".join(lines), MEMORY_PROFILE, "f")


def test_a_header_and_words_are_named() -> None:
    lines = changed(lambda _: None).splitlines()
    with pytest.raises(BadProfile, match=r"row 1, column 1 \(flows\): 'flows' is not a number; the file has no header"):
        read("\n".join(["flows size a b c d e f g h", *lines]), MEMORY_PROFILE, "f")
    with pytest.raises(BadProfile, match="there are no rows"):
        read("\n \n", MEMORY_PROFILE, "f")


def test_all_problems_are_listed_up_to_twenty() -> None:
    with pytest.raises(BadProfile) as caught:
        read(changed(scale(9, 1e6)), MEMORY_PROFILE, "f")
    assert len(str(caught.value).splitlines()) == 21
    assert str(caught.value).endswith("and 10 more problems")
    assert len(caught.value.problems) == 30


@pytest.mark.parametrize("row", ["0.00085 330", "330 0.85", "0.00033 0.00085", "330 0", "330"])
def test_a_bad_accelerator_profile_is_named(row: str) -> None:
    with pytest.raises(BadProfile, match="row 1"):
        read(row, ENGINE_PROFILE, "f")
