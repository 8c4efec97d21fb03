"""Queues and service times of a function, from black-box co-runs."""

import numpy as np
import pytest

from wallwatch.domain.contention.inference import CoRun, NotIdentifiable, infer, line


def runs(n: int, t0: float, a: float, noise: float, seed: int, repeats: int = 6) -> list[CoRun]:
    """Co-runs with one bench queue at four service times and four match-to-byte ratios, by the round-robin law."""
    random = np.random.default_rng(seed)
    found = []
    for matches in (50.0, 300.0, 700.0, 1200.0):
        own = t0 + a * matches
        for share in (0.5, 1.0, 2.0, 6.0):
            bench = share * n * (t0 + a * 500.0)
            for _ in range(repeats):
                found.append(CoRun(matches, 1, bench, n / (n * own + bench) * random.normal(1.0, noise)))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_queues_are_exact_and_times_within_five_percent_at_three_percent_noise(n: int, seed: int) -> None:
    found = infer(runs(n, 1.5e-4, 2.1e-6, 0.03, seed))
    assert found.queues == n
    assert found.service_time(300) == pytest.approx(1.5e-4 + 2.1e-6 * 300, rel=0.05)
    assert found.a == pytest.approx(2.1e-6, rel=0.05)


def test_t0_is_within_five_percent_when_it_is_not_small_against_what_the_bench_adds() -> None:
    worst = max(abs(infer(runs(2, 1e-3, 1e-6, 0.03, seed)).t0 / 1e-3 - 1) for seed in range(10))
    assert worst < 0.05


def test_errors_of_the_fit_cover_the_truth() -> None:
    inside = 0
    for seed in range(40):
        found = infer(runs(2, 1e-3, 1e-6, 0.03, seed))
        assert found.a_error is not None
        inside += abs(found.a - 1e-6) <= 2 * found.a_error
    assert inside >= 34


def test_without_noise_the_fit_is_exact() -> None:
    found = infer(runs(3, 1.5e-4, 2.1e-6, 0.0, 0))
    assert (found.queues, found.t0, found.a) == pytest.approx((3, 1.5e-4, 2.1e-6))
    assert found.queues_fit == pytest.approx(3.0)


def test_one_bench_setting_or_one_ratio_is_refused() -> None:
    with pytest.raises(NotIdentifiable, match="bench settings"):
        infer([CoRun(m, 1, 1e-3, 500.0) for m in (100.0, 200.0, 300.0)])
    with pytest.raises(NotIdentifiable, match="ratios"):
        infer([CoRun(100.0, 1, t, 1 / (t + 1e-3)) for t in (1e-3, 2e-3)])


def test_a_bench_that_does_not_matter_is_refused() -> None:
    with pytest.raises(NotIdentifiable, match="does not keep the engine busy"):
        infer([CoRun(m, 1, t, 500.0 + 1e5 * t) for m in (100.0, 200.0) for t in (1e-3, 2e-3)])


def test_a_run_without_throughput_is_refused() -> None:
    with pytest.raises(NotIdentifiable, match="positive"):
        CoRun(100.0, 1, 1e-3, 0.0)


def test_two_points_give_a_line_without_an_error_and_three_give_one() -> None:
    exact = line([(330.2259, 0.00085019), (628.0342, 0.00148391)])
    assert exact[:2] == pytest.approx((1.47481e-4, 2.12796e-6), rel=1e-4)
    assert exact[2:] == (None, None)
    assert line([(1, 2.0), (2, 3.1), (3, 3.9)])[2] is not None
    with pytest.raises(NotIdentifiable):
        line([(1, 2.0), (1, 2.1)])
