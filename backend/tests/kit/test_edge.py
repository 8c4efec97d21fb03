"""HSTS, Host and redirects, through the real application without its database."""

from functools import cache

import httpx
import pytest
from fastapi import FastAPI

from wallwatch_backend.app import create_app
from wallwatch_backend.settings import Settings


@cache
def application(public_url: str | None, hosts: tuple[str, ...]) -> FastAPI:
    return create_app(Settings.model_validate({"public_url": public_url, "allowed_hosts": list(hosts)}))


async def get(
    path: str, host: str, scheme: str = "http", *, public_url: str | None = None, allowed_hosts: tuple[str, ...] = ()
) -> httpx.Response:
    app = application(public_url, allowed_hosts)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=f"{scheme}://{host}") as client:
        return await client.get(path)


async def test_a_redirect_never_names_the_host_of_the_request() -> None:
    answer = await get("/api/v1/users/", "evil.example")
    assert answer.status_code == 307
    assert answer.headers["location"] == "/api/v1/users"


async def test_a_redirect_of_a_path_with_two_slashes_stays_here() -> None:
    answer = await get("//evil.example/api/v1/users/", "wallwatch.example")
    assert not answer.headers.get("location", "/x").startswith(("//", "http"))


@pytest.mark.parametrize("host", ["evil.example", "wallwatch.example.evil.example", "localhost.evil.example"])
async def test_an_unknown_name_is_refused_once_the_names_are_known(host: str) -> None:
    answer = await get("/-/healthy", host, public_url="https://wallwatch.example/", allowed_hosts=("wallwatch.lan",))
    assert answer.status_code == 421
    assert answer.json()["code"] == "unknown_host"


@pytest.mark.parametrize("host", ["wallwatch.example:8443", "WALLWATCH.lan", "localhost:8080", "127.0.0.1", "[::1]:8080", "10.2.3.4"])
async def test_its_own_names_and_addresses_are_answered(host: str) -> None:
    answer = await get("/-/healthy", host, public_url="https://wallwatch.example/", allowed_hosts=("wallwatch.lan",))
    assert answer.status_code == 200


async def test_without_settings_every_name_is_answered() -> None:
    assert (await get("/-/healthy", "any.example")).status_code == 200


@pytest.mark.parametrize(
    ("scheme", "public_url", "expected"),
    [
        ("http", None, None),
        ("http", "http://wallwatch.example/", None),
        ("https", None, "max-age=31536000"),
        ("http", "https://wallwatch.example/", "max-age=31536000"),
    ],
)
async def test_browsers_must_keep_to_https_where_it_is_used(scheme: str, public_url: str | None, expected: str | None) -> None:
    answer = await get("/-/healthy", "wallwatch.example", scheme, public_url=public_url)
    assert answer.headers.get("strict-transport-security") == expected
