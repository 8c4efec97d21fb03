"""Signing in, staying in, getting out."""

import hashlib
from contextlib import closing
from typing import Any

import httpx

from wallwatch_backend.kit.access import SESSION_COOKIE


def test_an_anonymous_caller_is_asked_to_sign_in(anonymous: httpx.Client) -> None:
    answer = anonymous.get("/api/v1/session")
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_signed_in"


def test_a_wrong_password_and_an_unknown_name_give_the_same_answer(anonymous: httpx.Client) -> None:
    wrong = anonymous.post("/api/v1/session", json={"username": "viewer", "password": "x" * 12})
    unknown = anonymous.post("/api/v1/session", json={"username": "nobody", "password": "x" * 12})
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json() == unknown.json()


def test_a_session_says_who_is_signed_in(operator: httpx.Client) -> None:
    answer = operator.get("/api/v1/session")
    assert answer.json()["user"] == {"username": "operator", "role": "operator"}
    assert answer.json()["csrf_token"] == operator.headers["X-CSRF-Token"]


def test_a_session_ends_when_its_time_is_over(backend: Any) -> None:
    with closing(backend.signed_in("viewer")) as client, backend.connect() as connection:
        digest = hashlib.sha256(client.cookies[SESSION_COOKIE].encode()).digest()
        move = "UPDATE user_session SET expires_at = now() + make_interval(secs => %s) WHERE secret_hash = %s"
        assert connection.execute(move, [60, digest]).rowcount == 1
        assert client.get("/api/v1/session").status_code == 200
        connection.execute(move, [-1, digest])
        answer = client.get("/api/v1/session")
        assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
        assert client.get("/api/v1/fleet").status_code == 401
        assert client.post("/api/v1/webhooks", json={"name": "x", "url": "http://192.0.2.1/"}).status_code == 401


def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(backend: Any) -> None:
    with backend.client() as client:
        cookie = client.post("/api/v1/session", json={"username": "viewer", "password": backend.password}).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert cookie.startswith(SESSION_COOKIE)


def test_a_new_password_of_ones_own_ends_the_other_sessions(backend: Any, admin: httpx.Client) -> None:
    first, second = {"username": "dora", "password": "the first password"}, {"username": "dora", "password": "the second password"}
    assert admin.post("/api/v1/users", json=first | {"role": "viewer"}).status_code == 201
    with backend.client() as here, backend.client() as elsewhere:
        here.headers["X-CSRF-Token"] = here.post("/api/v1/session", json=first).json()["csrf_token"]
        assert elsewhere.post("/api/v1/session", json=first).status_code == 201
        change = {"current_password": "a wrong password", "new_password": second["password"]}
        wrong = here.post("/api/v1/session/password", json=change)
        assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong_password")
        assert elsewhere.get("/api/v1/session").status_code == 200
        right = here.post("/api/v1/session/password", json=change | {"current_password": first["password"]})
        assert right.status_code == 204, right.text
        assert here.get("/api/v1/session").status_code == 200
        assert elsewhere.get("/api/v1/session").status_code == 401
        assert elsewhere.post("/api/v1/session", json=first).status_code == 401
        assert elsewhere.post("/api/v1/session", json=second).status_code == 201
