"""Signing in at an OpenID Connect provider, and what a stranger tries there."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from wallwatch_backend.accounts.oidc import provider as provider_module
from wallwatch_backend.settings import Settings
from wallwatch_testing.oidc_provider import Claims, LyingProvider

CALLBACK = "/api/v1/session/oidc/callback"


@pytest.fixture(scope="module")
def provider() -> Iterator[LyingProvider]:
    with LyingProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def backend_settings(provider: LyingProvider, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    secret = tmp_path_factory.mktemp("oidc") / "secret"
    secret.write_text(provider.client_secret + "\n")
    return {
        "public_url": "http://wallwatch.example",
        "oidc_issuer": provider.issuer,
        "oidc_client_id": provider.client_id,
        "oidc_client_secret_file": secret,
        "oidc_roles": {"ops": "operator", "chiefs": "admin"},
        "oidc_label": "Example ID",
        "local_sign_in": "admins",
    }


@pytest.fixture(autouse=True)
def honest(provider: LyingProvider) -> None:
    """A new person for each test, and no lies of the test before."""
    name = f"ana-{uuid4().hex[:8]}"
    provider.person = {"sub": name, "preferred_username": name, "groups": ["ops"]}
    provider.change_claims, provider.make_token = lambda claims: claims, None


@pytest.fixture
def browser(backend: Any) -> Iterator[httpx.Client]:
    with backend.client() as client:
        yield client


def begin(browser: httpx.Client, **query: str) -> str:
    answer = browser.get("/api/v1/session/oidc", params=query)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def sign_in(browser: httpx.Client, provider: LyingProvider, **query: str) -> httpx.Response:
    return browser.get(CALLBACK, params=provider.authorize(begin(browser, **query)))


def refused(answer: httpx.Response, reason: str) -> bool:
    assert "wallwatch_session" not in answer.headers.get("set-cookie", "")
    return answer.status_code >= 400 and f"<code>{reason}</code>" in answer.text


def test_a_person_signs_in_with_the_role_of_their_group(browser: httpx.Client, provider: LyingProvider) -> None:
    answer = sign_in(browser, provider, next="/incidents?state=open")
    assert answer.status_code == 200, answer.text
    assert "url=/incidents?state=open" in answer.text
    session = browser.get("/api/v1/session").json()
    assert session["user"] == {"username": provider.person["sub"], "role": "operator"}


def test_the_cookies_fit_the_way_there_and_back(browser: httpx.Client, provider: LyingProvider) -> None:
    way_there = browser.get("/api/v1/session/oidc")
    attempt = way_there.headers["set-cookie"].lower()
    assert "samesite=lax" in attempt
    assert "httponly" in attempt
    cookies = browser.get(CALLBACK, params=provider.authorize(way_there.headers["location"])).headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith("wallwatch_session="))
    assert "samesite=strict" in session.lower()
    assert "httponly" in session.lower()


@pytest.mark.parametrize("path", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x", '/"><script>', "/a\nb"])
def test_the_page_afterwards_is_always_of_this_server(browser: httpx.Client, provider: LyingProvider, path: str) -> None:
    text = sign_in(browser, provider, next=path).text
    assert "evil" not in text
    assert "<script" not in text
    assert 'content="0;url=/' in text


def test_the_role_follows_the_groups_at_each_sign_in(browser: httpx.Client, provider: LyingProvider) -> None:
    sign_in(browser, provider)
    provider.person["groups"] = ["ops", "chiefs"]
    sign_in(browser, provider)
    assert browser.get("/api/v1/session").json()["user"]["role"] == "admin"


def test_who_lost_every_group_is_refused_and_earlier_sessions_end(backend: Any, browser: httpx.Client, provider: LyingProvider) -> None:
    sign_in(browser, provider)
    assert browser.get("/api/v1/session").status_code == 200
    provider.person["groups"] = ["others"]
    with backend.client() as second:
        assert refused(sign_in(second, provider), "no_role")
    assert browser.get("/api/v1/session").status_code == 401


def test_an_account_that_is_disabled_here_stays_disabled(backend: Any, browser: httpx.Client, provider: LyingProvider) -> None:
    sign_in(browser, provider)
    with backend.connect() as connection:
        connection.execute("UPDATE user_account SET disabled = true WHERE oidc_subject = %s", [provider.person["sub"]])
    assert refused(sign_in(browser, provider), "disabled")


def test_a_name_at_the_provider_never_opens_a_local_account(browser: httpx.Client, provider: LyingProvider) -> None:
    provider.person["preferred_username"] = "admin"
    assert refused(sign_in(browser, provider), "name_taken")


def test_another_name_of_the_same_subject_is_the_same_account(browser: httpx.Client, provider: LyingProvider) -> None:
    sign_in(browser, provider)
    provider.person["preferred_username"] = "renamed"
    sign_in(browser, provider)
    assert browser.get("/api/v1/session").json()["user"]["username"] == provider.person["sub"]


def test_the_state_of_another_sign_in_is_refused(browser: httpx.Client, provider: LyingProvider) -> None:
    back = provider.authorize(begin(browser))
    assert refused(browser.get(CALLBACK, params=back | {"state": "guessed"}), "wrong_state")


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(backend: Any, browser: httpx.Client, provider: LyingProvider) -> None:
    back = provider.authorize(begin(browser))
    with backend.client() as victim:  # sign-in CSRF: the attacker's own code in the victim's browser
        assert refused(victim.get(CALLBACK, params=back), "no_attempt")


def test_an_answer_is_accepted_once(browser: httpx.Client, provider: LyingProvider) -> None:
    address = begin(browser)
    attempt = dict(browser.cookies)
    back = provider.authorize(address)
    assert browser.get(CALLBACK, params=back).status_code == 200
    assert refused(browser.get(CALLBACK, params=back), "no_attempt")
    assert refused(
        browser.get(CALLBACK, params=back, headers={"Cookie": f"wallwatch_oidc={attempt['wallwatch_oidc']}"}), "code_refused:invalid_grant"
    )


def test_the_answer_of_another_provider_is_refused(browser: httpx.Client, provider: LyingProvider) -> None:
    back = provider.authorize(begin(browser))
    assert refused(browser.get(CALLBACK, params=back | {"iss": "https://evil.example"}), "wrong_answer_issuer")


def test_a_refusal_by_the_provider_is_reported(browser: httpx.Client) -> None:
    begin(browser)
    # The state is in the address only; without it the answer is not of this sign-in.
    assert refused(browser.get(CALLBACK, params={"error": "access_denied"}), "wrong_state")


LIES: dict[str, tuple[Callable[[Claims], Claims], str]] = {
    "nonce": (lambda claims: claims | {"nonce": "of another sign-in"}, "wrong_nonce"),
    "no nonce": (lambda claims: {name: value for name, value in claims.items() if name != "nonce"}, "wrong_nonce"),
    "audience": (lambda claims: claims | {"aud": "another-client"}, "wrong_audience"),
    "several audiences": (lambda claims: claims | {"aud": ["wallwatch", "another"]}, "wrong_authorized_party"),
    "authorized party": (lambda claims: claims | {"azp": "another"}, "wrong_authorized_party"),
    "issuer": (lambda claims: claims | {"iss": "https://evil.example"}, "wrong_issuer"),
    "expired": (lambda claims: claims | {"exp": int(time.time()) - 3600}, "expired_token"),
    "future": (lambda claims: claims | {"iat": int(time.time()) + 3600}, "token_from_the_future"),
    "not yet": (lambda claims: claims | {"nbf": int(time.time()) + 3600}, "token_from_the_future"),
    "no expiry": (lambda claims: {name: value for name, value in claims.items() if name != "exp"}, "no_exp"),
    "expiry is text": (lambda claims: claims | {"exp": "tomorrow"}, "no_exp"),
    "access token": (lambda claims: claims | {"at_hash": "AAAA"}, "wrong_at_hash"),
    "subject": (lambda claims: claims | {"sub": ""}, "no_subject"),
    "too many groups": (lambda claims: claims | {"_claim_names": {"groups": "src1"}}, "too_many_groups"),
}


@pytest.mark.parametrize("lie", sorted(LIES))
def test_a_token_with_wrong_claims_is_refused_and_audited(backend: Any, browser: httpx.Client, provider: LyingProvider, lie: str) -> None:
    provider.change_claims, reason = LIES[lie]
    assert refused(sign_in(browser, provider), reason)
    with backend.connect() as connection:
        query = "SELECT outcome, detail->>'reason' FROM audit_event WHERE action = 'session.sign_in_oidc' ORDER BY id DESC LIMIT 1"
        assert connection.execute(query).fetchone() == ("refused", reason)


def test_a_right_hash_of_the_access_token_is_accepted(browser: httpx.Client, provider: LyingProvider) -> None:
    half = hashlib.sha256(b"access").digest()[:16]
    provider.change_claims = lambda claims: claims | {"at_hash": base64.urlsafe_b64encode(half).rstrip(b"=").decode()}
    assert sign_in(browser, provider).status_code == 200


def test_clocks_may_differ_by_half_a_minute(browser: httpx.Client, provider: LyingProvider) -> None:
    provider.change_claims = lambda claims: claims | {"iat": int(time.time()) + 30, "exp": int(time.time()) - 20}
    assert sign_in(browser, provider).status_code == 200


def _unsigned(claims: Claims) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({"alg": "none"}, claims)]
    return ".".join([*parts, ""])


def test_a_token_without_asymmetric_signature_is_refused(browser: httpx.Client, provider: LyingProvider) -> None:
    provider.make_token = _unsigned
    assert refused(sign_in(browser, provider), "algorithm_not_allowed")
    key = OctKey.import_key(provider.client_secret.ljust(32))
    provider.make_token = lambda claims: jwt.encode({"alg": "HS256", "kid": "first"}, claims, key)
    assert refused(sign_in(browser, provider), "algorithm_not_allowed")
    provider.make_token = lambda _: "not.a-token"
    assert refused(sign_in(browser, provider), "malformed_token")


def test_a_token_signed_by_another_key_is_refused(browser: httpx.Client, provider: LyingProvider) -> None:
    key = RSAKey.generate_key(2048)
    provider.make_token = lambda claims: jwt.encode({"alg": "RS256", "kid": provider.key.kid}, claims, key)
    assert refused(sign_in(browser, provider), "bad_signature")


def test_a_new_key_is_fetched_and_invented_ones_do_not_flood_the_provider(
    browser: httpx.Client, provider: LyingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(browser, provider)
    monkeypatch.setattr(provider_module, "_KEYS_AT_MOST_EVERY_S", 3600)
    before = provider.key_requests
    stranger = RSAKey.generate_key(2048)
    provider.make_token = lambda claims: jwt.encode({"alg": "RS256", "kid": "invented"}, claims, stranger)
    for _ in range(3):
        assert refused(sign_in(browser, provider), "unknown_key")
    assert provider.key_requests == before
    monkeypatch.setattr(provider_module, "_KEYS_AT_MOST_EVERY_S", 0)
    provider.key, provider.make_token = RSAKey.generate_key(2048, {"kid": "second"}), None
    assert sign_in(browser, provider).status_code == 200


def test_local_sign_in_is_for_administrators_in_an_emergency(backend: Any, browser: httpx.Client) -> None:
    methods = browser.get("/api/v1/session/methods").json()
    assert methods == {"local": "admins", "single_sign_on": "Example ID"}
    answer = browser.post("/api/v1/session", json={"username": "viewer", "password": backend.password})
    assert (answer.status_code, answer.json()["code"]) == (403, "local_sign_in_off")
    assert browser.post("/api/v1/session", json={"username": "admin", "password": backend.password}).status_code == 201


def test_an_account_of_the_provider_has_no_password_here(backend: Any, browser: httpx.Client, provider: LyingProvider) -> None:
    sign_in(browser, provider)
    name = provider.person["sub"]
    answer = browser.post("/api/v1/session", json={"username": name, "password": "!"})
    assert answer.json()["code"] == "bad_credentials"
    with closing(backend.signed_in("admin")) as admin:
        users = admin.get("/api/v1/users", params={"limit": 500}).json()["items"]
        user = next(user for user in users if user["username"] == name)
        change = admin.patch(f"/api/v1/users/{user['id']}", json={"password": "a password of twelve"})
    assert (change.status_code, change.json()["code"]) == (409, "external_account")


def test_signing_out_leads_to_the_providers_page_once(browser: httpx.Client, provider: LyingProvider) -> None:
    sign_in(browser, provider)
    location = browser.get("/api/v1/session/oidc/sign-out").headers["location"]
    assert location.startswith(f"{provider.issuer}/end_session_endpoint?")
    query = parse_qs(urlsplit(location).query)
    assert query["post_logout_redirect_uri"] == ["http://wallwatch.example/"]
    [hint] = query["id_token_hint"]
    assert jwt.decode(hint, provider.key).claims["sub"] == provider.person["sub"]
    assert browser.get("/api/v1/session/oidc/sign-out").headers["location"] == "/"


def test_an_id_token_that_no_cookie_can_hold_is_left_out_at_the_sign_out(browser: httpx.Client, provider: LyingProvider) -> None:
    provider.person["groups"] = ["ops", *(f"group-{number:04}" for number in range(400))]
    assert sign_in(browser, provider).status_code == 200
    location = browser.get("/api/v1/session/oidc/sign-out").headers["location"]
    assert location.startswith(f"{provider.issuer}/end_session_endpoint?")
    assert "id_token_hint" not in location


def test_signing_out_of_a_local_account_does_not_lead_to_the_provider(backend: Any, browser: httpx.Client) -> None:
    assert browser.post("/api/v1/session", json={"username": "admin", "password": backend.password}).status_code == 201
    assert browser.get("/api/v1/session/oidc/sign-out").headers["location"] == "/"


COMPLETE: dict[str, Any] = {"oidc_issuer": "https://id.example", "oidc_client_id": "x", "public_url": "https://wallwatch.example"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"oidc_issuer": "http://id.example"}, "https"),
        ({"oidc_client_id": ""}, "oidc_client_id"),
        ({"public_url": None}, "public_url"),
        ({"oidc_scopes": "profile"}, "openid"),
        ({"oidc_issuer": None, "local_sign_in": "admins"}, "oidc_issuer"),
        ({"oidc_roles": {"ops": "root"}}, "oidc_roles"),
    ],
)
def test_incomplete_settings_are_refused_at_the_start(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    assert Settings(**COMPLETE, secrets_dir=tmp_path).oidc_issuer == "https://id.example"
    with pytest.raises(ValueError, match=says):
        Settings(**(COMPLETE | change), secrets_dir=tmp_path)


def test_a_variable_that_is_set_to_nothing_counts_as_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = [name for name in Settings.model_fields if name.startswith("oidc_")]
    for name in [*names, "local_sign_in"]:
        monkeypatch.setenv(f"WALLWATCH_{name.upper()}", "")
    settings, defaults = Settings(secrets_dir=tmp_path), Settings.model_fields
    assert len(names) == 9
    assert {name: getattr(settings, name) for name in names} == {
        name: defaults[name].get_default(call_default_factory=True) for name in names
    }
    assert settings.local_sign_in == "all"
