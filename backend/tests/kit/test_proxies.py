"""Who the client is behind proxies, and who only says so."""

from collections.abc import Callable
from contextlib import closing
from ipaddress import ip_network
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from wallwatch_backend.kit.proxies import client_of
from wallwatch_backend.settings import Settings

NETWORKS = [ip_network(network) for network in ("10.0.0.0/8", "fd00::/8")]


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        ("192.0.2.9", ["198.51.100.1"], "192.0.2.9"),  # no proxy of ours: whatever it says is its own invention
        ("127.0.0.1", ["198.51.100.1"], "127.0.0.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.5, 198.51.100.1"], "198.51.100.1"),  # the client itself sent the first
        ("10.0.0.1", ["203.0.113.5", "198.51.100.1, 10.9.9.9"], "198.51.100.1"),  # two lines, two proxies
        ("10.0.0.1", ["10.1.1.1, 10.2.2.2"], "10.1.1.1"),  # proxies all the way: the first is the client
        ("10.0.0.1", ["198.51.100.1, <script>"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.5, garbage, 10.2.2.2"], "10.2.2.2"),
        ("10.0.0.1", [", ,"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1"),
        ("fd00::1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", [",".join(["203.0.113.5"] + ["10.0.0.2"] * 5000)], "10.0.0.2"),  # bounded work
    ],
)
def test_the_client_is_the_last_hop_before_the_trusted_proxies(peer: str, forwarded_for: list[str], client: str) -> None:
    assert client_of(peer, forwarded_for, NETWORKS) == client


def test_a_wrong_network_says_how_to_write_one() -> None:
    with pytest.raises(ValidationError, match=r"write networks such as 10\.0\.0\.0/8"):
        Settings(trusted_proxies="10.0.0.0/8, proxy.example.net")  # type: ignore[arg-type]  # a text, as the environment gives it


def test_networks_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALLWATCH_TRUSTED_PROXIES", "10.0.0.0/8, ::1")
    assert Settings().trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("::1"))


def addresses(admin: httpx.Client, actor: str) -> list[str]:
    return [each["address"] for each in admin.get("/api/v1/audit", params={"action": "session.sign_in", "actor": actor}).json()["items"]]


FORWARDED = {"X-Forwarded-For": "203.0.113.66, 198.51.100.7", "X-Forwarded-Proto": "https"}


def test_headers_of_strangers_are_ignored_also_from_loopback(backend: Any, admin: httpx.Client) -> None:
    with backend.client(headers=FORWARDED) as client:
        answer = client.post("/api/v1/session", json={"username": "nobody-direct", "password": "wrong"})
        cookie = client.post("/api/v1/session", json={"username": "viewer", "password": backend.password}).headers["set-cookie"]
    assert answer.status_code == 401
    assert addresses(admin, "nobody-direct") == ["127.0.0.1"]
    assert "secure" not in cookie.lower()


@pytest.fixture(scope="module")
def proxied(replica: Callable[..., str]) -> str:
    return replica(trusted_proxies=(ip_network("127.0.0.0/8"),))


def test_behind_a_proxy_the_audit_log_and_the_cookie_know_the_client(proxied: str, backend: Any, admin: httpx.Client) -> None:
    with closing(backend.client(base_url=proxied, headers=FORWARDED)) as client:
        client.post("/api/v1/session", json={"username": "nobody-proxied", "password": "wrong"})
        cookie = client.post("/api/v1/session", json={"username": "viewer", "password": backend.password}).headers["set-cookie"]
    assert addresses(admin, "nobody-proxied") == ["198.51.100.7"]
    assert "secure" in cookie.lower()


def test_behind_a_proxy_one_client_cannot_use_up_the_attempts_of_another(proxied: str, backend: Any) -> None:
    limit = backend.settings.sign_in_failures_per_account

    def guess(client_address: str) -> int:
        with closing(backend.client(base_url=proxied, headers={"X-Forwarded-For": client_address})) as client:
            return int(client.post("/api/v1/session", json={"username": "operator", "password": "wrong"}).status_code)

    assert [guess("198.51.100.20") for _ in range(limit + 1)] == [401] * limit + [429]
    assert guess("198.51.100.21") == 401
    assert [guess(f"2001:db8:5:5::{number}") for number in range(limit + 1)] == [401] * limit + [429], "a /64 is one network"
