"""Windows as bytes and windows as lists hold the same."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallwatch.domain.symptoms import window
from wallwatch.domain.symptoms.host_stage import step
from wallwatch.domain.symptoms.packed_window import Layout, PackedWindow
from wallwatch.domain.symptoms.signal_places import places
from wallwatch_testing.stage_states import plain, read_again
from wallwatch_testing.stories import PCI, offload, port

SIGNALS = ["a", "b", "c", "d"]
FORMS = [(window.BUCKET_MS, window.WINDOW_MS), (window.COARSE_BUCKET_MS, window.COARSE_WINDOW_MS)]
STATISTICS = ["mean", "median", "max", "min", "last", "count"]

samples = st.lists(
    st.tuples(
        st.integers(-30_000, 25_000),  # most follow each other, some are late
        st.dictionaries(st.sampled_from([*SIGNALS, "elsewhere"]), st.sampled_from([0.0, -0.0, 0.1, 0.7, 1.0, 3.3, 1e300])),
    ),
    max_size=40,
)


def outline(layout: Layout, packed: PackedWindow) -> list[Any]:
    """Everything that a window has, whatever form its rows have."""
    columns = [layout.rows_of(packed, place) for place in range(len(SIGNALS))]
    return [[(row[0], row[1][0], row[-2][0] if len(row) > 2 else row[1][0], row[-1][0]) for row in column] for column in columns]


@settings(max_examples=100, deadline=None)
@given(samples, st.sampled_from(FORMS))
def test_every_statistic_of_every_signal_is_the_same(steps: list[tuple[int, dict[str, float]]], form: tuple[int, int]) -> None:
    bucket_ms, window_ms = form
    layout = Layout(SIGNALS)
    rows: window.Rows = []
    packed, at_ms, newest_ms = PackedWindow(), 1_700_000_000_000, 0
    for step_ms, values in steps:
        at_ms += step_ms
        newest_ms = max(newest_ms, at_ms)
        window.add(rows, layout.places, at_ms, values, newest_ms, bucket_ms, window_ms)
        layout.add(packed, at_ms, values, newest_ms, bucket_ms, window_ms)
        assert packed.newest_bucket() == (rows[-1][0] if rows else None)
        for name, place in layout.places.items():
            for window_s in (1, 10, 60, 300):
                for statistic in STATISTICS:
                    found = layout.feature(packed, place, at_ms, window_s, statistic, bucket_ms)
                    assert found == window.feature(rows, place, at_ms, window_s, statistic, bucket_ms), name
            of_one = layout.rows_of(packed, place)
            for of in (window.drop_of, window.swing_of):
                assert of(of_one, 0, at_ms, 60) == of(rows, place, at_ms, 60)
            mean = window.feature(rows, place, at_ms, 60)
            total, count = layout.sum_of(packed, place, at_ms, 60)
            assert (total / count if count else None) == (mean and pytest.approx(mean.value))
        again, read = PackedWindow(), PackedWindow()
        layout.take_rows(again, rows)
        layout.take_plain(read, layout.plain(packed))
        assert outline(layout, again) == outline(layout, packed) == outline(layout, read)


def as_a_former_version_kept_it(state: Any) -> Any:
    """The RNIC's windows as lists."""
    parts = plain(state)
    known = places()
    for name, layout, packed in (("fine", known.fine, state[PCI].fine), ("coarse", known.coarse, state[PCI].coarse)):
        columns = [layout.rows_of(packed, place) for place in layout.places.values()]
        rows = []
        for row in zip(*columns, strict=True):
            longest = max(row, key=len)
            filled = [one if len(one) == len(longest) else [one[0], *[[None]] * (len(longest) - 1)] for one in row]
            rows.append([row[0][0], *[[cell[part][0] for cell in filled] for part in range(1, len(longest))]])
        parts[PCI][name] = rows
    parts[PCI]["form"] = known.as_lists
    return read_again(parts)


@pytest.mark.parametrize("every_s", [1, 10])
def test_the_windows_of_a_former_version_are_read_on(every_s: int) -> None:
    sick = {"flows_offloaded": 7300, "flow_insertions_per_s": 40.0, "reoffloads_per_s": 36.0, "reoffload_ratio": 0.9}
    story = [message for second in range(0, 160, every_s) for message in (port(second), offload(second, sick if second >= 60 else {}))]
    outcomes = []
    for upgraded_at in (None, len(story) // 4, len(story) // 2, len(story) - 7):
        state: Any = None
        found = []
        for number, message in enumerate(story):
            if number == upgraded_at:
                state = as_a_former_version_kept_it(state)
            state, findings = step(state, message)
            found += findings
        outcomes.append((found, plain(state)))
    assert any(finding["symptom"] == "S1" for finding in outcomes[0][0])
    assert all(one == outcomes[0] for one in outcomes)


def test_windows_of_other_signals_are_left_behind() -> None:
    state: Any = None
    for second in range(0, 40, 10):
        state, _ = step(state, offload(second))
    parts = plain(state)
    parts[PCI].update(form=1, fine=[[1, [2.0]]], coarse=[])
    state, _ = step(read_again(parts), offload(40))
    assert len(places().fine.rows_of(state[PCI].fine, 0)) == 1
