"""Signing in at an OpenID Connect provider that somebody else wrote, as a browser does it."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import httpx
import pytest

from wallwatch_local.ports import free_ports

PUBLIC_URL = "http://wallwatch.example"
CALLBACK = "/api/v1/session/oidc/callback"


@dataclass
class Provider:
    address: str
    client_id: str
    client_secret: str


@pytest.fixture(scope="module")
def provider(eventually: Any) -> Iterator[Provider]:
    [port] = free_ports(1)
    address = f"http://127.0.0.1:{port}"
    # A process of its own: it uses deprecated modules, and here warnings are errors.
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--require-nonce", "--require-registration"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def answers() -> bool:
        assert process.poll() is None, "the provider ended"
        try:
            return httpx.get(f"{address}/.well-known/openid-configuration").status_code == 200
        except httpx.TransportError:
            return False

    try:
        eventually(answers)
        client = httpx.post(f"{address}/oauth2/clients", json={"redirect_uris": [PUBLIC_URL + CALLBACK]}).json()
        yield Provider(address, client["client_id"], client["client_secret"])
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="module")
def backend_settings(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    secret = tmp_path_factory.mktemp("oidc") / "secret"
    secret.write_text(provider.client_secret)
    return {
        "public_url": PUBLIC_URL,
        "oidc_issuer": provider.address,
        "oidc_client_id": provider.client_id,
        "oidc_client_secret_file": secret,
        "oidc_roles": {"ops": "operator"},
    }


def sign_in(browser: httpx.Client, name: str) -> httpx.Response:
    """Fill in the provider's form, and follow it back."""
    form = browser.get("/api/v1/session/oidc", params={"next": "/incidents"}).headers["location"]
    back = httpx.post(form, data={"sub": name})
    assert back.status_code == 302, back.text
    assert back.headers["location"].startswith(PUBLIC_URL + CALLBACK)
    return browser.get(CALLBACK, params=dict(parse_qsl(urlsplit(back.headers["location"]).query)))


def test_a_person_signs_in_with_the_role_of_their_group_and_out_again(backend: Any, provider: Provider) -> None:
    name = f"ana-{uuid4().hex[:8]}"
    claims = {"preferred_username": name, "groups": ["staff", "ops"]}
    assert httpx.put(f"{provider.address}/users/{name}", json=claims).status_code == 204
    with backend.client() as browser:
        answer = sign_in(browser, name)
        assert answer.status_code == 200, answer.text
        assert "url=/incidents" in answer.text
        assert browser.get("/api/v1/session").json()["user"] == {"username": name, "role": "operator"}
        assert browser.get("/api/v1/session/account").json()["single_sign_on"] is True
        out = browser.get("/api/v1/session/oidc/sign-out").headers["location"]
        assert out.startswith(f"{provider.address}/oauth2/end_session?")
        assert httpx.get(out).status_code == 200


def test_a_person_of_no_mapped_group_is_refused(backend: Any, provider: Provider) -> None:
    name = f"eve-{uuid4().hex[:8]}"
    assert httpx.put(f"{provider.address}/users/{name}", json={"preferred_username": name, "groups": ["others"]}).status_code == 204
    with backend.client() as browser:
        answer = sign_in(browser, name)
        assert (answer.status_code, "<code>no_role</code>" in answer.text) == (403, True)
        assert browser.get("/api/v1/session").status_code == 401


def test_a_person_who_denies_the_provider_its_consent_is_not_signed_in(backend: Any) -> None:
    with backend.client() as browser:
        form = browser.get("/api/v1/session/oidc").headers["location"]
        back = httpx.post(form, data={"action": "deny"})
        answer = browser.get(CALLBACK, params=dict(parse_qsl(urlsplit(back.headers["location"]).query)))
        assert answer.status_code in (400, 403)
        assert browser.get("/api/v1/session").status_code == 401
