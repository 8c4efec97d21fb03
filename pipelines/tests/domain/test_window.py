"""The window of event time, against a naive one that keeps every sample."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from wallwatch.domain.symptoms.window import BUCKET_MS, Rows, add, feature, swing_of

X = {"x": 0, "y": 1}
samples = st.lists(st.tuples(st.integers(0, 200), st.floats(0, 1000, allow_nan=False)), min_size=1, max_size=60)


@given(samples, st.sampled_from([15, 30, 60]))
def test_mean_and_maximum_agree_with_keeping_every_sample(points: list[tuple[int, float]], window_s: int) -> None:
    buckets: Rows = []
    newest = max(s for s, _ in points)
    kept = [(s, v) for s, v in points if s > newest - 60]
    for second, value in kept:
        add(buckets, X, second * 1000, {"x": value}, newest * 1000)
    first = newest * 1000 // BUCKET_MS - window_s * 1000 // BUCKET_MS
    inside = [v for s, v in kept if s * 1000 // BUCKET_MS > first]
    mean, highest = feature(buckets, 0, newest * 1000, window_s), feature(buckets, 0, newest * 1000, window_s, "max")
    assert mean is not None
    assert highest is not None
    assert abs(mean.value - sum(inside) / len(inside)) < 1e-6
    assert highest.value == max(inside)


@given(samples, st.randoms())
def test_the_order_in_which_samples_of_a_window_come_does_not_matter(points: list[tuple[int, float]], random: Random) -> None:
    points = [(s % 55, round(v)) for s, v in points]
    shuffled = list(points)
    random.shuffle(shuffled)
    features = []
    for order in (points, shuffled):
        buckets: Rows = []
        for second, value in order:
            add(buckets, X, second * 1000, {"x": value}, 54_000)
        features.append(feature(buckets, 0, max(s for s, _ in points) * 1000, 60))
    assert features[0] == features[1]


def test_a_signal_that_was_not_measured_has_no_value() -> None:
    buckets: Rows = []
    add(buckets, X, 1000, {"x": 1.0})
    add(buckets, X, 2000, {})
    assert feature(buckets, 1, 2000, 60) is None
    found = feature(buckets, 0, 2000, 60)
    assert found is not None
    assert found.value == 1.0


def test_what_has_left_the_window_is_forgotten() -> None:
    buckets: Rows = []
    add(buckets, X, 0, {"x": 100.0})
    add(buckets, X, 70_000, {"x": 1.0})
    found = feature(buckets, 0, 70_000, 60)
    assert found is not None
    assert found.value == 1.0
    assert len(buckets) == 1


def test_a_swing_needs_two_values() -> None:
    buckets: Rows = []
    add(buckets, X, 30_000, {"x": 50.0})
    assert swing_of(buckets, 0, 59_000, 60) is None
    add(buckets, X, 59_000, {"x": 100.0})
    found = swing_of(buckets, 0, 59_000, 60)
    assert found is not None
    assert found.value == 0.5


def test_the_median_is_that_of_the_buckets_and_the_lower_of_two() -> None:
    buckets: Rows = []
    for second, value in ((0, 2.0), (10, 50.0), (20, 3.0)):
        add(buckets, X, second * 1000, {"x": value})
    middle = feature(buckets, 0, 20_000, 60, "median")
    assert middle is not None
    assert middle.value == 3.0
    add(buckets, X, 30_000, {"x": 60.0})
    lower = feature(buckets, 0, 30_000, 60, "median")
    assert lower is not None
    assert lower.value == 3.0
