"""Limits of sign-ins under parallel guesses, on two replicas at once."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from typing import Any

import httpx
import pytest

LIMIT, PER_NETWORK = 5, 12


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {
        "sign_in_failures_per_account": LIMIT,
        "sign_in_failures_per_address": PER_NETWORK,
        "sign_in_window_s": 3600,
        "sign_in_slow_after": 10,
        "trusted_proxies": (ip_network("127.0.0.0/8"),),  # so that the tests have clients of many addresses
    }


@pytest.fixture(scope="module")
def second_replica(replica: Callable[..., str]) -> str:
    return replica()


def sign_in(backend: Any, url: str, address: str, username: str, password: str = "a wrong guess") -> httpx.Response:
    with backend.client(base_url=url, headers={"X-Forwarded-For": address}) as client:
        answer: httpx.Response = client.post("/api/v1/session", json={"username": username, "password": password})
        return answer


def test_of_sixty_parallel_guesses_on_two_replicas_no_more_than_the_limit_are_judged(backend: Any, second_replica: str) -> None:
    urls = [backend.url, second_replica]
    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(lambda number: sign_in(backend, urls[number % 2], "198.51.100.1", "operator"), range(60)))
    counts = Counter(answer.status_code for answer in answers)
    assert counts[401] <= LIMIT, counts
    assert counts[401] + counts[429] == 60, counts
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status_code == 429)
    with backend.connect() as connection:
        judged = connection.execute("SELECT count(*) FROM audit_event WHERE action = 'session.sign_in' AND outcome = 'refused'").fetchone()
    assert judged == (counts[401],)
    for _ in range(LIMIT - counts[401]):  # those refused early left places
        assert sign_in(backend, backend.url, "198.51.100.1", "operator").status_code == 401
    assert sign_in(backend, backend.url, "198.51.100.1", "operator", backend.password).status_code == 429
    assert sign_in(backend, backend.url, "198.51.100.2", "operator", backend.password).status_code == 201, "from another network"


def test_one_network_cannot_guess_at_many_accounts(backend: Any) -> None:
    answers = [sign_in(backend, backend.url, "198.51.100.3", f"nobody-{number}").status_code for number in range(PER_NETWORK + 2)]
    assert answers == [401] * PER_NETWORK + [429] * 2


def test_an_account_that_many_networks_attack_is_slower_but_open(backend: Any) -> None:
    for number in range(12):
        assert sign_in(backend, backend.url, f"203.0.113.{number}", "viewer").status_code == 401
    answer = sign_in(backend, backend.url, "198.51.100.9", "viewer", backend.password)
    assert answer.status_code == 201
    assert answer.elapsed.total_seconds() >= 0.5


def test_good_sign_ins_leave_nothing_behind_and_wait_for_each_other(backend: Any) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: sign_in(backend, backend.url, "198.51.100.40", "admin", backend.password), range(8)))
    assert {answer.status_code for answer in answers} <= {201, 429}
    assert sum(answer.status_code == 201 for answer in answers) >= 4
    with backend.connect() as connection:
        assert connection.execute("SELECT count(*) FROM sign_in_attempt WHERE network = '198.51.100.40'").fetchone() == (0,)


def test_an_attempt_whose_judge_died_counts_as_failed(backend: Any) -> None:
    with backend.connect() as connection:
        for _ in range(LIMIT):
            connection.execute(
                "INSERT INTO sign_in_attempt VALUES (gen_random_uuid(), now() - interval '2 minutes', 'admin', '198.51.100.50', false)"
            )
    assert sign_in(backend, backend.url, "198.51.100.50", "admin", backend.password).status_code == 429
