"""The round-robin engine against a server that is simulated request by request, and what must hold for any water-filling."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pipelines.tests.domain.contention.contended_card import served

from wallwatch.domain.contention.round_robin import BadQueues, EngineUser, common_rate, throughput

USERS = st.lists(
    st.builds(EngineUser, st.integers(1, 12), st.floats(1e-4, 1e3), st.one_of(st.just(inf), st.floats(0, 1e4))), min_size=1, max_size=8
)


def printed(users: list[EngineUser]) -> list[float]:
    """Equation 1 as printed, with squared numbers of queues."""
    turn = sum(user.queues**2 * user.service_time for user in users)
    return [user.queues / turn for user in users]


def cases() -> list[tuple[list[int], list[float], list[float | None]]]:
    random = np.random.default_rng(5)
    found = []
    for at in range(20):
        size = int(random.integers(2, 5))
        queues = [int(n) for n in random.integers(1, 6, size)]
        times = [float(t) for t in random.uniform(0.2, 3.0, size)]
        fair = 1.0 / sum(n * t for n, t in zip(queues, times, strict=True))
        rates: list[float | None] = [float(n * fair * random.uniform(0.2, 2.0)) if random.random() < 0.5 else None for n in queues]
        found.append((queues, times, rates if at % 2 else [None] * size))
    return found


@pytest.mark.parametrize("case", cases())
def test_it_agrees_with_a_simulated_server_within_one_percent(case: tuple[list[int], list[float], list[float | None]]) -> None:
    queues, times, rates = case
    users = [EngineUser(n, t, inf if rate is None else rate) for n, t, rate in zip(queues, times, rates, strict=True)]
    assert throughput(users) == pytest.approx(served(queues, times, rates), rel=0.01)


def test_the_printed_equation_is_wrong_where_numbers_of_queues_differ() -> None:
    truth = served([1, 4], [1.0, 1.0], [None, None])
    users = [EngineUser(1, 1.0), EngineUser(4, 1.0)]
    assert throughput(users) == pytest.approx(truth, rel=0.01)
    assert printed(users)[0] < 0.4 * truth[0]


def test_the_printed_equation_agrees_with_one_queue_each() -> None:
    users = [EngineUser(1, 1.0), EngineUser(1, 2.5)]
    assert printed(users) == pytest.approx(throughput(users))


@given(USERS)
def test_the_engine_is_never_more_than_busy_and_idle_only_when_all_demands_are_met(users: list[EngineUser]) -> None:
    rates = throughput(users)
    busy = sum(rate * user.service_time for rate, user in zip(rates, users, strict=True))
    assert busy <= 1.0 + 1e-9
    if busy < 1.0 - 1e-9:
        assert rates == [user.rate for user in users]


@given(USERS)
def test_nobody_gets_more_than_asked_and_queues_that_want_more_get_the_same(users: list[EngineUser]) -> None:
    rates = throughput(users)
    short = {
        round(rate / user.queues / common_rate(users), 9) for rate, user in zip(rates, users, strict=True) if rate < user.rate * (1 - 1e-9)
    }
    assert all(rate <= user.rate for rate, user in zip(rates, users, strict=True))
    assert short <= {1.0}


@given(USERS)
def test_it_agrees_with_bisection(users: list[EngineUser]) -> None:
    def load(rate: float) -> float:
        return sum(user.queues * user.service_time * min(user.rate / user.queues, rate) for user in users)

    if load(1e9) <= 1.0:
        return
    low, high = 0.0, 1e9
    for _ in range(300):
        middle = (low + high) / 2
        low, high = (middle, high) if load(middle) < 1.0 else (low, middle)
    assert throughput(users) == pytest.approx([min(user.rate, user.queues * high) for user in users], rel=1e-6, abs=1e-12)


@given(USERS, st.randoms())
def test_the_order_of_functions_does_not_matter(users: list[EngineUser], random: object) -> None:
    places = list(range(len(users)))
    random.shuffle(places)  # type: ignore[attr-defined]
    assert throughput([users[at] for at in places]) == pytest.approx([throughput(users)[at] for at in places], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("values", [(0, 1.0), (1.5, 1.0), (True, 1.0), (1, 0.0), (1, inf), (1, float("nan")), (1, 1.0, -1.0)])
def test_impossible_users_are_refused(values: tuple[float, ...]) -> None:
    with pytest.raises(BadQueues, match="must be"):
        EngineUser(*values)  # type: ignore[arg-type]


def test_an_engine_without_users_serves_nothing() -> None:
    assert throughput([]) == []
