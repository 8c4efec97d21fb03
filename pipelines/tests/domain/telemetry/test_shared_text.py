"""Texts that are shared, and what happens when there are too many."""

import tracemalloc

from wallwatch.domain.telemetry.shared_text import MOST_BYTES, shared_text


def _fresh(text: str) -> str:
    return "".join(list(text))


def test_equal_texts_are_one_object() -> None:
    kept = shared_text(_fresh("0000:3b:00.0"))
    assert shared_text(_fresh("0000:3b:00.0")) is kept


def test_texts_that_a_host_invents_are_forgotten() -> None:
    tracemalloc.start()
    try:
        for number in range(20):
            shared_text(f"{number}" + "x" * (MOST_BYTES // 4))
        assert tracemalloc.get_traced_memory()[0] < 1.1 * MOST_BYTES
    finally:
        tracemalloc.stop()


def test_a_text_that_is_too_long_is_not_kept_and_takes_no_room() -> None:
    kept = shared_text(_fresh("mlx5_core"))
    long = shared_text("x" * MOST_BYTES)
    assert shared_text("x" * MOST_BYTES) is not long
    assert shared_text(_fresh("mlx5_core")) is kept


def test_many_short_texts_have_a_bound() -> None:
    first = shared_text(_fresh("0000:86:00.0"))
    for number in range(MOST_BYTES // 100):
        shared_text(f"pod-{number}")
    assert shared_text(_fresh("0000:86:00.0")) is not first
