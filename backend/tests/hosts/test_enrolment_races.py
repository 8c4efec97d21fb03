"""Many enrolments at the same moment: a token admits one agent, and a host has one, whoever comes first."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

AT_ONCE = 8


@pytest.fixture(scope="module")
def backend_settings() -> dict[str, object]:
    return {"sign_in_failures_per_address": 1000}


def token_for(admin: httpx.Client, host: str | None) -> str:
    return str(admin.post("/api/v1/agents/enrolment-tokens", json={"host": host}).json()["token"])


def at_once(backend: Any, bodies: list[dict[str, str]]) -> list[httpx.Response]:
    """The answers to enrolments that are sent when all of them have a connection."""
    ready = Barrier(len(bodies))

    def enrol(body: dict[str, str]) -> httpx.Response:
        with backend.client() as client:
            assert client.get("/-/healthy").is_success
            ready.wait(60)
            answer: httpx.Response = client.post("/api/v1/agents/enrol", json=body)
            return answer

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(enrol, bodies))


def body_of(token: str, host: str) -> dict[str, str]:
    return {"token": token, "host": host, "version": "1.0.0", "instance_uid": str(uuid4())}


def codes(answers: list[httpx.Response]) -> Counter[str]:
    return Counter("enrolled" if answer.status_code == 201 else answer.json()["code"] for answer in answers)


def refused(admin: httpx.Client, host: str) -> list[str]:
    entries = admin.get("/api/v1/audit", params={"actor": f"agent:{host}", "action": "agent.enrol"}).json()["items"]
    return [entry["detail"]["reason"] for entry in entries if entry["outcome"] == "refused"]


def admitted(answer: httpx.Response) -> bool:
    credentials = answer.json()
    header = {"Authorization": f"Bearer {credentials['agent_id']}.{credentials['secret']}"}
    try:
        with connect(credentials["opamp_url"], additional_headers=header):
            return True
    except InvalidStatus:
        return False


@pytest.fixture
def hosts_of(admin: httpx.Client) -> Callable[[str], list[str]]:
    return lambda prefix: [
        agent["host"] for agent in admin.get("/api/v1/agents", params={"limit": 500}).json()["items"] if agent["host"].startswith(prefix)
    ]


def test_one_token_at_the_same_moment_admits_one_host(admin: httpx.Client, backend: Any, host: str, hosts_of: Any) -> None:
    token = token_for(admin, None)
    answers = at_once(backend, [body_of(token, f"{host}-{n}") for n in range(AT_ONCE)])
    assert codes(answers) == {"enrolled": 1, "bad_enrolment_token": AT_ONCE - 1}
    assert len(hosts_of(host)) == 1
    assert sum(len(refused(admin, f"{host}-{n}")) for n in range(AT_ONCE)) == AT_ONCE - 1


def test_a_recorded_enrolment_sent_again_while_it_is_answered_gets_no_credentials(admin: httpx.Client, backend: Any, host: str) -> None:
    answers = at_once(backend, [body_of(token_for(admin, host), host)] * AT_ONCE)
    assert codes(answers) == {"enrolled": 1, "bad_enrolment_token": AT_ONCE - 1}
    assert refused(admin, host) == ["bad_enrolment_token"] * (AT_ONCE - 1)
    assert [admitted(answer) for answer in answers if answer.status_code == 201] == [True]


def test_tokens_for_any_host_at_the_same_moment_give_a_new_host_one_agent(
    admin: httpx.Client, backend: Any, host: str, hosts_of: Any
) -> None:
    tokens = [token_for(admin, None) for _ in range(AT_ONCE)]
    answers = at_once(backend, [body_of(token, host) for token in tokens])
    assert codes(answers) == {"enrolled": 1, "host_enrolled": AT_ONCE - 1}
    assert hosts_of(host) == [host]
    assert refused(admin, host) == ["host_enrolled"] * (AT_ONCE - 1)
    unused = [token for token, answer in zip(tokens, answers, strict=True) if answer.status_code != 201]
    with backend.client() as client:
        answer = client.post("/api/v1/agents/enrol", json=body_of(unused[0], f"{host}-other"))
        assert answer.status_code == 201, "a refusal uses up no token"


def test_of_tokens_for_the_same_host_at_the_same_moment_the_last_one_counts(admin: httpx.Client, backend: Any, host: str) -> None:
    answers = at_once(backend, [body_of(token_for(admin, host), host) for _ in range(AT_ONCE)])
    assert codes(answers) == {"enrolled": AT_ONCE}, "its owner created each of them, to replace the agent"
    assert len({answer.json()["agent_id"] for answer in answers}) == 1
    assert sum(admitted(answer) for answer in answers) == 1
