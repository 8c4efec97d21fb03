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


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/api/v1/incidents?statee=open", "There is no query parameter 'statee'. Did you mean state?"),
        ("/api/v1/session/methods?verbose=1", "There is no query parameter 'verbose'. It takes none."),
    ],
)
async def test_a_query_parameter_that_an_operation_does_not_have_is_refused_with_a_suggestion(path: str, detail: str) -> None:
    answer = await get(path, "wallwatch.example")
    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (422, "unknown_parameter", detail)


async def test_parameters_that_a_sign_in_provider_adds_are_ignored() -> None:
    answer = await get("/api/v1/session/oidc/callback?code=c&state=s&session_state=anything", "wallwatch.example")
    assert "unknown_parameter" not in answer.text


async def test_an_answer_repeats_the_id_of_its_request_or_has_a_new_one() -> None:
    app = application(None, ())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://wallwatch.example") as client:

        async def answered(**headers: str) -> str:
            answer = await client.get("/-/healthy", headers={name.replace("_", "-"): value for name, value in headers.items()})
            return answer.headers["x-request-id"]

        assert await answered(x_request_id="ticket-7") == "ticket-7"
        assert await answered(traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") == "0af7651916cd43dd8448eb211c80319c"
        first, second = await answered(x_request_id="two words"), await answered()
        assert len(first) == len(second) == 32
        assert first != second
