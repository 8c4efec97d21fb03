"""The list of fixes that `make weaknesses` takes out is up to date: fixes and tests are there, and each weakness of the review has one."""

import pytest
from tests.weaknesses.document import BEGIN, END, PAGE, row
from tests.weaknesses.removals import REPOSITORY, WEAKNESSES, Removal, removals

ALL = removals()


@pytest.mark.parametrize("removal", ALL, ids=lambda one: f"{one.weakness}: {one.what}")
def test_each_fix_and_each_test_is_where_the_list_says(removal: Removal) -> None:
    text = (REPOSITORY / removal.file).read_text(encoding="utf-8")
    assert removal.applied_to(text) != text
    for test in removal.tests:
        file, _, function = test.partition("::")
        place = REPOSITORY / ("frontend" if removal.is_of_the_pages else ".") / file
        assert f"def {function}(" in place.read_text(encoding="utf-8") or (not function and place.is_file()), test


def test_each_weakness_of_the_review_has_a_test_that_fails_without_its_fix() -> None:
    assert {one.weakness for one in ALL} == set(WEAKNESSES)


def test_the_table_of_the_last_run_has_no_fix_that_is_no_longer_tried() -> None:
    written = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [line for line in written.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert rows, "run: make weaknesses"
    assert [line for line in rows if not any(line.startswith(row(one)) for one in ALL)] == []
